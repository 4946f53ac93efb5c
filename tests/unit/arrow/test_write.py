"""Do rows become data files of the right size in the right partitions, and does a write that fails leave nothing?"""

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakewright.engine.arrow.evolve import field_id_of
from lakewright.engine.arrow.local import write_on_threads
from lakewright.engine.arrow.types import arrow_schema
from lakewright.engine.arrow.write import PartitionedWriter
from lakewright.errors import Unsupported
from lakewright.model.assignment import FromColumn
from lakewright.model.files import DataFile
from lakewright.model.layout import DataLocation, ParquetOptions, WriteLayout
from lakewright.model.partitioning import PartitionField, PartitionSpec, UnknownTransform
from lakewright.model.sorting import SortOrder
from lakewright.testing.memory import MemoryStore
from tests.described import schema_of, spec_of
from tests.unit.arrow.test_sort import order_of

SCHEMA = schema_of("id long, part int, x double")
BY_PART = spec_of(SCHEMA, "part identity")
LAYOUT = WriteLayout(SCHEMA, PartitionSpec(0), SortOrder(), DataLocation("memory://t/data"), "w1")


def rows_of(ids: range, *, parts: int = 1, x: float = 0.5) -> pa.Table:
    values = {"id": list(ids), "part": [number % parts for number in ids], "x": [x] * len(ids)}
    return pa.Table.from_pydict(values, arrow_schema(SCHEMA.fields))


def written(
    layout: WriteLayout, store: MemoryStore, *batches: pa.Table, buffered: int = 256 << 20
) -> tuple[DataFile, ...]:
    with PartitionedWriter(layout, store, "00000-0", buffered_bytes_max=buffered) as writer:
        for rows in batches:
            writer.write(rows)
        return writer.close()


def read(store: MemoryStore, file: DataFile) -> pa.Table:
    return pq.read_table(io.BytesIO(store.read(file.location)))


def ids_of(field: pa.Field, above: str = "") -> Iterator[tuple[int | None, str]]:
    """The id and the dotted name of a Parquet column and of all below it."""
    name = f"{above}{field.name}"
    yield field_id_of(field), name
    kind = field.type
    if pa.types.is_map(kind):
        below = [kind.key_field.with_name("key"), kind.item_field.with_name("value")]
    elif pa.types.is_list(kind):
        below = [kind.value_field]
    else:
        below = list(kind) if pa.types.is_struct(kind) else []
    for child in below:
        yield from ids_of(child, f"{name}.")


def test_a_file_has_field_ids_at_every_level_and_is_described_as_it_is() -> None:
    schema = schema_of("id long not null, s struct<a: int>, l array<string>, m map<int, double>")
    values = [{"id": 1, "s": {"a": 1}, "l": ["x"], "m": [(1, 1.0)]}, {"id": 2, "s": None, "l": None, "m": None}]
    store = MemoryStore()
    layout = replace(LAYOUT, schema=schema, sort_order=order_of("1 identity asc first"))
    (file,) = written(layout, store, pa.Table.from_pylist(values, arrow_schema(schema.fields)))
    parquet = pq.ParquetFile(io.BytesIO(store.read(file.location)))
    assert [found for field in parquet.schema_arrow for found in ids_of(field)] == [*schema.names_by_id.items()]
    assert parquet.read().to_pylist() == values
    assert (file.record_count, file.size_bytes) == (2, len(store.read(file.location)))
    assert (file.sort_order_id, file.split_offsets, file.file_format) == (1, (4,), "parquet")
    assert list(store.objects) == [file.location] == ["memory://t/data/00000-0-w1-00001.parquet"]


def test_files_end_near_the_target_size_and_hold_every_row_once() -> None:
    layout = replace(LAYOUT, target_file_bytes=40_000, parquet=ParquetOptions("uncompressed", row_group_bytes=10_000))
    store = MemoryStore()
    batches = [rows_of(range(start, start + 500)) for start in range(0, 10_000, 500)]
    files = written(layout, store, *batches)
    assert len(files) > 2
    assert all(20_000 < file.size_bytes < 60_000 for file in files[:-1])
    assert sorted(number for file in files for number in read(store, file).column("id").to_pylist()) == list(
        range(10_000)
    )
    assert sum(file.record_count for file in files) == 10_000
    assert all(
        len(file.split_offsets) == pq.ParquetFile(io.BytesIO(store.read(file.location))).num_row_groups
        for file in files
    )


@pytest.mark.parametrize("buffered", [1, 20_000, 256 << 20], ids=["tiny", "small", "roomy"])
@pytest.mark.parametrize("parts", [3, 200])
def test_each_partition_is_one_file_with_its_rows_in_their_order_however_little_memory_there_is(
    parts: int, buffered: int
) -> None:
    store = MemoryStore()
    batches = [rows_of(range(start, start + 400), parts=parts) for start in range(0, 2_000, 400)]
    files = written(replace(LAYOUT, spec=BY_PART), store, *batches, buffered=buffered)
    assert len(files) == len({file.partition for file in files}) == parts
    for file in files:
        (part,) = file.partition.values
        assert read(store, file).column("id").to_pylist() == list(range(int(part or 0), 2_000, parts))
        assert f"/part={part}/" in file.location


