"""Are the rows of any version of any table the ones that plain Python finds, and does no condition lose one?"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from lakewright.model.partitioning import PartitionSpec
from lakewright.model.schema import Schema
from lakewright.table import Table
from lakewright.testing.memory import MemoryStore
from tests.histories.builder import LINEAGE, TableWithPast, Version
from tests.histories.conditions import random_condition
from tests.histories.oracle import Found, rows_of
from tests.histories.random_past import ID, RandomPast
from tests.histories.reading import opened
from tests.histories.values import Row, comparable, stored

SEEDS = range(18)
STEPS = 14
OLDER_EACH = 1
CONDITIONS_EACH = 3
PLACE = ("_file", "_pos")
EVERYTHING = {
    "append",
    "column only in the partition",
    "rows with ids of their own",
    "default",
    "add",
    "drop",
    "rename",
    "swap",
    "move",
    "deepen",
    "promoted",
    "date promoted",
    "repartition",
    "void",
    "positions in one file",
    "positions in several files",
    "upsert",
    "equality everywhere",
    "equality in a partition",
    "NULL key",
    "NaN key",
    "several vectors in a file",
    "vector replaced",
    "position deletes below a vector",
    "files removed",
    "manifests merged",
    "upgrade",
}


@cache
def past(seed: int) -> RandomPast:
    draw = random.Random(seed)
    table = TableWithPast(MemoryStore(), Schema((ID,)), format_version=draw.choice([1, 2, 2, 2, 3, 3]))
    made = RandomPast(table, draw)
    made.run(STEPS)
    return made


@dataclass(frozen=True)
class View:
    """A version as it is read: the newest one with the schema of now, or one of the past with its own."""

    table: Table
    version: Version
    schema: Schema
    specs: Mapping[int, PartitionSpec]

    @property
    def rows(self) -> dict[Found, Row]:
        return rows_of(self.version, self.schema, self.specs)

    def found(self, where: str | None = None) -> dict[Found, tuple[Any, ...]]:
        names = [child.name for child in self.schema.fields]
        lineage = [child.name for child in LINEAGE] if "v3" in repr(self.table) else []
        read = self.table.to_df(columns=[*PLACE, *names, *lineage], where=where)
        rows = [self.compared(row) for row in read.to_pylist()]
        places = list(zip(*(read.column(name).to_pylist() for name in PLACE), strict=True))
        assert len(set(places)) == len(places), "a row was read twice"
        return dict(zip(places, rows, strict=True))

    def compared(self, row: Mapping[Any, Any]) -> tuple[Any, ...]:
        """A row by names or by ids."""
        return tuple(
            comparable(row.get(each.id, row.get(each.name)), each.type) for each in (*self.schema.fields, *LINEAGE)
        )


def views(made: RandomPast, draw: random.Random) -> Iterator[View]:
    table = made.table
    handle = opened(table)
    yield View(handle, table.versions[-1], table.schema, table.specs)
    for version in draw.sample(table.versions, min(OLDER_EACH, len(table.versions))):
        yield View(handle.at(version=version.number), version, version.schema, table.specs)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_version_holds_the_rows_that_plain_python_finds(seed: int) -> None:
    for view in views(past(seed), random.Random(seed)):
        assert view.found() == {place: view.compared(row) for place, row in view.rows.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_condition_loses_a_row_for_which_it_is_true(seed: int) -> None:
    made, draw = past(seed), random.Random(seed)
    values = RandomPast(made.table, draw)
    for view in views(made, draw):
        rows = view.rows
        for _ in range(CONDITIONS_EACH):
            condition = random_condition(draw, view.schema, lambda child: values.value(child.type, nullable=False))
            found = view.found(condition.text)
            true_of = {place: view.compared(row) for place, row in rows.items() if condition.answer(row)}
            assert true_of.items() <= found.items(), condition.text
            assert found.keys() <= rows.keys(), condition.text


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_says_in_which_partition_of_which_spec_it_is(seed: int) -> None:
    made = past(seed)
    view = next(views(made, random.Random(seed)))
    columns = [*PLACE, "_spec_id", *(["_partition"] if any(spec.fields for spec in view.specs.values()) else [])]
    files = {written.file.location: written.file.partition for written in view.version.data}
    for row in view.table.to_df(columns=columns).to_pylist():
        key = files[row["_file"]]
        values = {part.name: value for part, value in zip(view.specs[key.spec_id].fields, key.values, strict=True)}
        found = {name: stored(value) for name, value in (row.get("_partition") or {}).items() if value is not None}
        expected = {name: value for name, value in values.items() if value is not None}
        assert row["_spec_id"] == key.spec_id
        assert {name: repr(value) for name, value in found.items()} == {
            name: repr(value) for name, value in expected.items()
        }


def test_the_pasts_have_everything_in_them_and_a_condition_leaves_files_out() -> None:
    happened: Counter[str] = Counter()
    read = there = 0
    for seed in SEEDS:
        made = past(seed)
        happened += made.happened
        if seed % 8 == 0:
            view = next(views(made, random.Random(seed)))
            read += len({path for path, _ in view.found(f"id = {made.last_row}")})
            there += len({path for path, _ in view.rows})
    assert not EVERYTHING - happened.keys()
    assert read < there / 2
