"""What do the records of one version say, row by row? Iceberg's metadata tables, with the columns that Spark shows.

Left out are `readable_metrics`, which repeat the bounds, and `key_metadata`: encrypted tables are refused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lakewright.errors import InvalidRequest
from lakewright.formats.iceberg.deletes import comparable_key
from lakewright.formats.iceberg.records.entries import ManifestEntries
from lakewright.formats.iceberg.records.manifests import Content, Entry, Manifest
from lakewright.formats.iceberg.records.metadata import Metadata
from lakewright.formats.iceberg.replay import partition_members, partition_type
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.listing import Listing
from lakewright.model.naming import readable_value
from lakewright.model.partitioning import PartitionField, PartitionKey
from lakewright.model.schema import nearest
from lakewright.model.types import ColumnType, Field, ListType, MapType, Primitive, StructType, children
from lakewright.model.values import decode_value

Row = tuple[object, ...]
_INT, _LONG, _STRING, _BINARY = Primitive.INT, Primitive.LONG, Primitive.STRING, Primitive.BINARY
_MOMENT, _FLAG = Primitive.TIMESTAMPTZ, Primitive.BOOLEAN
_MICROS = 1000


@dataclass(frozen=True)
class Recorded:
    """One version with the manifests that it lists, and a way to read them."""

    metadata: Metadata
    manifests: tuple[Manifest, ...]
    entries_of: Callable[[Manifest], ManifestEntries] = field(repr=False)

    @cached_property
    def partition(self) -> tuple[Field, ...]:
        """A struct with a member for each partition field of any spec. A table that never was partitioned has no column for
        that: few engines know a struct without members."""
        members = partition_members(self.metadata)
        return (Field(102, "partition", StructType(members)),) if members else ()

    def live(self, *contents: Content) -> Iterator[Entry]:
        for manifest in self.manifests:
            if manifest.content in contents:
                entries = self.entries_of(manifest)
                yield from (entries.entry(row) for row in entries.live_rows())

    def partition_of(self, key: PartitionKey) -> tuple[Row, ...]:
        """The value of that column, if there is one; its members are NULL where the key's spec does not have the field."""
        parts = zip(self.metadata.specs[key.spec_id].fields, key.values, strict=True)
        values = {part.field_id: value for part, value in parts}
        return tuple(tuple(values.get(member.id) for member in children(column.type)) for column in self.partition)


def listing_of(name: str, recorded: Recorded) -> Listing:
    """Refused with the nearest names when there is none of this name."""
    if name not in _LISTINGS:
        raise InvalidRequest(f"there is no metadata table {name}; {nearest(name, (*_LISTINGS, 'position_deletes'))}")
    fields, rows = _LISTINGS[name](recorded)
    return Listing(fields, tuple(rows))


