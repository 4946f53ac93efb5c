"""How are stored values shown where a query engine has no type of its own for them? uuids as text, fixed as bytes."""

from functools import partial
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from lakewright.engine.arrow.nesting import list_of, map_of, struct_of
from lakewright.engine.arrow.types import arrow_type
from lakewright.model.types import ColumnType, Field, FixedType, ListType, MapType, Primitive, StructType, children

_UUID_HYPHENS = (8, 12, 16, 20)


def is_shown_as_stored(column_type: ColumnType) -> bool:
    if column_type in (Primitive.UUID, Primitive.TIME) or isinstance(column_type, FixedType):
        return False
    return all(is_shown_as_stored(child.type) for child in children(column_type))


def shown_type(column_type: ColumnType) -> pa.DataType:
    match column_type:
        case Primitive.UUID:
            return pa.string()
        case Primitive.TIME:
            return pa.time64("ns")
        case FixedType():
            return pa.binary()
        case StructType(fields):
            return pa.struct([_shown_field(child) for child in fields])
        case ListType(element):
            return pa.list_(_shown_field(element))
        case MapType(key, value):
            return pa.map_(_shown_field(key).with_nullable(False), _shown_field(value))
        case _:
            return arrow_type(column_type)


def shown_batch(batch: pa.RecordBatch, fields: tuple[Field, ...]) -> pa.RecordBatch:
    if all(is_shown_as_stored(child.type) for child in fields):
        return batch
    arrays = [shown(array, child.type) for array, child in zip(batch.columns, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=[child.name for child in fields])


def shown(array: pa.Array, column_type: ColumnType) -> pa.Array:
    if is_shown_as_stored(column_type):
        return array
    match column_type:
        case StructType(fields):
            members = [shown(pc.struct_field(array, [index]), child.type) for index, child in enumerate(fields)]
            return struct_of(array, members, [_shown_field(child) for child in fields])
        case ListType(element):
            return list_of(array, partial(shown, column_type=element.type), shown_type(column_type))
        case MapType(key, value):
            keys, items = partial(shown, column_type=key.type), partial(shown, column_type=value.type)
            return map_of(array, keys, items, shown_type(column_type))
        case Primitive.UUID:
            return _uuid_text(array)
        case _:
            return array.cast(shown_type(column_type))


def _shown_field(child: Field) -> pa.Field:
    return pa.field(child.name, shown_type(child.type), nullable=True)


def _uuid_text(array: pa.Array) -> pa.Array:
    digits = [None if value is None else value.hex() for value in array.storage.to_pylist()]
    return pa.array([None if text is None else _hyphenated(text) for text in digits], pa.string())


def _hyphenated(digits: str) -> str:
    return "-".join(digits[start:end] for start, end in pairwise((0, *_UUID_HYPHENS, len(digits))))
