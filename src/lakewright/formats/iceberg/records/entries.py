"""What do the entries of a manifest say? Decoded for all files at once, and made into values for those that matter.

Decoding does not depend on the manifest list, so its result can be kept; what entries inherit from the manifest's own
entry there, sequence numbers and row ids, is filled in afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.records.avro import (
    AvroFile,
    member_schema,
    names_by_field_id,
    read_avro,
    with_types_in_place,
    without_logical_types,
)
from lakewright.formats.iceberg.records.columns import Column, Fields, Items, Numbers, Texts, columns_of, compact
from lakewright.formats.iceberg.records.lockstep import decoded_at_once, prefix_of
from lakewright.formats.iceberg.records.manifests import Content, Entry, Manifest, Status
from lakewright.formats.iceberg.records.partitions import partition_columns
from lakewright.model.columns import BoundsById, CountsById, FileColumns, MetricColumns, Pieces, rows_where
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.partitioning import PartitionKey, PartitionSpec
from lakewright.model.types import Value

_FEW = 32
"""So few records are decoded one by one: that is quicker."""
_EQUALITY = 2
_PATH_ID = 2147483546
_NO_COUNTS = CountsById.of([])
_NO_BOUNDS = BoundsById.of([])


@dataclass(frozen=True)
class DecodedManifest:
    """The columns of a manifest file, as they are stored."""

    fields: Fields
    names: Mapping[int, str]
    file_names: Mapping[int, str]
    partition_schema: Mapping[str, Any]
    count: int
    size_bytes: int
    """Roughly what it takes to keep this in memory."""

    @property
    def members(self) -> Mapping[str, Column]:
        member = self.fields.columns[self.names[2]]
        assert isinstance(member, Fields)
        return member.columns


def decode_manifest(location: str, raw: bytes) -> DecodedManifest:
    """Refused as damaged when the bytes are not those of a manifest."""
    try:
        avro = read_avro(raw)
        schema = with_types_in_place(avro.schema)
        file_schema = member_schema(schema, 2)
        fields = compact(_decoded(avro, schema))
        assert isinstance(fields, Fields)
        return DecodedManifest(
            fields=fields,
            names=names_by_field_id(schema),
            file_names=names_by_field_id(file_schema),
            partition_schema=member_schema(file_schema, 102),
            count=avro.count,
            size_bytes=2 * len(avro.content) + (16 << 10),
        )
    except Exception as error:
        raise CorruptTable(f"manifest {location} is damaged: {error!r}") from error


def read_manifest(manifest: Manifest, raw: bytes, specs: Mapping[int, PartitionSpec], table: str) -> "ManifestEntries":
    """The entries of a manifest, deleted ones included."""
    return ManifestEntries(manifest, decode_manifest(manifest.location, raw), specs, table)


class ManifestEntries:
    """The entries of one manifest of a snapshot, deleted ones included."""

    def __init__(self, manifest: Manifest, decoded: DecodedManifest, specs: Mapping[int, PartitionSpec], table: str):
        if manifest.spec_id not in specs:
            known = ", ".join(map(str, sorted(specs)))
            raise CorruptTable(
                f"manifest {manifest.location} names partition spec {manifest.spec_id}, table {table} has specs {known}"
            )
        self.manifest = manifest
        self._decoded = decoded
        self._spec = specs[manifest.spec_id]
        self.table = table
        self._check()

    def __len__(self) -> int:
        return self._decoded.count

    def __iter__(self) -> Iterator[Entry]:
        return (self.entry(row) for row in range(len(self)))

    def live_rows(self) -> list[int]:
        return rows_where(self._statuses != Status.DELETED)

    def entry(self, row: int) -> Entry:
        file = self.data_file(row) if self.manifest.content is Content.DATA else self.delete_file(row)
        file_sequence = self._numbers(4, self._decoded.names)[row]
        snapshot_id = self._numbers(1, self._decoded.names)[row]
        return Entry(
            status=Status(int(self._statuses[row])),
            snapshot_id=self.manifest.added_snapshot_id if snapshot_id is None else snapshot_id,
            data_sequence_number=self._data_sequence(row),
            file_sequence_number=self._inherited_sequence(row) if file_sequence is None else file_sequence,
            file=replace(file, metrics=self.columns.metrics.of_file(row)),
        )

    def data_file(self, row: int) -> DataFile:
        """Without its statistics: files are judged by columns of those."""
        first_row_ids = self._first_row_ids
        return DataFile(
            location=self._location(row),
            partition=self._partition(row),
            record_count=int(self._record_counts[row]),
            size_bytes=int(self._sizes[row]),
            file_format=self._formats[row],
            split_offsets=self._split_offsets[row],
            sort_order_id=self._numbers(140)[row],
            first_row_id=None if first_row_ids is None or first_row_ids[row] < 0 else int(first_row_ids[row]),
            data_sequence_number=self._data_sequence(row),
        )

    def delete_file(self, row: int) -> DeleteFile:
        """A delete in Puffin is a vector; one whose paths begin and end alike is about that file alone."""
        sequence = self._data_sequence(row)
        if sequence is None:
            raise CorruptTable(f"delete file {self._location(row)} of table {self.table} has no sequence number")
        kind = DeleteKind.POSITIONS
        if self._contents[row] == _EQUALITY:
            kind = DeleteKind.EQUALITY
        elif self._formats[row] == "puffin":
            kind = DeleteKind.VECTOR
        referenced = self._referenced[row]
        if referenced is None and kind is DeleteKind.POSITIONS:
            metrics = self.columns.metrics
            lower, upper = (
                bounds.of_file(row).get(_PATH_ID) for bounds in (metrics.lower_bounds, metrics.upper_bounds)
            )
            with self._texts_are_texts():
                referenced = lower.decode() if lower is not None and lower == upper else None
        return DeleteFile(
            location=self._location(row),
            kind=kind,
            partition=self._partition(row),
            record_count=int(self._record_counts[row]),
            size_bytes=int(self._sizes[row]),
            data_sequence_number=sequence,
            file_format=self._formats[row],
            referenced_data_file=referenced,
            content_offset=self._numbers(144)[row] or 0,
            content_size=self._numbers(145)[row] or 0,
            equality_ids=self._equality_ids[row],
            split_offsets=self._split_offsets[row],
            sort_order_id=self._numbers(140)[row],
        )

    @cached_property
    def columns(self) -> FileColumns:
        """What the files are judged by."""
        return FileColumns(
            spec_id=self.manifest.spec_id,
            record_counts=self._record_counts,
            partitions=self._partitions,
            metrics=MetricColumns(
                column_sizes=self._counts(108),
                value_counts=self._counts(109),
                null_counts=self._counts(110),
                nan_counts=self._counts(137),
                lower_bounds=self._bounds(125),
                upper_bounds=self._bounds(128),
            ),
        )

    def _check(self) -> None:
        texts = [self._member(100), self._member(101)]
        whole = all(isinstance(column, Texts) and column.known.all() for column in texts)
        if not (whole and isinstance(self._member(102), Fields)):
            raise CorruptTable(
                f"manifest {self.manifest.location} is damaged: its entries lack a path, a format or a partition"
            )
        encrypted = self._member(131)
        if isinstance(encrypted, Texts) and encrypted.known.any():
            raise Unsupported(
                f"manifest {self.manifest.location} lists encrypted files; encrypted tables are not supported"
            )
        statuses = self._statuses
        if len(statuses) and (statuses.min() < Status.EXISTING or statuses.max() > Status.DELETED):
            raise CorruptTable(
                f"manifest {self.manifest.location} is damaged: an entry has a status that does not exist"
            )
        if len(self._record_counts) and min(self._record_counts.min(), self._sizes.min()) < 0:
            raise CorruptTable(f"manifest {self.manifest.location} is damaged: a file has less than no rows or bytes")

    @cached_property
    def _statuses(self) -> Any:
        return self._required(0, self._decoded.names)

    @cached_property
    def _record_counts(self) -> Any:
        return self._required(103)

    @cached_property
    def _sizes(self) -> Any:
        return self._required(104)

    @cached_property
    def _contents(self) -> Any:
        return self._required(134)

    @cached_property
    def _formats(self) -> list[str]:
        return [str(name).lower() for name in self._texts(101)]

    @cached_property
    def _partitions(self) -> tuple[Sequence[Value | None], ...]:
        record = self._member(102)
        assert isinstance(record, Fields)
        try:
            columns = partition_columns(self._spec, self._decoded.partition_schema)
        except CorruptTable as error:
            raise CorruptTable(f"manifest {self.manifest.location} is damaged: {error}") from error
        with self._texts_are_texts():
            return tuple(column.values(record, len(self)) for column in columns)

    @cached_property
    def _split_offsets(self) -> list[tuple[int, ...]]:
        return self._lists(132)

    @cached_property
    def _equality_ids(self) -> list[tuple[int, ...]]:
        return self._lists(135)

    @cached_property
    def _referenced(self) -> list[Any]:
        return self._texts(143)

    @cached_property
    def _first_row_ids(self) -> Any:
        """Files without an id of their own get the next ones of the manifest, deleted files left out; -1 for none."""
        stored = self._member(142)
        known = stored.known if isinstance(stored, Numbers) else np.zeros(len(self), np.bool_)
        own = np.where(known, stored.values, -1) if isinstance(stored, Numbers) else np.full(len(self), -1)
        if self.manifest.first_row_id is None:
            return own if known.any() else None
        inherits = ~known & (self._statuses != Status.DELETED)
        rows = np.where(inherits, self._record_counts, 0)
        return np.where(inherits, self.manifest.first_row_id + np.cumsum(rows) - rows, own)

    def _data_sequence(self, row: int) -> int | None:
        stored = self._numbers(3, self._decoded.names)[row]
        return self._inherited_sequence(row) if stored is None else stored

    def _inherited_sequence(self, row: int) -> int | None:
        """Only new files inherit; all are 0 in what version 1 wrote."""
        is_new = self._statuses[row] == Status.ADDED or self.manifest.sequence_number == 0
        return self.manifest.sequence_number if is_new else None

    def _location(self, row: int) -> str:
        column = self._member(100)
        assert isinstance(column, Texts)
        with self._texts_are_texts():
            return str(column.at(row))

    def _partition(self, row: int) -> PartitionKey:
        return PartitionKey(self.manifest.spec_id, tuple(values[row] for values in self._partitions))

    def _member(self, field_id: int) -> Column | None:
        return self._decoded.members.get(self._decoded.file_names.get(field_id, ""))

    def _required(self, field_id: int, names: Mapping[int, str] | None = None) -> Any:
        """What is missing must not be taken for something: a file of unknown rows is no empty one."""
        column = self._column(field_id, names)
        if column is None or not column.known.all():
            raise CorruptTable(
                f"manifest {self.manifest.location} is damaged: entries lack the field with id {field_id}"
            )
        return column.values.astype(np.int64)

    def _numbers(self, field_id: int, names: Mapping[int, str] | None = None) -> "_Optional":
        return _Optional(self._column(field_id, names))

    def _column(self, field_id: int, names: Mapping[int, str] | None) -> Numbers | None:
        column = self._member(field_id) if names is None else self._decoded.fields.columns.get(names.get(field_id, ""))
        return column if isinstance(column, Numbers) else None

    def _texts(self, field_id: int) -> list[Any]:
        column = self._member(field_id)
        with self._texts_are_texts():
            return column.to_list() if isinstance(column, Texts) else [None] * len(self)

    @contextmanager
    def _texts_are_texts(self) -> Iterator[None]:
        """Texts are decoded when they are needed, most of them never."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise CorruptTable(f"manifest {self.manifest.location} is damaged: {error}") from error

    def _lists(self, field_id: int) -> list[tuple[int, ...]]:
        column = self._member(field_id)
        return column.to_lists() if isinstance(column, Items) else [()] * len(self)

    def _counts(self, field_id: int) -> CountsById:
        pairs = self._pairs(field_id)
        if pairs is None:
            return _NO_COUNTS
        files, ids, values = pairs
        assert isinstance(values, Numbers)
        return CountsById(files, ids, values.values)

    def _bounds(self, field_id: int) -> BoundsById:
        pairs = self._pairs(field_id)
        if pairs is None:
            return _NO_BOUNDS
        files, ids, values = pairs
        assert isinstance(values, Texts)
        return BoundsById(files, ids, Pieces(values.content, values.starts, values.lengths))

    def _pairs(self, field_id: int) -> tuple[Any, Any, Column] | None:
        column = self._member(field_id)
        if not isinstance(column, Items) or not isinstance(column.items, Fields):
            return None
        keys, values = (column.items.columns.get(name) for name in ("key", "value"))
        if not isinstance(keys, Numbers) or values is None:
            raise CorruptTable(f"manifest {self.manifest.location} is damaged: statistics {field_id} are by no field")
        return column.rows, keys.values, values


@dataclass(frozen=True)
class _Optional:
    """A column that a writer may have left out."""

    column: Numbers | None

    def __getitem__(self, row: int) -> int | None:
        return int(self.column.values[row]) if self.column is not None and self.column.known[row] else None


def _decoded(avro: AvroFile, schema: Mapping[str, Any]) -> Fields:
    """At once where there are many, one by one where there are few, or where that does not work."""
    schema = without_logical_types(schema)
    if avro.count > _FEW:
        names, inner = names_by_field_id(schema), member_schema(schema, 2)
        path = names_by_field_id(inner)[100]
        prefix = prefix_of(avro.first()[names[2]][path].encode())
        found = decoded_at_once(avro.content, avro.count, schema, names[2], path, prefix)
        if found is not None:
            return found
    column = columns_of(schema, avro.records())
    assert isinstance(column, Fields)
    return column
