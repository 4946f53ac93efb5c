"""Which tables are carried across? Each case is a table that either side can create, with the rows to append."""

import datetime as dt
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
from pyarrow import types

UTC = pa.timestamp("us", tz="UTC")
WALL = pa.timestamp("us")


@dataclass(frozen=True)
class Case:
    """A table's columns and partitioning in Spark's words, and the batches to append to it in order."""

    name: str
    columns: str
    batches: tuple[pa.Table, ...]
    partitioned_by: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()

    @property
    def rows(self) -> pa.Table:
        return pa.concat_tables(self.batches) if self.batches else pa.table({})


def arrow(fields: dict[str, pa.DataType], *rows: tuple[object, ...]) -> pa.Table:
    """A table of these rows, each a value a field."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(fields)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, fields.values(), strict=True)]
    return pa.table(arrays, names=list(fields))


# ---- every primitive type, at its edges

EVERY_TYPE = (
    "id BIGINT NOT NULL, flag BOOLEAN, small INT, ratio FLOAT, amount DECIMAL(10,2), wide DECIMAL(38,10), "
    "name STRING, bytes BINARY, d DATE, ts TIMESTAMP, wall TIMESTAMP_NTZ"
)
EVERY_FIELD = {
    "id": pa.int64(),
    "flag": pa.bool_(),
    "small": pa.int32(),
    "ratio": pa.float32(),
    "amount": pa.decimal128(10, 2),
    "wide": pa.decimal128(38, 10),
    "name": pa.string(),
    "bytes": pa.binary(),
    "d": pa.date32(),
    "ts": UTC,
    "wall": WALL,
}


def every_type_row(number: int) -> tuple[object, ...]:
    """A plain row; neighbours fall into other hours, and the numbers below 0 into the years before 1970."""
    moment = dt.datetime(1970, 1, 1, 0, 0, 0, 1) + dt.timedelta(days=97 * number, hours=number, microseconds=number)
    return (
        number,
        number % 2 == 0,
        number * 7,
        number / 3,
        Decimal(number * 1234) / 100,
        number * Decimal("0.1234567891"),
        f"name {number:04d}",
        f"{number:04d}".encode(),
        moment.date(),
        moment,
        moment - dt.timedelta(minutes=1),
    )


LAST_MOMENT = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
BEFORE_1970 = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
WIDEST = Decimal("9999999999999999999999999999.9999999999")

EDGES = (
    (0, *(None,) * 10),
    (
        -(2**63),
        False,
        -(2**31),
        -3.4028234663852886e38,
        Decimal("-99999999.99"),
        WIDEST.copy_negate(),
        "",
        b"",
        dt.date(1, 1, 1),
        dt.datetime(1, 1, 1),
        dt.datetime(1, 1, 1),
    ),
    (
        2**63 - 1,
        True,
        2**31 - 1,
        1.401298464324817e-45,
        Decimal("99999999.99"),
        WIDEST,
        "\U0010ffff" * 20,
        b"\xff" * 20,
        dt.date(9999, 12, 31),
        LAST_MOMENT,
        LAST_MOMENT,
    ),
    (
        -1,
        None,
        -1,
        -0.0,
        Decimal("-0.01"),
        Decimal("-0.0000000001"),
        "longer than the sixteen letters of a bound: ä€😀",
        b"\x00" * 20,
        BEFORE_1970.date(),
        BEFORE_1970,
        BEFORE_1970,
    ),
)  # fmt: skip -- a row a line reads best

ROWS = arrow(EVERY_FIELD, *(every_type_row(number) for number in range(-9, 10)), (10**6, *(None,) * 10))
EDGE_ROWS = arrow(EVERY_FIELD, *EDGES)

PARTITIONINGS = (
    ("flag",),
    ("small",),
    ("amount",),
    ("name",),
    ("bytes",),
    ("d",),
    ("ts",),
    ("wall",),
    ("bucket(5, id)",),
    ("bucket(5, small)",),
    ("bucket(5, amount)",),
    ("bucket(5, wide)",),
    ("bucket(5, name)",),
    ("bucket(5, bytes)",),
    ("bucket(5, d)",),
    ("bucket(5, ts)",),
    ("bucket(5, wall)",),
    ("truncate(4, id)",),
    ("truncate(10, small)",),
    ("truncate(500, amount)",),
    ("truncate(7, name)",),
    ("truncate(3, bytes)",),
    ("year(d)",),
    ("year(ts)",),
    ("year(wall)",),
    ("month(d)",),
    ("month(ts)",),
    ("month(wall)",),
    ("day(d)",),
    ("day(ts)",),
    ("day(wall)",),
    ("hour(ts)",),
    ("hour(wall)",),
    ("bucket(3, id)", "month(ts)", "flag"),
)


def partitioned(partitioned_by: tuple[str, ...]) -> Case:
    sources = [transform.rstrip(")").split("(")[-1].split(", ")[-1] for transform in partitioned_by]
    return Case(
        "-".join(partitioned_by),
        EVERY_TYPE,
        (ROWS, EDGE_ROWS) if _holds_the_edges(partitioned_by) else (ROWS,),
        partitioned_by,
        tuple(predicate for source in sources for predicate in predicates(ROWS, source)),
    )


def _holds_the_edges(partitioned_by: tuple[str, ...]) -> bool:
    """Truncating the least integer of a type leaves the type."""
    return not any(transform.startswith("truncate") for transform in partitioned_by)


# ---- floating point, where equal values have several bits and NaN has no order

FLOATS = (1.5, -0.0, 0.0, math.nan, math.inf, -math.inf, None)
FLOAT_FIELDS = {"id": pa.int32(), "x": pa.float64(), "y": pa.float32()}


def float_rows(*values: float | None) -> pa.Table:
    return arrow(FLOAT_FIELDS, *((number, value, value) for number, value in enumerate(values)))


# What Spark says of an order with NaN is not what Iceberg skips files by, so only equality is asked.
FLOAT_QUESTIONS = ("{} = 1.5", "{} <> 1.5", "{} = 0.0", "{} = -0.0", "{} <= 0.0", "{} = 'NaN'", "{} IS NULL")
FLOAT_PREDICATES = tuple(question.format(column) for column in ("x", "y") for question in FLOAT_QUESTIONS)
ABOUT_ZERO = tuple(predicate for predicate in FLOAT_PREDICATES if "= 0.0" in predicate or "= -0.0" in predicate)

FLOATS_APART = Case(
    "floats apart",
    "id INT, x DOUBLE, y FLOAT",
    tuple(map(float_rows, FLOATS)),
    predicates=tuple(predicate for predicate in FLOAT_PREDICATES if predicate not in ABOUT_ZERO),
)

# ---- nested types, where an absent value differs from an empty one at every level

NESTED = (
    "id INT, place STRUCT<city: STRING, at: STRUCT<lat: DOUBLE, lon: DOUBLE>>, tags ARRAY<STRING>, "
    "counts MAP<STRING, BIGINT>, stops ARRAY<STRUCT<name: STRING, ts: TIMESTAMP>>, plans MAP<INT, ARRAY<DECIMAL(5,1)>>"
)
PLACE = pa.struct({"city": pa.string(), "at": pa.struct({"lat": pa.float64(), "lon": pa.float64()})})
STOPS = pa.list_(pa.struct({"name": pa.string(), "ts": UTC}))
NESTED_FIELDS = {
    "id": pa.int32(),
    "place": PLACE,
    "tags": pa.list_(pa.string()),
    "counts": pa.map_(pa.string(), pa.int64()),
    "stops": STOPS,
    "plans": pa.map_(pa.int32(), pa.list_(pa.decimal128(5, 1))),
}
NESTED_ROWS = arrow(
    NESTED_FIELDS,
    (
        1,
        {"city": "Ulm", "at": {"lat": 48.4, "lon": math.nan}},
        ["a", None, ""],
        [("k", 1), ("j", None)],
        [{"name": "x", "ts": dt.datetime(2024, 2, 29)}, None],
        [(1, [Decimal("1.5"), None]), (2, None), (3, [])],
    ),
    (2, {"city": None, "at": None}, [], [], [], []),
    (3, None, None, None, None, None),
    (4, {"city": "Bonn", "at": {"lat": None, "lon": None}}, [None], [("", 0)], [{"name": None, "ts": None}], [(0, [])]),
)  # fmt: skip -- a row a line reads best


def nested(*partitioned_by: str, predicates: tuple[str, ...]) -> Case:
    return Case("-".join(("nested", *partitioned_by)), NESTED, (NESTED_ROWS,), partitioned_by, predicates)


# ---- names that are not plain words

ODD_NAMES = ("a b", "ä", "a.b", "1st", "select", "x,y;z={}()", "ta\tb", "a/b", "100%", "Quo\"te'", "π😀", "back`tick")


def odd_names(*partitioned_by: str) -> Case:
    fields = {name: pa.int64() for name in ODD_NAMES}
    rows = arrow(fields, *(tuple(range(start, start + len(ODD_NAMES))) for start in (0, 100)))
    columns = ", ".join(f"{quoted(name)} BIGINT" for name in ODD_NAMES)
    name = "-".join(("odd names", *partitioned_by))
    return Case(name, columns, (rows,), partitioned_by, tuple(f"{quoted(name)} >= 100" for name in ODD_NAMES))


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


ODD_TEXT = ("a b", "a/b", "a=b", "100%", "%2F", "ä", "a+b", "a#b?c&d", "", "..", "a:b", "\\", "line\nbreak", "null")
ODD_VALUE_FIELDS = {"id": pa.int32(), "name": pa.string()}
ODD_VALUE_ROWS = arrow(ODD_VALUE_FIELDS, *enumerate((*ODD_TEXT, None)))
ODD_VALUES_CASE = Case(
    "odd values", "id INT, name STRING", (ODD_VALUE_ROWS,), ("name",), ("name = 'a/b'", "name = ''", "name IS NULL")
)

ODD_FOLDERS = ("with space", "100%", "a%20b", "ünïcode", "a+b", "a#b", "a=b&c", "a?b", "a:b", "[a]{b,c}*", "x;y")


# ---- predicates


def predicates(rows: pa.Table, column: str) -> list[str]:
    """Questions about one column that a reader may answer by skipping files: at, below and above some of its values."""
    values = sorted({value for value in rows[column].to_pylist() if value is not None})
    name = quoted(column)
    some = dict.fromkeys((values[0], values[len(values) // 3], values[-1]))
    shown = [literal(value, rows.schema.field(column).type) for value in some]
    orders = [f"{name} {sign} {value}" for value in shown for sign in ("=", "<")]
    others = [f"{name} {sign} {shown[len(shown) // 2]}" for sign in (">=", "<>")]
    return [*orders, *others, f"{name} IN ({', '.join(shown)})", f"{name} IS NULL", f"{name} IS NOT NULL"]


def literal(value: object, type_: pa.DataType) -> str:
    """The value in Spark's SQL."""
    if types.is_boolean(type_) or types.is_integer(type_):
        return str(value).lower()
    if types.is_decimal(type_):
        return f"{value:f}BD"
    if types.is_binary(type_):
        return f"X'{value.hex()}'"
    if types.is_date(type_):
        return f"DATE'{value.isoformat()}'"
    if types.is_timestamp(type_):
        return f"TIMESTAMP'{value.isoformat()}'" if type_.tz else f"TIMESTAMP_NTZ'{value.isoformat()}'"
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


