"""What is a row, apart from files and engines? Python values by field id, at every level, and how two are compared.

A struct is a mapping by field id, a list is a list, a map a list of pairs; all else is what Python has for it.
"""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, TypeAlias

from lakewright.model.partitioning import PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.transforms import apply_transform
from lakewright.model.types import ColumnType, Field, ListType, MapType, Primitive, StructType, Value

Row: TypeAlias = Mapping[int, Any]
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)


def seen(value: Any, kind: ColumnType) -> Any:
    """A stored value as a reader of the schema sees it: with members that were added since, in the type of today."""
    if value is None:
        return None
    match kind:
        case StructType(members):
            return {child.id: seen_member(value, child) for child in members}
        case ListType(element):
            return [seen(item, element.type) for item in value]
        case MapType(key, item):
            return [(seen(left, key.type), seen(right, item.type)) for left, right in value]
        case Primitive.TIMESTAMP if not isinstance(value, datetime):
            return datetime(value.year, value.month, value.day)
        case _:
            return value


def seen_member(row: Row, child: Field) -> Any:
    """A column that a row was written without has its initial default."""
    return seen(row[child.id], child.type) if child.id in row else from_stored(child.initial_default, child.type)


def named(value: Any, kind: ColumnType) -> Any:
    """As Arrow takes it, with names instead of ids."""
    if value is None:
        return None
    match kind:
        case StructType(members):
            return {child.name: named(value[child.id], child.type) for child in members}
        case ListType(element):
            return [named(item, element.type) for item in value]
        case MapType(key, item):
            return [(named(left, key.type), named(right, item.type)) for left, right in value]
        case _:
            return value


def comparable(value: Any, kind: ColumnType) -> Any:
    """What can be counted: NaN equals itself, maps have no order. Takes names, as Arrow gives them, as well as ids."""
    if value is None:
        return None
    match kind:
        case StructType(members):
            return tuple(comparable(value.get(each.id, value.get(each.name)), each.type) for each in members)
        case ListType(element):
            return tuple(comparable(item, element.type) for item in value)
        case MapType(key, item):
            return frozenset((comparable(left, key.type), comparable(right, item.type)) for left, right in value)
        case _ if isinstance(value, float):
            return "NaN" if math.isnan(value) else repr(value)
        case _:
            return value


def stored(value: Any) -> Value | None:
    """As partition values and bounds hold it: dates count days, timestamps microseconds."""
    if isinstance(value, datetime):
        since = value - _EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return value.toordinal() - _EPOCH_DAY if isinstance(value, date) else value


def from_stored(value: Value | None, kind: ColumnType) -> Any:
    return date.fromordinal(int(value) + _EPOCH_DAY) if value is not None and kind == Primitive.DATE else value


def partition_of(row: Row, spec: PartitionSpec, schema: Schema) -> tuple[Value | None, ...]:
    """Of a row that is written under the schema."""
    return tuple(
        apply_transform(part.transform, schema.by_id[part.source_id].type, stored(row[part.source_id]))
        if part.source_id in schema.by_id
        else None
        for part in spec.fields
    )
