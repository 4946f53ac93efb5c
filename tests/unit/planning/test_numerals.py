"""Which number does a literal mean, and in which domain is it compared?"""

from decimal import Decimal

import pytest
import sqlglot

from lakewright.model.types import ColumnType, DecimalType, Primitive
from lakewright.planning.numerals import Numeral, compared, negative, plain_numeral, typed_numeral

NINES = "9" * 38


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", Numeral(7, 10)),
        ("2147483648", Numeral(2**31, 20)),
        (NINES, Numeral(int(NINES), 38)),
        ("1.50", Numeral(Decimal("1.50"), 1, 2)),
        (".5", Numeral(Decimal("0.5"), 0, 1)),
        ("5.", Numeral(Decimal(5), 1, 0)),
        ("1e3", Numeral(1000.0)),
        ("1e999", None),
        (NINES + "9", None),
        (NINES + ".9", None),
        ("9" * 5000, None),
        ("0x1F", None),
        ("٣", None),
    ],
)
def test_a_plain_literal_has_the_type_that_spark_gives_it(text: str, expected: Numeral | None) -> None:
    assert plain_numeral(text) == expected


@pytest.mark.parametrize(
    ("text", "type_name", "expected"),
    [
        ("127", "TINYINT", Numeral(127, 10)),
        ("128", "TINYINT", None),
        ("-32768", "SMALLINT", Numeral(-32768, 10)),
        ("1.5", "INT", None),
        ("9223372036854775808", "BIGINT", None),
        ("9" * 5000, "BIGINT", None),
        ("1.5", "DOUBLE", Numeral(1.5)),
        ("1.5", "FLOAT", None),
        ("1.5", "DECIMAL(4, 2)", Numeral(Decimal("1.5"), 2, 2)),
        ("1.55", "DECIMAL(4, 1)", None),
        ("1000", "DECIMAL(4, 1)", None),
        ("1e9999999", "DECIMAL(38, 0)", None),
        ("x", "DOUBLE", None),
        ("1", "STRING", None),
    ],
)
def test_a_cast_is_judged_if_it_cannot_change_the_value(text: str, type_name: str, expected: Numeral | None) -> None:
    assert typed_numeral(text, sqlglot.exp.DataType.build(type_name, dialect="spark")) == expected


def test_a_minus_keeps_every_digit() -> None:
    number = Decimal("12345678901234567890.123456789012345678")
    assert str(negative(Numeral(number, 20, 18)).value) == f"-{number}"


@pytest.mark.parametrize(
    ("texts", "column_type", "expected"),
    [
        (["7"], Primitive.INT, ((7,), False)),
        (["7.0"], Primitive.INT, ((7,), False)),
        (["7.5"], Primitive.INT, ((Decimal("7.5"),), False)),
        (["7", "1e0"], Primitive.INT, ((7.0, 1.0), True)),
        (["7"], DecimalType(9, 2), ((Decimal(7),), False)),
        (["7"], Primitive.DOUBLE, ((7.0,), True)),
        (["0.1"], Primitive.FLOAT, ((0.1,), True)),
        ([str(2**24)], Primitive.FLOAT, ((float(2**24),), True)),
        ([str(2**24 + 1)], Primitive.FLOAT, None),
        ([str(2**53 + 1)], Primitive.DOUBLE, None),
        (["1." + "1" * 30], Primitive.LONG, None),
        (["7"], Primitive.STRING, None),
        (["7"], Primitive.DATE, None),
    ],
)
def test_numbers_are_compared_in_the_domain_that_spark_compares_them_in(
    texts: list[str], column_type: ColumnType, expected: tuple[tuple[object, ...], bool] | None
) -> None:
    numerals = [numeral for text in texts if (numeral := plain_numeral(text)) is not None]
    found = compared(numerals, column_type)
    assert found == expected
    if found and expected:
        assert [type(value) for value in found[0]] == [type(value) for value in expected[0]]
