"""When is Spark started, and are a Java or workers that do not fit met with one sentence that says what to do?"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakewright as lw
from lakewright.engine.spark.session import check_java, check_workers, java_major, worker_problem
from tests.spark import ways

WITHOUT_SPARK = """
import lakewright as lw, pandas as pd, pyarrow as pa

lake = lw.connect()
table = lake.create_table("a.b", "id BIGINT, region STRING, x INT", partitioned_by=["region"], sorted_by=["id"])
rows = pa.table({"id": [1, 2], "region": ["EU", None]})
first = table.append(rows)
table.append(rows.to_pandas().assign(x=pd.Series([1, 2], dtype="int32")))
table.append(rows.slice(0, 0))
table.upgrade(format_version=3)
copy = lake.create_table_as("a.copy", rows)
opened = lake.open(lake.table("a.b").metadata_location)
print(lake.tables(), repr(opened), opened.history(), opened.at(version=first.version), opened.schema, copy)
lake.drop_table("a.copy")

from pyspark import SparkContext
assert SparkContext._gateway is None, "a JVM was started"
try:
    table.to_df()
except lw.UnsuitableEnvironment as error:
    print(error)
else:
    raise SystemExit("there is no Java, and nobody noticed")
"""
DEFAULT_SESSION = """
import lakewright as lw, pyarrow as pa

lake = lw.connect()
table = lake.create_table_as("a.b", pa.table({"id": [1, 2, 3], "uid": ["00000000-0000-0000-0000-000000000001"] * 3}))
table.append(table.to_df(where="id > 1"))
assert table.to_df().count() == 5
assert lw.connect().spark is lake.spark
print(lake.spark.sparkContext.master, lake.spark.sparkContext.pythonExec)
"""


def run(script: str, folder: Path, **surroundings: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(lw.__file__).parents[1]), **surroundings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def test_opening_planning_and_small_appends_need_no_java(tmp_path: Path) -> None:
    """Where there is none, they work; what needs Spark says so."""
    said = run(WITHOUT_SPARK, tmp_path, JAVA_HOME=str(tmp_path / "nowhere"))
    assert "Spark needs Java 17 or newer" in said
    assert "JAVA_HOME is" in said
    assert (tmp_path / "lakehouse" / "catalog.db").exists()


def test_the_session_that_is_started_when_none_is_given_runs_this_python(tmp_path: Path) -> None:
    """`python3` of the path, which Spark takes by itself, may be another one."""
    (tmp_path / "bin").mkdir()
    write_script(tmp_path / "bin" / "python3", "exit 1")
    surroundings = {key: value for key, value in os.environ.items() if key == "PATH"}
    surroundings["PATH"] = f"{tmp_path}/bin:{surroundings['PATH']}"
    said = run(f"import os; os.environ.pop('PYSPARK_PYTHON', None)\n{DEFAULT_SESSION}", tmp_path, **surroundings)
    assert said.split() == ["local[*]", sys.executable]


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dversion=3\nopenjdk version "11.0.2" 2019-01-15', 11),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_the_major_version_of_java_is_read_from_what_it_prints(text: str, major: int | None) -> None:
    assert java_major(text) == major


@pytest.mark.parametrize(
    ("prints", "words"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is version 11: install a newer one and set JAVA_HOME to it"),
        ("No Java runtime present", "is of a version that it does not tell"),
        (None, "where there is none: install one, or set JAVA_HOME"),
    ],
)
def test_a_java_that_does_not_fit_is_met_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str | None, words: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if prints is not None:
        (tmp_path / "bin").mkdir()
        write_script(tmp_path / "bin" / "java", f"echo '{prints}' >&2")
    with pytest.raises(lw.UnsuitableEnvironment, match=r"^Spark needs Java 17 or newer and ") as met:
        check_java()
    assert words in str(met.value)


def test_without_java_home_java_is_looked_for_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(lw.UnsuitableEnvironment, match="none is on the path"):
        check_java()
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    write_script(tmp_path / "java", "echo 'openjdk version \"21.0.1\"' >&2")
    check_java()


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("ModuleNotFoundError: No module named 'lakewright'", "has no lakewright: install lakewright"),
        ("ModuleNotFoundError: No module named 'lakewright.engine'", "has no lakewright: install lakewright"),
        ("ModuleNotFoundError: No module named 'pyarrow'", "has no pyarrow: install lakewright"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", "run another Python than this one"),
    ],
)
def test_what_workers_lack_is_told_with_what_to_do(message: str, words: str) -> None:
    told = worker_problem(f"Traceback …\n{message}\n at org.apache.spark.api.python")
    assert told is not None
    assert words in told
    assert "PYSPARK_PYTHON" in told


def test_an_error_that_says_nothing_of_the_workers_is_left_alone() -> None:
    assert worker_problem("Task failed: no space left on device; No module named 'their_own_module'") is None


def test_workers_that_fit_are_found_to_fit(spark: SparkSession) -> None:
    check_workers(spark)


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        ("without packages", "the Python of the Spark workers has no (pyarrow|lakewright): install lakewright"),
        ("of another version", "the Spark workers run another Python than this one"),
        ("with another lakewright", r"the Spark workers have lakewright 0\.0\.7 and this Python has"),
    ],
)
def test_workers_that_do_not_fit_are_met_before_anything_is_written(
    spark: SparkSession, tmp_path: Path, worker: str, words: str
) -> None:
    match worker:
        case "without packages":
            python = write_script(tmp_path / "python", f'exec {sys.executable} -S "$@"')
        case "of another version":
            (tmp_path / "sitecustomize.py").write_text(ANOTHER_VERSION)
            python = write_script(tmp_path / "python", with_path(tmp_path))
        case _:
            shutil.copytree(Path(lw.__file__).parent, tmp_path / "lakewright")
            (tmp_path / "lakewright" / "_version.py").write_text('"""Which version?"""\n\n__version__ = "0.0.7"\n')
            python = write_script(tmp_path / "python", with_path(tmp_path))
    lake = lw.connect(spark=spark, catalog={"name": "f", "type": "folder", "warehouse": f"{tmp_path}/lake"})
    table = lake.create_table("n.t", "id BIGINT")
    with worker_python(spark, python), pytest.raises(lw.UnsuitableEnvironment, match=words) as met:
        table.append(spark.range(3))
    assert "\n" not in str(met.value)
    assert table.history() == ()
    table.append(spark.range(3))
    assert ways.lines(table.to_df()) == ways.lines(pa.table({"id": [0, 1, 2]}))


ANOTHER_VERSION = """
import collections, sys
parts = ("major", "minor", "micro", "releaselevel", "serial")
sys.version_info = collections.namedtuple("version_info", parts)(3, 99, 0, "final", 0)
"""


def with_path(folder: Path) -> str:
    return f'PYTHONPATH={folder}:$PYTHONPATH exec {sys.executable} "$@"'


def write_script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@contextmanager
def worker_python(spark: SparkSession, python: Path) -> Iterator[None]:
    """What PYSPARK_PYTHON does before a session starts, for a session that has started."""
    context = spark.sparkContext
    before, context.pythonExec = context.pythonExec, str(python)
    try:
        yield
    finally:
        context.pythonExec = before
