"""Which Arrow type holds which column type, and which column type is an Arrow type read as?"""

from collections.abc import Mapping

import pyarrow as pa

from lakewright.errors import Unsupported
from lakewright.model.types import (
    ColumnType,
    DecimalType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
)

FIELD_ID_KEY = b"PARQUET:field_id"
_DECIMAL_PRECISION_MAX = 38
_ARROW: Mapping[ColumnType, pa.DataType] = {
    Primitive.BOOLEAN: pa.bool_(),
    Primitive.INT: pa.int32(),
    Primitive.LONG: pa.int64(),
    Primitive.FLOAT: pa.float32(),
    Primitive.DOUBLE: pa.float64(),
    Primitive.DATE: pa.date32(),
    Primitive.TIME: pa.time64("us"),
    Primitive.TIMESTAMP: pa.timestamp("us"),
    Primitive.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    Primitive.TIMESTAMP_NS: pa.timestamp("ns"),
    Primitive.TIMESTAMPTZ_NS: pa.timestamp("ns", "UTC"),
    Primitive.STRING: pa.string(),
    Primitive.UUID: pa.uuid(),
    Primitive.BINARY: pa.binary(),
    Primitive.VARIANT: pa.struct(
        [
            pa.field("value", pa.binary(), nullable=False),
            pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
        ]
    ),
}
"""A variant is what Spark sends and takes for one."""

_IS_LIST = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def arrow_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """With field ids at every level, as Parquet files are to have them."""
    return pa.schema([arrow_field(child) for child in fields])


def arrow_field(child: Field) -> pa.Field:
    metadata = {FIELD_ID_KEY: str(child.id).encode()}
    return pa.field(child.name, arrow_type(child.type), nullable=not child.required, metadata=metadata)


def arrow_type(column_type: ColumnType) -> pa.DataType:
    match column_type:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case FixedType(length):
            return pa.binary(length)
        case StructType(fields):
            return pa.struct([arrow_field(child) for child in fields])
        case ListType(element):
            return pa.list_(arrow_field(element))
        case MapType(key, value):
            return pa.map_(arrow_field(key), arrow_field(value))
        case _ if column_type in _ARROW:
            return _ARROW[column_type]
        case _:
            raise Unsupported(f"columns of type {column_type} cannot be read or written")


def columns_of_schema(schema: pa.Schema) -> StructType:
    """The columns of an Arrow table; ids are positions and mean nothing."""
    return StructType(tuple(_field(schema.field(index), index) for index in range(len(schema))))


def column_type_of(arrow: pa.DataType, name: str) -> ColumnType:
    """The narrowest column type that holds every value of an Arrow type."""
    kinds = pa.types
    if kinds.is_boolean(arrow):
        return Primitive.BOOLEAN
    if kinds.is_integer(arrow):
        return _integer(arrow, name)
    if kinds.is_floating(arrow):
        return Primitive.DOUBLE if arrow.bit_width == 64 else Primitive.FLOAT
    if kinds.is_decimal(arrow) and arrow.precision <= _DECIMAL_PRECISION_MAX:
        return DecimalType(arrow.precision, arrow.scale)
    if kinds.is_date(arrow):
        return Primitive.DATE
    if kinds.is_time(arrow):
        return Primitive.TIME
    if kinds.is_timestamp(arrow):
        return _timestamp(arrow)
    if kinds.is_string(arrow) or kinds.is_large_string(arrow) or kinds.is_string_view(arrow):
        return Primitive.STRING
    if kinds.is_fixed_size_binary(arrow):
        return FixedType(arrow.byte_width)
    if kinds.is_binary(arrow) or kinds.is_large_binary(arrow) or kinds.is_binary_view(arrow):
        return Primitive.BINARY
    if kinds.is_null(arrow):
        return Primitive.UNKNOWN
    if kinds.is_dictionary(arrow) or kinds.is_run_end_encoded(arrow):
        return column_type_of(arrow.value_type, name)
    return _nested(arrow, name)


def _field(arrow: pa.Field, index: int) -> Field:
    return Field(index, arrow.name, column_type_of(arrow.type, arrow.name), required=not arrow.nullable)


def _nested(arrow: pa.DataType, name: str) -> ColumnType:
    if arrow == pa.uuid():
        return Primitive.UUID
    if pa.types.is_struct(arrow):
        return StructType(tuple(_field(arrow.field(index), index) for index in range(arrow.num_fields)))
    if pa.types.is_map(arrow):
        return MapType(_field(arrow.key_field, 0), _field(arrow.item_field, 1))
    if any(is_one(arrow) for is_one in _IS_LIST):
        return ListType(_field(arrow.value_field, 0))
    raise Unsupported(f"column {name} has Arrow type {arrow}, which no column type holds")


def _integer(arrow: pa.DataType, name: str) -> ColumnType:
    bits = arrow.bit_width + (0 if pa.types.is_signed_integer(arrow) else 1)
    if bits <= 32:
        return Primitive.INT
    if bits <= 64:
        return Primitive.LONG
    raise Unsupported(f"column {name} has Arrow type {arrow}, which no column type holds; cast it to decimal(20, 0)")


def _timestamp(arrow: pa.DataType) -> ColumnType:
    nanos, zoned = arrow.unit == "ns", arrow.tz is not None
    if nanos:
        return Primitive.TIMESTAMPTZ_NS if zoned else Primitive.TIMESTAMP_NS
    return Primitive.TIMESTAMPTZ if zoned else Primitive.TIMESTAMP
