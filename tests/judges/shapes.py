"""Which tables are unusual? Nested columns, odd names, odd places, and the settings that decide where files lie."""

import datetime as dt
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa


@dataclass(frozen=True)
class Shape:
    """A table: the rows that make it, how they are cut into appends, and what it is created with.

    `{here}` in a property or a location is a folder of the test's own.
    """

    name: str
    rows: pa.Table
    cuts: tuple[int, ...] = (2,)
    partitioned_by: tuple[str, ...] = ()
    sorted_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    location: str | None = None
    asked: tuple[str, ...] = ()
    is_case_sensitive: bool = False
    versions: tuple[int, ...] = (2,)

    def __str__(self) -> str:
        return self.name

    @property
    def batches(self) -> tuple[pa.Table, ...]:
        edges = (0, *self.cuts, self.rows.num_rows)
        return tuple(self.rows.slice(start, end - start) for start, end in itertools.pairwise(edges))


# ---- plain rows, for tables that are unusual otherwise

PLAIN = pa.table(
    {
        "id": pa.array(range(12), pa.int32()),
        "region": ["EU", None, "a b/c", "100%", "ä#?", "EU", "", "x=y", "US", None, "EU", "π😀"],
        "at": pa.array(
            [number and dt.datetime(2024, 1, 1 + number) for number in range(12)], pa.timestamp("us", "UTC")
        ),
        "x": [1.5, math.nan, None, -0.0, 0.0, -math.inf, math.inf, 2.5, math.nan, None, 1e300, 7.0],
    }
)
EMPTY = PLAIN.slice(0, 0)

# ---- nested: an absent value differs from an empty one at every level

MOMENT = pa.timestamp("us", "UTC")
PLACE = pa.struct({"city": pa.string(), "at": pa.struct({"lat": pa.float64(), "lon": pa.float32()})})
DEEP = pa.list_(pa.struct({"tags": pa.map_(pa.string(), pa.list_(pa.struct({"n": pa.int64(), "on": pa.date32()})))}))
STOPS = pa.list_(pa.struct({"name": pa.string(), "at": MOMENT}))
NESTED_COLUMNS = {
    "place": PLACE,
    "names": pa.list_(pa.string()),
    "lists": pa.list_(pa.list_(pa.int32())),
    "counts": pa.map_(pa.string(), pa.int64()),
    "prices": pa.map_(pa.int32(), pa.decimal128(20, 2)),
    "stops": STOPS,
    "deep": DEEP,
}
DAY = dt.datetime(2024, 2, 29)
NESTED_ROWS = (
    (None,) * len(NESTED_COLUMNS),
    ({"city": None, "at": None}, [], [], [], [], [], []),
    (
        {"city": "Ulm", "at": {"lat": 48.4, "lon": math.nan}},
        ["a", None, ""],
        [[1, None], None, []],
        [("k", 1), ("", None)],
        [(-1, Decimal("-0.01")), (0, None)],
        [{"name": "x", "at": DAY}, None, {"name": None, "at": None}],
        [{"tags": [("t", [{"n": 1, "on": DAY.date()}, None]), ("u", None), ("v", [])]}, {"tags": None}, None],
    ),
    ({"city": "", "at": {"lat": None, "lon": -0.0}}, [None], [[]], [("z" * 30, 0)], [], [None], [{"tags": []}]),
)


def nested() -> pa.Table:
    columns = zip(*NESTED_ROWS, strict=True)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, NESTED_COLUMNS.values(), strict=True)]
    return pa.table([pa.array(range(len(NESTED_ROWS)), pa.int32()), *arrays], names=["id", *NESTED_COLUMNS])


# ---- names

KEYWORDS = ("select", "from", "where", "order", "table", "null", "true", "partition", "date", "interval")
DOTTED = "a.b"
ODD_NAMES = ("a b", "ä", "π😀", "back`tick", 'quo"te', "it's", "1st", "a/b", "100%", "x,y;{}()=", "ta\tb", "a#b", "-")


def named(*names: str) -> pa.Table:
    columns = [pa.array([None, *range(start, start + 4)], pa.int64()) for start in range(len(names))]
    return pa.table([pa.array(range(5), pa.int32()), *columns], names=["id", *names])


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def struct_named(*names: str) -> pa.Table:
    kind = pa.struct({name: pa.int64() for name in names})
    values = [None, {name: place for place, name in enumerate(names)}, dict.fromkeys(names)]
    return pa.table({"id": pa.array(range(3), pa.int32()), "inner": pa.array(values, kind)})


# ---- places

