"""How does Iceberg write schemas, transforms and default values in JSON?"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from lakewright.model.partitioning import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Transform,
    Truncate,
    UnknownTransform,
    Void,
    Year,
)
from lakewright.model.schema import Schema
from lakewright.model.types import (
    TIMESTAMPS,
    ColumnType,
    DecimalType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
    UnreadableType,
    Value,
)

_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_FIXED = re.compile(r"fixed\[\s*(\d+)\s*\]")
_WITH_NUMBER = re.compile(r"(bucket|truncate)\[(\d+)\]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PRIMITIVES = {primitive.value: primitive for primitive in Primitive}
_PLAIN_TRANSFORMS: dict[str, Callable[[], Transform]] = {
    "identity": Identity,
    "year": Year,
    "month": Month,
    "day": Day,
    "hour": Hour,
    "void": Void,
}


def schema_from_json(node: Mapping[str, Any]) -> Schema:
    fields = tuple(_field_from_json(child) for child in node["fields"])
    identifiers = frozenset(node.get("identifier-field-ids") or ())
    return Schema(fields, node.get("schema-id", 0), identifiers)


def schema_to_json(schema: Schema) -> dict[str, Any]:
    node: dict[str, Any] = {
        "type": "struct",
        "schema-id": schema.schema_id,
        "fields": [_field_to_json(child) for child in schema.fields],
    }
    if schema.identifier_ids:
        node["identifier-field-ids"] = sorted(schema.identifier_ids)
    return node


def type_from_json(node: str | Mapping[str, Any]) -> ColumnType:
    if isinstance(node, str):
        return _type_from_name(node)
    match node["type"]:
        case "struct":
            return StructType(tuple(_field_from_json(child) for child in node["fields"]))
        case "list":
            element = Field(
                node["element-id"], "element", type_from_json(node["element"]), node.get("element-required", False)
            )
            return ListType(element)
        case "map":
            key = Field(node["key-id"], "key", type_from_json(node["key"]), required=True)
            value = Field(node["value-id"], "value", type_from_json(node["value"]), node.get("value-required", False))
            return MapType(key, value)
        case other:
            return UnreadableType(str(other))


def type_to_json(column_type: ColumnType) -> str | dict[str, Any]:
    match column_type:
        case StructType(fields):
            return {"type": "struct", "fields": [_field_to_json(child) for child in fields]}
        case ListType(element):
            return {
                "type": "list",
                "element-id": element.id,
                "element": type_to_json(element.type),
                "element-required": element.required,
            }
        case MapType(key, value):
            return {
                "type": "map",
                "key-id": key.id,
                "key": type_to_json(key.type),
                "value-id": value.id,
                "value": type_to_json(value.type),
                "value-required": value.required,
            }
        case _:
            return str(column_type)


def transform_from_json(text: str) -> Transform:
    if text in _PLAIN_TRANSFORMS:
        return _PLAIN_TRANSFORMS[text]()
    numbered = _WITH_NUMBER.fullmatch(text)
    if numbered is None:
        return UnknownTransform(text)
    number = int(numbered[2])
    return Bucket(number) if numbered[1] == "bucket" else Truncate(number)


def default_from_json(column_type: ColumnType, node: Any) -> Value | None:
    """A default of a primitive type; those of nested types have no default but NULL and the empty struct."""
    if node is None:
        return None
    match column_type:
        case Primitive.DATE:
            return (date.fromisoformat(node) - _EPOCH.date()).days
        case Primitive.TIME:
            clock = time.fromisoformat(node)
            return ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1_000_000 + clock.microsecond
        case Primitive.UUID:
            return UUID(node).bytes
        case Primitive.BINARY | FixedType():
            return bytes.fromhex(node)
        case DecimalType():
            return _decimal(node)
        case Primitive.FLOAT | Primitive.DOUBLE:
            return float(node)
        case _ if column_type in TIMESTAMPS:
            return _timestamp(column_type, node)
        case Primitive.BOOLEAN | Primitive.INT | Primitive.LONG | Primitive.STRING:
            return node  # type: ignore[no-any-return]  # -- JSON holds these as they are
        case _:
            return None


def _field_from_json(node: Mapping[str, Any]) -> Field:
    column_type = type_from_json(node["type"])
    return Field(
        node["id"],
        node["name"],
        column_type,
        node.get("required", False),
        node.get("doc"),
        initial_default=default_from_json(column_type, node.get("initial-default")),
        write_default=default_from_json(column_type, node.get("write-default")),
    )


def _field_to_json(child: Field) -> dict[str, Any]:
    """New fields only: schemas that a table already has are kept as they were read, with their defaults."""
    node: dict[str, Any] = {
        "id": child.id,
        "name": child.name,
        "required": child.required,
        "type": type_to_json(child.type),
    }
    if child.doc is not None:
        node["doc"] = child.doc
    return node


def _type_from_name(name: str) -> ColumnType:
    if name in _PRIMITIVES:
        return _PRIMITIVES[name]
    decimal = _DECIMAL.fullmatch(name)
    if decimal:
        return DecimalType(int(decimal[1]), int(decimal[2]))
    fixed = _FIXED.fullmatch(name)
    return FixedType(int(fixed[1])) if fixed else UnreadableType(name)


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _timestamp(column_type: ColumnType, text: str) -> int:
    """Microseconds, or nanoseconds, since 1970; Python's datetime ends at microseconds."""
    whole, _, rest = text.partition(".")
    digits = re.match(r"\d*", rest)
    fraction = digits[0] if digits else ""
    zone = rest[len(fraction) :]
    moment = datetime.fromisoformat(whole + zone)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    micros = (moment - _EPOCH) // timedelta(microseconds=1)
    if column_type in (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS):
        return micros * 1000 + int(fraction.ljust(9, "0")[:9] or 0)
    return micros + int(fraction.ljust(6, "0")[:6] or 0)
