"""Where does a data file go, and how is its partition spelled there?"""

import re
from urllib.parse import unquote

import pytest

from lakewright.model.layout import DataLocation
from lakewright.model.naming import file_location, readable_value
from lakewright.model.partitioning import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    PartitionKey,
    PartitionSpec,
    Transform,
    Truncate,
    Year,
)
from lakewright.model.types import ColumnType, Primitive, Value
from tests.described import schema_of, spec_of

SCHEMA = schema_of("region string, at timestamp, old int")
SPEC = spec_of(SCHEMA, "region identity", "at day", "old void")
KEY = PartitionKey(0, ("EU/west 50%", -1, None))
FOLDERS = "region=EU%2Fwest%2050%25/at_day=1969-12-31"


def test_a_file_lies_below_the_folders_of_its_partition_but_for_void_fields() -> None:
    assert (
        file_location(DataLocation("s3://b/data"), SCHEMA, SPEC, KEY, "f.parquet") == f"s3://b/data/{FOLDERS}/f.parquet"
    )


def test_hashed_locations_are_spread_over_prefixes_and_stay_with_a_name() -> None:
    hashed = DataLocation("s3://b/data", hashed=True)
    found = {file_location(hashed, SCHEMA, SPEC, KEY, f"{number}.parquet") for number in range(50)}
    assert all(
        re.fullmatch(rf"s3://b/data/[01]{{4}}/[01]{{4}}/[01]{{4}}/[01]{{8}}/{FOLDERS}/\d+\.parquet", f) for f in found
    )
    assert len({location.split("/")[4] for location in found}) > 8
    assert file_location(hashed, SCHEMA, SPEC, KEY, "7.parquet") in found


def test_folders_can_be_left_out() -> None:
    location = DataLocation("s3://b/data", partition_folders=False)
    assert file_location(location, SCHEMA, SPEC, KEY, "f.parquet") == "s3://b/data/f.parquet"
    assert file_location(DataLocation("/d"), SCHEMA, PartitionSpec(0), PartitionKey(0), "f.parquet") == "/d/f.parquet"


@pytest.mark.parametrize("character", ["a", "é", "漢", "\U0001f600"])
@pytest.mark.parametrize("offset", range(4))
def test_a_long_value_is_cut_between_characters(character: str, offset: int) -> None:
    text = "x" * offset + character * 200
    location = file_location(
        DataLocation("d"), SCHEMA, spec_of(SCHEMA, "region identity"), PartitionKey(0, (text,)), "f"
    )
    shown = location.removeprefix("d/region=").removesuffix("/f")
    assert 80 < len(shown) <= 100
    assert text.startswith(unquote(shown, errors="strict"))


@pytest.mark.parametrize(
    ("transform", "source", "value", "shown"),
    [
        (Identity(), Primitive.STRING, None, "null"),
        (Identity(), Primitive.BOOLEAN, True, "true"),
        (Identity(), Primitive.DATE, -1, "1969-12-31"),
        (Identity(), Primitive.DATE, 2**31 - 1, str(2**31 - 1)),
        (Identity(), Primitive.TIMESTAMP, -1, "1969-12-31T23:59:59.999999"),
        (Identity(), Primitive.TIMESTAMPTZ, 0, "1970-01-01T00:00:00+00:00"),
        (Identity(), Primitive.TIMESTAMP_NS, -1, "1969-12-31T23:59:59.999999"),
        (Identity(), Primitive.TIMESTAMP, 2**63 - 1, str(2**63 - 1)),
        (Identity(), Primitive.BINARY, b"\x00\xff", "AP8="),
        (Identity(), Primitive.DOUBLE, float("nan"), "nan"),
        (Year(), Primitive.DATE, -1, "1969"),
        (Month(), Primitive.TIMESTAMP, -1, "1969-12"),
        (Month(), Primitive.TIMESTAMP, 12, "1971-01"),
        (Day(), Primitive.TIMESTAMP, 0, "1970-01-01"),
        (Hour(), Primitive.TIMESTAMP, -1, "1969-12-31-23"),
        (Bucket(4), Primitive.DATE, 3, "3"),
        (Truncate(10), Primitive.INT, -10, "-10"),
    ],
)
def test_a_partition_value_is_shown_as_a_person_writes_it(
    transform: Transform, source: ColumnType, value: Value | None, shown: str
) -> None:
    assert readable_value(transform, source, value) == shown
