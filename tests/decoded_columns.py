"""How are two decodings of a manifest compared? As plain lists, whichever decoder made the columns."""

from typing import Any

from lakewright.formats.iceberg.records.avro import (
    AvroFile,
    member_schema,
    names_by_field_id,
    with_types_in_place,
    without_logical_types,
)
from lakewright.formats.iceberg.records.columns import Column, Fields, Items, Numbers, Texts, columns_of
from lakewright.formats.iceberg.records.lockstep import decoded_at_once, prefix_of


def at_once(avro: AvroFile) -> Fields | None:
    """All records in lockstep, however few there are."""
    schema = with_types_in_place(without_logical_types(avro.schema))
    names = names_by_field_id(schema)
    path = names_by_field_id(member_schema(schema, 2))[100]
    prefix = prefix_of(avro.first()[names[2]][path].encode())
    return decoded_at_once(avro.content, avro.count, schema, names[2], path, prefix)


def one_by_one(avro: AvroFile) -> Column:
    return columns_of(with_types_in_place(without_logical_types(avro.schema)), avro.records())


def plain(column: Column, count: int) -> Any:
    """The values of so many rows; floats as text, since NaN equals nothing."""
    match column:
        case Numbers():
            return [repr(value) for value in column.to_list()]
        case Texts():
            return column.to_list()
        case Fields(columns):
            return {name: plain(member, count) for name, member in columns.items()}
        case Items(_, rows, items):
            order = sorted(range(len(rows)), key=lambda place: int(rows[place]))
            inner = plain(items, len(rows))
            if isinstance(inner, dict):
                inner = list(zip(*inner.values(), strict=True)) if rows.size else []
            return [(int(rows[place]), inner[place]) for place in order]
