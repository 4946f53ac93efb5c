"""Are tables with nested columns, odd names, odd places and unusual settings read as they were written?"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import pytest

from lakewright.storage.locations import Storage
from tests.in_process_engine import InProcessEngine
from tests.judges.asking import Judge, Reader, difference, questions_about, wrong_answers
from tests.judges.conftest import SharedLake
from tests.judges.shapes import SHAPES, Shape

NULL_LISTS = "absent lists of structs come back from it as empty ones"
ONE_NAME = "to it names that differ in case only are one name"
URLS = "it takes # and ? in a location for parts of a URL"
DOTS = "it takes a condition on a column with a dot in its name for one on a nested column"
# What a reader does not read right, and why it is not the table that is wrong.
ROWS_NEVER = {
    ("nested", "pyiceberg"): NULL_LISTS,
    ("nested and partitioned", "pyiceberg"): NULL_LISTS,
    ("nested in one row a file", "pyiceberg"): NULL_LISTS,
    ("names that differ in case", "duckdb"): ONE_NAME,
    ("names that differ in case inside", "duckdb"): ONE_NAME,
    ("in the uri a#b", "pyiceberg"): URLS,
    ("in the uri a?b", "pyiceberg"): URLS,
}
ANSWERS_NEVER = {
    ("a dotted name", "pyiceberg"): DOTS,
    ("in the uri a#b", "pyiceberg"): URLS,
    ("in the uri a?b", "pyiceberg"): URLS,
}


@dataclass(frozen=True)
class CaseSensitiveEngine(InProcessEngine):
    """As a session with spark.sql.caseSensitive."""

    def is_case_sensitive(self) -> bool:
        return True


def readings(pairs: list[tuple[Shape, int]], readers: list[str], never: dict[tuple[str, str], str]) -> list[object]:
    """Each shape in each version with each reader; what a reader is never right about is marked."""
    return [
        pytest.param(
            shape,
            version,
            reader,
            id=f"{shape}-v{version}-{reader}",
            marks=[pytest.mark.never(never[str(shape), reader])] if (str(shape), reader) in never else [],
        )
        for shape, version in pairs
        for reader in readers
    ]


EVERY_TABLE = [(shape, version) for shape in SHAPES for version in shape.versions]
ASKED_TABLES = [(shape, shape.versions[-1]) for shape in SHAPES if shape.asked]


@pytest.fixture(scope="module")
def location(shared_lake: SharedLake) -> Callable[[Shape, int], str]:
    """Makes a table when it is first asked for, and tells where its metadata lies."""
    shapes = {str(shape): shape for shape in SHAPES}
    numbers = itertools.count(1)

    @cache
    def write(name: str, version: int) -> str:
        return written(shared_lake, shapes[name], version, next(numbers))

    return lambda shape, version: write(str(shape), version)


def written(shared_lake: SharedLake, shape: Shape, version: int, number: int) -> str:
    lake, here = shared_lake.ours, f"{shared_lake.folder}/{number}"
    if shape.is_case_sensitive:
        lake = replace(lake, _engine=CaseSensitiveEngine(Storage()))
    table = lake.create_table(
        f"odd.t{number}",
        shape.rows,
        partitioned_by=shape.partitioned_by,
        sorted_by=shape.sorted_by,
        properties={key: value.replace("{here}", here) for key, value in shape.properties.items()},
        format_version=version,
        location=shape.location and shape.location.replace("{here}", here),
    )
    for batch in shape.batches:
        table.append(batch)
    return table.metadata_location


@pytest.mark.parametrize(
    ("shape", "version", "reader"), readings(EVERY_TABLE, ["duckdb", "pyiceberg", "lakewright"], ROWS_NEVER)
)
def test_every_row_is_found(
    location: Callable[[Shape, int], str], readers: dict[str, Reader], shape: Shape, version: int, reader: str
) -> None:
    assert not difference(readers[reader].rows(location(shape, version)), shape.rows)


@pytest.mark.parametrize(("shape", "version", "asked"), readings(ASKED_TABLES, ["duckdb", "pyiceberg"], ANSWERS_NEVER))
def test_every_question_about_a_column_is_answered_rightly(
    location: Callable[[Shape, int], str], judges: dict[str, Judge], shape: Shape, version: int, asked: str
) -> None:
    questions = [question for column in shape.asked for question in questions_about(shape.rows, column, ("=", ">="))]
    assert not wrong_answers(judges[asked], location(shape, version), shape.rows, questions)