ODD_FOLDERS = (
    "with space",
    "100%",
    "a%20b",
    "ünïcode π",
    "a#b",
    "a?b",
    "a+b",
    "a=b&c",
    "a:b",
    "[a]{b}*",
    "it's",
    "x;y,z",
)

IN_A_FOLDER = {"partitioned_by": ("region",), "asked": ("region",), "versions": (2,)}

SHAPES = (
    Shape("nested", nested(), versions=(1, 2, 3)),
    Shape("nested and partitioned", nested(), versions=(1, 3), partitioned_by=("bucket(2, id)", "place.city")),
    Shape("nested in one row a file", nested(), cuts=(1, 2, 3)),
    Shape("never appended to", EMPTY, versions=(1, 3), cuts=()),
    Shape("never appended to, partitioned", EMPTY, cuts=(), partitioned_by=("day(at)",)),
    Shape(
        "appended to without rows",
        PLAIN,
        versions=(1, 2, 3),
        cuts=(0, 5, 5, 12),
        partitioned_by=("day(at)",),
        asked=("region", "x"),
    ),
    Shape("appended to many times", PLAIN, cuts=tuple(range(1, 12)), partitioned_by=("region",), asked=("region", "x")),
    Shape("partitioned by nothing", PLAIN, partitioned_by=("void(region)",), asked=("region",)),
    Shape("partitioned by void and more", PLAIN, partitioned_by=("void(at)", "region"), asked=("region",)),
    Shape("sorted", PLAIN, sorted_by=("region DESC", "bucket(3, id)", "x ASC NULLS LAST"), asked=("region", "x")),
    Shape("sorted and partitioned", PLAIN, partitioned_by=("region",), sorted_by=("at", "id DESC"), asked=("region",)),
    Shape(
        "compressed metadata",
        PLAIN,
        versions=(1, 3),
        properties={"write.metadata.compression-codec": "gzip"},
        asked=("region",),
    ),
    Shape(
        "hashed paths",
        PLAIN,
        versions=(3,),
        partitioned_by=("region", "day(at)"),
        properties={"write.object-storage.enabled": "true"},
        asked=("region",),
    ),
    Shape(
        "hashed paths without partitions",
        PLAIN,
        versions=(2,),
        partitioned_by=("region",),
        properties={"write.object-storage.enabled": "true", "write.object-storage.partitioned-paths": "false"},
        asked=("region",),
    ),
    Shape(
        "data elsewhere",
        PLAIN,
        versions=(3,),
        partitioned_by=("region",),
        properties={"write.data.path": "file://{here}/else where/100%"},
        asked=("region",),
    ),
    Shape(
        "metadata elsewhere",
        PLAIN,
        versions=(2,),
        properties={"write.metadata.path": "file://{here}/notes"},
        asked=("region",),
    ),
    Shape(
        "few metrics",
        PLAIN,
        versions=(3,),
        properties={"write.metadata.metrics.default": "counts", "write.metadata.metrics.column.x": "none"},
        asked=("region", "x"),
    ),
    Shape(
        "full metrics",
        PLAIN,
        versions=(1,),
        properties={"write.metadata.metrics.default": "full"},
        asked=("region", "x"),
    ),
    Shape("odd names", named(*ODD_NAMES), versions=(1, 3), asked=ODD_NAMES),
    Shape(
        "a dotted name", named(DOTTED, "a", "b"), partitioned_by=(quoted(DOTTED), "bucket(2, `a.b`)"), asked=(DOTTED,)
    ),
    Shape(
        "partitions with odd names",
        named(*ODD_NAMES),
        partitioned_by=tuple(map(quoted, ODD_NAMES[:8])),
        asked=ODD_NAMES,
    ),
    Shape(
        "buckets with odd names",
        named(*ODD_NAMES),
        partitioned_by=tuple(f"bucket(3, {quoted(name)})" for name in ODD_NAMES),
        asked=ODD_NAMES,
    ),
    Shape("keywords", named(*KEYWORDS), partitioned_by=(quoted("select"), "truncate(2, `order`)"), asked=KEYWORDS),
    Shape("odd names inside", struct_named(*ODD_NAMES, *KEYWORDS)),
    Shape("names that differ in case", named("region", "Region", "REGION", "ÄB", "äb"), is_case_sensitive=True),
    Shape("names that differ in case inside", struct_named("a", "A"), is_case_sensitive=True),
    *(Shape(f"in {folder}", PLAIN, **IN_A_FOLDER, location="{here}/" + folder) for folder in ODD_FOLDERS),
    *(
        Shape(f"in the uri {folder}", PLAIN, **IN_A_FOLDER, location="file://{here}/" + folder)
        for folder in ODD_FOLDERS
    ),
)
