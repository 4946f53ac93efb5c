"""How does a test say in few words what a table looks like, and what a file of it holds?"""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from lakewright.formats.iceberg.records.types import transform_from_json
from lakewright.model.partitioning import PartitionField, PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.types import TIMESTAMPS, ColumnType, DecimalType, FixedType, Primitive, Value
from lakewright.operations.create_table import with_fresh_ids
from lakewright.planning.ddl import parse_columns

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_READERS: Mapping[Primitive, Callable[[str], Value]] = {
    Primitive.BOOLEAN: lambda text: {"true": True, "false": False}[text],
    Primitive.INT: int,
    Primitive.LONG: int,
    Primitive.FLOAT: float,
    Primitive.DOUBLE: float,
    Primitive.DATE: lambda text: (date.fromisoformat(text) - _EPOCH.date()).days,
    Primitive.STRING: lambda text: text.removeprefix("'").removesuffix("'"),
    Primitive.UUID: lambda text: bytes.fromhex(text.replace("-", "")),
    Primitive.BINARY: bytes.fromhex,
}


def schema_of(columns: str, schema_id: int = 0) -> Schema:
    """`id long not null, s struct<a: int>`; ids count from 1, columns before their members."""
    return Schema(with_fresh_ids(parse_columns(columns)), schema_id)


def spec_of(schema: Schema, *parts: str, spec_id: int = 0) -> PartitionSpec:
    """Each part is a column and a transform as Iceberg writes it: `id bucket[4]`."""
    fields = []
    for index, part in enumerate(parts):
        column, transform = part.split()
        source = schema.resolve(tuple(column.split(".")), case_sensitive=True)
        name = column if transform == "identity" else f"{column}_{transform.partition('[')[0]}"
        fields.append(PartitionField(source.id, 1000 + index, name, transform_from_json(transform)))
    return PartitionSpec(spec_id, tuple(fields))


def value_of(text: str, column_type: ColumnType) -> Value | None:
    """A value as a person writes it: 'EU', 1969-12-31, -1.5, nan, NULL."""
    if text == "NULL":
        return None
    if text == "nan":
        return math.nan
    if isinstance(column_type, DecimalType):
        return Decimal(text)
    if isinstance(column_type, FixedType):
        return bytes.fromhex(text)
    if column_type in TIMESTAMPS:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        micros = (moment - _EPOCH) // timedelta(microseconds=1)
        return micros * 1000 if column_type in (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS) else micros
    return _READERS[Primitive(str(column_type))](text)
