"""What do partition transforms make of values, and which values may a partition value stand for?"""

import math
from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg import transforms as theirs
from pyiceberg import types as their_types

from lakewright.model.partitioning import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Transform,
    Truncate,
    UnknownTransform,
    Void,
    Year,
)
from lakewright.model.transforms import apply_transform, hashed_bytes, next_bytes, next_text, preimage
from lakewright.model.types import ColumnType, DecimalType, FixedType, Primitive, Value
from tests.described import value_of

INT, LONG, DATE, STRING, BINARY = Primitive.INT, Primitive.LONG, Primitive.DATE, Primitive.STRING, Primitive.BINARY
TIMESTAMP, NANOS, UUID_TYPE = Primitive.TIMESTAMP, Primitive.TIMESTAMP_NS, Primitive.UUID
MONEY = DecimalType(9, 2)
DAY_MICROS = 86_400_000_000
TEXTS = st.text(max_size=6)
WIDTHS = st.integers(1, 50)


@pytest.mark.parametrize(
    ("column_type", "text", "hashed"),
    [
        (INT, "34", 2017239379),
        (LONG, "34", 2017239379),
        (MONEY, "14.20", -500754589),
        (DATE, "2017-11-16", -653330422),
        (Primitive.TIMESTAMPTZ, "2017-11-16T14:31:08-08:00", -2047944441),
        (TIMESTAMP, "2017-11-16T22:31:08", -2047944441),
        (TIMESTAMP, "2017-11-16T22:31:08.000001", -1207196810),
        (NANOS, "2017-11-16T22:31:08", -2047944441),
        (Primitive.TIMESTAMPTZ_NS, "2017-11-16T14:31:08.000001-08:00", -1207196810),
        (STRING, "iceberg", 1210000089),
        (UUID_TYPE, "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340),
        (FixedType(4), "00010203", -188683207),
        (BINARY, "00010203", -188683207),
    ],
)
def test_buckets_follow_the_hashes_that_the_specification_publishes(
    column_type: ColumnType, text: str, hashed: int
) -> None:
    value = value_of(text, column_type)
    assert value is not None
    count = 2**31 - 1
    assert apply_transform(Bucket(count), column_type, value) == (hashed & 0x7FFFFFFF) % count
    assert apply_transform(Bucket(16), column_type, value) == (hashed & 0x7FFFFFFF) % 16


def test_a_time_of_day_is_hashed_as_the_specification_publishes_it() -> None:
    micros = ((22 * 60 + 31) * 60 + 8) * 1_000_000
    assert apply_transform(Bucket(1000), Primitive.TIME, micros) == (-662762989 & 0x7FFFFFFF) % 1000


@pytest.mark.parametrize(
    ("transform", "column_type", "value", "expected"),
    [
        (Truncate(10), INT, 1, 0),
        (Truncate(10), INT, -1, -10),
        (Truncate(10), INT, -(2**31), 2**31 - 2),
        (Truncate(10), LONG, -(2**63), 2**63 - 2),
        (Truncate(50), MONEY, Decimal("10.65"), Decimal("10.50")),
        (Truncate(10), MONEY, Decimal("-0.05"), Decimal("-0.10")),
        (Truncate(3), STRING, "iceberg", "ice"),
        (Truncate(2), STRING, "\U0001f600\U0001f601\U0001f602", "\U0001f600\U0001f601"),
        (Truncate(3), BINARY, b"\x00\xff\x00\xff", b"\x00\xff\x00"),
        (Year(), DATE, -1, -1),
        (Month(), TIMESTAMP, -1, -1),
        (Day(), TIMESTAMP, -1, -1),
        (Hour(), TIMESTAMP, -1, -1),
        (Day(), NANOS, -1, -1),
        (Hour(), NANOS, 3_600_000_000_000, 1),
        (Void(), INT, 1, None),
        (UnknownTransform("zorder"), INT, 1, None),
    ],
)
def test_edges_are_as_the_specification_has_them(
    transform: Transform, column_type: ColumnType, value: Value, expected: Value | None
) -> None:
    assert apply_transform(transform, column_type, value) == expected


@pytest.mark.parametrize("transform", [Identity(), Bucket(4), Truncate(3), Year(), Month(), Day(), Hour(), Void()])
def test_null_stays_null(transform: Transform) -> None:
    assert apply_transform(transform, TIMESTAMP, None) is None


CASES: list[tuple[Transform, ColumnType, theirs.Transform, their_types.IcebergType, st.SearchStrategy[Value]]] = [
    (Bucket(7), INT, theirs.BucketTransform(7), their_types.IntegerType(), st.integers(-(2**31), 2**31 - 1)),
    (Bucket(7), LONG, theirs.BucketTransform(7), their_types.LongType(), st.integers(-(2**63), 2**63 - 1)),
    (Bucket(7), STRING, theirs.BucketTransform(7), their_types.StringType(), TEXTS),
    (Bucket(7), BINARY, theirs.BucketTransform(7), their_types.BinaryType(), st.binary(max_size=6)),
    (
        Bucket(7),
        MONEY,
        theirs.BucketTransform(7),
        their_types.DecimalType(9, 2),
        st.decimals(-9_999_999, 9_999_999, places=2),
    ),
    (Truncate(10), LONG, theirs.TruncateTransform(10), their_types.LongType(), st.integers(-(2**62), 2**62)),
    (Truncate(3), STRING, theirs.TruncateTransform(3), their_types.StringType(), TEXTS),
    (Truncate(3), BINARY, theirs.TruncateTransform(3), their_types.BinaryType(), st.binary(max_size=6)),
    (
        Truncate(70),
        MONEY,
        theirs.TruncateTransform(70),
        their_types.DecimalType(9, 2),
        st.decimals(-9_999_999, 9_999_999, places=2),
    ),
    (Year(), DATE, theirs.YearTransform(), their_types.DateType(), st.integers(-700_000, 2_900_000)),
    (Month(), DATE, theirs.MonthTransform(), their_types.DateType(), st.integers(-700_000, 2_900_000)),
    (Month(), TIMESTAMP, theirs.MonthTransform(), their_types.TimestampType(), st.integers(-(10**16), 10**17)),
    (Day(), TIMESTAMP, theirs.DayTransform(), their_types.TimestampType(), st.integers(-(10**16), 10**17)),
    (Hour(), TIMESTAMP, theirs.HourTransform(), their_types.TimestampType(), st.integers(-(10**16), 10**17)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
@given(data=st.data())
def test_transforms_agree_with_pyiceberg(case: tuple, data: st.DataObject) -> None:
    transform, column_type, their_transform, their_type, values = case
    value = data.draw(values)
    assert apply_transform(transform, column_type, value) == their_transform.transform(their_type)(value)


PREIMAGES: list[tuple[ColumnType, st.SearchStrategy[Value], st.SearchStrategy[Transform]]] = [
    (INT, st.integers(-(2**31), 2**31 - 1), WIDTHS.map(Truncate)),
    (LONG, st.sampled_from([-(2**63), 2**63 - 1]) | st.integers(-100, 100), WIDTHS.map(Truncate)),
    (MONEY, st.decimals(-100, 100, places=2), WIDTHS.map(Truncate)),
    (STRING, st.text("a\ud7ff\ue000\U0010ffff", max_size=5), st.integers(1, 3).map(Truncate)),
    (BINARY, st.binary(max_size=5) | st.just(b"\xff\xff\xff"), st.integers(1, 3).map(Truncate)),
    (DATE, st.integers(-800, 800), st.sampled_from([Year(), Month(), Day(), Identity()])),
    (TIMESTAMP, st.integers(-400 * DAY_MICROS, 400 * DAY_MICROS), st.sampled_from([Year(), Month(), Day(), Hour()])),
]


@pytest.mark.parametrize("case", PREIMAGES, ids=lambda case: str(case[0]))
@given(data=st.data())
def test_a_value_lies_among_those_that_its_partition_value_may_stand_for(case: tuple, data: st.DataObject) -> None:
    column_type, values, transforms = case
    value, transform = data.draw(values), data.draw(transforms)
    partition_value = apply_transform(transform, column_type, value)
    assert partition_value is not None
    lower, upper = preimage(transform, column_type, partition_value)
    assert lower is None or lower <= value
    assert upper is None or value <= upper


@given(st.integers(-800 * DAY_MICROS, 800 * DAY_MICROS), st.sampled_from([(1, Day()), (24, Hour())]))
def test_times_that_an_old_writer_truncated_towards_zero_are_found_too(
    micros: int, unit: tuple[int, Transform]
) -> None:
    per_day, transform = unit
    lower, upper = preimage(transform, TIMESTAMP, math.trunc(micros / (DAY_MICROS // per_day)))
    assert lower <= micros <= upper


FOLLOWING: list[tuple[Callable, str | bytes, str | bytes | None]] = [
    (next_text, "abc", "abd"),
    (next_text, "a\ud7ff", "a\ue000"),
    (next_text, "a\U0010ffff", "b"),
    (next_text, "\U0010ffff" * 2, None),
    (next_text, "", None),
    (next_bytes, b"a\x00", b"a\x01"),
    (next_bytes, b"a\xff\xff", b"b"),
    (next_bytes, b"\xff\xff", None),
    (next_bytes, b"", None),
]


@pytest.mark.parametrize(
    ("following", "prefix", "expected"), FOLLOWING, ids=lambda each: getattr(each, "__name__", None) or ascii(each)
)
def test_the_next_text_or_bytes_are_the_smallest_above_all_that_begin_so(
    following: Callable, prefix: str | bytes, expected: str | bytes | None
) -> None:
    assert following(prefix) == expected
    assert expected is None or not isinstance(expected, str) or expected.encode() > str(prefix).encode()


def test_numbers_of_every_width_hash_alike_and_nanoseconds_as_microseconds() -> None:
    assert hashed_bytes(INT, -1) == hashed_bytes(LONG, -1) == hashed_bytes(DATE, -1)
    assert hashed_bytes(NANOS, -1) == hashed_bytes(TIMESTAMP, -1)
    assert hashed_bytes(UUID_TYPE, UUID(int=1).bytes) == b"\x00" * 15 + b"\x01"
