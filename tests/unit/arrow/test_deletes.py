"""Are delete files read as what they are, and refused by name when they are damaged?"""

import io
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakewright.engine.arrow.deletes import DeleteReader, KnownMarks
from lakewright.errors import CorruptTable
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.partitioning import PartitionKey
from lakewright.model.scan import Candidate
from lakewright.testing.memory import MemoryStore

DATA = DataFile("memory://t/data/1.parquet", PartitionKey(0), 10, 100)
VECTOR = DeleteFile(
    "memory://t/data/d.puffin", DeleteKind.VECTOR, PartitionKey(0), 1, 100, 7, content_offset=4, content_size=40
)


def position_delete(store: MemoryStore, paths: list[str | None], positions: list[int | None]) -> DeleteFile:
    sink = io.BytesIO()
    pq.write_table(
        pa.table([pa.array(paths, pa.string()), pa.array(positions, pa.int64())], ["file_path", "pos"]), sink
    )
    store.write("memory://t/data/d.parquet", sink.getvalue())
    return DeleteFile(
        "memory://t/data/d.parquet", DeleteKind.POSITIONS, PartitionKey(0), len(paths), len(sink.getvalue()), 7
    )


def positions(store: MemoryStore, *deletes: DeleteFile) -> list[int]:
    return DeleteReader("t", {}, store).positions(Candidate(DATA, deletes)).tolist()


def test_each_file_loses_the_rows_that_are_under_its_own_path() -> None:
    store = MemoryStore()
    paths = [DATA.location, "memory://t/data/2.parquet", DATA.location]
    assert positions(store, position_delete(store, paths, [7, 1, 3])) == [3, 7]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_paths_are_told_apart_in_whichever_way_they_are_stored(kind: pa.DataType, count: int) -> None:
    store = MemoryStore()
    paths = [DATA.location if number % 2 else f"memory://t/data/{number}.parquet" for number in range(count)]
    rows = pa.table([pa.array(paths, pa.string()).cast(kind), pa.array(range(count), pa.int64())], ["file_path", "pos"])
    sink = io.BytesIO()
    pq.write_table(rows, sink, row_group_size=2, store_schema=False)
    store.write("memory://t/data/d.parquet", sink.getvalue())
    delete = replace(VECTOR, location="memory://t/data/d.parquet", kind=DeleteKind.POSITIONS, record_count=count)
    assert positions(store, delete) == list(range(1, count, 2))


@pytest.mark.parametrize(("paths", "rows"), [([None, DATA.location], [1, 2]), ([DATA.location] * 2, [1, None])])
def test_a_position_delete_of_nothing_is_refused(paths: list[str | None], rows: list[int | None]) -> None:
    store = MemoryStore()
    with pytest.raises(CorruptTable, match=r"d\.parquet of table t has rows without a path or a position"):
        positions(store, position_delete(store, paths, rows))


@pytest.mark.parametrize("length", [0, 3, 20])
def test_a_vector_that_ends_before_its_end_is_refused(length: int) -> None:
    store = MemoryStore()
    store.write(VECTOR.location, bytes(4 + length))
    with pytest.raises(CorruptTable, match=r"deletion vector at 4 in memory://t/data/d\.puffin of table t is cut"):
        positions(store, VECTOR)


@pytest.mark.parametrize("wrong", [replace(VECTOR, content_offset=-1), replace(VECTOR, content_size=-5)])
def test_a_vector_that_lies_nowhere_is_refused(wrong: DeleteFile) -> None:
    store = MemoryStore()
    store.write(VECTOR.location, bytes(100))
    with pytest.raises(CorruptTable, match=r"d\.puffin of table t"):
        positions(store, wrong)


def test_marks_of_other_deletes_under_the_same_names_are_read_anew() -> None:
    store, marks = MemoryStore(), KnownMarks()
    for gone in ([1], [2, 3]):
        delete = position_delete(store, [DATA.location] * len(gone), gone)
        found = marks.of(Candidate(DATA, (delete,)), DeleteReader("t", {}, store))
        assert found.tolist() == gone
