"""Which number does a literal mean, and how does Spark compare it with a column? Only what is certain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite

from sqlglot import expressions as sql

from lakewright.model.types import FLOATING, INTEGRAL, ColumnType, DecimalType, Primitive, Value

_EXACT_MAX = {Primitive.FLOAT: 2**24, Primitive.DOUBLE: 2**53}
"""Up to here a floating column holds every integer, whichever floating type Spark compares them in."""
_DIGITS_OF_INT, _DIGITS_OF_LONG = 10, 20
_DECIMAL_PRECISION_MAX = 38
_KIND = sql.DataType.Type
_INTEGER_BITS = {_KIND.TINYINT: 8, _KIND.SMALLINT: 16, _KIND.INT: 32, _KIND.BIGINT: 64}
_INTEGER = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Numeral:
    """A number with the digits that its SQL type has room for; a double has no such digits."""

    value: int | Decimal | float
    whole_digits: int = 0
    scale: int = 0


def plain_numeral(text: str) -> Numeral | None:
    """A literal without a suffix: an integer, a decimal if it has a point, a double if it has an exponent."""
    if not _NUMBER.fullmatch(text):
        return None
    if "e" in text.lower():
        return _double(text)
    if not _has_room(text):
        return None
    if "." in text:
        number = Decimal(text)
        return Numeral(number, _whole_digits(number), _scale(number))
    return _integer(int(text))


def typed_numeral(text: str, to: sql.DataType) -> Numeral | None:
    """A literal with a suffix or inside a cast; None where the cast changes its value or may fail."""
    if to.this in _INTEGER_BITS and _INTEGER.fullmatch(text) and _has_room(text):
        number = int(text)
        limit = 1 << (_INTEGER_BITS[to.this] - 1)
        return _integer(number) if -limit <= number < limit else None
    if not _NUMBER.fullmatch(text):
        return None
    if to.this == _KIND.DOUBLE:
        return _double(text)
    if to.this == _KIND.DECIMAL and "e" not in text.lower() and _has_room(text):
        return _decimal(Decimal(text), [parameter.name for parameter in to.expressions])
    return None


def negative(numeral: Numeral) -> Numeral:
    """With all digits: Python's minus would round a decimal to the precision of its context."""
    value = numeral.value
    negated = value.copy_negate() if isinstance(value, Decimal) else -value
    return Numeral(negated, numeral.whole_digits, numeral.scale)


def compared(numerals: Sequence[Numeral], column_type: ColumnType) -> tuple[tuple[Value, ...], bool] | None:
    """The numbers in the domain in which Spark compares them with a column, and whether that is the one of doubles.

    Integers and decimals are compared exactly as long as 38 digits hold both sides; as soon as one side is floating, all
    are doubles. None where it is not certain what Spark does.
    """
    if column_type in FLOATING:
        exact = _EXACT_MAX[Primitive(str(column_type))]
        if any(isinstance(each.value, int) and abs(each.value) > exact for each in numerals):
            return None
        return tuple(float(each.value) for each in numerals), True
    digits = _digits_of_column(column_type)
    if digits is None:
        return None
    if any(isinstance(each.value, float) for each in numerals):
        return tuple(float(each.value) for each in numerals), True
    whole, scale = digits
    wide = max(whole, *(each.whole_digits for each in numerals)) + max(scale, *(each.scale for each in numerals))
    if wide > _DECIMAL_PRECISION_MAX:
        return None
    return tuple(_exact(each.value, column_type) for each in numerals), False


def _digits_of_column(column_type: ColumnType) -> tuple[int, int] | None:
    """Whole and fractional digits; None for a column that is no number."""
    if isinstance(column_type, DecimalType):
        return column_type.precision - column_type.scale, column_type.scale
    if column_type in INTEGRAL:
        return (_DIGITS_OF_INT if column_type == Primitive.INT else _DIGITS_OF_LONG), 0
    return None


def _exact(number: int | Decimal | float, column_type: ColumnType) -> Value:
    """Integers where the column holds integers, if that loses nothing."""
    if isinstance(column_type, DecimalType):
        return Decimal(number)
    return int(number) if number == int(number) else number


def _has_room(text: str) -> bool:
    """Spark has no number of more digits that is not a double."""
    return sum(character.isdigit() for character in text) <= _DECIMAL_PRECISION_MAX


def _integer(number: int) -> Numeral:
    digits = _DIGITS_OF_INT if -(2**31) <= number < 2**31 else max(_DIGITS_OF_LONG, _whole_digits(number))
    return Numeral(number, digits)


def _double(text: str) -> Numeral | None:
    number = float(text)
    return Numeral(number) if isfinite(number) else None


def _decimal(number: Decimal, parameters: Sequence[str]) -> Numeral | None:
    if not 1 <= len(parameters) <= 2 or not all(_INTEGER.fullmatch(parameter) for parameter in parameters):
        return None
    precision, scale = (*map(int, parameters), 0)[:2]
    if _scale(number) > scale or _whole_digits(number) > precision - scale:
        return None
    return Numeral(number, precision - scale, scale)


def _scale(number: Decimal) -> int:
    return max(0, -int(number.as_tuple().exponent))


def _whole_digits(number: int | Decimal) -> int:
    whole = abs(int(number))
    return len(str(whole)) if whole else 0
