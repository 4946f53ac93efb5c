"""Which rows does a condition select, as Spark understands it? Drawn at random, with an answer in plain Python."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from lakewright.model.schema import Schema
from lakewright.model.types import FLOATING, DecimalType, Field, Primitive, StructType

Answer = Callable[[Mapping[int, Any]], bool | None]
"""True, false, or NULL as None; a row is values of columns by field id."""
_ORDERS: Mapping[str, Callable[[int], bool]] = {
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    "=": lambda sign: sign == 0,
    "<>": lambda sign: sign != 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


@dataclass(frozen=True)
class Condition:
    text: str
    answer: Answer


def random_condition(
    draw: random.Random, schema: Schema, value_of: Callable[[Field], Any], *, depth: int = 0
) -> Condition:
    """`value_of` draws a value that a column may have, never NULL."""
    if depth < 2 and draw.random() < 0.4:
        left, right = (random_condition(draw, schema, value_of, depth=depth + 1) for _ in range(2))
        return draw.choice([_and, _or, lambda one, _: _not(one)])(left, right)
    name, child, read = draw.choice(_asked(schema))
    if child.type in FLOATING and draw.random() < 0.2:
        return Condition(f"isnan({name})", lambda row: _is_nan(read(row)))
    if draw.random() < 0.2:
        wanted = draw.random() < 0.5
        return Condition(f"{name} IS {'' if wanted else 'NOT '}NULL", lambda row: (read(row) is None) == wanted)
    if child.type == Primitive.STRING and draw.random() < 0.3:
        return Condition(f"{name} LIKE 'a%'", lambda row: None if read(row) is None else read(row).startswith("a"))
    if draw.random() < 0.2:
        values = [value_of(child) for _ in range(2)]
        listed = ", ".join(_literal(value, child) for value in values)
        return Condition(f"{name} IN ({listed})", lambda row: _any_equal(read(row), values))
    order, value = draw.choice(sorted(_ORDERS)), value_of(child)
    return Condition(f"{name} {order} {_literal(value, child)}", lambda row: _compared(read(row), order, value))


def _asked(schema: Schema) -> list[tuple[str, Field, Callable[[Mapping[int, Any]], Any]]]:
    """The columns, and the members of structs, that a condition can speak of."""
    found = []
    for child in schema.fields:
        if isinstance(child.type, StructType):
            for member in child.type.fields:
                if _is_simple(member):
                    found.append((f"{child.name}.{member.name}", member, _member(child.id, member.id)))
        elif _is_simple(child):
            found.append((child.name, child, _column(child.id)))
    return found


def _column(field_id: int) -> Callable[[Mapping[int, Any]], Any]:
    return lambda row: row[field_id]


def _member(field_id: int, member_id: int) -> Callable[[Mapping[int, Any]], Any]:
    return lambda row: None if row[field_id] is None else row[field_id][member_id]


def _is_simple(child: Field) -> bool:
    return isinstance(child.type, Primitive | DecimalType)


def _and(left: Condition, right: Condition) -> Condition:
    def answer(row: Mapping[int, Any]) -> bool | None:
        both = left.answer(row), right.answer(row)
        return False if False in both else None if None in both else True

    return Condition(f"({left.text} AND {right.text})", answer)


def _or(left: Condition, right: Condition) -> Condition:
    def answer(row: Mapping[int, Any]) -> bool | None:
        both = left.answer(row), right.answer(row)
        return True if True in both else None if None in both else False

    return Condition(f"({left.text} OR {right.text})", answer)


def _not(one: Condition) -> Condition:
    def answer(row: Mapping[int, Any]) -> bool | None:
        found = one.answer(row)
        return None if found is None else not found

    return Condition(f"NOT ({one.text})", answer)


def _compared(value: Any, order: str, literal: Any) -> bool | None:
    """NaN equals itself and is greater than all else."""
    if value is None:
        return None
    left, right = ((_is_nan(each), 0.0 if _is_nan(each) else each) for each in (value, literal))
    return _ORDERS[order]((left > right) - (left < right))


def _any_equal(value: Any, literals: list[Any]) -> bool | None:
    return None if value is None else any(_compared(value, "=", each) for each in literals)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _literal(value: Any, child: Field) -> str:
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            return f"TIMESTAMP_NTZ'{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE'{value.isoformat()}'"
        case float() if not math.isfinite(value):
            return f"double('{value}')"
        case float():
            return f"{value!r}D"
        case Decimal():
            return f"{value:f}"
        case int():
            return f"{value}L" if child.type == Primitive.LONG else str(value)
        case _:
            return f"'{value}'"
