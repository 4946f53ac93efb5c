"""Which Avro schemas do manifest lists and manifests have, in each format version?"""

from collections.abc import Mapping
from typing import Any

from lakewright.formats.iceberg.records.partitions import avro_name, decimal_length, source_type
from lakewright.model.partitioning import PartitionSpec, result_type
from lakewright.model.schema import Schema
from lakewright.model.types import ColumnType, DecimalType, FixedType, Primitive

_AVRO_PRIMITIVES: Mapping[ColumnType, Any] = {
    Primitive.BOOLEAN: "boolean",
    Primitive.INT: "int",
    Primitive.LONG: "long",
    Primitive.FLOAT: "float",
    Primitive.DOUBLE: "double",
    Primitive.DATE: {"type": "int", "logicalType": "date"},
    Primitive.TIME: {"type": "long", "logicalType": "time-micros"},
    Primitive.TIMESTAMP: {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
    Primitive.TIMESTAMPTZ: {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
    Primitive.TIMESTAMP_NS: {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False},
    Primitive.TIMESTAMPTZ_NS: {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": True},
    Primitive.STRING: "string",
    Primitive.UUID: {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"},
    Primitive.BINARY: "bytes",
}


def manifest_list_schema(format_version: int) -> dict[str, Any]:
    counted_is_optional = format_version == 1
    fields = [
        _required(500, "manifest_path", "string"),
        _required(501, "manifest_length", "long"),
        _required(502, "partition_spec_id", "int"),
    ]
    if format_version > 1:
        fields += [
            _required(517, "content", "int"),
            _required(515, "sequence_number", "long"),
            _required(516, "min_sequence_number", "long"),
        ]
    fields.append(_required(503, "added_snapshot_id", "long"))
    counts = [
        (504, "added_files_count", "int"),
        (505, "existing_files_count", "int"),
        (506, "deleted_files_count", "int"),
        (512, "added_rows_count", "long"),
        (513, "existing_rows_count", "long"),
        (514, "deleted_rows_count", "long"),
    ]
    fields += [(_optional if counted_is_optional else _required)(*count) for count in counts]
    fields += [_optional(507, "partitions", _list(508, _summary_schema())), _optional(519, "key_metadata", "bytes")]
    if format_version > 2:
        fields.append(_optional(520, "first_row_id", "long"))
    return {"type": "record", "name": "manifest_file", "fields": fields}


def manifest_entry_schema(format_version: int, schema: Schema, spec: PartitionSpec) -> dict[str, Any]:
    """Version 1 requires the snapshot id that later versions inherit."""
    fields = [
        _required(0, "status", "int"),
        (_required if format_version == 1 else _optional)(1, "snapshot_id", "long"),
    ]
    if format_version > 1:
        fields += [_optional(3, "sequence_number", "long"), _optional(4, "file_sequence_number", "long")]
    fields.append(_required(2, "data_file", _data_file_schema(format_version, schema, spec)))
    return {"type": "record", "name": "manifest_entry", "fields": fields}


def _data_file_schema(format_version: int, schema: Schema, spec: PartitionSpec) -> dict[str, Any]:
    content = [_required(134, "content", "int")] if format_version > 1 else []
    block_size = [_required(105, "block_size_in_bytes", "long")] if format_version == 1 else []
    equality = [_optional(135, "equality_ids", _list(136, "int"))] if format_version > 1 else []
    row_ids = [_optional(142, "first_row_id", "long")] if format_version > 2 else []
    referenced = [_optional(143, "referenced_data_file", "string")] if format_version > 1 else []
    pieces = [(144, "content_offset"), (145, "content_size_in_bytes")] if format_version > 2 else []
    fields = [
        *content,
        _required(100, "file_path", "string"),
        _required(101, "file_format", "string"),
        _required(102, "partition", _partition_schema(schema, spec)),
        _required(103, "record_count", "long"),
        _required(104, "file_size_in_bytes", "long"),
        *block_size,
        _optional(108, "column_sizes", _int_map(117, 118, "long")),
        _optional(109, "value_counts", _int_map(119, 120, "long")),
        _optional(110, "null_value_counts", _int_map(121, 122, "long")),
        _optional(137, "nan_value_counts", _int_map(138, 139, "long")),
        _optional(125, "lower_bounds", _int_map(126, 127, "bytes")),
        _optional(128, "upper_bounds", _int_map(129, 130, "bytes")),
        _optional(131, "key_metadata", "bytes"),
        _optional(132, "split_offsets", _list(133, "long")),
        *equality,
        _optional(140, "sort_order_id", "int"),
        *row_ids,
        *referenced,
        *(_optional(field_id, name, "long") for field_id, name in pieces),
    ]
    return {"type": "record", "name": "r2", "fields": fields}


def _partition_schema(schema: Schema, spec: PartitionSpec) -> dict[str, Any]:
    fields = []
    for part in spec.fields:
        value_type = result_type(part.transform, source_type(part.source_id, schema))
        field = _optional(part.field_id, avro_name(part.name), _avro_type(value_type, part.field_id))
        if field["name"] != part.name:
            field["iceberg-field-name"] = part.name
        fields.append(field)
    return {"type": "record", "name": "r102", "fields": fields}


def _avro_type(column_type: ColumnType, field_id: int) -> Any:
    """Named types get a name of their own: Avro allows a definition only once."""
    match column_type:
        case DecimalType(precision, scale):
            return {
                "type": "fixed",
                "name": f"decimal_{field_id}",
                "size": decimal_length(precision),
                "logicalType": "decimal",
                "precision": precision,
                "scale": scale,
            }
        case FixedType(length):
            return {"type": "fixed", "name": f"fixed_{field_id}", "size": length}
        case Primitive.UUID:
            return {**_AVRO_PRIMITIVES[Primitive.UUID], "name": f"uuid_{field_id}"}
        case _:
            return _AVRO_PRIMITIVES[column_type]


def _summary_schema() -> dict[str, Any]:
    fields = [
        _required(509, "contains_null", "boolean"),
        _optional(518, "contains_nan", "boolean"),
        _optional(510, "lower_bound", "bytes"),
        _optional(511, "upper_bound", "bytes"),
    ]
    return {"type": "record", "name": "r508", "fields": fields}


def _required(field_id: int, name: str, avro_type: Any) -> dict[str, Any]:
    return {"name": name, "type": avro_type, "field-id": field_id}


def _optional(field_id: int, name: str, avro_type: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", avro_type], "default": None, "field-id": field_id}


def _list(element_id: int, items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "element-id": element_id}


def _int_map(key_id: int, value_id: int, value_type: str) -> dict[str, Any]:
    """Avro's maps have text keys only, so a map by number is a list of pairs."""
    pair = [_required(key_id, "key", "int"), _required(value_id, "value", value_type)]
    return {
        "type": "array",
        "items": {"type": "record", "name": f"k{key_id}_v{value_id}", "fields": pair},
        "logicalType": "map",
    }