class CountingStore(MemoryStore):
    """Knows the most objects that were open for writing at once."""

    def __init__(self) -> None:
        super().__init__()
        self.sinks: list[BinaryIO] = []
        self.open_max = 0

    def create(self, location: str) -> BinaryIO:
        self.sinks.append(super().create(location))
        self.open_max = max(self.open_max, sum(not sink.closed for sink in self.sinks))
        return self.sinks[-1]


def test_with_many_partitions_and_little_memory_few_files_are_open_at_once() -> None:
    store = CountingStore()
    batches = [rows_of(range(start, start + 1_000), parts=300) for start in range(0, 3_000, 1_000)]
    assert len(written(replace(LAYOUT, spec=BY_PART), store, *batches, buffered=1)) == 300
    assert store.open_max <= 64


def has_bounds(store: MemoryStore, file: DataFile) -> bool:
    footer = pq.ParquetFile(io.BytesIO(store.read(file.location))).metadata
    found = [footer.row_group(group).column(2).statistics for group in range(footer.num_row_groups)]
    return any(statistics is not None and statistics.has_min_max for statistics in found)


def test_a_footer_has_no_bounds_of_a_column_with_nan_and_the_manifest_has_those_of_the_numbers() -> None:
    store = MemoryStore()
    layout = replace(LAYOUT, parquet=ParquetOptions(row_group_bytes=1))
    batches = [rows_of(range(5)), rows_of(range(5, 10), x=math.nan), rows_of(range(10, 15), x=7.0)]
    files = written(layout, store, *batches)
    assert [(file.record_count, has_bounds(store, file)) for file in files] == [(5, True), (10, False)]
    assert [file.metrics.nan_counts[3] for file in files] == [0, 5]
    assert [3 in file.metrics.upper_bounds for file in files] == [True, True]
    assert sorted(number for file in files for number in read(store, file).column("id").to_pylist()) == list(range(15))


def test_lists_of_floats_never_have_bounds_in_the_footer() -> None:
    schema = schema_of("l array<double>")
    store = MemoryStore()
    (file,) = written(
        replace(LAYOUT, schema=schema),
        store,
        pa.Table.from_pylist([{"l": [1.0, math.nan]}], arrow_schema(schema.fields)),
    )
    statistics = pq.ParquetFile(io.BytesIO(store.read(file.location))).metadata.row_group(0).column(0).statistics
    assert statistics is None or not statistics.has_min_max


def test_nan_partitions_are_one_partition() -> None:
    store = MemoryStore()
    layout = replace(LAYOUT, spec=spec_of(SCHEMA, "x identity"))
    files = written(layout, store, *(rows_of(range(start, start + 5), x=math.nan) for start in range(0, 20, 5)))
    assert [file.record_count for file in files] == [20]
    assert "/x=nan/" in files[0].location


def test_no_rows_make_no_file() -> None:
    store = MemoryStore()
    assert written(LAYOUT, store, rows_of(range(0))) == ()
    assert written(replace(LAYOUT, spec=BY_PART), store) == ()
    assert store.objects == {}


class Interrupted(Exception):
    """What a test interrupts a write with."""


def test_a_write_that_is_left_by_an_error_leaves_nothing() -> None:
    store = MemoryStore()
    with pytest.raises(Interrupted):
        write_and_be_interrupted(store)
    assert store.objects == {}


def write_and_be_interrupted(store: MemoryStore) -> None:
    layout = replace(LAYOUT, spec=BY_PART, target_file_bytes=100, parquet=ParquetOptions(row_group_bytes=50))
    with PartitionedWriter(layout, store, "00000-0", buffered_bytes_max=1) as writer:
        writer.write(rows_of(range(1_000), parts=100))
        assert store.objects, "some files are finished"
        writer.write(rows_of(range(1_000), parts=3))
        raise Interrupted


class FullStore(MemoryStore):
    """Takes so many objects and no more."""

    def create(self, location: str) -> BinaryIO:
        if len(self.objects) >= 3:
            raise OSError("no space left")
        return super().create(location)


def test_a_store_that_fails_in_between_is_left_as_it_was() -> None:
    store = FullStore()
    with pytest.raises(OSError, match="no space left"):
        written(replace(LAYOUT, spec=BY_PART), store, rows_of(range(100), parts=10))
    assert store.objects == {}


def test_a_transform_that_is_not_known_is_refused_before_anything_is_written() -> None:
    store = MemoryStore()
    spec = PartitionSpec(0, (PartitionField(1, 1000, "z", UnknownTransform("zorder")),))
    with pytest.raises(Unsupported, match="partition transform zorder is not known here"):
        written(replace(LAYOUT, spec=spec), store, rows_of(range(3)))
    assert store.objects == {}


def test_rows_are_sorted_before_they_are_written() -> None:
    store = MemoryStore()
    columns = tuple(FromColumn(child, child.name) for child in SCHEMA.fields)
    layout = replace(LAYOUT, sort_order=order_of("1 identity desc last"))
    (file,) = write_on_threads(rows_of(range(10)), columns, layout, store)
    assert read(store, file).column("id").to_pylist() == list(reversed(range(10)))
    assert file.sort_order_id == 1


@pytest.mark.parametrize("asked", ["zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed"])
def test_the_codec_is_the_one_that_is_asked_for(asked: str) -> None:
    store = MemoryStore()
    (file,) = written(replace(LAYOUT, parquet=ParquetOptions(asked)), store, rows_of(range(10)))
    chunk = pq.ParquetFile(io.BytesIO(store.read(file.location))).metadata.row_group(0).column(0)
    assert chunk.compression == asked.upper()