# ---- the list

IN_EVERY_VERSION = ("every type", "nested", "several appends", "odd names")


def every_case() -> Iterator[Case]:
    yield Case("every type", EVERY_TYPE, (ROWS, EDGE_ROWS), predicates=tuple(_about_every_column()))
    yield from map(partitioned, PARTITIONINGS)
    yield Case("floats together", "id INT, x DOUBLE, y FLOAT", (float_rows(*FLOATS),), (), FLOAT_PREDICATES)
    yield FLOATS_APART
    yield nested(predicates=("place.city = 'Ulm'", "place IS NULL", "place.at.lat IS NULL"))
    yield nested("bucket(2, id)", predicates=("id = 3",))
    yield nested("place.city", predicates=("place.city = 'Ulm'", "place.city IS NULL"))
    yield odd_names()
    yield odd_names(*map(quoted, ("a b", "ä", "1st", "x,y;z={}()")))
    yield odd_names(f"bucket(4, {quoted('a b')})", f"truncate(10, {quoted('ta' + chr(9) + 'b')})")
    yield odd_names(quoted("a.b"))
    yield ODD_VALUES_CASE
    yield plain("never appended to", partitioned_by="day(ts)")
    yield plain("several appends", ROWS.slice(0, 5), ROWS.slice(5, 1), ROWS.slice(6), partitioned_by="bucket(3, id)")
    yield plain("an empty append", ROWS.slice(0, 5), ROWS.slice(0, 0), ROWS.slice(5), partitioned_by="month(d)")
    yield plain("nothing but an empty append", ROWS.slice(0, 0), partitioned_by="year(d)")


def each_in_a_version() -> Iterator[tuple[Case, int]]:
    """Every case; most of them in one version of the format, in turn, and predicates once: each takes the JVM a while."""
    versions = itertools.cycle((1, 2, 3))
    for case in every_case():
        version = next(versions)
        yield case, version
        if case.name in IN_EVERY_VERSION:
            yield from ((replace(case, predicates=()), other) for other in (1, 2, 3) if other != version)


def plain(name: str, *batches: pa.Table, partitioned_by: str) -> Case:
    return Case(name, EVERY_TYPE, batches, (partitioned_by,))


def _about_every_column() -> Iterator[str]:
    for column in EVERY_FIELD:
        if column != "ratio":
            yield from predicates(EDGE_ROWS, column)
