"""Does any condition on any version of any table give the rows that plain Python says it gives, in both ways of reading?"""

import math
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

import lakewright as lw
from tests.spark import ways

SECONDS = 30
CONDITIONS_EACH = 4
SCHEMA = pa.schema(
    {
        "n": pa.int32(),
        "d": pa.float64(),
        "f": pa.float32(),
        "s": pa.string(),
        "b": pa.bool_(),
        "t": pa.date32(),
        "m": pa.decimal128(5, 2),
    }
)
DDL = "n INT, d DOUBLE, f FLOAT, s STRING, b BOOLEAN, t DATE, m DECIMAL(5, 2)"
FLOATS = [0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.5, 2.0]
VALUES: dict[str, list[Any]] = {
    "n": [-(2**31), -1, 0, 1, 2, 7, 2**31 - 1],
    "d": [*FLOATS, 1e308, 5e-324],
    "f": FLOATS,
    "s": ["", "a", "ab", "abc", "b", "ä", "a%", "\U0001f642", "x" * 20 + "1", "x" * 20 + "2"],
    "b": [True, False],
    "t": [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31)],
    "m": [Decimal(text) for text in ("-999.99", "-0.01", "0.00", "0.01", "1.00", "999.99")],
}
PARTS = [
    *("n", "d", "f", "s", "b", "t", "m", "bucket(3, n)", "bucket(2, s)", "bucket(2, t)", "bucket(2, m)"),
    *("truncate(3, n)", "truncate(1, s)", "truncate(10, m)", "year(t)", "month(t)", "day(t)"),
]
Truth = bool | None
Row = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """SQL, and what it is of a row: true, false or NULL."""

    text: str
    of: Callable[[Row], Truth]


def test_every_condition_on_every_version_selects_what_the_oracle_selects(lake: lw.Lake, spark: SparkSession) -> None:
    """LAKEWRIGHT_TEST_SEED runs one history again."""
    given = os.environ.get("LAKEWRIGHT_TEST_SEED")
    seeds = random.Random(int(given) if given else time.time_ns())
    ends = time.monotonic() + SECONDS
    histories = 0
    while time.monotonic() < ends and not (given and histories):
        seed = int(given) if given else seeds.randrange(2**32)
        run_history(lake, spark, seed, f"n.t{histories}")
        histories += 1
    assert histories


def run_history(lake: lw.Lake, spark: SparkSession, seed: int, name: str) -> None:
    chance = random.Random(seed)
    parts = chance.sample(PARTS, chance.choice([0, 1, 1, 2]))
    sources = [part.rpartition(" ")[2].strip(")") for part in parts]
    if len(set(sources)) < len(sources):
        parts = parts[:1]
    format_version = chance.choice([1, 2, 3])
    table = lake.create_table(
        name, DDL, partitioned_by=parts, format_version=format_version, properties=metrics(chance)
    )
    rows: list[Row] = []
    versions: list[tuple[int, list[Row]]] = []
    for _ in range(chance.randint(1, 4)):
        added = [random_row(chance) for _ in range(chance.randint(1, 8))]
        report = table.append(pa.Table.from_pylist(added, SCHEMA))
        assert report.version is not None
        rows = [*rows, *added]
        versions.append((report.version, rows))
    conditions = [random_condition(chance, 2) for _ in range(CONDITIONS_EACH)]
    known = ways.WAYS if ways.is_native(table, spark) else ("arrow",)
    frames: list[DataFrame] = []
    expected: list[tuple[str, list[str]]] = []
    for condition in conditions:
        version, there = chance.choice(versions)
        for way in known:
            if chance.random() < 0.5:
                found = ways.frame(table, spark, way, where=condition.text, version=version)
            else:
                found = ways.frame(table, spark, way, version=version).where(condition.text)
            frames.append(found.selectExpr(f"{len(frames)} AS number", "struct(*) AS row"))
            wanted = pa.Table.from_pylist([row for row in there if condition.of(row)], SCHEMA)
            expected.append((f"{way}: {condition.text}", ways.lines(wanted)))
    found_rows = reduce(DataFrame.union, frames).toArrow()
    for number, (asked, wanted_lines) in enumerate(expected):
        mine = found_rows.filter(pc.equal(found_rows.column("number"), number)).column("row")
        shown = f"LAKEWRIGHT_TEST_SEED={seed} (v{format_version}, partitioned by {parts}) {asked}"
        assert ways.lines(pa.Table.from_struct_array(mine)) == wanted_lines, shown


