"""Is nothing lost or kept wrongly between the records of a table and the files that a read takes?"""

from dataclasses import replace

import pytest

from lakewright.errors import CorruptTable
from lakewright.formats.iceberg.deletes import DeleteIndex
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.partitioning import PartitionKey
from tests.described import schema_of, spec_of

SCHEMA = schema_of("id long, x double")
SPECS = {0: spec_of(SCHEMA, "x identity")}


def data_file(x: float, sequence: int | None) -> DataFile:
    return DataFile("memory://t/data/1.parquet", PartitionKey(0, (x,)), 5, 100, data_sequence_number=sequence)


def equality_delete(x: float) -> DeleteFile:
    return DeleteFile(
        "memory://t/data/d.parquet", DeleteKind.EQUALITY, PartitionKey(0, (x,)), 1, 100, 7, equality_ids=(1,)
    )


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
