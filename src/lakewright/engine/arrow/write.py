"""How do rows become data files of the right size, in the right partitions, measured as they are written?

A `PartitionedWriter` holds back rows until they make a row group. When many partitions are being written at once, what
does not fit in memory waits in a local spill file, so that the number of open data files stays bounded and no rows have to
be shuffled.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakewright.engine.arrow.measure import Leaf, Measures, leaf_column, leaves_of, metrics_of, split_offsets_of
from lakewright.engine.arrow.partition import split_by_partition
from lakewright.engine.arrow.types import arrow_schema
from lakewright.model.files import DataFile
from lakewright.model.layout import WriteLayout
from lakewright.model.naming import file_location
from lakewright.model.partitioning import PartitionKey
from lakewright.model.types import FLOATING
from lakewright.protocols import ObjectStore

_BUFFERED_BYTES_MAX = 256 << 20
_OPEN_FILES_MAX = 64
_ROW_GROUP_ROWS_MAX = 1 << 20


@dataclass
class FileNames:
    """Names that no other task, and no other attempt at this task, gives."""

    layout: WriteLayout
    task: str
    count: int = 0

    def next_location(self, key: PartitionKey) -> str:
        self.count += 1
        name = f"{self.task}-{self.layout.write_id}-{self.count:05d}.parquet"
        return file_location(self.layout.location, self.layout.schema, self.layout.spec, key, name)


class PartitionedWriter:
    """Writes the rows that one task is given; use as a context, `close` ends it well."""

    def __init__(
        self, layout: WriteLayout, store: ObjectStore, task: str, *, buffered_bytes_max: int = _BUFFERED_BYTES_MAX
    ) -> None:
        self._layout = layout
        self._store = store
        self._names = FileNames(layout, task)
        self._schema = arrow_schema(layout.schema.fields)
        self._leaves = leaves_of(layout.schema.fields)
        self._row_group_bytes = min(layout.parquet.row_group_bytes, layout.target_file_bytes)
        self._buffered_bytes_max = buffered_bytes_max
        self._partitions: dict[PartitionKey, _Partition] = {}
        self._spill = _Spill(self._schema)
        self._columns_with_nan: set[int] = set()

    def write(self, rows: pa.Table) -> None:
        if rows.num_rows == 0:
            return
        for key, part_rows in split_by_partition(rows, self._layout.schema, self._layout.spec):
            partition = self._partitions.setdefault(key, _Partition(key))
            partition.hold(part_rows)
            if partition.held_bytes >= self._row_group_bytes:
                self._flush(partition)
        if sum(partition.held_bytes for partition in self._partitions.values()) > self._buffered_bytes_max:
            self._make_room()

    def close(self) -> tuple[DataFile, ...]:
        """Finish all files, partition by partition, and describe them."""
        for partition in self._partitions.values():
            held_since = partition.release()
            for rows in (*self._spill.take(partition.key), *held_since):
                partition.hold(rows)
                if partition.held_bytes >= self._row_group_bytes:
                    self._flush(partition)
            self._flush(partition)
            self._finish_file(partition)
        self._spill.close()
        return tuple(file for partition in self._partitions.values() for file in partition.files)

    def abort(self) -> None:
        """Leave nothing behind: neither finished files nor begun ones, nor one whose end was not answered."""
        self._spill.close()
        for partition in self._partitions.values():
            locations = [file.location for file in partition.files]
            if partition.open_file is not None:
                locations.append(partition.open_file.location)
                with suppress(OSError):
                    partition.open_file.discard()
            for location in locations:
                with suppress(OSError):
                    self._store.delete(location)

    def __enter__(self) -> "PartitionedWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.abort()

    def _make_room(self) -> None:
        """With few partitions, row groups are written early. With many, they would be tiny: rows wait on disk instead."""
        if len(self._partitions) <= _OPEN_FILES_MAX:
            for partition in self._partitions.values():
                self._flush(partition)
            return
        for partition in self._partitions.values():
            if partition.held and partition.open_file is None:
                self._spill.put(partition.key, pa.concat_tables(partition.release()))

    def _flush(self, partition: "_Partition") -> None:
        if not partition.held:
            return
        for rows in _row_groups(pa.concat_tables(partition.release()), self._row_group_bytes):
            self._write(partition, rows)

    def _write(self, partition: "_Partition", rows: pa.Table) -> None:
        if partition.open_file is not None and self._brings_first_nan(rows, partition.open_file):
            self._finish_file(partition)
        self._note_nans(rows)
        if partition.open_file is None:
            location = self._names.next_location(partition.key)
            partition.open_file = _OpenFile(self._layout, self._store, location, self._schema, self._plain_stats())
        partition.open_file.write(rows)
        if partition.open_file.is_full(self._layout.target_file_bytes):
            self._finish_file(partition)

    def _finish_file(self, partition: "_Partition") -> None:
        if partition.open_file is not None:
            partition.files.append(partition.open_file.finish(partition.key))
            partition.open_file = None

    def _brings_first_nan(self, rows: pa.Table, open_file: "_OpenFile") -> bool:
        """A file whose footer has min and max of a floating column must hold no NaN there: readers would skip it."""
        return any(
            leaf.name in open_file.columns_with_stats and _has_nan(rows, leaf)
            for leaf in self._leaves
            if leaf.field.type in FLOATING
        )

    def _note_nans(self, rows: pa.Table) -> None:
        for leaf in self._leaves:
            unknown = leaf.field.type in FLOATING and leaf.field.id not in self._columns_with_nan
            if unknown and (leaf.repeated or _has_nan(rows, leaf)):
                self._columns_with_nan.add(leaf.field.id)

    def _plain_stats(self) -> tuple[str, ...]:
        return tuple(leaf.name for leaf in self._leaves if leaf.field.id not in self._columns_with_nan)


@dataclass
class _Partition:
    """What one partition has waiting, being written, and done."""

    key: PartitionKey
    held: list[pa.Table] = field(default_factory=list)
    held_bytes: int = 0
    open_file: "_OpenFile | None" = None
    files: list[DataFile] = field(default_factory=list)

    def hold(self, rows: pa.Table) -> None:
        self.held.append(rows)
        self.held_bytes += rows.nbytes

    def release(self) -> list[pa.Table]:
        held, self.held, self.held_bytes = self.held, [], 0
        return held


class _OpenFile:
    """One Parquet file in the making."""

    def __init__(
        self, layout: WriteLayout, store: ObjectStore, location: str, schema: pa.Schema, stats: tuple[str, ...]
    ) -> None:
        self.columns_with_stats = frozenset(stats)
        self._layout = layout
        self.location = location
        self._measures = Measures(leaves_of(layout.schema.fields))
        self._footers: list[pq.FileMetaData] = []
        self._raw_bytes = 0
        self._last_raw_bytes = 0
        self._sink: Any = store.create(location)
        try:
            self._parquet = self._writer(schema, stats)
        except BaseException:
            self._drop_sink()
            raise

    def write(self, rows: pa.Table) -> None:
        """One row group, unless it would hold too many rows for readers to like."""
        self._last_raw_bytes = rows.nbytes
        self._raw_bytes += self._last_raw_bytes
        self._parquet.write_table(rows, row_group_size=_ROW_GROUP_ROWS_MAX)
        self._measures.add(rows)

    def is_full(self, target_bytes: int) -> bool:
        """Whether another row group like the last one would bring the file further from its target size."""
        written = self._sink.tell()
        next_bytes = self._last_raw_bytes * written / max(1, self._raw_bytes)
        return bool(written + next_bytes / 2 >= target_bytes)

    def finish(self, key: PartitionKey) -> DataFile:
        self._parquet.close()
        size = self._sink.tell()
        self._sink.close()
        footer = self._footers[0]
        return DataFile(
            location=self.location,
            partition=key,
            record_count=footer.num_rows,
            size_bytes=size,
            metrics=metrics_of(footer, self._measures, self._layout.metrics),
            split_offsets=split_offsets_of(footer),
            sort_order_id=self._layout.sort_order.order_id or None,
        )

    def discard(self) -> None:
        """After a failed write the footer cannot be made, which Arrow says with a RuntimeError."""
        with suppress(OSError, pa.ArrowException, RuntimeError):
            self._parquet.close()
        self._drop_sink()

    def _drop_sink(self) -> None:
        """Leaving the sink by an exception is how it is told not to appear."""
        error = OSError("abandoned")
        self._sink.__exit__(OSError, error, None)

    def _writer(self, schema: pa.Schema, stats: tuple[str, ...]) -> pq.ParquetWriter:
        options = self._layout.parquet
        return pq.ParquetWriter(
            self._sink,
            schema,
            compression="none" if options.compression == "uncompressed" else options.compression,
            compression_level=options.compression_level,
            data_page_size=options.page_bytes,
            max_rows_per_page=options.page_rows,
            dictionary_pagesize_limit=options.dictionary_bytes,
            write_statistics=list(stats),
            store_schema=False,
            store_decimal_as_integer=True,
            metadata_collector=self._footers,
        )


class _Spill:
    """Rows of many partitions that wait on the local disk, each batch found again by its number."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._file: Any = None
        self._writer: Any = None
        self._reader: Any = None
        self._batches: dict[PartitionKey, list[int]] = {}
        self._count = 0

    def put(self, key: PartitionKey, rows: pa.Table) -> None:
        if self._writer is None:
            self._file = TemporaryFile(prefix="lakewright-spill-")  # noqa: SIM115 -- closed by close
            self._writer = pa.ipc.new_file(self._file, self._schema)
        for batch in rows.combine_chunks().to_batches():
            self._writer.write_batch(batch)
            self._batches.setdefault(key, []).append(self._count)
            self._count += 1

    def take(self, key: PartitionKey) -> Iterator[pa.Table]:
        numbers = self._batches.pop(key, ())
        if numbers and self._reader is None:
            self._writer.close()
            self._file.seek(0)
            self._reader = pa.ipc.open_file(self._file)
        for number in numbers:
            yield pa.Table.from_batches([self._reader.get_batch(number)], self._schema)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _row_groups(rows: pa.Table, size_bytes: int) -> Iterator[pa.Table]:
    """Rows that came at once may make more than one row group."""
    count = max(1, round(rows.nbytes / size_bytes))
    size = -(-rows.num_rows // count)
    for start in range(0, rows.num_rows, size):
        yield rows.slice(start, size)


def _has_nan(rows: pa.Table, leaf: Leaf) -> bool:
    return not leaf.repeated and bool(pc.any(pc.is_nan(leaf_column(rows, leaf))).as_py())
