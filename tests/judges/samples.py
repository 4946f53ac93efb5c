"""Which values are hard to store? For each type those at its edges, and the transforms that it can be under."""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

import pyarrow as pa

FORMAT_VERSIONS = (1, 2, 3)
TIME_TRANSFORMS = ("year(%s)", "month(%s)", "day(%s)", "hour(%s)")
BUCKETED = ("%s", "bucket(7, %s)")
MOMENTS = (
    dt.datetime(1, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    dt.datetime(1970, 1, 1),
    None,
    dt.datetime(1969, 12, 31, 23),
    dt.datetime(1968, 2, 29, 12, 30),
    dt.datetime(2024, 2, 29, 0, 0, 0, 1),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
)
# Nanoseconds in 64 bits reach from 1677 to 2262.
NANOS = (-9 * 10**18 - 1, -1, 0, None, -86_400 * 10**9, 999, 1_709_164_800_000_000_001, 9 * 10**18)
FLOATS = (math.inf, 1.5, None, -0.0, math.nan, 0.0, -math.inf, -1e30)
TEXTS = ("", "a", None, "z" * 40, "ä€😀 and more than sixteen", "\U0010ffff" * 17, "a/b=c?%20#d\n", "null")
BYTES = (b"", b"\x00", None, b"\xff" * 17, b"\x7f\x80" * 9, b"a", b"\xff", b"\x00" * 20)


@dataclass(frozen=True)
class Sample:
    """A column, the values at the edges of its type, and the transforms that it is partitioned by."""

    name: str
    type: pa.DataType
    values: tuple[object, ...]
    transforms: tuple[str, ...]

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        return tuple(transform % self.name for transform in self.transforms)


def decimals(precision: int, scale: int) -> tuple[Decimal | None, ...]:
    widest = 10**precision - 1
    digits = (-widest, widest, None, 0, -1, 1, 12, -128)
    return tuple(None if number is None else _decimal(number, scale) for number in digits)


def _decimal(digits: int, scale: int) -> Decimal:
    """Without the rounding of Python's arithmetic."""
    return Decimal((int(digits < 0), tuple(map(int, str(abs(digits)))), -scale))


SAMPLES = (
    Sample("flag", pa.bool_(), (True, False, None, True), ("%s",)),
    Sample("small", pa.int32(), (-(2**31), 2**31 - 1, None, 0, -1, 1, 10, -10), BUCKETED),
    Sample("big", pa.int64(), (-(2**63), 2**63 - 1, None, 0, -1, 1, 34, -(2**40)), BUCKETED),
    Sample("near", pa.int32(), (-11, -10, None, -1, 0, 1, 9, 10), ("truncate(10, %s)",)),
    Sample("far", pa.int64(), (-(10**15), -10, None, -1, 0, 1, 9, 10**15), ("truncate(10, %s)",)),
    Sample("ratio", pa.float32(), FLOATS, ("%s",)),
    Sample("share", pa.float64(), FLOATS, ("%s",)),
    Sample("price", pa.decimal128(9, 2), decimals(9, 2), BUCKETED),
    Sample("total", pa.decimal128(18, 4), decimals(18, 4), BUCKETED),
    Sample("wide", pa.decimal128(38, 10), decimals(38, 10), BUCKETED),
    Sample("tidy", pa.decimal128(20, 3), decimals(12, 3), ("truncate(50, %s)",)),
    Sample(
        "day", pa.date32(), tuple(moment and moment.date() for moment in MOMENTS), (*BUCKETED, *TIME_TRANSFORMS[:3])
    ),
    Sample("clock", pa.time64("us"), tuple(moment and moment.time() for moment in MOMENTS), BUCKETED),
    Sample("wall", pa.timestamp("us"), MOMENTS, (*BUCKETED, *TIME_TRANSFORMS)),
    Sample("moment", pa.timestamp("us", "UTC"), MOMENTS, (*BUCKETED, *TIME_TRANSFORMS)),
    Sample("word", pa.string(), TEXTS, (*BUCKETED, "truncate(3, %s)")),
    Sample("raw", pa.binary(), BYTES, (*BUCKETED, "truncate(2, %s)")),
    Sample("code", pa.binary(4), (b"\x00" * 4, b"\xff" * 4, None, b"abcd", b"\x80\x00\x00\x00"), BUCKETED),
    Sample("key", pa.uuid(), (UUID(int=0), UUID(int=2**128 - 1), None, UUID(int=2**127), UUID(int=7)), BUCKETED),
)
NANO_SAMPLE = Sample("nanos", pa.timestamp("ns"), NANOS, (*BUCKETED, *TIME_TRANSFORMS))
ZONED_NANO_SAMPLE = Sample("zoned_nanos", pa.timestamp("ns", "UTC"), NANOS, (*BUCKETED, *TIME_TRANSFORMS))


def samples_of(format_version: int) -> tuple[Sample, ...]:
    """Nanoseconds came with version 3."""
    return (*SAMPLES, NANO_SAMPLE) if format_version == 3 else SAMPLES


def rows_of(samples: Sequence[Sample], count: int) -> pa.Table:
    """So many rows, numbered; the first is NULL everywhere, and the values of a column repeat in its own rhythm."""
    columns = [pa.array(range(count), pa.int32())]
    columns += [
        array((None, *(sample.values[number % len(sample.values)] for number in range(count - 1))), sample.type)
        for sample in samples
    ]
    return pa.table(columns, names=["id", *(sample.name for sample in samples)])


def array(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    if kind != pa.uuid():
        return pa.array(values, kind)
    return pa.uuid().wrap_array(pa.array([value and value.bytes for value in values], pa.binary(16)))
