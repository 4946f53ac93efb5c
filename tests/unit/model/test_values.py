"""Are single values written as the specification and pyiceberg write them, and read back as they were?"""

import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg import types as theirs
from pyiceberg.conversions import from_bytes, to_bytes

from lakewright.model.types import ColumnType, DecimalType, FixedType, Primitive, Value
from lakewright.model.values import decode_value, encode_value, scaled, signed_bytes, unscaled

INT32, INT64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
WIDE = DecimalType(38, 10)
LARGEST = Decimal("9999999999999999999999999999.9999999999")
VALUES: list[tuple[ColumnType, theirs.PrimitiveType, st.SearchStrategy[Value]]] = [
    (Primitive.BOOLEAN, theirs.BooleanType(), st.booleans()),
    (Primitive.INT, theirs.IntegerType(), INT32),
    (Primitive.DATE, theirs.DateType(), INT32),
    (Primitive.LONG, theirs.LongType(), INT64),
    (Primitive.TIME, theirs.TimeType(), st.integers(0, 86_399_999_999)),
    (Primitive.TIMESTAMP, theirs.TimestampType(), INT64),
    (Primitive.TIMESTAMPTZ_NS, theirs.TimestamptzNanoType(), INT64),
    (Primitive.FLOAT, theirs.FloatType(), st.floats(width=32, allow_nan=False)),
    (Primitive.DOUBLE, theirs.DoubleType(), st.floats(allow_nan=False)),
    (Primitive.STRING, theirs.StringType(), st.text()),
    (Primitive.BINARY, theirs.BinaryType(), st.binary()),
    (FixedType(3), theirs.FixedType(3), st.binary(min_size=3, max_size=3)),
    (Primitive.UUID, theirs.UUIDType(), st.binary(min_size=16, max_size=16)),
    (DecimalType(9, 2), theirs.DecimalType(9, 2), st.decimals(-9_999_999, 9_999_999, places=2)),
]


@pytest.mark.parametrize(("ours", "their_type", "values"), VALUES, ids=lambda case: str(case)[:20])
@given(data=st.data())
def test_a_value_is_written_as_pyiceberg_writes_it_and_read_back(
    ours: ColumnType, their_type: theirs.PrimitiveType, values: st.SearchStrategy[Value], data: st.DataObject
) -> None:
    value = data.draw(values)
    raw = encode_value(ours, value)
    assert raw == to_bytes(their_type, value)
    assert decode_value(ours, raw) == value
    assert from_bytes(their_type, raw) == value


@pytest.mark.parametrize("number", [0, 1, -1, 127, 128, -128, -129, 2**63, -(2**63), 10**38 - 1, -(10**38) + 1])
def test_integers_take_as_few_bytes_as_hold_them(number: int) -> None:
    raw = signed_bytes(number)
    assert int.from_bytes(raw, "big", signed=True) == number
    assert not raw[1:] or int.from_bytes(raw[1:], "big", signed=True) != number


@pytest.mark.parametrize("value", [LARGEST, -LARGEST.copy_abs(), Decimal("0E-10"), Decimal("-0.0000000001")])
def test_decimals_keep_all_their_digits(value: Decimal) -> None:
    assert str(decode_value(WIDE, encode_value(WIDE, value))) == str(scaled(unscaled(value, 10), 10))
    assert decode_value(WIDE, encode_value(WIDE, value)) == value


@pytest.mark.parametrize(
    ("column_type", "raw", "value"),
    [
        (Primitive.LONG, struct.pack("<i", -5), -5),
        (Primitive.DOUBLE, struct.pack("<f", 1.5), 1.5),
        (Primitive.TIMESTAMP, struct.pack("<i", -1), -86_400_000_000),
        (Primitive.TIMESTAMP_NS, struct.pack("<i", 1), 86_400_000_000_000),
        (DecimalType(20, 2), b"\x05", Decimal("0.05")),
    ],
)
def test_bounds_from_before_a_promotion_are_read_as_the_type_of_now(
    column_type: ColumnType, raw: bytes, value: Value
) -> None:
    assert decode_value(column_type, raw) == value


@pytest.mark.parametrize(
    ("column_type", "raw"),
    [
        (Primitive.BOOLEAN, b""),
        (Primitive.INT, b"\x00" * 8),
        (Primitive.INT, b""),
        (Primitive.LONG, b"\x00" * 5),
        (Primitive.FLOAT, b"\x00" * 8),
        (Primitive.DOUBLE, b""),
        (Primitive.STRING, b"\xff"),
        (Primitive.TIMESTAMP, b""),
        (Primitive.TIME, b"\x00" * 4),
        (DecimalType(9, 2), b""),
        (Primitive.VARIANT, b"\x00"),
    ],
)
def test_bytes_that_do_not_fit_a_type_say_nothing(column_type: ColumnType, raw: bytes) -> None:
    assert decode_value(column_type, raw) is None


def test_zeros_keep_their_sign() -> None:
    assert encode_value(Primitive.DOUBLE, -0.0) == b"\x00" * 7 + b"\x80"
    assert str(decode_value(Primitive.DOUBLE, b"\x00" * 7 + b"\x80")) == "-0.0"
