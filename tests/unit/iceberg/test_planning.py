"""Is nothing lost or kept wrongly between the records of a table and the files that a read takes?"""

import struct
from dataclasses import replace

import pytest

from lakewright.engine.arrow.local import plan_on_threads
from lakewright.errors import CorruptTable
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.formats.iceberg.deletes import DeleteIndex
from lakewright.model.files import DataFile, DeleteFile, DeleteKind, FileMetrics
from lakewright.model.partitioning import Identity, PartitionKey
from lakewright.model.session import SqlSettings
from lakewright.model.types import Primitive
from lakewright.planning.bind import bind
from lakewright.planning.prune import Pruner
from lakewright.testing.memory import MemoryStore
from lakewright.testing.steady import CountingIds, FixedClock
from lakewright.testing.tables import TableBuilder
from tests.described import schema_of, spec_of

SCHEMA = schema_of("id long, x double")
SPECS = {0: spec_of(SCHEMA, "x identity")}


def data_file(x: float, sequence: int | None) -> DataFile:
    return DataFile("memory://t/data/1.parquet", PartitionKey(0, (x,)), 5, 100, data_sequence_number=sequence)


def equality_delete(x: float) -> DeleteFile:
    return DeleteFile(
        "memory://t/data/d.parquet", DeleteKind.EQUALITY, PartitionKey(0, (x,)), 1, 100, 7, equality_ids=(1,)
    )


@pytest.mark.parametrize("condition", ["c1000 = 5", "_partition.c1_identity = 5"])
def test_a_column_is_never_taken_for_the_partition_field_with_its_number(condition: str) -> None:
    store = MemoryStore()
    source = IcebergSource(FolderCatalog(store), store, FixedClock(), CountingIds())
    columns = {f"c{number}": Primitive.LONG for number in range(1, 1000)} | {"c1000": Primitive.DOUBLE}
    builder = TableBuilder(source)
    table = builder.create("memory://w/t", columns, partitioned_by={"c1": Identity()})
    low, high = (struct.pack("<d", bound) for bound in (1.0, 9.0))
    metrics = FileMetrics(
        value_counts={1000: 10}, null_counts={1000: 0}, lower_bounds={1000: low}, upper_bounds={1000: high}
    )
    builder.append(table, builder.file(table, 10, partition=(5,), metrics=metrics))
    snapshot = table.snapshot(table.head())
    asked = snapshot.columns_to_ask
    pruner = Pruner(bind(condition, asked, SqlSettings()), asked, snapshot.specs)
    assert len(plan_on_threads(snapshot, table.reader(snapshot), pruner, store).candidates) == 1


@pytest.mark.parametrize(
    ("delete_of", "file_of", "applies"),
    [(1.5, 1.5, True), (1.5, 2.5, False), (float("nan"), float("nan"), True), (-0.0, -0.0, True), (-0.0, 0.0, False)],
)
def test_an_equality_delete_stays_in_its_partition(delete_of: float, file_of: float, applies: bool) -> None:
    index = DeleteIndex([equality_delete(delete_of)], SPECS, "t")
    assert bool(index.of(data_file(file_of, 3))) is applies


def test_a_file_without_a_sequence_number_is_refused_where_there_are_deletes() -> None:
    file = data_file(1.5, None)
    assert DeleteIndex([], SPECS, "t").of(file) == ()
    with pytest.raises(CorruptTable, match=r"data/1\.parquet of table t has no sequence number"):
        DeleteIndex([equality_delete(1.5)], SPECS, "t").of(file)
    assert DeleteIndex([equality_delete(1.5)], SPECS, "t").of(replace(file, data_sequence_number=7)) == ()
