"""Which types can a column have? Iceberg's types are the vocabulary; every format is translated into it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | bytes | Decimal
"""A single value as it is stored: dates count days, times and timestamps count micro- or nanoseconds, uuids are bytes."""


class Primitive(StrEnum):
    """The types without parameters, by the names of Iceberg's specification."""

    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    TIMESTAMP_NS = "timestamp_ns"
    TIMESTAMPTZ_NS = "timestamptz_ns"
    STRING = "string"
    UUID = "uuid"
    BINARY = "binary"
    VARIANT = "variant"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class DecimalType:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"


@dataclass(frozen=True)
class FixedType:
    length: int

    def __str__(self) -> str:
        return f"fixed[{self.length}]"


@dataclass(frozen=True)
class UnreadableType:
    """A type that a newer writer knows. It may stand in old schemas; a table that still has it is refused by name."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class StructType:
    fields: tuple["Field", ...]

    def __str__(self) -> str:
        inner = ", ".join(f"{child.name}: {child.type}" for child in self.fields)
        return f"struct<{inner}>"


@dataclass(frozen=True)
class ListType:
    element: "Field"

    def __str__(self) -> str:
        return f"list<{self.element.type}>"


@dataclass(frozen=True)
class MapType:
    key: "Field"
    value: "Field"

    def __str__(self) -> str:
        return f"map<{self.key.type}, {self.value.type}>"


ColumnType: TypeAlias = Primitive | DecimalType | FixedType | UnreadableType | StructType | ListType | MapType

FLOATING = frozenset({Primitive.FLOAT, Primitive.DOUBLE})
INTEGRAL = frozenset({Primitive.INT, Primitive.LONG})
TIMESTAMPS = frozenset({Primitive.TIMESTAMP, Primitive.TIMESTAMPTZ, Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS})


@dataclass(frozen=True)
class Field:
    """A column, or an element, key, value or member of one; known by its id, which never changes."""

    id: int
    name: str
    type: ColumnType
    required: bool = False
    doc: str | None = None
    initial_default: Value | None = field(default=None, kw_only=True)
    write_default: Value | None = field(default=None, kw_only=True)


def children(column_type: ColumnType) -> tuple[Field, ...]:
    """The fields directly below a type; none below a primitive."""
    match column_type:
        case StructType(fields):
            return fields
        case ListType(element):
            return (element,)
        case MapType(key, value):
            return (key, value)
        case _:
            return ()


def is_nested(column_type: ColumnType) -> bool:
    return isinstance(column_type, StructType | ListType | MapType)


def walk(fields: tuple[Field, ...], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Field]]:
    """Every field with its path of names, parents before children."""
    for child in fields:
        path = (*above, child.name)
        yield path, child
        yield from walk(children(child.type), path)
