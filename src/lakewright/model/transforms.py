"""What does a partition transform make of a value, and which values can a partition value stand for?"""

import struct
from decimal import Decimal

import mmh3

from lakewright.model.partitioning import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Transform,
    Truncate,
    Year,
)
from lakewright.model.types import TIMESTAMPS, ColumnType, DecimalType, Primitive, Value
from lakewright.model.values import scaled, signed_bytes, unscaled

_HOURS_PER_DAY = 24
_TEXT_LAST = 0x10FFFF
_INTEGER_LIMIT = {Primitive.INT: 2**31, Primitive.LONG: 2**63}


def apply_transform(transform: Transform, source: ColumnType, value: Value | None) -> Value | None:
    """The partition value of a source value; NULL stays NULL. Unknown and void transforms give NULL."""
    if value is None:
        return None
    match transform:
        case Identity():
            return value
        case Bucket(count):
            return (mmh3.hash(hashed_bytes(source, value)) & 0x7FFFFFFF) % count
        case Truncate(width):
            return _truncated(source, value, width)
        case Year() | Month():
            year, month = _year_and_month(int(value) // units_per_day(source))
            return year - 1970 if transform == Year() else (year - 1970) * 12 + month - 1
        case Day():
            return int(value) // units_per_day(source)
        case Hour():
            return int(value) // (units_per_day(source) // _HOURS_PER_DAY)
        case _:
            return None


def preimage(transform: Transform, source: ColumnType, value: Value) -> tuple[Value | None, Value | None]:
    """The lowest and highest source value that a partition value may stand for; None where there is no bound.

    Writers used to truncate times before 1970 towards zero instead of downwards, so a value that is not positive may
    stand for the unit before it as well.
    """
    match transform:
        case Identity():
            return value, value
        case Truncate(width):
            return _truncate_preimage(source, value, width)
        case Year() | Month() | Day() | Hour():
            number = int(value)
            lower = _time_unit_start(transform, source, number - 1 if number <= 0 else number)
            return lower, _time_unit_start(transform, source, number + 1) - 1
        case _:
            return None, None


def hashed_bytes(source: ColumnType, value: Value) -> bytes:
    """What the bucket transform hashes: numbers as 8-byte integers, whatever their width."""
    match source:
        case Primitive.STRING:
            return str(value).encode()
        case DecimalType(_, scale):
            return signed_bytes(unscaled(Decimal(value), scale))  # type: ignore[arg-type]  # -- a decimal column holds decimals
        case Primitive.TIMESTAMP_NS | Primitive.TIMESTAMPTZ_NS:
            return struct.pack("<q", int(value) // 1000)
        case _ if isinstance(value, int):
            return struct.pack("<q", value)
        case _:
            return bytes(value)  # type: ignore[arg-type]  # -- what is left are uuid, fixed and binary


def units_per_day(source: ColumnType) -> int:
    """How many of a date's, timestamp's or nanosecond timestamp's units make a day."""
    if source == Primitive.DATE:
        return 1
    assert source in TIMESTAMPS, source
    return 86_400_000_000 * (1000 if source in (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS) else 1)


def next_text(text: str) -> str | None:
    """The smallest text above every text that begins with this one; None when there is none."""
    for end in range(len(text), 0, -1):
        code = ord(text[end - 1])
        if code < _TEXT_LAST:
            following = 0xE000 if code + 1 == 0xD800 else code + 1
            return text[: end - 1] + chr(following)
    return None


def next_bytes(raw: bytes) -> bytes | None:
    """The smallest byte string above every one that begins with this one; None when there is none."""
    for end in range(len(raw), 0, -1):
        if raw[end - 1] < 0xFF:
            return raw[: end - 1] + bytes([raw[end - 1] + 1])
    return None


def _truncated(source: ColumnType, value: Value, width: int) -> Value:
    match value:
        case str() | bytes():
            return value[:width]
        case Decimal() if isinstance(source, DecimalType):
            digits = unscaled(value, source.scale)
            return scaled(digits - digits % width, source.scale)
        case _:
            return _wrapped(source, int(value) - int(value) % width)


def _wrapped(source: ColumnType, number: int) -> int:
    """What is below the lowest integer of a type comes round at its upper end, as it does in every other writer."""
    limit = _INTEGER_LIMIT[Primitive(str(source))]
    return number + 2 * limit if number < -limit else number


def _truncate_preimage(source: ColumnType, value: Value, width: int) -> tuple[Value | None, Value | None]:
    match value:
        case str():
            return value, value if len(value) < width else next_text(value)
        case bytes():
            return value, value if len(value) < width else next_bytes(value)
        case Decimal() if isinstance(source, DecimalType):
            return value, scaled(unscaled(value, source.scale) + width - 1, source.scale)
        case _ if int(value) + width - 1 >= _INTEGER_LIMIT[Primitive(str(source))]:
            return None, None  # it may have come round from the lower end
        case _:
            return value, int(value) + width - 1


def _time_unit_start(transform: Transform, source: ColumnType, number: int) -> int:
    per_day = units_per_day(source)
    match transform:
        case Year():
            return _days_since_epoch(1970 + number, 1) * per_day
        case Month():
            return _days_since_epoch(1970 + number // 12, number % 12 + 1) * per_day
        case Day():
            return number * per_day
        case _:
            return number * (per_day // _HOURS_PER_DAY)


def _year_and_month(days: int) -> tuple[int, int]:
    """The proleptic Gregorian year and month of a day, for any number of days."""
    shifted = days + 719_468
    era, day_of_era = divmod(shifted, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * day_of_year + 2) // 153
    month = march_month + 3 if march_month < 10 else march_month - 9
    return year_of_era + era * 400 + (1 if month <= 2 else 0), month


def _days_since_epoch(year: int, month: int) -> int:
    """The first day of a month, counted from 1970-01-01."""
    march_year = year - (1 if month <= 2 else 0)
    era, year_of_era = divmod(march_year, 400)
    march_month = month - 3 if month > 2 else month + 9
    day_of_year = (153 * march_month + 2) // 5
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468
