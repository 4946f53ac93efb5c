"""Which sound bytes are there to be damaged? Those that a builder of tables wrote, and some of other engines."""

import random
from dataclasses import dataclass
from functools import cache

from lakewright.formats.iceberg.adapter import IcebergSource, IcebergTable
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.formats.iceberg.records.manifests import Content, Entry, Manifest, Status, write_manifest
from lakewright.formats.iceberg.replay import manifest_list_location
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import Identity, PartitionField, PartitionKey, PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.types import Field, Primitive
from lakewright.protocols import ObjectStore
from lakewright.storage.locations import Storage
from lakewright.testing.memory import MemoryStore
from lakewright.testing.steady import CountingIds, FixedClock
from tests.foreign import corpus
from tests.histories.builder import TableWithPast
from tests.histories.random_past import ID, RandomPast

SEEDS = (1, 2, 3, 5, 8)
FOREIGN_TABLES_MAX = 12


@dataclass(frozen=True)
class Sample:
    """A manifest, and what is needed to read it."""

    raw: bytes
    manifest: Manifest
    specs: dict[int, PartitionSpec]


@cache
def manifests() -> tuple[Sample, ...]:
    """Of the newest version of each table."""
    found = []
    for table, store in _tables():
        snapshot = table.snapshot(table.head())
        for task in (*snapshot.tasks[:3], *snapshot.delete_tasks[:3]):
            assert isinstance(task, Manifest)
            found.append(Sample(store.read(task.location), task, dict(snapshot.specs)))
    return (*found, _of_many_files())


@cache
def manifest_lists() -> tuple[bytes, ...]:
    found = []
    for table, store in _tables():
        metadata = table.head().metadata
        node = metadata.snapshots[metadata.current_snapshot_id]
        location = manifest_list_location(metadata, node)
        found += [store.read(location)] if location else []
    return tuple(found)


def _of_many_files() -> Sample:
    """So many that they are decoded at once."""
    spec = PartitionSpec(0, (PartitionField(2, 1000, "p", Identity()),))
    schema = Schema((ID, Field(2, "p", Primitive.STRING)))
    bounds = {1: b"\x01".ljust(8, b"\x00")}
    entries = [
        Entry(
            Status.ADDED,
            1,
            None,
            None,
            DataFile(
                f"s3://b/t/data/{n}.parquet",
                PartitionKey(0, ("EU",)),
                n,
                n,
                FileMetrics({1: n}, {1: n}, {1: 0}, {}, bounds, bounds),
            ),
        )
        for n in range(40)
    ]
    raw = write_manifest(2, schema, spec, entries)
    counts = dict.fromkeys(
        ("added_files", "existing_files", "deleted_files", "added_rows", "existing_rows", "deleted_rows"), 0
    )
    return Sample(raw, Manifest("m", len(raw), 0, None, Content.DATA, 1, 1, 1, **counts), {0: spec})


@cache
def _tables() -> tuple[tuple[IcebergTable, ObjectStore], ...]:
    found = []
    for seed in SEEDS:
        store = MemoryStore()
        past = RandomPast(TableWithPast(store, Schema((ID,)), format_version=2 + seed % 2), random.Random(seed))
        past.run(12)
        found.append((_opened(past.table.finish(), store), store))
    foreign = [table for table in corpus.iceberg_tables() if not table.is_damaged and table.expected[0].row_count]
    for table in foreign[:: max(1, len(foreign) // FOREIGN_TABLES_MAX)]:
        moved = Storage.of({}, table.moved)
        found.append((_opened(table.metadata_location, moved), moved))
    return tuple(found)


def _opened(location: str, store: ObjectStore) -> IcebergTable:
    return IcebergSource(FolderCatalog(store), store, FixedClock(), CountingIds()).open_location(location, guess=False)
