"""How does a partition tuple lie in an Avro record, and what do all tuples of a manifest have in common?"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isnan
from typing import Any

from lakewright.errors import CorruptTable
from lakewright.formats.iceberg.records.columns import Fields, Numbers, Texts
from lakewright.model.partitioning import PartitionSpec, result_type
from lakewright.model.schema import Schema
from lakewright.model.snapshot import FieldSummary
from lakewright.model.types import FLOATING, ColumnType, DecimalType, Primitive, Value
from lakewright.model.values import encode_value, scaled, unscaled

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def avro_name(name: str) -> str:
    """A name that Avro allows, made as Iceberg's Java library makes it, so that both write the same files."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    parts = [
        character if character.isascii() and (character.isalnum() or character == "_") else None for character in name
    ]
    text = "".join(part or f"_x{ord(character):X}" for part, character in zip(parts, name, strict=True))
    return f"_{text}" if text[:1].isdigit() else text


def source_type(spec_source: int, schema: Schema) -> ColumnType:
    """The type of a spec's source column; text, which reads any value, when the column is in no schema we hold."""
    source = schema.by_id.get(spec_source)
    return Primitive.STRING if source is None else source.type


@dataclass(frozen=True)
class PartitionColumn:
    """Where the value of one spec field lies in a partition record; decimals lie there as the bytes of an integer."""

    name: str
    decimal_scale: int | None

    def values(self, record: Fields, count: int) -> Sequence[Value | None]:
        """Of all files of a manifest."""
        column = record.columns.get(self.name)
        if not isinstance(column, Numbers | Texts):
            return [None] * count
        return (
            [self._value(stored) for stored in column.to_list()] if self.decimal_scale is not None else column.to_list()
        )

    def _value(self, stored: bytes | None) -> Value | None:
        return None if stored is None else scaled(int.from_bytes(stored, "big", signed=True), self.decimal_scale or 0)


def partition_columns(spec: PartitionSpec, record_schema: Mapping[str, Any]) -> tuple[PartitionColumn, ...]:
    """In the order of the spec's fields: by id, or by name where an early writer gave no ids.

    Refused when a field is not there: its values are not known, which is not the same as NULL.
    """
    by_id = {field.get("field-id"): field for field in record_schema["fields"]}
    by_name = {field["name"]: field for field in record_schema["fields"] if "field-id" not in field}
    columns = []
    for part in spec.fields:
        found = by_id.get(part.field_id) or by_name.get(avro_name(part.name))
        if found is None:
            raise CorruptTable(
                f"partition field {part.name} of spec {spec.spec_id} is not in the partitions of its entries"
            )
        columns.append(PartitionColumn(found["name"], _decimal_scale(found["type"])))
    return tuple(columns)


def partition_to_record(spec: PartitionSpec, schema: Schema, values: tuple[Value | None, ...]) -> dict[str, Any]:
    return {
        avro_name(part.name): _stored(value, result_type(part.transform, source_type(part.source_id, schema)))
        for part, value in zip(spec.fields, values, strict=True)
    }


def summarise(
    spec: PartitionSpec, schema: Schema, keys: Iterable[tuple[Value | None, ...]]
) -> tuple[FieldSummary, ...]:
    """One summary for each field of the spec."""
    columns = list(zip(*keys, strict=True)) or [() for _ in spec.fields]
    return tuple(
        _summary(result_type(part.transform, source_type(part.source_id, schema)), column)
        for part, column in zip(spec.fields, columns, strict=True)
    )


def _summary(column_type: ColumnType, values: tuple[Value | None, ...]) -> FieldSummary:
    nans = [value for value in values if isinstance(value, float) and isnan(value)]
    known: list[Any] = [value for value in values if value is not None and value not in nans]
    contains_nan = bool(nans)  # never left out: Iceberg's Java runtime lists manifests only where it is there
    if not known:
        return FieldSummary(None in values, contains_nan, None, None)
    low, high = min(known), max(known)
    if column_type in FLOATING:
        low, high = (-0.0 if low == 0 else low), (0.0 if high == 0 else high)
    return FieldSummary(None in values, contains_nan, encode_value(column_type, low), encode_value(column_type, high))


def decimal_length(precision: int) -> int:
    """The bytes that hold every integer of so many digits."""
    return int((10**precision - 1).bit_length() // 8 + 1)


def _stored(value: Value | None, column_type: ColumnType) -> Any:
    if isinstance(column_type, DecimalType) and isinstance(value, Decimal):
        digits: int = unscaled(value, column_type.scale)
        return digits.to_bytes(decimal_length(column_type.precision), "big", signed=True)
    return value


def _decimal_scale(avro_type: Any) -> int | None:
    options = avro_type if isinstance(avro_type, list) else [avro_type]
    for option in options:
        if isinstance(option, dict) and option.get("logicalType") == "decimal":
            return int(option.get("scale", 0))
    return None