def metrics(chance: random.Random) -> dict[str, str]:
    """Little is known of some tables."""
    mode = chance.choice(["none", "counts", "truncate(1)", "truncate(16)", "full"])
    return {"write.metadata.metrics.default": mode} if chance.random() < 0.5 else {}


def random_row(chance: random.Random) -> Row:
    return {name: None if chance.random() < 0.2 else chance.choice(VALUES[name]) for name in SCHEMA.names}


def random_condition(chance: random.Random, depth: int) -> Condition:
    kind = chance.choice(["and", "or", "not", "leaf"]) if depth else "leaf"
    match kind:
        case "and" | "or":
            left, right = random_condition(chance, depth - 1), random_condition(chance, depth - 1)
            joined = both if kind == "and" else either
            return Condition(
                f"({left.text}) {kind.upper()} ({right.text})", lambda row: joined(left.of(row), right.of(row))
            )
        case "not":
            inner = random_condition(chance, depth - 1)
            return Condition(f"NOT ({inner.text})", lambda row: negated(inner.of(row)))
        case _:
            return random_leaf(chance)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def random_leaf(chance: random.Random) -> Condition:
    name = chance.choice(SCHEMA.names)
    values = [chance.choice(VALUES[name]) for _ in range(chance.randint(2, 3))]
    first, second = values[:2]
    texts = [literal(name, value) for value in values]
    match chance.randrange(8):
        case 0:
            return Condition(f"{name} IS NULL", lambda row: row[name] is None)
        case 1:
            return Condition(f"{name} IS NOT NULL", lambda row: row[name] is not None)
        case 2:
            return Condition(f"{name} <=> {texts[0]}", lambda row: key(row[name]) == key(first))
        case 3:
            with_null = chance.random() < 0.2
            items = [*texts, "NULL"] if with_null else texts
            return Condition(f"{name} IN ({', '.join(items)})", lambda row: among(row[name], values, with_null))
        case 4:
            return Condition(
                f"{name} NOT IN ({', '.join(texts)})", lambda row: negated(among(row[name], values, False))
            )
        case 5:
            low, high = COMPARISONS[">="], COMPARISONS["<="]
            return Condition(
                f"{name} BETWEEN {texts[0]} AND {texts[1]}",
                lambda row: both(compared(low, row[name], first), compared(high, row[name], second)),
            )
        case 6 if name in ("d", "f"):
            return Condition(f"isnan({name})", lambda row: row[name] is not None and math.isnan(row[name]))
        case 6 if name == "s":
            prefix = chance.choice(["a", "ab", "x", "ä"])
            return Condition(
                f"s LIKE '{prefix}%'", lambda row: None if row["s"] is None else row["s"].startswith(prefix)
            )
        case _:
            sign = chance.choice(sorted(COMPARISONS))
            return Condition(f"{name} {sign} {texts[0]}", lambda row: compared(COMPARISONS[sign], row[name], first))


def literal(name: str, value: Any) -> str:
    match name:
        case "d" | "f":
            kind = "double" if name == "d" else "float"
            return (
                f"{kind}('{value}')"
                if not math.isfinite(value) or abs(value) > 10 or 0 < abs(value) < 1
                else str(value)
            )
        case "s":
            return f"'{value}'"
        case "t":
            return f"DATE '{value}'"
        case "b":
            return str(value).lower()
        case _:
            return str(value)


def key(value: Any) -> Any:
    """As Spark compares: NaN is equal to itself and greater than all, zeros are equal, texts go by their bytes."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value


def compared(comparison: Callable[[Any, Any], bool], left: Any, right: Any) -> Truth:
    return None if left is None else comparison(key(left), key(right))


def among(value: Any, values: list[Any], with_null: bool) -> Truth:
    if value is None:
        return None
    return True if key(value) in [key(each) for each in values] else (None if with_null else False)


def negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def both(left: Truth, right: Truth) -> Truth:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def either(left: Truth, right: Truth) -> Truth:
    return negated(both(negated(left), negated(right)))
