"""Which moment or identifier does a text mean, and which texts are left to Spark?"""

from datetime import UTC, datetime

import pytest

from lakewright.model.types import ColumnType, Primitive
from lakewright.planning.literals import date_days, timestamp_units, uuid_bytes

ZONED, ZONELESS = Primitive.TIMESTAMPTZ, Primitive.TIMESTAMP


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-01", 0),
        ("1969-12-31", -1),
        ("2024-02-29", 19782),
        ("9999-12-31", 2932896),
        ("2023-02-29", None),
        ("0000-01-01", None),
        ("2024-2-3", None),
        ("2024-01-01 ", None),
        ("٢٠٢٤-01-01", None),
        ("today", None),
    ],
)
def test_a_date_is_read_in_its_full_spelling_only(text: str, days: int | None) -> None:
    assert date_days(text) == days


@pytest.mark.parametrize(
    ("text", "column_type", "zone", "utc"),
    [
        ("1970-01-01", ZONED, "UTC", "1970-01-01T00:00:00"),
        ("1969-12-31 23:59:59.5", ZONELESS, "Europe/Berlin", "1969-12-31T23:59:59.5"),
        ("2024-07-01T12:00:00", ZONED, "Europe/Berlin", "2024-07-01T10:00:00"),
        ("2024-07-01 12:00:00.000001", ZONED, "GMT+05:30", "2024-07-01T06:30:00.000001"),
        ("2024-07-01 12:00:00-18:00", ZONED, "Europe/Berlin", "2024-07-02T06:00:00"),
        ("2024-07-01 12:00:00Z", ZONED, "Europe/Berlin", "2024-07-01T12:00:00"),
        # A clock that was put back shows this hour twice, one that was put forward skips it: Java takes these.
        ("2024-10-27 02:30:00", ZONED, "Europe/Berlin", "2024-10-27T00:30:00"),
        ("2024-03-31 02:30:00", ZONED, "Europe/Berlin", "2024-03-31T01:30:00"),
        ("2024-07-01 12:00:00Z", ZONELESS, "UTC", None),
        ("2024-07-01 12:00:00", ZONED, "Atlantis/Capital", None),
        ("2024-07-01 12:00:00", ZONED, "../../etc/passwd", None),
        ("2024-07-01 12:00:00+18:01", ZONED, "UTC", None),
        ("2024-07-01 12:00:00+99:00", ZONED, "UTC", None),
        ("2024-07-01 12:00:00+01:60", ZONED, "UTC", None),
        ("2024-07-01 24:00:00", ZONED, "UTC", None),
        ("2024-07-01 12:00", ZONED, "UTC", None),
        ("2024-07-01 12:00:00.1234567", ZONED, "UTC", None),
        ("2024-02-30 12:00:00", ZONED, "UTC", None),
    ],
)
def test_a_text_is_local_time_of_the_session_unless_it_has_an_offset(
    text: str, column_type: ColumnType, zone: str, utc: str | None
) -> None:
    found = timestamp_units(text, column_type, zone)
    if utc is None:
        assert found is None
    else:
        delta = datetime.fromisoformat(utc).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        assert found == (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/St_Johns", "-03:30"])
@pytest.mark.parametrize("text", ["0001-01-01 00:00:00", "9999-12-31 23:59:59"])
def test_the_ends_of_the_calendar_are_judged_or_left_alone(text: str, zone: str) -> None:
    assert timestamp_units(text, ZONELESS, zone) is not None
    assert isinstance(timestamp_units(text, ZONED, zone), int | None)


def test_an_identifier_is_read_in_its_canonical_spelling_only() -> None:
    text = "00112233-4455-6677-8899-aabbccddeeff"
    assert uuid_bytes(text) == bytes.fromhex(text.replace("-", ""))
    assert [uuid_bytes(other) for other in (text.upper(), f"{{{text}}}", text[:-1], text.replace("-", ""))] == [
        None
    ] * 4
