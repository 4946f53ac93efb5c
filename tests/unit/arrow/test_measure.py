"""Are the counts and bounds of a written file true, as tight as they may be, and cut as the specification says?"""

import io
import math
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakewright.engine.arrow.measure import Measures, leaves_of, metrics_of, split_offsets_of
from lakewright.engine.arrow.types import arrow_schema
from lakewright.model.files import FileMetrics
from lakewright.model.layout import MetricsKind, MetricsMode
from lakewright.model.schema import Schema
from lakewright.model.types import Field, Primitive, Value
from lakewright.model.values import decode_value
from tests.described import schema_of
from tests.unit.arrow.test_partition import VALUES, array_of

FULL = MetricsMode(MetricsKind.FULL)
CUT = MetricsMode(MetricsKind.TRUNCATED, 2)


def measured(rows: pa.Table, schema: Schema, mode: MetricsMode = FULL, *, row_group_rows: int = 3) -> FileMetrics:
    """As a data file is measured: row group by row group, floats while they pass."""
    sink, footers, measures = io.BytesIO(), [], Measures(leaves_of(schema.fields))
    with pq.ParquetWriter(sink, rows.schema, metadata_collector=footers) as writer:
        for start in range(0, rows.num_rows, row_group_rows):
            part = rows.slice(start, row_group_rows)
            writer.write_table(part)
            measures.add(part)
    return metrics_of(footers[0], measures, dict.fromkeys(schema.by_id, mode))


def measured_column(column: str, values: list[object], mode: MetricsMode = FULL) -> FileMetrics:
    schema = schema_of(f"c {column}")
    rows = pa.Table.from_arrays([array_of(schema.fields[0].type, values)], schema=arrow_schema(schema.fields))
    return measured(rows, schema, mode)


@pytest.mark.parametrize(
    ("column", "values", "lower", "upper"),
    [
        ("string", ["abc", "b"], b"ab", b"b"),
        ("string", ["abc", "abd"], b"ab", b"ac"),
        ("string", ["ab"], b"ab", b"ab"),
        ("string", ["a\ud7ffx"], "a\ud7ff".encode(), "a\ue000".encode()),
        ("string", ["a\U0010ffffx"], "a\U0010ffff".encode(), b"b"),
        ("string", ["\U0010ffff" * 3], ("\U0010ffff" * 2).encode(), None),
        (
            "string",
            ["\U0001f600\U0001f601\U0001f602"],
            "\U0001f600\U0001f601".encode(),
            "\U0001f600\U0001f602".encode(),
        ),
        ("string", ["\uffff", "\U00010000"], "\uffff".encode(), "\U00010000".encode()),
        ("string", ["", None], b"", b""),
        ("binary", [b"a\xffx"], b"a\xff", b"b"),
        ("binary", [b"\xff\xff\xff"], b"\xff\xff", None),
        ("binary", [b"\xff\xff"], b"\xff\xff", b"\xff\xff"),
        ("binary", [b"\x7f", b"\x80"], b"\x7f", b"\x80"),
        ("fixed(3)", [b"abc", b"abd"], b"abc", b"abd"),
        ("uuid", [b"\x00" * 16, b"\xff" * 16], None, None),
        ("boolean", [True, False], b"\x00", b"\x01"),
        ("decimal(9, 2)", [Decimal("-1.28"), Decimal("1.28")], b"\x80", b"\x00\x80"),
        ("decimal(38, 2)", [Decimal("-1.28"), Decimal("300.00")], b"\x80", b"\x75\x30"),
        ("double", [0.0, -0.0], b"\x00" * 7 + b"\x80", b"\x00" * 8),
        ("float", [-0.0], b"\x00" * 3 + b"\x80", b"\x00" * 4),
        ("float", [math.nan, 1.0, None], b"\x00\x00\x80\x3f", b"\x00\x00\x80\x3f"),
        ("double", [math.nan, None], None, None),
        ("int", [None, None], None, None),
    ],
)  # values, then their bounds with texts and bytes cut to two
def test_bounds_are_cut_downwards_below_and_upwards_above(
    column: str, values: list[object], lower: bytes | None, upper: bytes | None
) -> None:
    found = measured_column(column, values, CUT)
    assert (found.lower_bounds.get(1), found.upper_bounds.get(1)) == (lower, upper)


