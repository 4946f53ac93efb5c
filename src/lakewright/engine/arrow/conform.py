"""How do incoming Arrow columns become columns of the table, value for value? Nothing is changed in silence."""

from collections.abc import Iterable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from lakewright.engine.arrow.nesting import items_of, list_of, map_of, plain, struct_of
from lakewright.engine.arrow.types import arrow_schema, arrow_type
from lakewright.errors import InvalidRequest
from lakewright.model.assignment import ColumnAssignment, Filled, FromColumn
from lakewright.model.types import (
    FLOATING,
    ColumnType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
    Value,
)

_UUID_TEXT = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"


def conform_table(rows: pa.Table, columns: tuple[ColumnAssignment, ...]) -> pa.Table:
    """The rows in the table's own columns; a value that does not fit is an error that names the column."""
    schema = arrow_schema(tuple(column.target for column in columns))
    arrays = [_column(rows, column) for column in columns]
    for column, array in zip(columns, arrays, strict=True):
        _check_required(
            column.target, array.chunks if isinstance(array, pa.ChunkedArray) else [array], column.target.name
        )
    return pa.Table.from_arrays(arrays, schema=schema)


def constant(column_type: ColumnType, value: Value | None, length: int) -> pa.Array:
    """A value as it is stored, repeated."""
    target = arrow_type(column_type)
    if value is None:
        return pa.nulls(length, target)
    if column_type == Primitive.UUID:
        return pa.uuid().wrap_array(pa.repeat(pa.scalar(value, pa.binary(16)), length))
    stored = pa.scalar(value, pa.int32()) if pa.types.is_date(target) else None
    if pa.types.is_timestamp(target) or pa.types.is_time(target):
        stored = pa.scalar(value, pa.int64())
    return pa.repeat(pa.scalar(value, target) if stored is None else stored.cast(target), length)


def _column(rows: pa.Table, assignment: ColumnAssignment) -> pa.ChunkedArray | pa.Array:
    match assignment:
        case Filled(target, value):
            return constant(target.type, value, rows.num_rows)
        case FromColumn(target, source_name):
            source = rows.column(source_name)
            wanted = arrow_type(target.type)
            if source.type.equals(wanted):
                return source
            chunks = [conform(chunk, target.type, target.name) for chunk in source.chunks]
            return pa.chunked_array(chunks, wanted)


def conform(array: pa.Array, column_type: ColumnType, name: str) -> pa.Array:
    """One array in the Arrow type of a column type, by name inside structs."""
    wanted = arrow_type(column_type)
    if array.type.equals(wanted):
        return array
    array = plain(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    match column_type:
        case StructType(fields):
            return _struct(array, fields, name)
        case ListType(element):
            return list_of(array, partial(conform, column_type=element.type, name=f"{name}.element"), wanted)
        case MapType(key, value):
            keys = partial(conform, column_type=key.type, name=f"{name}.key")
            items = partial(conform, column_type=value.type, name=f"{name}.value")
            return map_of(array, keys, items, wanted)
        case Primitive.UUID:
            return _uuid(array, name)
        case _:
            return _cast(array, column_type, wanted, name)


def _cast(array: pa.Array, column_type: ColumnType, wanted: pa.DataType, name: str) -> pa.Array:
    """Integers may round on their way to floating point, as in Spark; every other cast is exact or refused."""
    if array.type == pa.uuid() or isinstance(column_type, FixedType):
        array = array.storage if isinstance(array, pa.ExtensionArray) else array
    rounding = column_type in FLOATING and pa.types.is_integer(array.type)
    try:
        return array.cast(wanted, safe=not rounding)
    except pa.ArrowInvalid as error:
        raise InvalidRequest(f"a value of column {name} does not fit its type {column_type}: {error}") from error


def _uuid(array: pa.Array, name: str) -> pa.Array:
    if pa.types.is_fixed_size_binary(array.type) or pa.types.is_binary(array.type):
        return pa.uuid().wrap_array(array.cast(pa.binary(16)))
    text = array.cast(pa.string())
    valid = pc.match_substring_regex(text, _UUID_TEXT)
    if pc.any(pc.invert(valid)).as_py():
        wrong = text.filter(pc.invert(valid))[0].as_py()
        raise InvalidRequest(f"a value of column {name} does not fit its type uuid: {wrong!r}")
    digits = pc.replace_substring(text, "-", "")
    raw = [None if value is None else bytes.fromhex(value) for value in digits.to_pylist()]
    return pa.uuid().wrap_array(pa.array(raw, pa.binary(16)))


def _struct(array: pa.Array, fields: tuple[Field, ...], name: str) -> pa.Array:
    """Members by name, whatever their order; a member that is not there gets its default, or NULL."""
    positions = _positions([array.type.field(index).name for index in range(array.type.num_fields)], fields)
    members = [
        conform(pc.struct_field(array, [positions[child.name]]), child.type, f"{name}.{child.name}")
        if child.name in positions
        else constant(child.type, child.write_default, len(array))
        for child in fields
    ]
    return struct_of(array, members, list(arrow_type(StructType(fields))))


def _positions(names: list[str], fields: tuple[Field, ...]) -> dict[str, int]:
    """Where each member lies. What may be meant for two was refused before: a name that is nobody's exact one is that of
    the member which differs from it in case only."""
    wanted = {child.name for child in fields}
    folded = {name.lower(): name for name in wanted if name not in names}
    return {name if name in wanted else folded[name.lower()]: index for index, name in enumerate(names)}


def _check_required(child: Field, arrays: Iterable[pa.Array], name: str) -> None:
    for array in arrays:
        if child.required and array.null_count:
            raise InvalidRequest(
                f"column {name} is required, and {array.null_count:,} incoming rows have no value for it"
            )
        match child.type:
            case StructType(fields) if any(member.required for member in fields):
                present = array.filter(array.is_valid()) if array.null_count else array
                for index, member in enumerate(fields):
                    _check_required(member, [pc.struct_field(present, [index])], f"{name}.{member.name}")
            case ListType(element):
                _check_required(element, [array.flatten()], f"{name}.element")
            case MapType(_, value):
                _check_required(value, [items_of(array)], f"{name}.value")
            case _:
                continue
