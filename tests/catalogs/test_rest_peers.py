"""Do we, pyiceberg and DuckDB work on the same tables through one REST catalog, in turns and at once?"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from lakewright.model.partitioning import PartitionSpec as OurSpec
from lakewright.system_clock import SystemClock
from tests.catalogs.rest_server import RestServer
from tests.catalogs.writers import NAME, Writer, rows

EAGER = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "20"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestServer]:
    with RestServer(f"file://{tmp_path}/warehouse") as running:
        yield running


@dataclass
class Duck:
    """DuckDB with the catalog attached."""

    connection: Any

    def run(self, statement: str) -> list[Any]:
        found: list[Any] = self.connection.execute(statement).fetchall()
        return found

    def ids(self) -> list[int]:
        return [each for (each,) in self.run(f"SELECT id FROM lake.{NAME} ORDER BY id")]


@pytest.fixture
def duck(server: RestServer, connect_duckdb: Callable[..., Any]) -> Duck:
    """A connection of its own: DuckDB remembers what it met under a name, even of a catalog that it has let go."""
    duck = Duck(connect_duckdb("httpfs", "avro", "iceberg"))
    options = f"ENDPOINT '{server.uri}', AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none'"
    duck.run(f"ATTACH '' AS lake (TYPE ICEBERG, {options})")
    return duck


def peer(server: RestServer) -> Catalog:
    return load_catalog("peer", **server.properties())


def append_as_pyiceberg(catalog: Catalog, added: pa.Table) -> None:
    """pyiceberg leaves it to its caller to try again."""
    while True:
        try:
            catalog.load_table(NAME).append(added)
            return
        except CommitFailedException:
            continue


def ids_of_pyiceberg(catalog: Catalog) -> list[int]:
    return sorted(catalog.load_table(NAME).scan().to_arrow().column("id").to_pylist())


@pytest.mark.parametrize("format_version", [1, 2])
def test_pyiceberg_reads_and_appends_to_what_we_made(server: RestServer, format_version: int) -> None:
    writer, catalog = Writer(server), peer(server)
    table = writer.create(format_version=format_version)
    table.append(rows(1, 2))
    assert ids_of_pyiceberg(catalog) == [1, 2]
    append_as_pyiceberg(catalog, rows(3, 4))
    table.append(rows(5))
    assert writer.ids_in() == ids_of_pyiceberg(catalog) == [1, 2, 3, 4, 5]
    assert [entry.operation for entry in table.history()] == ["append"] * 3


def test_pyiceberg_reads_the_third_version_that_we_wrote(server: RestServer) -> None:
    writer = Writer(server)
    table = writer.create(format_version=3)
    table.append(rows(1, 2))
    table.append(rows(3))
    assert ids_of_pyiceberg(peer(server)) == [1, 2, 3]


@pytest.mark.parametrize("format_version", [1, 2])
def test_we_read_and_append_to_what_pyiceberg_made(server: RestServer, format_version: int) -> None:
    catalog = peer(server)
    catalog.create_namespace("sales")
    catalog.create_table(
        NAME,
        Schema(NestedField(1, "id", LongType()), NestedField(2, "region", StringType())),
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "region")),
        properties={"format-version": str(format_version)},
    )
    append_as_pyiceberg(catalog, rows(1, 2))
    writer = Writer(server)
    assert writer.catalog.tables() == (NAME,)
    writer.table().append(rows(3, 4))
    append_as_pyiceberg(catalog, rows(5))
    assert writer.ids_in() == ids_of_pyiceberg(catalog) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("format_version", [2, 3])
def test_duckdb_reads_and_appends_to_what_we_made(server: RestServer, duck: Duck, format_version: int) -> None:
    writer = Writer(server)
    table = writer.create(format_version=format_version)
    table.append(rows(1, 2))
    assert duck.ids() == [1, 2]
    duck.run(f"INSERT INTO lake.{NAME} VALUES (3, 'EU'), (4, 'US')")
    table.append(rows(5))
    assert writer.ids_in() == duck.ids() == [1, 2, 3, 4, 5]
    assert server.metadata(NAME).get("next-row-id") == (5 if format_version == 3 else None)


@pytest.mark.parametrize("format_version", [2, 3])
def test_we_read_and_append_to_what_duckdb_made(server: RestServer, duck: Duck, format_version: int) -> None:
    duck.run("CREATE SCHEMA lake.sales")
    duck.run(f"CREATE TABLE lake.{NAME} (id BIGINT, region VARCHAR) WITH ('format-version' = '{format_version}')")
    duck.run(f"INSERT INTO lake.{NAME} VALUES (1, 'EU'), (2, 'US')")
    writer = Writer(server)
    writer.table().append(rows(3, 4))
    duck.run(f"INSERT INTO lake.{NAME} VALUES (5, 'EU')")
    assert writer.ids_in() == duck.ids() == [1, 2, 3, 4, 5]
    assert server.metadata(NAME)["format-version"] == format_version


@pytest.mark.parametrize("format_version", [2, 3])
def test_rows_that_duckdb_deleted_are_gone_for_us(server: RestServer, duck: Duck, format_version: int) -> None:
    writer = Writer(server)
    writer.create(spec=OurSpec(0, ()), format_version=format_version).append(rows(1, 2, 3, 4))
    duck.run(f"DELETE FROM lake.{NAME} WHERE id IN (2, 3)")
    writer.table().append(rows(5))
    assert writer.ids_in() == duck.ids() == [1, 4, 5]


def test_an_upgrade_of_ours_is_one_for_everybody(server: RestServer, duck: Duck) -> None:
    writer = Writer(server)
    table = writer.create(format_version=1)
    table.append(rows(1, 2))
    table.upgrade(format_version=3)
    table.append(rows(3))
    duck.run(f"INSERT INTO lake.{NAME} VALUES (4, 'US')")
    assert writer.ids_in() == duck.ids() == ids_of_pyiceberg(peer(server)) == [1, 2, 3, 4]
    assert server.metadata(NAME)["next-row-id"] == 4


@pytest.mark.parametrize("format_version", [2, 3])
def test_two_of_us_append_at_once_and_every_row_is_there_once(server: RestServer, format_version: int) -> None:
    writers = [Writer(server, SystemClock()) for _ in range(2)]
    writers[0].create(properties=EAGER, format_version=format_version)

    def append(number: int) -> None:
        for each in range(5):
            writers[number].table().append(rows(10 * number + each))

    at_once(append)
    assert writers[0].ids_in() == [*range(5), *range(10, 15)]
    assert len(server.metadata(NAME)["snapshots"]) == 10
    assert server.metadata(NAME).get("next-row-id") == (10 if format_version == 3 else None)


def test_we_and_pyiceberg_append_at_once_and_every_row_is_there_once(server: RestServer) -> None:
    writer, catalog = Writer(server, SystemClock()), peer(server)
    writer.create(properties=EAGER)

    def append(number: int) -> None:
        for each in range(5):
            if number:
                append_as_pyiceberg(catalog, rows(10 + each))
            else:
                writer.table().append(rows(each))

    at_once(append)
    assert writer.ids_in() == ids_of_pyiceberg(catalog) == [*range(5), *range(10, 15)]
    assert len(server.metadata(NAME)["snapshots"]) == 10


def at_once(action: Any) -> None:
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(action, number) for number in range(2)]:
            done.result()