@pytest.mark.parametrize(
    ("column", "values", "nulls", "nans"),
    [
        ("double", [math.nan, None, 1.0, math.nan, math.nan], 1, 3),
        ("float", [None, None], 2, 0),
        ("int", [1, None, None, None, 2], 3, None),
        ("string", [None], 1, None),
    ],
)
def test_null_and_nan_are_counted(column: str, values: list[object], nulls: int, nans: int | None) -> None:
    found = measured_column(column, values)
    assert (found.value_counts, found.null_counts, found.nan_counts.get(1)) == ({1: len(values)}, {1: nulls}, nans)


@pytest.mark.parametrize(
    ("mode", "known"),
    [
        (MetricsMode(MetricsKind.NONE), (False, False, False)),
        (MetricsMode(MetricsKind.COUNTS), (True, True, False)),
        (MetricsMode(MetricsKind.TRUNCATED, 16), (True, True, True)),
        (FULL, (True, True, True)),
    ],
)
@pytest.mark.parametrize(("column", "values"), [("int", [1]), ("double", [1.0])])
def test_the_mode_of_a_column_says_what_is_recorded(
    mode: MetricsMode, known: tuple[bool, ...], column: str, values: list[object]
) -> None:
    found = measured_column(column, values, mode)
    assert (1 in found.column_sizes, 1 in found.null_counts, 1 in found.upper_bounds) == known


def test_full_bounds_are_not_cut() -> None:
    text = "x" * 50
    assert measured_column("string", [text]).upper_bounds == {1: text.encode()}


def test_members_of_structs_are_measured_and_what_repeats_is_not() -> None:
    schema = schema_of("s struct<a: int, t: struct<x: double>>, l array<double>, m map<string, int>")
    ids = {name: field_id for field_id, name in schema.names_by_id.items()}
    values = [
        {"s": {"a": 5, "t": {"x": math.nan}}, "l": [1.0], "m": [("k", 1)]},
        {"s": {"a": None, "t": None}, "l": None, "m": []},
        {"s": None, "l": [], "m": None},
        {"s": {"a": 7, "t": {"x": 2.0}}, "l": [math.nan], "m": None},
    ]
    found = measured(pa.Table.from_pylist(values, arrow_schema(schema.fields)), schema)
    a, x = ids["s.a"], ids["s.t.x"]
    assert found.value_counts == {a: 4, x: 4}
    assert found.null_counts == {a: 2, x: 2}
    assert found.nan_counts == {x: 1}
    assert [decode_value(Primitive.INT, bounds[a]) for bounds in (found.lower_bounds, found.upper_bounds)] == [5, 7]
    assert [decode_value(Primitive.DOUBLE, bounds[x]) for bounds in (found.lower_bounds, found.upper_bounds)] == [
        2.0,
        2.0,
    ]
    assert set(found.lower_bounds) == {a, x}
    assert set(found.column_sizes) == {a, x, ids["l.element"], ids["m.key"], ids["m.value"]}


@pytest.mark.parametrize("column_type", [kind for kind in VALUES if kind != Primitive.UUID], ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_every_value_lies_within_the_bounds_and_full_bounds_are_values(
    column_type: object, data: st.DataObject
) -> None:
    one_value, _ = VALUES[column_type]
    values: list[Value | None] = data.draw(st.lists(st.none() | one_value, min_size=1, max_size=8))
    schema = Schema((Field(1, "c", column_type),))
    rows = pa.Table.from_arrays([array_of(column_type, values)], schema=arrow_schema(schema.fields))
    known = [value for value in values if value is not None]
    for mode in (FULL, CUT):
        found = measured(rows, schema, mode)
        assert found.null_counts == {1: len(values) - len(known)}
        lower, upper = (
            decode_value(column_type, bounds[1]) if 1 in bounds else None
            for bounds in (found.lower_bounds, found.upper_bounds)
        )
        assert all(lower is not None and lower <= value for value in known)
        assert all(upper is None or value <= upper for value in known)
        if mode is FULL and known:
            assert (lower, upper) == (min(known), max(known))


def test_split_offsets_are_where_row_groups_begin() -> None:
    sink, footers = io.BytesIO(), []
    rows = pa.table({"a": list(range(10)), "b": ["x"] * 10})
    pq.write_table(rows, sink, row_group_size=4, metadata_collector=footers)
    offsets = split_offsets_of(footers[0])
    assert offsets[0] == 4
    assert len(offsets) == 3
    assert list(offsets) == sorted(set(offsets))
