"""Which rows does a table hold, as text that any two engines agree on?

One JSON object a row, keys sorted, rows sorted by their bytes; values as in the conformance tables: exact decimals as
text, timestamps in UTC with six digits, bytes as hex, maps as sorted pairs, NaN and the infinities as names.
"""

import json
import math
from collections import Counter

import pyarrow as pa

NAMES_OF_FLOATS = {math.inf: "Infinity", -math.inf: "-Infinity"}


def lines(table: pa.Table) -> list[str]:
    """The rows of the table as sorted lines of canonical JSON; a multiset, so equal rows repeat."""
    columns = [[plain(value, column.type) for value in column.to_pylist()] for column in table.columns]
    rows = zip(*columns, strict=True) if columns else iter(())
    return sorted((text(dict(zip(table.column_names, row, strict=True))) for row in rows), key=str.encode)


def text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def difference(found: list[str], expected: list[str], *, shown_max: int = 5) -> str:
    """What is missing from the rows found, and what is too many; empty when they are the same multiset."""
    sides = {"missing": Counter(expected) - Counter(found), "unexpected": Counter(found) - Counter(expected)}
    return "\n".join(
        f"{side.total()} rows {name}:\n  " + "\n  ".join(sorted(side.elements())[:shown_max])
        for name, side in sides.items()
        if side
    )


def plain(value: object, type_: pa.DataType) -> object:
    """The value of one cell as JSON can hold it."""
    if value is None:
        return None
    if isinstance(type_, pa.BaseExtensionType):
        return str(value) if type_.extension_name == "arrow.uuid" else plain(value, type_.storage_type)
    if pa.types.is_nested(type_):
        return _plain_nested(value, type_)
    if pa.types.is_floating(type_):
        return "NaN" if math.isnan(value) else NAMES_OF_FLOATS.get(value, value)
    if pa.types.is_timestamp(type_):
        return value.replace(tzinfo=None).isoformat(timespec="microseconds") + ("Z" if type_.tz else "")
    if pa.types.is_time(type_):
        return value.isoformat(timespec="microseconds")
    if pa.types.is_date(type_):
        return value.isoformat()
    if pa.types.is_decimal(type_):
        return f"{value:f}"
    return "0x" + value.hex() if isinstance(value, bytes) else value


def _plain_nested(value: object, type_: pa.DataType) -> object:
    if pa.types.is_struct(type_):
        return {field.name: plain(value[field.name], field.type) for field in type_}
    if pa.types.is_map(type_):
        pairs = [[plain(key, type_.key_type), plain(item, type_.item_type)] for key, item in value]
        return sorted(pairs, key=lambda pair: text(pair[0]))
    return [plain(item, type_.value_type) for item in value]
