"""On what do simulations run? Catalogs of each kind, reached with and without faults, and what is to be true of a table."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import event

from lakewright.formats.iceberg.adapter import IcebergHead, IcebergSource, IcebergTable
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.formats.iceberg.metastore import MetastoreTables, open_catalog
from lakewright.formats.iceberg.replay import manifest_list_location
from lakewright.model.creation import NewTable
from lakewright.model.partitioning import Identity, PartitionField, PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortOrder
from lakewright.model.types import Field, Primitive
from lakewright.protocols import Catalog, ObjectStore
from lakewright.storage.locations import Storage
from lakewright.table import Table
from lakewright.testing.faults import FaultPlan, FaultyCatalog, FaultyStore
from lakewright.testing.memory import MemoryStore
from lakewright.testing.steady import CountingIds, FixedClock
from lakewright.testing.tables import listed_files
from tests.in_process_engine import InProcessEngine

COLUMNS = Schema((Field(1, "id", Primitive.LONG), Field(2, "region", Primitive.STRING)))
BY_REGION = PartitionSpec(0, (PartitionField(2, 1000, "region", Identity()),))
NO_PROPERTIES: Mapping[str, str] = {}
_IDS_APART = 1 << 40


@dataclass
class Ground:
    """One catalog and what is stored; everybody who works on it has a way of their own to both."""

    store: ObjectStore
    open: Callable[[ObjectStore], Catalog]
    """The catalog, as one who reaches the objects through a given store sees it."""
    writers: int = 0

    def writer(self, plan: FaultPlan | None = None) -> "Writer":
        """Somebody whose calls are counted, and fail, as planned."""
        self.writers += 1
        if plan is None:
            return Writer(self.open(self.store), self.store, CountingIds(self.writers * _IDS_APART))
        store = FaultyStore(self.store, plan)
        return Writer(FaultyCatalog(self.open(store), plan), store, CountingIds(self.writers * _IDS_APART))

    def objects(self, name: str) -> frozenset[str]:
        """All objects that lie where the table of this name does."""
        root = self.open(self.store).location_for(name)
        return frozenset(stored.location for stored in self.store.list(root))

    def unreferenced(self, name: str) -> set[str]:
        """Objects that no version of the table refers to."""
        table = self.writer().format(name)
        metadata = _head(table).metadata
        known = {metadata.location, *(item["metadata-file"] for item in metadata.document.get("metadata-log") or ())}
        for version, node in metadata.snapshots.items():
            snapshot = table.snapshot(table.head(), version)
            known.add(manifest_list_location(metadata, node))
            known.update(task.location for task in snapshot.tasks)
            known.update(file.location for file in listed_files(snapshot, table, self.store))
        return {each for each in self.objects(name) - known if not each.endswith("/version-hint.text")}


@dataclass
class Writer:
    """Somebody who uses the catalog from a process of their own."""

    catalog: Catalog
    store: ObjectStore
    ids: CountingIds

    def __post_init__(self) -> None:
        self.clock = FixedClock()
        self.source = IcebergSource(self.catalog, self.store, self.clock, self.ids)

    def format(self, name: str) -> IcebergTable:
        return self.source.open(name)

    def table(self, name: str) -> Table:
        return Table(name, self.format(name), InProcessEngine(self.store), self.clock, self.ids)

    def create(self, name: str, properties: Mapping[str, str] = NO_PROPERTIES, *, format_version: int = 2) -> Table:
        self.source.create(name, NewTable(COLUMNS, BY_REGION, SortOrder(), format_version, properties))
        return self.table(name)

    def ids_in(self, name: str) -> list[int]:
        """What the rows of the table are, read from its files."""
        return sorted(self.table(name).to_df().column("id").to_pylist())

    def history_of(self, name: str) -> list[int]:
        return [entry.version for entry in self.table(name).history()]


def rows(ids: Iterable[int]) -> pa.Table:
    """Rows of two partitions, when there are at least two."""
    numbers = list(ids)
    return pa.table(
        {"id": pa.array(numbers, pa.int64()), "region": ["EU" if number % 2 else "US" for number in numbers]}
    )


def folder_in_memory(_: Path) -> Ground:
    return Ground(MemoryStore(), lambda store: FolderCatalog(store, "memory://warehouse"))


def folder_on_disk(root: Path) -> Ground:
    return Ground(Storage(), lambda store: FolderCatalog(store, f"file://{root}/a wärehouse"))


def sqlite_on_disk(root: Path) -> Ground:
    properties = {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}
    catalog = open_catalog("simulated", properties)
    event.listen(catalog.engine, "connect", _do_not_wait_for_the_disk)
    catalog.engine.dispose()
    return Ground(Storage(), lambda store: MetastoreTables(catalog, store))


GROUNDS = (folder_in_memory, folder_on_disk, sqlite_on_disk)
GROUNDS_APART = (folder_in_memory, sqlite_on_disk)
"""Those that differ in more than where the bytes are."""


def _do_not_wait_for_the_disk(connection: Any, _: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def _head(table: IcebergTable) -> IcebergHead:
    return table.head()
