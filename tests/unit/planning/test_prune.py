"""Are files judged rightly, whatever rows they hold and whatever is asked? Random tables against plain Python.

Files are written and measured by our own writer. The oracle evaluates a condition as Spark does: with three truth values,
NaN equal to itself and greater than every number, zeros without a sign.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakewright.engine.arrow.partition import split_by_partition
from lakewright.engine.arrow.types import arrow_schema
from lakewright.engine.arrow.write import PartitionedWriter
from lakewright.formats.iceberg.records.partitions import summarise
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.layout import DataLocation, MetricsKind, MetricsMode, WriteLayout
from lakewright.model.partitioning import PartitionKey, PartitionSpec
from lakewright.model.predicates import Unjudged, parts_of
from lakewright.model.session import SqlSettings
from lakewright.model.snapshot import PlanningTask
from lakewright.model.sorting import SortOrder
from lakewright.model.types import Value
from lakewright.model.values import encode_value
from lakewright.planning.bind import bind
from lakewright.planning.prune import Pruner, Verdict
from lakewright.testing.memory import MemoryStore
from tests.described import schema_of, spec_of, value_of
from tests.unit.arrow.test_partition import array_of

Row: TypeAlias = Mapping[str, Value | None]
Truth: TypeAlias = bool | None

SCHEMA = schema_of("i int, x double, s string, d date, m decimal(9, 2), t timestamp_ntz, b boolean")
TYPES = {child.name: child.type for child in SCHEMA.fields}
NUMBERS = {"i", "x", "m"}
DAYS = ("1968-12-31", "1969-01-01", "1969-12-31", "1970-01-01", "1970-01-02", "1971-03-01")
MOMENTS = tuple(f"{day} {clock}" for day in DAYS for clock in ("00:00:00", "23:59:59.999999"))
CELLS: dict[str, tuple[Value, ...]] = {
    "i": (-(2**31), -11, -1, 0, 1, 10, 2**31 - 1),
    "x": (-math.inf, -1.5, -0.0, 0.0, 0.1, 2.0, math.inf, math.nan),
    "s": ("", "a", "ab", "abc", "b", "\ud7ff", "\U0010ffff", "\U0010ffff\U0010ffff\U0010ffff"),
    "d": tuple(int(value_of(day, TYPES["d"]) or 0) for day in DAYS),
    "m": tuple(map(Decimal, ("-9999999.99", "-0.01", "0.00", "0.10", "1.00", "70.05"))),
    "t": tuple(int(value_of(moment, TYPES["t"]) or 0) for moment in MOMENTS),
    "b": (True, False),
}
NUMERALS = (
    "-2147483648",
    "-11",
    "-1",
    "0",
    "1",
    "10",
    "1.5",
    "0.1",
    "-0.01",
    "70.05",
    "2147483648",
    "1e0",
    "-15e-1",
    "1e-1",
)
LITERALS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(NUMBERS, NUMERALS),
    "s": ("''", "'a'", "'ab'", "'abd'", "'b'", "'\ud7ff'", "'\ue000'", "'\U0010ffff'"),
    "d": tuple(f"'{day}'" for day in DAYS),
    "t": tuple(f"'{moment}'" for moment in MOMENTS),
    "b": ("true", "false"),
}
SPECS = [
    spec_of(SCHEMA, *parts)
    for parts in (
        (),
        ("i identity",),
        ("x identity",),
        ("i truncate[10]", "s truncate[1]"),
        ("i bucket[3]", "s bucket[2]"),
        ("d year",),
        ("d month", "b identity"),
        ("t day",),
        ("t hour",),
        ("m truncate[70]", "d day"),
        ("s identity", "i void"),
    )
]
MODES = [
    MetricsMode(MetricsKind.NONE),
    MetricsMode(MetricsKind.COUNTS),
    MetricsMode(MetricsKind.TRUNCATED, 1),
    MetricsMode(MetricsKind.FULL),
]
COMPARISONS: dict[str, Callable[[object, object], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """A text for Spark, and what it means."""

    text: str
    truth: Callable[[Row], Truth]

    def __repr__(self) -> str:
        return self.text


def literal(column: str, text: str) -> Value | None:
    """What a literal means beside a column."""
    if text == "NULL":
        return None
    if column in NUMBERS:
        return float(text) if "e" in text or column == "x" else Decimal(text)
    return value_of(text.strip("'"), TYPES[column])


def compared(sign: str, left: Value | None, right: Value | None) -> Truth:
    if sign == "<=>":
        return left is right if left is None or right is None else compared("=", left, right)
    if left is None or right is None:
        return None
    if isinstance(right, float):
        left = float(left)
    keys = [(isinstance(side, float) and math.isnan(side), 0 if side != side else side) for side in (left, right)]
    return COMPARISONS[sign](*keys)


def negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def all_of(*truths: Truth) -> Truth:
    return False if False in truths else None if None in truths else True


def any_of(*truths: Truth) -> Truth:
    return negated(all_of(*map(negated, truths)))


@st.composite
def leaves(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from(sorted(TYPES)))
    texts = st.sampled_from((*LITERALS[column], "NULL"))
    kind = draw(st.sampled_from(("compare", "mirrored", "in", "between", "null", "special")))
    sign = draw(st.sampled_from((*COMPARISONS, "<=>")))
    no = draw(st.booleans())
    first, second = draw(texts), draw(texts)
    low, high = literal(column, first), literal(column, second)
    match kind:
        case "compare":
            return Condition(f"{column} {sign} {first}", lambda row: compared(sign, row[column], low))
        case "mirrored":
            mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
            return Condition(f"{first} {mirror} {column}", lambda row: compared(sign, row[column], low))
        case "in" if column != "t":
            values = [literal(column, text) for text in (first, second)]
            if any(isinstance(value, float) for value in values):
                values = [value if value is None else float(value) for value in values]
            found = Condition(
                f"{column} {'NOT ' * no}IN ({first}, {second})",
                lambda row: any_of(*(compared("=", row[column], value) for value in values)),
            )
        case "between":
            found = Condition(
                f"{column} {'NOT ' * no}BETWEEN {first} AND {second}",
                lambda row: all_of(compared(">=", row[column], low), compared("<=", row[column], high)),
            )
        case "special" if column == "s" and first not in ("''", "NULL"):
            found = Condition(
                f"s {'NOT ' * no}LIKE {first[:-1]}%'",
                lambda row: None if row["s"] is None else str(row["s"]).startswith(first.strip("'")),
            )
        case "special" if column == "x":
            found = Condition(f"{'NOT ' * no}isnan(x)", lambda row: row["x"] is not None and row["x"] != row["x"])
        case "special" if column == "b":
            found = Condition(f"{'NOT ' * no}b", lambda row: row["b"])
        case "special":
            found = Condition(
                f"{'NOT ' * no}(length(s) > 1)", lambda row: None if row["s"] is None else len(row["s"]) > 1
            )
        case _:
            found = Condition(f"{column} IS {'NOT ' * no}NULL", lambda row: row[column] is None)
    return Condition(found.text, lambda row: negated(found.truth(row))) if no else found


def joined(parts: tuple[Condition, Condition], word: str) -> Condition:
    left, right = parts
    together = all_of if word == "AND" else any_of
    return Condition(f"({left.text} {word} {right.text})", lambda row: together(left.truth(row), right.truth(row)))


def turned(inner: Condition) -> Condition:
    return Condition(f"NOT ({inner.text})", lambda row: negated(inner.truth(row)))


CONDITIONS = st.recursive(
    leaves(),
    lambda inner: st.builds(joined, st.tuples(inner, inner), st.sampled_from(("AND", "OR"))) | inner.map(turned),
    max_leaves=4,
)
# Rows are alike more often than not, so that there are files of which all rows match.
ROWS = st.lists(
    st.fixed_dictionaries({name: st.sampled_from((None, *cells)) for name, cells in CELLS.items()}),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150)
@given(
    ROWS,
    st.sampled_from(SPECS),
    st.sampled_from(MODES),
    st.lists(CONDITIONS, min_size=4, max_size=8),
    st.integers(1, 3),
)
def test_no_file_with_a_match_is_passed_over_and_none_is_taken_whole_that_has_another_row(
    rows: list[dict[str, Value | None]], spec: object, mode: MetricsMode, conditions: list[Condition], times: int
) -> None:
    metrics = dict.fromkeys(SCHEMA.by_id, mode)
    layout = WriteLayout(SCHEMA, spec, SortOrder(), DataLocation("memory://d"), "w", metrics=metrics)
    columns = [array_of(kind, [row[name] for row in rows] * times) for name, kind in TYPES.items()]
    table = pa.Table.from_arrays(columns, schema=arrow_schema(SCHEMA.fields))
    members = {
        str(key.values): [rows[number % len(rows)] for number in part.column("n").to_pylist()]
        for key, part in split_by_partition(table.append_column("n", pa.array(range(table.num_rows))), SCHEMA, spec)
    }
    with PartitionedWriter(layout, MemoryStore(), "0") as writer:
        writer.write(table)
        files = writer.close()
    assert sum(file.record_count for file in files) == table.num_rows
    summaries = summarise(spec, SCHEMA, [file.partition.values for file in files])
    task = PlanningTask("m", 1, spec.spec_id, summaries)
    for condition in conditions:
        pruner = Pruner(bind(condition.text, SCHEMA, SqlSettings()), SCHEMA, {spec.spec_id: spec})
        matching = 0
        for file in files:
            truths = [condition.truth(row) is True for row in members[str(file.partition.values)]]
            matching += sum(truths)
            verdict = pruner.judge(file)
            assert not (verdict is Verdict.NO_ROW and any(truths)), condition
            assert not (verdict is Verdict.EVERY_ROW and not all(truths)), condition
        assert pruner.keeps_task(task) or not matching, condition


@pytest.mark.parametrize("column", sorted(TYPES))
def test_the_oracle_is_asked_about_conditions_that_are_judged(column: str) -> None:
    """Otherwise nothing above could fail."""
    for text in LITERALS[column]:
        condition = f"{column} = {text}"
        assert not any(isinstance(part, Unjudged) for part in parts_of(bind(condition, SCHEMA, SqlSettings()))), (
            condition
        )


@pytest.mark.parametrize("bounds", [(None, None), (5, 9), (150, None), (None, -1), (-3, 400), (101, 101), (100, 100)])
def test_many_listed_values_leave_the_files_that_each_by_itself_would_leave(
    bounds: tuple[int | None, int | None],
) -> None:
    schema = schema_of("i int")
    listed = range(0, 200, 2)
    lower, upper = ({} if bound is None else {1: encode_value(TYPES["i"], bound)} for bound in bounds)
    file = DataFile("f", PartitionKey(0), 10, 1, FileMetrics({}, {1: 10}, {1: 0}, {}, lower, upper))
    many, each = (
        Pruner(bind(text, schema, SqlSettings()), schema, {0: PartitionSpec(0)}).judge(file)
        for text in (f"i IN ({', '.join(map(str, listed))})", " OR ".join(f"i = {value}" for value in listed))
    )
    assert many == each
