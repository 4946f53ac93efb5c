"""Do we read what DuckDB and pyiceberg deleted, updated and merged, row for row as they do?"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from lakewright.formats.iceberg.planning import ManifestReader
from lakewright.formats.iceberg.records.avro import read_avro
from lakewright.model.files import DeleteKind
from lakewright.model.snapshot import Snapshot
from tests.canonical import difference, lines
from tests.catalogs.rest_server import RestServer
from tests.catalogs.writers import NAME, Writer
from tests.decoded_columns import at_once, one_by_one, plain

ROWS = pa.table(
    {
        "id": pa.array(range(600), pa.int64()),
        "region": ["EU" if number % 3 else "US" for number in range(600)],
    }
)
CHANGES = {
    "delete": ("DELETE FROM lake.{} WHERE id % 7 = 0",),
    "delete twice": ("DELETE FROM lake.{} WHERE id < 100", "DELETE FROM lake.{} WHERE id % 5 = 0"),
    "update": ("UPDATE lake.{} SET region = 'changed' WHERE id BETWEEN 50 AND 250",),
    "delete what was updated": (
        "UPDATE lake.{} SET region = 'changed' WHERE id < 20",
        "DELETE FROM lake.{} WHERE region = 'changed' AND id > 10",
    ),
    "merge with updates": (
        "MERGE INTO lake.{} t USING (SELECT unnest([1, 2, 777]) AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET region = 'merged' WHEN NOT MATCHED THEN INSERT (id, region) VALUES (s.id, 'new')",
    ),
    "merge with deletes": (
        "MERGE INTO lake.{} t USING (SELECT unnest([1, 2, 777]) AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, region) VALUES (s.id, 'new')",
    ),
    "delete everything": ("DELETE FROM lake.{}",),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestServer]:
    with RestServer(f"file://{tmp_path}/warehouse") as running:
        yield running


@pytest.fixture
def duck(server: RestServer, connect_duckdb: Callable[..., Any]) -> Any:
    connection = connect_duckdb("httpfs", "avro", "iceberg")
    options = f"ENDPOINT '{server.uri}', AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none'"
    connection.execute(f"ATTACH '' AS lake (TYPE ICEBERG, {options})")
    return connection


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("format_version", [2, 3])
def test_we_read_what_duckdb_changed(server: RestServer, duck: Any, format_version: int, change: str) -> None:
    duck.execute("CREATE SCHEMA IF NOT EXISTS lake.sales")
    duck.execute(f"CREATE TABLE lake.{NAME} (id BIGINT, region VARCHAR) WITH ('format-version' = '{format_version}')")
    duck.register("incoming", ROWS)
    duck.execute(f"INSERT INTO lake.{NAME} SELECT * FROM incoming")
    before = found(server)
    for statement in CHANGES[change]:
        duck.execute(statement.format(NAME))
    assert not difference(lines(found(server)), lines(duck.execute(f"SELECT * FROM lake.{NAME}").arrow().read_all()))
    kinds = kinds_of_deletes(server)
    assert kinds <= {DeleteKind.POSITIONS if format_version == 2 else DeleteKind.VECTOR}
    assert kinds or change == "delete everything"
    assert not difference(lines(before), lines(ROWS))


def test_we_read_what_pyiceberg_deleted_and_overwrote(server: RestServer) -> None:
    """It writes files anew."""
    writer = Writer(server)
    writer.create().append(ROWS)
    theirs = load_catalog("peer", **server.properties()).load_table(NAME)
    theirs.delete("id < 100 or id in (200, 300)")
    theirs.overwrite(ROWS.slice(0, 5), overwrite_filter="id >= 590")
    theirs.upsert(pa.table({"id": pa.array([3, 9000], pa.int64()), "region": ["new", "new"]}), join_cols=["id"])
    assert not difference(lines(found(server)), lines(theirs.scan().to_arrow()))


def found(server: RestServer) -> pa.Table:
    rows: Any = Writer(server).table().to_df()
    assert isinstance(rows, pa.Table)
    return rows


def kinds_of_deletes(server: RestServer) -> set[DeleteKind]:
    writer = Writer(server)
    table = writer.source.open(NAME)
    snapshot: Snapshot = table.snapshot(table.head())
    reader: ManifestReader = table.reader(snapshot)
    return {delete.kind for task in snapshot.delete_tasks for delete in reader.deletes(task, writer.store)}


def test_both_decoders_find_the_same_in_manifests_of_duckdb(server: RestServer, duck: Any) -> None:
    """So many files that all are decoded at once."""
    writer = Writer(server)
    writer.create()
    duck.execute(f"INSERT INTO lake.{NAME} SELECT i, 'region ' || i FROM range(60) t(i)")
    table = writer.format()
    (task,) = table.snapshot(table.head()).tasks
    avro = read_avro(writer.store.read(task.location))
    found_at_once = at_once(avro)
    assert avro.count == 60
    assert found_at_once is not None
    assert plain(found_at_once, avro.count) == plain(one_by_one(avro), avro.count)
    assert writer.ids_in() == list(range(60))
