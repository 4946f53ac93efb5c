"""Which rows does a condition select? Bound conditions: names are ids, literals have the column's domain.

A predicate is asked one thing only: for which rows is it TRUE. NULL counts as not TRUE, so negations are pushed down to
the tests when a predicate is made and there is no `Not`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from lakewright.model.types import Value


class Operator(StrEnum):
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    NULL_SAFE_EQ = "<=>"
    NULL_SAFE_NE = "NOT <=>"
    IN = "IN"
    NOT_IN = "NOT IN"
    IS_NULL = "IS NULL"
    IS_NOT_NULL = "IS NOT NULL"
    IS_NAN = "IS NAN"
    IS_NOT_NAN = "IS NOT NAN"
    STARTS_WITH = "STARTS WITH"
    NOT_STARTS_WITH = "NOT STARTS WITH"


NEGATED = {
    Operator.EQ: Operator.NE,
    Operator.LT: Operator.GE,
    Operator.LE: Operator.GT,
    Operator.NULL_SAFE_EQ: Operator.NULL_SAFE_NE,
    Operator.IN: Operator.NOT_IN,
    Operator.IS_NULL: Operator.IS_NOT_NULL,
    Operator.IS_NAN: Operator.IS_NOT_NAN,
    Operator.STARTS_WITH: Operator.NOT_STARTS_WITH,
}
NEGATED |= {negated: operator for operator, negated in NEGATED.items()}


@dataclass(frozen=True)
class Always:
    """TRUE for every row, or for none."""

    truth: bool


@dataclass(frozen=True)
class Test:
    """One column against literals. With `as_double` both sides are compared as doubles, as Spark does it."""

    field_id: int
    operator: Operator
    values: tuple[Value, ...] = ()
    as_double: bool = False


@dataclass(frozen=True)
class AllOf:
    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Unjudged:
    """A condition that only the engine can evaluate: it may be TRUE of any row."""

    text: str


Predicate: TypeAlias = Always | Test | AllOf | AnyOf | Unjudged

EVERY_ROW = Always(True)
NO_ROW = Always(False)


def parts_of(predicate: Predicate) -> Iterator[Predicate]:
    """The predicate and everything inside it."""
    yield predicate
    if isinstance(predicate, AllOf | AnyOf):
        for part in predicate.parts:
            yield from parts_of(part)
