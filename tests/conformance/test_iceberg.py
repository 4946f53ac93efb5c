"""Does the Iceberg adapter keep the promises of a table format, for each format version and kind of catalog?"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import Catalog as PyIcebergCatalog

from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.formats.iceberg.metastore import MetastoreTables, open_catalog
from lakewright.formats.iceberg.rest import RestTables
from lakewright.protocols import Catalog, ObjectStore, TableFormat
from lakewright.storage.locations import Storage
from lakewright.testing.conformance import FormatConformance, Ground
from lakewright.testing.memory import MemoryStore
from lakewright.testing.steady import CountingIds, FixedClock
from tests.catalogs.rest_server import RestServer
from tests.object_store_server import BUCKET, ObjectStoreServer

MARK = "not-in-any-specification"


def folder_in_memory(_: Path) -> tuple[Catalog, ObjectStore]:
    store = MemoryStore()
    return FolderCatalog(store, "memory://warehouse"), store


def sqlite_on_disk(root: Path) -> tuple[Catalog, ObjectStore]:
    catalog = open_catalog("judged", sqlite_properties(root))
    return MetastoreTables(catalog, Storage()), Storage()


def sqlite_properties(root: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}


@dataclass(frozen=True)
class Glue:
    """One catalog for the run: its client takes longer to make than a test to run."""

    catalog: PyIcebergCatalog
    store: ObjectStore


@pytest.fixture(scope="session")
def glue(object_store_server: ObjectStoreServer) -> Glue:
    settings = {**object_store_server.settings, "type": "glue", "warehouse": f"s3://{BUCKET}/conformance"}
    return Glue(open_catalog("judged", settings), Storage.of(settings, {}))


def rest_over_folder(root: Path) -> Iterator[tuple[Catalog, ObjectStore]]:
    clock = FixedClock()
    with RestServer(f"file://{root}/warehouse") as server:
        catalog = open_catalog("judged", server.properties())
        yield RestTables.of(catalog, partial(Storage().vending, clock=clock), clock), Storage()


GROUNDS = [
    *((folder_in_memory, version) for version in (1, 2, 3)),
    *((sqlite_on_disk, version) for version in (1, 3)),
    (contextmanager(rest_over_folder), 3),
]


@pytest.fixture(params=GROUNDS, ids=lambda pair: f"{pair[0].__name__}-v{pair[1]}")
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ground]:
    """Every version somewhere, and each catalog with the versions between which it may differ."""
    make, format_version = request.param
    made: Any = make(tmp_path)
    with made if hasattr(made, "__enter__") else nullcontext(made) as (catalog, store):
        yield ground_of(catalog, store, "sales.orders", format_version)


def ground_of(catalog: Catalog, store: ObjectStore, name: str, format_version: int) -> Ground:
    source = IcebergSource(catalog, store, FixedClock(), CountingIds())
    return Ground(
        source=source,
        store=store,
        name=name,
        format_version=format_version,
        newest_version=3,
        opened_read_only=lambda table: source.open_location(table.head().token, guess=False),
        plant=lambda table: plant(table, store),
        planted=lambda table: planted(table, store),
    )


class TestIceberg(FormatConformance):
    pass


class TestIcebergInGlue(FormatConformance):
    """Of the newest version, which pyiceberg cannot write."""

    @pytest.fixture
    def ground(self, glue: Glue, tmp_path: Path) -> Ground:
        tables = MetastoreTables(glue.catalog, glue.store)
        return ground_of(tables, glue.store, f"{tmp_path.name}.orders", 3)


def plant(table: TableFormat, store: ObjectStore) -> None:
    """Into every object of the document, at every level; but for the one whose keys are names of branches."""
    location = table.head().token
    document = json.loads(store.read(location))
    for node in nodes(document):
        if node is not document["refs"]:
            node[MARK] = f"beside {sorted(node)}"
    store.write(location, json.dumps(document).encode())


def planted(table: TableFormat, store: ObjectStore) -> bool:
    """Whether the document, and the oldest of whatever it has a list of, still has the mark."""
    document = json.loads(store.read(table.head().token))
    oldest = [document[key][0] for key in ("schemas", "partition-specs", "sort-orders", "snapshots")]
    logs = [document[key][0] for key in ("snapshot-log", "metadata-log")]
    inner = [document["refs"]["main"], oldest[0]["fields"][0], document["snapshots"][0]["summary"]]
    return all(MARK in node for node in (document, *oldest, *logs, *inner))


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for child in list(value.values()):
            yield from nodes(child)
        yield value
    elif isinstance(value, list):
        for child in value:
            yield from nodes(child)