def _files(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    entries = recorded.live(Content.DATA, Content.DELETES)
    return _file_fields(recorded), (_file_row(entry.file, recorded) for entry in entries)


def _delete_files(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    return _file_fields(recorded), (_file_row(entry.file, recorded) for entry in recorded.live(Content.DELETES))


def _entries(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    """Those of files that the version took out are among them."""
    fields = (
        Field(0, "status", _INT),
        Field(1, "snapshot_id", _LONG),
        Field(3, "sequence_number", _LONG),
        Field(4, "file_sequence_number", _LONG),
        Field(2, "data_file", StructType(_file_fields(recorded))),
    )
    entries = (entry for manifest in recorded.manifests for entry in recorded.entries_of(manifest))
    return fields, (
        (
            int(entry.status),
            entry.snapshot_id,
            entry.data_sequence_number,
            entry.file_sequence_number,
            _file_row(entry.file, recorded),
        )
        for entry in entries
    )


def _file_fields(recorded: Recorded) -> tuple[Field, ...]:
    return (
        Field(134, "content", _INT),
        Field(100, "file_path", _STRING),
        Field(101, "file_format", _STRING),
        Field(141, "spec_id", _INT),
        *recorded.partition,
        Field(103, "record_count", _LONG),
        Field(104, "file_size_in_bytes", _LONG),
        _map_field(108, "column_sizes", _LONG),
        _map_field(109, "value_counts", _LONG),
        _map_field(110, "null_value_counts", _LONG),
        _map_field(137, "nan_value_counts", _LONG),
        _map_field(125, "lower_bounds", _BINARY),
        _map_field(128, "upper_bounds", _BINARY),
        Field(132, "split_offsets", ListType(Field(133, "element", _LONG))),
        Field(135, "equality_ids", ListType(Field(136, "element", _INT))),
        Field(140, "sort_order_id", _INT),
        Field(142, "first_row_id", _LONG),
        Field(143, "referenced_data_file", _STRING),
        Field(144, "content_offset", _LONG),
        Field(145, "content_size_in_bytes", _LONG),
    )


def _map_field(field_id: int, name: str, values: Primitive) -> Field:
    return Field(field_id, name, MapType(Field(0, "key", _INT, required=True), Field(0, "value", values)))


def _file_row(file: DataFile | DeleteFile, recorded: Recorded) -> Row:
    metrics = file.metrics
    return (
        _content(file),
        file.location,
        file.file_format.upper(),
        file.partition.spec_id,
        *recorded.partition_of(file.partition),
        file.record_count,
        file.size_bytes,
        metrics.column_sizes or None,
        metrics.value_counts or None,
        metrics.null_counts or None,
        metrics.nan_counts or None,
        metrics.lower_bounds or None,
        metrics.upper_bounds or None,
        file.split_offsets or None,
        file.equality_ids or None if isinstance(file, DeleteFile) else None,
        file.sort_order_id,
        *_content_columns(file),
    )


def _content(file: DataFile | DeleteFile) -> int:
    if isinstance(file, DataFile):
        return 0
    return 2 if file.kind is DeleteKind.EQUALITY else 1


def _content_columns(file: DataFile | DeleteFile) -> Row:
    if isinstance(file, DataFile):
        return file.first_row_id, None, None, None
    place = (file.content_offset, file.content_size) if file.kind is DeleteKind.VECTOR else (None, None)
    return None, file.referenced_data_file, *place


def _manifests(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    summary = StructType(
        (
            Field(509, "contains_null", _FLAG),
            Field(518, "contains_nan", _FLAG),
            Field(510, "lower_bound", _STRING),
            Field(511, "upper_bound", _STRING),
        )
    )
    fields = (
        Field(14, "content", _INT),
        Field(1, "path", _STRING),
        Field(2, "length", _LONG),
        Field(3, "partition_spec_id", _INT),
        Field(4, "added_snapshot_id", _LONG),
        Field(5, "added_data_files_count", _INT),
        Field(6, "existing_data_files_count", _INT),
        Field(7, "deleted_data_files_count", _INT),
        Field(15, "added_delete_files_count", _INT),
        Field(16, "existing_delete_files_count", _INT),
        Field(17, "deleted_delete_files_count", _INT),
        Field(8, "partition_summaries", ListType(Field(9, "element", summary))),
    )
    return fields, (_manifest_row(manifest, recorded) for manifest in recorded.manifests)


def _manifest_row(manifest: Manifest, recorded: Recorded) -> Row:
    counts, none = (manifest.added_files, manifest.existing_files, manifest.deleted_files), (0, 0, 0)
    return (
        int(manifest.content),
        manifest.location,
        manifest.size_bytes,
        manifest.spec_id,
        manifest.added_snapshot_id,
        *(counts if manifest.content is Content.DATA else none),
        *(counts if manifest.content is Content.DELETES else none),
        _summary_rows(manifest, recorded.metadata),
    )


def _summary_rows(manifest: Manifest, metadata: Metadata) -> tuple[Row, ...] | None:
    if manifest.summaries is None:
        return None
    parts = metadata.specs[manifest.spec_id].fields
    return tuple(
        (
            summary.contains_null,
            summary.contains_nan,
            _readable(part, summary.lower, metadata),
            _readable(part, summary.upper, metadata),
        )
        for part, summary in zip(parts, manifest.summaries, strict=False)
    )


def _readable(part: PartitionField, bound: bytes | None, metadata: Metadata) -> str | None:
    if bound is None:
        return None
    kind = partition_type(part, metadata)
    return readable_value(part.transform, _source_type(part, metadata), decode_value(kind, bound))


def _source_type(part: PartitionField, metadata: Metadata) -> ColumnType:
    known = (
        metadata.schemas[schema_id].by_id.get(part.source_id) for schema_id in sorted(metadata.schemas, reverse=True)
    )
    return next((source.type for source in known if source is not None), _STRING)


def _partitions(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    """One row for each partition of each spec."""
    fields = (
        *recorded.partition,
        Field(4, "spec_id", _INT),
        Field(2, "record_count", _LONG),
        Field(3, "file_count", _INT),
        Field(11, "total_data_file_size_in_bytes", _LONG),
        Field(5, "position_delete_record_count", _LONG),
        Field(6, "position_delete_file_count", _INT),
        Field(7, "equality_delete_record_count", _LONG),
        Field(8, "equality_delete_file_count", _INT),
        Field(9, "last_updated_at", _MOMENT),
        Field(10, "last_updated_snapshot_id", _LONG),
    )
    found: dict[PartitionKey, list[Entry]] = {}
    for entry in recorded.live(Content.DATA, Content.DELETES):
        found.setdefault(comparable_key(entry.file.partition), []).append(entry)
    return fields, (_partition_row(entries, recorded) for entries in found.values())


def _partition_row(entries: list[Entry], recorded: Recorded) -> Row:
    data, positions, equality = (
        [entry.file for entry in entries if _content(entry.file) == content] for content in (0, 1, 2)
    )
    nodes = recorded.metadata.snapshots
    commits = [
        (nodes[entry.snapshot_id]["timestamp-ms"], entry.snapshot_id)
        for entry in entries
        if entry.snapshot_id is not None and entry.snapshot_id in nodes
    ]
    updated_ms, updated_by = max(commits, default=(None, None))
    key = entries[0].file.partition
    return (
        *recorded.partition_of(key),
        key.spec_id,
        sum(file.record_count for file in data),
        len(data),
        sum(file.size_bytes for file in data),
        sum(file.record_count for file in positions),
        len(positions),
        sum(file.record_count for file in equality),
        len(equality),
        None if updated_ms is None else updated_ms * _MICROS,
        updated_by,
    )


def _snapshots(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    fields = (
        Field(1, "committed_at", _MOMENT),
        Field(2, "snapshot_id", _LONG),
        Field(3, "parent_id", _LONG),
        Field(4, "operation", _STRING),
        Field(5, "manifest_list", _STRING),
        Field(6, "summary", MapType(Field(7, "key", _STRING, required=True), Field(8, "value", _STRING))),
    )
    return fields, (_snapshot_row(node) for node in recorded.metadata.snapshots.values())


def _snapshot_row(node: Mapping[str, object]) -> Row:
    given = node.get("summary")
    summary = {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}
    timestamp_ms = node["timestamp-ms"]
    assert isinstance(timestamp_ms, int)
    return (
        timestamp_ms * _MICROS,
        node["snapshot-id"],
        node.get("parent-snapshot-id"),
        summary.pop("operation", None),
        node.get("manifest-list"),
        summary,
    )


def _refs(recorded: Recorded) -> tuple[tuple[Field, ...], Iterable[Row]]:
    fields = (
        Field(1, "name", _STRING),
        Field(2, "type", _STRING),
        Field(3, "snapshot_id", _LONG),
        Field(4, "max_reference_age_in_ms", _LONG),
        Field(5, "min_snapshots_to_keep", _INT),
        Field(6, "max_snapshot_age_in_ms", _LONG),
    )
    rows: list[Row] = []
    for ref in recorded.metadata.refs:
        kept = ref.retention
        ages = (kept.max_ref_age_ms, kept.min_snapshots_to_keep, kept.max_snapshot_age_ms)
        rows.append((ref.name, ref.kind.upper(), ref.version, *ages))
    return fields, rows


_LISTINGS: Mapping[str, Callable[[Recorded], tuple[tuple[Field, ...], Iterable[Row]]]] = {
    "files": _files,
    "delete_files": _delete_files,
    "entries": _entries,
    "manifests": _manifests,
    "partitions": _partitions,
    "snapshots": _snapshots,
    "refs": _refs,
}
