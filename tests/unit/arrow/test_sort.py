"""In which order are rows written?"""

import math

import pyarrow as pa
import pytest

from lakewright.engine.arrow.sort import sorted_rows
from lakewright.engine.arrow.types import arrow_schema
from lakewright.formats.iceberg.records.types import transform_from_json
from lakewright.model.sorting import SortField, SortOrder
from tests.described import schema_of
from tests.unit.arrow.test_partition import array_of

NAN = math.nan


def order_of(*parts: str) -> SortOrder:
    """`1 identity desc last`: a source id, a transform, a direction, where NULL goes."""
    fields = [part.split() for part in parts]
    return SortOrder(
        1, tuple(SortField(int(f[0]), transform_from_json(f[1]), f[2] == "desc", f[3] == "first") for f in fields)
    )


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("1 identity asc first", [None, -math.inf, -0.0, 1.0, math.inf, NAN]),
        ("1 identity asc last", [-math.inf, -0.0, 1.0, math.inf, NAN, None]),
        ("1 identity desc first", [None, NAN, math.inf, 1.0, -0.0, -math.inf]),
        ("1 identity desc last", [NAN, math.inf, 1.0, -0.0, -math.inf, None]),
    ],
)
def test_nan_is_greater_than_every_number_and_null_is_where_the_order_wants_it(
    order: str, expected: list[float | None]
) -> None:
    rows = pa.table({"x": [1.0, NAN, None, -math.inf, -0.0, math.inf]})
    assert str(sorted_rows(rows, schema_of("x double"), order_of(order)).column("x").to_pylist()) == str(expected)


def test_keys_are_asked_one_after_the_other_and_equal_rows_keep_their_order() -> None:
    schema = schema_of("s struct<a: int>, t string, row int")
    rows = pa.Table.from_pylist(
        [
            {"s": {"a": a}, "t": t, "row": row}
            for row, (a, t) in enumerate([(15, "b"), (3, "b"), (11, "a"), (1, "b"), (2, "a")])
        ],
        arrow_schema(schema.fields),
    )
    found = sorted_rows(rows, schema, order_of("4 truncate[10] desc first", "2 identity asc first"))
    assert found.column("row").to_pylist() == [2, 0, 4, 1, 3]
    chunked = pa.concat_tables([rows.slice(0, 2), rows.slice(2)])
    assert sorted_rows(chunked, schema, order_of("4 truncate[10] desc first", "2 identity asc first")).equals(found)


@pytest.mark.parametrize(
    ("column", "values", "transform", "expected"),
    [
        ("boolean", [True, None, False], "identity", [None, False, True]),
        ("uuid", [b"\xff" * 16, b"\x00" * 16], "identity", [b"\x00" * 16, b"\xff" * 16]),
        ("binary", [b"\xff", b"\x00"], "identity", [b"\x00", b"\xff"]),
        ("fixed(1)", [b"\xff", b"\x00"], "identity", [b"\x00", b"\xff"]),
        ("timestamp", [86_400_000_000, -1, 5, 3], "day", [-1, 5, 3, 86_400_000_000]),
        ("int", [3, None, 1], "void", [3, None, 1]),
        ("string", ["b", "ab", "aa"], "truncate[1]", ["ab", "aa", "b"]),
    ],
)
def test_every_type_and_transform_can_be_a_key(
    column: str, values: list[object], transform: str, expected: list[object]
) -> None:
    schema = schema_of(f"c {column}")
    kind = schema.fields[0].type
    rows = pa.Table.from_arrays([array_of(kind, values)], schema=arrow_schema(schema.fields))
    wanted = pa.Table.from_arrays([array_of(kind, expected)], schema=arrow_schema(schema.fields))
    assert sorted_rows(rows, schema, order_of(f"1 {transform} asc first")).to_pylist() == wanted.to_pylist()
