"""Which moment or identifier does a text literal mean? Only spellings that Spark reads in exactly one way."""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from lakewright.model.types import ColumnType, Primitive

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})(?:[ T](?P<time>\d{2}:\d{2}:\d{2})(?:\.(?P<fraction>\d{1,6}))?(?P<zone>Z|[+-]\d{2}:\d{2})?)?",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{2}):([0-5]\d)", re.ASCII)
_OFFSET_MAX = timedelta(hours=18)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def date_days(text: str) -> int | None:
    """Days since 1970-01-01; None for a spelling that is not judged."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        return (date(*map(int, found.groups())) - _EPOCH.date()).days
    except ValueError:
        return None


def timestamp_units(text: str, column_type: ColumnType, time_zone: str | None) -> int | None:
    """Microseconds since 1970; a text without an offset is local time of the session, or zoneless as the column is."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    zoned = column_type == Primitive.TIMESTAMPTZ
    offset = found["zone"]
    if offset is not None and not zoned:
        return None
    zone = _zone(offset or (time_zone if zoned else "UTC"))
    if zone is None:
        return None
    micros = int((found["fraction"] or "").ljust(6, "0"))
    try:
        moment = datetime.fromisoformat(f"{found['day']}T{found['time'] or '00:00:00'}").replace(tzinfo=zone)
        return (moment - _EPOCH) // timedelta(microseconds=1) + micros
    except (ValueError, OverflowError):
        return None


def uuid_bytes(text: str) -> bytes | None:
    """Only the canonical spelling orders as its bytes do."""
    return bytes.fromhex(text.replace("-", "")) if _UUID.fullmatch(text) else None


def _zone(name: str | None) -> tzinfo | None:
    """None for one that is not known here, or that lies further from UTC than any does."""
    if name is None:
        return None
    if name in ("Z", "UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        sign, hours, minutes = offset.groups()
        size = timedelta(hours=int(hours), minutes=int(minutes))
        if size > _OFFSET_MAX:
            return None
        return timezone(size if sign == "+" else -size)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
