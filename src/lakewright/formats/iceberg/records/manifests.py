"""What do manifest lists and manifests say, and how are they written for each format version?

Entries are read by field id and written with the names of the specification. What is not understood of an existing
manifest-list entry is nothing: the specification's fields are all here.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.records.avro import member_schema, names_by_field_id, read_avro, write_avro
from lakewright.formats.iceberg.records.partitions import PartitionColumn, partition_columns, partition_to_record
from lakewright.formats.iceberg.records.schemas import manifest_entry_schema, manifest_list_schema
from lakewright.formats.iceberg.records.types import schema_to_json
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import PartitionKey, PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.snapshot import FieldSummary, PlanningTask

_V1_BLOCK_BYTES = 64 << 20


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
    file: DataFile
    content: int = 0


def read_manifest_list(location: str, raw: bytes) -> tuple[Manifest, ...]:
    try:
        avro = read_avro(raw)
        names = names_by_field_id(avro.schema)
        return tuple(_manifest(record, names) for record in avro.records)
    except Unsupported:
        raise
    except Exception as error:
        raise CorruptTable(f"manifest list {location} is damaged: {error!r}") from error


def write_manifest_list(format_version: int, manifests: Sequence[Manifest], header: Mapping[str, str]) -> bytes:
    return write_avro(
        manifest_list_schema(format_version),
        (_manifest_record(manifest, format_version) for manifest in manifests),
        {**header, "format-version": str(format_version)},
    )


def read_manifest(manifest: Manifest, raw: bytes, specs: Mapping[int, PartitionSpec], table: str) -> Iterator[Entry]:
    """The entries of a manifest, deleted ones included."""
    if manifest.spec_id not in specs:
        known = ", ".join(map(str, sorted(specs)))
        raise CorruptTable(
            f"manifest {manifest.location} names partition spec {manifest.spec_id}, table {table} has specs {known}"
        )
    try:
        yield from _entries(manifest, raw, specs[manifest.spec_id])
    except (CorruptTable, Unsupported):
        raise
    except Exception as error:
        raise CorruptTable(f"manifest {manifest.location} is damaged: {error!r}") from error


def write_manifest(format_version: int, schema: Schema, spec: PartitionSpec, entries: Iterable[Entry]) -> bytes:
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
        header["content"] = "data"
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
    counts = ("added_files", "existing_files", "deleted_files", "added_rows", "existing_rows", "deleted_rows")
    if any(record[f"{count}_count"] is None for count in counts):
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


def _entries(manifest: Manifest, raw: bytes, spec: PartitionSpec) -> Iterator[Entry]:
    avro = read_avro(raw)
    names = names_by_field_id(avro.schema)
    file_schema = member_schema(avro.schema, 2)
    reader = _FileReader(spec, names_by_field_id(file_schema), partition_columns(spec, member_schema(file_schema, 102)))
    next_row_id = manifest.first_row_id
    for record in avro.records:
        status = Status(record[names[0]])
        file_record = record[names[2]]
        file = reader.file(file_record)
        if next_row_id is not None and file.first_row_id is None and status is not Status.DELETED:
            file = replace(file, first_row_id=next_row_id)
            next_row_id += file.record_count
        inherited = manifest.sequence_number if status is Status.ADDED or manifest.sequence_number == 0 else None
        data_sequence = _or(record.get(names.get(3, "")), inherited)
        yield Entry(
            status=status,
            snapshot_id=_or(record.get(names.get(1, "")), manifest.added_snapshot_id),
            data_sequence_number=data_sequence,
            file_sequence_number=_or(record.get(names.get(4, "")), inherited),
            file=replace(file, data_sequence_number=data_sequence),
            content=reader.content(file_record),
        )


@dataclass(frozen=True)
class _FileReader:
    """Turns `data_file` records of one manifest into values."""

    spec: PartitionSpec
    names: Mapping[int, str]
    partition_columns: tuple[PartitionColumn, ...]

    def content(self, record: Mapping[str, Any]) -> int:
        return int(record.get(self.names.get(134, "")) or 0)

    def file(self, record: Mapping[str, Any]) -> DataFile:
        names = self.names
        if record.get(names.get(131, "")):
            raise Unsupported(f"file {record[names[100]]} is encrypted; encrypted tables are not supported")
        return DataFile(
            location=record[names[100]],
            partition=PartitionKey(
                self.spec.spec_id, tuple(column.value(record[names[102]]) for column in self.partition_columns)
            ),
            record_count=record[names[103]],
            size_bytes=record[names[104]],
            metrics=FileMetrics(*(self._mapping(record, field_id) for field_id in (108, 109, 110, 137, 125, 128))),
            file_format=record[names[101]].lower(),
            split_offsets=tuple(record.get(names.get(132, "")) or ()),
            sort_order_id=record.get(names.get(140, "")),
            first_row_id=record.get(names.get(142, "")),
        )

    def _mapping(self, record: Mapping[str, Any], field_id: int) -> dict[int, Any]:
        pairs = record.get(self.names.get(field_id, ""))
        return {pair["key"]: pair["value"] for pair in pairs} if pairs else {}


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


def _file_record(file: DataFile, spec: PartitionSpec, schema: Schema, format_version: int) -> dict[str, Any]:
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
    else:
        record["content"] = 0
    if format_version > 2:
        record["first_row_id"] = file.first_row_id
    return record


def _pairs(mapping: Mapping[int, Any]) -> list[dict[str, Any]] | None:
    return [{"key": key, "value": mapping[key]} for key in sorted(mapping)] or None


def _or(value: int | None, otherwise: int | None) -> int | None:
    return otherwise if value is None else value
