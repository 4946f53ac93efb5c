"""What do manifest lists and manifests say, and how are they written for each format version?

Entries are read by field id and written with the names of the specification. What is not understood of an existing
manifest-list entry is nothing: the specification's fields are all here.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.records.avro import names_by_field_id, read_avro, write_avro
from lakewright.formats.iceberg.records.partitions import partition_to_record
from lakewright.formats.iceberg.records.schemas import manifest_entry_schema, manifest_list_schema
from lakewright.formats.iceberg.records.types import schema_to_json
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.snapshot import FieldSummary, PlanningTask

_V1_BLOCK_BYTES = 64 << 20
_COUNTS = ("added_files", "existing_files", "deleted_files", "added_rows", "existing_rows", "deleted_rows")


class Content(IntEnum):
    """What the files of a manifest are."""

    DATA = 0
    DELETES = 1


class Status(IntEnum):
    EXISTING = 0
    ADDED = 1
    DELETED = 2


@dataclass(frozen=True)
class Manifest(PlanningTask):
    """One entry of a manifest list. Counts are None where a version 1 writer left them out."""

    content: Content
    sequence_number: int
    min_sequence_number: int
    added_snapshot_id: int
    added_files: int | None
    existing_files: int | None
    deleted_files: int | None
    added_rows: int | None
    existing_rows: int | None
    deleted_rows: int | None
    first_row_id: int | None = None

    @property
    def may_have_live_files(self) -> bool:
        return self.added_files != 0 or self.existing_files != 0


@dataclass(frozen=True)
class Entry:
    """One entry of a manifest, with what it inherits from the manifest filled in."""

    status: Status
    snapshot_id: int | None
    data_sequence_number: int | None
    file_sequence_number: int | None
    file: DataFile | DeleteFile


def read_manifest_list(location: str, raw: bytes) -> tuple[Manifest, ...]:
    try:
        avro = read_avro(raw)
        names = names_by_field_id(avro.schema)
        return tuple(_manifest(record, names) for record in avro.records())
    except Unsupported:
        raise
    except Exception as error:
        raise CorruptTable(f"manifest list {location} is damaged: {error!r}") from error


def unlisted_manifest(location: str, raw: bytes) -> Manifest:
    """A manifest that a snapshot names without a manifest list, as the first writers did: its header has what is known."""
    try:
        spec_id = int(read_avro(raw).header.get("partition-spec-id", 0))
    except Exception as error:
        raise CorruptTable(f"manifest {location} is damaged: {error!r}") from error
    nothing = dict.fromkeys(_COUNTS)
    return Manifest(location, len(raw), spec_id, None, Content.DATA, 0, 0, added_snapshot_id=0, **nothing)


def write_manifest_list(format_version: int, manifests: Sequence[Manifest], header: Mapping[str, str]) -> bytes:
    return write_avro(
        manifest_list_schema(format_version),
        (_manifest_record(manifest, format_version) for manifest in manifests),
        {**header, "format-version": str(format_version)},
    )


def write_manifest(
    format_version: int,
    schema: Schema,
    spec: PartitionSpec,
    entries: Iterable[Entry],
    content: Content = Content.DATA,
) -> bytes:
    """One manifest has files of one spec and one content."""
    fields_json = [
        {"source-id": part.source_id, "field-id": part.field_id, "name": part.name, "transform": str(part.transform)}
        for part in spec.fields
    ]
    header = {
        "schema": json.dumps(schema_to_json(schema), separators=(",", ":")),
        "schema-id": str(schema.schema_id),
        "partition-spec": json.dumps(fields_json, separators=(",", ":")),
        "partition-spec-id": str(spec.spec_id),
        "format-version": str(format_version),
    }
    if format_version > 1:
        header["content"] = "data" if content is Content.DATA else "deletes"
    records = (_entry_record(entry, spec, schema, format_version) for entry in entries)
    return write_avro(manifest_entry_schema(format_version, schema, spec), records, header)


def _manifest(record: Mapping[str, Any], names: Mapping[int, str]) -> Manifest:
    def value(field_id: int, default: Any = None) -> Any:
        found = record.get(names.get(field_id, ""))
        return default if found is None else found

    location = value(500)
    if value(519):
        raise Unsupported(f"manifest {location} is encrypted; encrypted tables are not supported")
    return Manifest(
        location=location,
        size_bytes=value(501, 0),
        spec_id=value(502, 0),
        summaries=_summaries(value(507)),
        content=Content(value(517, 0)),
        sequence_number=value(515, 0),
        min_sequence_number=value(516, 0),
        added_snapshot_id=value(503, 0),
        added_files=value(504),
        existing_files=value(505),
        deleted_files=value(506),
        added_rows=value(512),
        existing_rows=value(513),
        deleted_rows=value(514),
        first_row_id=value(520),
    )


def _summaries(records: Sequence[Mapping[str, Any]] | None) -> tuple[FieldSummary, ...] | None:
    if records is None:
        return None
    return tuple(
        FieldSummary(
            record["contains_null"], record.get("contains_nan"), record.get("lower_bound"), record.get("upper_bound")
        )
        for record in records
    )


def _manifest_record(manifest: Manifest, format_version: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "manifest_path": manifest.location,
        "manifest_length": manifest.size_bytes,
        "partition_spec_id": manifest.spec_id,
        "added_snapshot_id": manifest.added_snapshot_id,
        "added_files_count": manifest.added_files,
        "existing_files_count": manifest.existing_files,
        "deleted_files_count": manifest.deleted_files,
        "added_rows_count": manifest.added_rows,
        "existing_rows_count": manifest.existing_rows,
        "deleted_rows_count": manifest.deleted_rows,
        "partitions": None
        if manifest.summaries is None
        else [_summary_record(summary) for summary in manifest.summaries],
        "key_metadata": None,
    }
    if format_version == 1:
        return record
    if any(record[f"{count}_count"] is None for count in _COUNTS):
        raise Unsupported(
            f"manifest {manifest.location} was written without counts, which format version {format_version} requires; "
            "have the engine that wrote it rewrite the manifests of the table"
        )
    record["content"] = int(manifest.content)
    record["sequence_number"] = manifest.sequence_number
    record["min_sequence_number"] = manifest.min_sequence_number
    record["first_row_id"] = manifest.first_row_id
    return record


def _summary_record(summary: FieldSummary) -> dict[str, Any]:
    return {
        "contains_null": summary.contains_null,
        "contains_nan": summary.contains_nan,
        "lower_bound": summary.lower,
        "upper_bound": summary.upper,
    }


def _entry_record(entry: Entry, spec: PartitionSpec, schema: Schema, format_version: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "status": int(entry.status),
        "snapshot_id": entry.snapshot_id,
        "data_file": _file_record(entry.file, spec, schema, format_version),
    }
    if format_version > 1:
        added = entry.status is Status.ADDED
        record["sequence_number"] = None if added else entry.data_sequence_number
        record["file_sequence_number"] = None if added else entry.file_sequence_number
    return record


def _file_record(
    file: DataFile | DeleteFile, spec: PartitionSpec, schema: Schema, format_version: int
) -> dict[str, Any]:
    metrics = file.metrics
    record: dict[str, Any] = {
        "file_path": file.location,
        "file_format": file.file_format.upper(),
        "partition": partition_to_record(spec, schema, file.partition.values),
        "record_count": file.record_count,
        "file_size_in_bytes": file.size_bytes,
        "column_sizes": _pairs(metrics.column_sizes),
        "value_counts": _pairs(metrics.value_counts),
        "null_value_counts": _pairs(metrics.null_counts),
        "nan_value_counts": _pairs(metrics.nan_counts),
        "lower_bounds": _pairs(metrics.lower_bounds),
        "upper_bounds": _pairs(metrics.upper_bounds),
        "split_offsets": list(file.split_offsets) or None,
        "sort_order_id": file.sort_order_id,
    }
    if format_version == 1:
        record["block_size_in_bytes"] = _V1_BLOCK_BYTES
        return record
    if isinstance(file, DataFile):
        record["content"] = 0
        record["first_row_id"] = file.first_row_id
        return record
    is_vector = file.kind is DeleteKind.VECTOR
    record["content"] = 2 if file.kind is DeleteKind.EQUALITY else 1
    record["equality_ids"] = list(file.equality_ids) or None
    record["referenced_data_file"] = file.referenced_data_file
    record["content_offset"] = file.content_offset if is_vector else None
    record["content_size_in_bytes"] = file.content_size if is_vector else None
    return record


def _pairs(mapping: Mapping[int, Any]) -> list[dict[str, Any]] | None:
    return [{"key": key, "value": mapping[key]} for key in sorted(mapping)] or None
