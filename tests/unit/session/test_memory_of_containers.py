"""How much memory does a local session count on, where a container allows less than the machine has?"""

from pathlib import Path

from lakewright.engine.spark.session import memory_limits


def test_limits_are_those_that_are_numbers(tmp_path: Path) -> None:
    given = {"one": "1073741824\n", "none": "max\n", "two": "5"}
    for name, text in given.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in (*given, "missing")]
    assert memory_limits(files) == [1 << 30, 5]
