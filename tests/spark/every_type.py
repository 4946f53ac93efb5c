"""Which columns can a table have, and which values stand at their edges?"""

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

import pyarrow as pa

DDL = """
    flag BOOLEAN, small INT, large BIGINT, single FLOAT, double DOUBLE, price DECIMAL(9, 2), exact DECIMAL(38, 10),
    day DATE, clock TIME, moment TIMESTAMP, wall TIMESTAMP_NTZ, text STRING, id UUID, raw BINARY, hash FIXED(4),
    place STRUCT<city: STRING NOT NULL, geo: STRUCT<lat: DOUBLE, tags: ARRAY<STRING>>>,
    prices ARRAY<DECIMAL(9, 2)>, points ARRAY<STRUCT<x: INT, y: FLOAT>>, counts MAP<STRING, BIGINT>,
    deep MAP<INT, ARRAY<MAP<STRING, DATE>>>
"""
_PLACE = pa.struct(
    [
        pa.field("city", pa.string(), nullable=False),
        ("geo", pa.struct([("lat", pa.float64()), ("tags", pa.list_(pa.string()))])),
    ]
)
SCHEMA = pa.schema(
    {
        "flag": pa.bool_(),
        "small": pa.int32(),
        "large": pa.int64(),
        "single": pa.float32(),
        "double": pa.float64(),
        "price": pa.decimal128(9, 2),
        "exact": pa.decimal128(38, 10),
        "day": pa.date32(),
        "clock": pa.time64("us"),
        "moment": pa.timestamp("us", "UTC"),
        "wall": pa.timestamp("us"),
        "text": pa.string(),
        "id": pa.uuid(),
        "raw": pa.binary(),
        "hash": pa.binary(4),
        "place": _PLACE,
        "prices": pa.list_(pa.decimal128(9, 2)),
        "points": pa.list_(pa.struct([("x", pa.int32()), ("y", pa.float32())])),
        "counts": pa.map_(pa.string(), pa.int64()),
        "deep": pa.map_(pa.int32(), pa.list_(pa.map_(pa.string(), pa.date32()))),
    }
)
_LEAST = {
    "flag": False,
    "small": -(2**31),
    "large": -(2**63),
    "single": -math.inf,
    "double": -0.0,
    "price": Decimal("-9999999.99"),
    "exact": Decimal("-9999999999999999999999999999.9999999999"),
    "day": date(1, 1, 1),
    "clock": time(0),
    "moment": datetime(1, 1, 2, tzinfo=UTC),
    "wall": datetime(1, 1, 1),
    "text": "",
    "id": UUID(int=0),
    "raw": b"",
    "hash": bytes(4),
    "place": {"city": "", "geo": None},
    "prices": [],
    "points": [None, {"x": None, "y": None}],
    "counts": [],
    "deep": [(-1, None)],
}
_GREATEST = {
    "flag": True,
    "small": 2**31 - 1,
    "large": 2**63 - 1,
    "single": math.nan,
    "double": math.nan,
    "price": Decimal("9999999.99"),
    "exact": Decimal("9999999999999999999999999999.9999999999"),
    "day": date(9999, 12, 31),
    "clock": time(23, 59, 59, 999999),
    "moment": datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC),
    "wall": datetime(9999, 12, 31, 23, 59, 59, 999999),
    "text": "zwölf Ünïcode 🙂 \x00 'quoted' \\ %",
    "id": UUID(int=2**128 - 1),
    "raw": bytes(range(256)),
    "hash": b"\xff\x00\xfe\x01",
    "place": {"city": "Göteborg", "geo": {"lat": math.nan, "tags": ["a", None, ""]}},
    "prices": [Decimal("0.01"), None, Decimal("-1.00")],
    "points": [{"x": 1, "y": 0.5}],
    "counts": [("a", 1), ("b", None)],
    "deep": [(1, [None, [("x", date(1969, 12, 31)), ("y", None)]]), (2, [])],
}
ROWS = pa.Table.from_pylist([_LEAST, _GREATEST, dict.fromkeys(SCHEMA.names)], SCHEMA)
"""The least and the greatest values, and a row of NULLs."""
