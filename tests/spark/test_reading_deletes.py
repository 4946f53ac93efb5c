"""Does Spark lose exactly the rows that deletes name, wherever the files lie, and plan on workers as on threads?"""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakewright as lw
from lakewright.engine.arrow.local import plan_on_threads
from lakewright.engine.spark.plans import plan_on_workers
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.predicates import EVERY_ROW, Operator, Predicate, Test
from lakewright.model.schema import Schema
from lakewright.model.types import Field, Primitive
from lakewright.planning.prune import Pruner
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds, SystemClock
from tests.histories.builder import TableWithPast
from tests.spark import ways

COLUMNS = Schema((Field(1, "id", Primitive.LONG), Field(2, "x", Primitive.DOUBLE), Field(3, "name", Primitive.STRING)))
ROWS = 300
FOLDERS = ("plain", "a b", "100%", "a%20b", "ä#€", "p=1+2")


def with_deletes(folder: Path, *, version: int) -> TableWithPast:
    """Two files of three with rows taken out: in version 3 by vectors, before by positions, some of them twice."""
    table = TableWithPast(Storage(), COLUMNS, format_version=version, location=str(folder))
    files = [
        table.file([{1: number, 2: float(number), 3: f"row {number}"} for number in range(start, start + ROWS)])
        for start in (0, ROWS, 2 * ROWS)
    ]
    table.commit(files)
    gone = {files[0].file.location: range(0, ROWS, 7), files[1].file.location: [0, 1, ROWS - 1]}
    if version == 3:
        table.commit(marks=table.vectors(gone))
    else:
        of_first = [(files[0], position) for position in range(0, ROWS, 7)]
        of_second = [(files[1], position) for position in (0, 1, ROWS - 1)]
        table.commit(marks=[table.positions(of_first), table.positions([*of_first[:3], *of_second])])
    return table


def expected_ids() -> list[int]:
    gone = {*range(0, ROWS, 7), ROWS, ROWS + 1, 2 * ROWS - 1}
    return [number for number in range(3 * ROWS) if number not in gone]


def opened(spark: SparkSession, table: TableWithPast, moved: dict[str, str] | None = None) -> lw.Table:
    lake = lw.connect(spark=spark, catalog={"name": "f", "type": "folder", "warehouse": "unused"}, moved=moved)
    return lake.open(table.finish())


@pytest.mark.parametrize("way", ways.WAYS)
@pytest.mark.parametrize("version", [2, 3])
def test_marked_rows_are_gone_in_both_ways(spark: SparkSession, tmp_path: Path, version: int, way: ways.Way) -> None:
    table = opened(spark, with_deletes(tmp_path / "t", version=version))
    found = ways.frame(table, spark, way)
    assert [row.id for row in found.orderBy("id").collect()] == expected_ids()
    later = found.where("x >= 280 AND name LIKE 'row 2%'").orderBy("id")
    assert [row.id for row in later.collect()] == [each for each in expected_ids() if 280 <= each < ROWS]


@pytest.mark.parametrize("folder", FOLDERS)
def test_marked_rows_are_gone_wherever_the_files_lie(spark: SparkSession, tmp_path: Path, folder: str) -> None:
    table = opened(spark, with_deletes(tmp_path / folder, version=2))
    assert sorted(row.id for row in table.to_df().collect()) == expected_ids()


@pytest.mark.parametrize("folder", FOLDERS)
def test_marked_rows_are_gone_wherever_the_files_were_moved(spark: SparkSession, tmp_path: Path, folder: str) -> None:
    built = with_deletes(tmp_path / "before", version=3)
    built.finish()
    (tmp_path / "before").rename(tmp_path / folder)
    moved = {str(tmp_path / "before"): str(tmp_path / folder)}
    lake = lw.connect(spark=spark, catalog={"name": "f", "type": "folder", "warehouse": "unused"}, moved=moved)
    table = lake.open(f"{tmp_path}/before")
    assert sorted(row.id for row in table.to_df().collect()) == expected_ids()


def test_rows_are_told_apart_by_file_and_position(spark: SparkSession, tmp_path: Path) -> None:
    table = opened(spark, with_deletes(tmp_path / "t", version=2))
    rows = table.to_df(columns=["id", "_file", "_pos", "_spec_id"], where="_pos = 1").orderBy("id").collect()
    assert [(row.id, row._pos, row._spec_id) for row in rows] == [(1, 1, 0), (2 * ROWS + 1, 1, 0)]
    assert len({row._file for row in rows}) == 2


@pytest.mark.parametrize("predicate", [EVERY_ROW, Test(1, Operator.GE, (ROWS,))])
def test_workers_make_the_plan_that_threads_make(spark: SparkSession, tmp_path: Path, predicate: Predicate) -> None:
    store = Storage()
    location = with_deletes(tmp_path / "t", version=2).finish()
    table = IcebergSource(FolderCatalog(store), store, SystemClock(), RandomIds()).open_location(location, guess=False)
    snapshot = table.snapshot(table.head())
    pruner = Pruner.of(predicate, snapshot)
    on_threads = plan_on_threads(snapshot, table.reader(snapshot), pruner, store)
    assert plan_on_workers(spark, snapshot, table.reader(snapshot), pruner, store) == on_threads
    assert len(on_threads.candidates) == 3
    assert [len(each.deletes) for each in on_threads.candidates] == [2, 1, 1]


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("id IN (SELECT id FROM wanted)", [5, 305]),
        ("id NOT IN (SELECT id FROM wanted WHERE id IS NOT NULL) AND id < 7", [1, 2, 3, 4, 6]),
        ("id NOT IN (SELECT id FROM wanted)", []),
        ("id IN (SELECT id FROM wanted WHERE id > 10) OR name = 'row 6'", [6, 305]),
        ("id IN (SELECT id FROM wanted WHERE false) OR id = 2", [2]),
        ("id NOT IN (SELECT id FROM wanted WHERE false) AND id = 2", [2]),
        ("name IN (SELECT name FROM wanted)", [5]),
        ("EXISTS (SELECT 1 FROM wanted w WHERE w.id = x)", [5, 305]),
    ],
)
def test_the_values_of_a_query_select_and_skip(
    spark: SparkSession, tmp_path: Path, condition: str, ids: list[int]
) -> None:
    wanted = [(5, "row 5"), (305, 'it\'s a \\\\ "row"'), (None, None), (10**6, "row 7")]
    spark.createDataFrame(wanted, "id BIGINT, name STRING").createOrReplaceTempView("wanted")
    table = opened(spark, with_deletes(tmp_path / "t", version=2))
    found = table.to_df(where=condition)
    if "EXISTS" not in condition:
        spark.catalog.dropTempView("wanted")
    assert sorted(row.id for row in found.collect()) == ids
