"""How does a report print?"""

import pytest

from lakewright.model.report import Report, counted, readable_bytes


def test_a_report_says_what_happened_and_leaves_out_what_did_not() -> None:
    report = Report(
        "append",
        "db.t",
        7,
        rows_inserted=1_234_567,
        files_added=1,
        bytes_added=5 << 20,
        attempts=2,
        seconds={"write": 1.5, "commit": 0.0625},
        notes=("write.wap.enabled is not honoured",),
    )
    assert str(report).splitlines() == [
        "append    db.t: version 7, 2 attempts",
        "rows      1,234,567 inserted",
        "files     1 added, 5.0 MiB",
        "seconds   write 1.500, commit 0.062",
        "note      write.wap.enabled is not honoured",
    ]
    assert str(Report("append", "db.t", None, attempts=1)) == "append    db.t: nothing committed"


def test_in_a_notebook_names_cannot_become_markup() -> None:
    shown = Report("append", "<b>t</b>", 1)._repr_html_()
    assert shown == "<table><tr><th>append</th><td>&lt;b&gt;t&lt;/b&gt;: version 1</td></tr></table>"


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.0 KiB"), (1536 << 20, "1.5 GiB"), (5000 << 50, "5,000.0 PiB")],
)
def test_sizes_are_shown_in_the_unit_that_suits_them(size: int, shown: str) -> None:
    assert readable_bytes(size) == shown


def test_one_thing_is_one_and_two_are_many() -> None:
    assert [counted(number, "file") for number in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]
