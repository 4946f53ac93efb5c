"""Into which partitions do rows fall, and do arrays say the same as single values?"""

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakewright.engine.arrow.partition import split_by_partition, transformed_array
from lakewright.engine.arrow.types import arrow_schema, arrow_type
from lakewright.errors import Unsupported
from lakewright.formats.iceberg.records.types import transform_from_json
from lakewright.model.partitioning import PartitionKey, UnknownTransform
from lakewright.model.schema import Schema
from lakewright.model.transforms import apply_transform
from lakewright.model.types import TIMESTAMPS, ColumnType, DecimalType, Field, FixedType, Primitive, Value
from tests.described import schema_of, spec_of

INT32, INT64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
MICROS = st.integers(-(10**16), 10**16)
VALUES: dict[ColumnType, tuple[st.SearchStrategy[Value], tuple[str, ...]]] = {
    Primitive.BOOLEAN: (st.booleans(), ("identity", "void")),
    Primitive.INT: (INT32, ("identity", "bucket[7]", "truncate[10]")),
    Primitive.LONG: (INT64, ("identity", "bucket[7]", "truncate[10]")),
    Primitive.DATE: (st.integers(-700_000, 700_000), ("identity", "bucket[7]", "year", "month", "day")),
    Primitive.TIME: (st.integers(0, 86_399_999_999), ("identity", "bucket[7]")),
    Primitive.STRING: (st.text(max_size=4), ("identity", "bucket[7]", "truncate[2]")),
    Primitive.BINARY: (st.binary(max_size=4), ("identity", "bucket[7]", "truncate[2]")),
    Primitive.UUID: (st.binary(min_size=16, max_size=16), ("identity", "bucket[7]")),
    FixedType(2): (st.binary(min_size=2, max_size=2), ("identity", "bucket[7]")),
    DecimalType(9, 2): (st.decimals(-999_999, 999_999, places=2), ("identity", "bucket[7]", "truncate[70]")),
    DecimalType(38, 10): (st.decimals(-(10**20), 10**20, places=10), ("identity", "bucket[7]", "truncate[70]")),
    **dict.fromkeys(sorted(TIMESTAMPS), (MICROS, ("identity", "bucket[7]", "year", "month", "day", "hour"))),
}  # Floats have identity only; NaN is below.


def array_of(column_type: ColumnType, values: list[Value | None]) -> pa.Array:
    """From values as they are stored."""
    wanted = arrow_type(column_type)
    if column_type == Primitive.UUID:
        return pa.uuid().wrap_array(pa.array(values, pa.binary(16)))
    if pa.types.is_date(wanted):
        return pa.array(values, pa.int32()).cast(wanted)
    if pa.types.is_timestamp(wanted) or pa.types.is_time(wanted):
        return pa.array(values, pa.int64()).cast(wanted)
    return pa.array(values, wanted)


@pytest.mark.parametrize("column_type", VALUES, ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_rows_fall_where_each_value_falls_alone(column_type: ColumnType, data: st.DataObject) -> None:
    """Rows stay in their order, none is lost, and a slice is what it shows."""
    one_value, transforms = VALUES[column_type]
    values = data.draw(st.lists(st.none() | one_value, min_size=1, max_size=12))
    start = data.draw(st.integers(0, len(values) - 1))
    transform = transform_from_json(data.draw(st.sampled_from(transforms)))
    schema = Schema((Field(1, "c", column_type), Field(2, "row", Primitive.INT)))
    spec = spec_of(schema, f"c {transform}")
    columns = [array_of(column_type, values), pa.array(range(len(values)), pa.int32())]
    rows = pa.Table.from_arrays(columns, schema=arrow_schema(schema.fields)).slice(start)
    found = {key.values[0]: part.column("row").to_pylist() for key, part in split_by_partition(rows, schema, spec)}
    expected: dict[Value | None, list[int]] = {}
    for row, value in list(enumerate(values))[start:]:
        expected.setdefault(apply_transform(transform, column_type, value), []).append(row)
    assert found == expected
    assert {type(key) for key in found} == {type(key) for key in expected}


def test_floats_fall_by_their_value_with_nan_as_one_of_them() -> None:
    schema = schema_of("x double")
    spec = spec_of(schema, "x identity")
    nans = [math.nan, float("-nan")]
    rows = pa.table([pa.array([0.0, *nans, None, -0.0, 1.5])], schema=arrow_schema(schema.fields))
    rows_by_key: dict[PartitionKey, int] = {}
    for _ in range(2):
        for key, part in split_by_partition(rows, schema, spec):
            rows_by_key[key] = rows_by_key.get(key, 0) + part.num_rows
    assert sorted((str(key.values[0]).replace("-0", "0"), count) for key, count in rows_by_key.items()) == [
        ("0.0", 4),
        ("1.5", 2),
        ("None", 2),
        ("nan", 4),
    ]


def test_several_fields_make_a_key_together() -> None:
    schema = schema_of("a int, s struct<b: string, t: struct<c: int>>")
    spec = spec_of(schema, "a identity", "s.b identity", "s.t.c truncate[10]", "a void", spec_id=3)
    values = [
        {"a": 1, "s": {"b": "x", "t": {"c": 15}}},
        {"a": 1, "s": {"b": "x", "t": None}},
        {"a": 1, "s": None},
        {"a": 1, "s": {"b": "x", "t": {"c": 11}}},
        {"a": None, "s": {"b": "x", "t": {"c": 11}}},
    ]
    rows = pa.Table.from_pylist(values, arrow_schema(schema.fields))
    found = {key: part.num_rows for key, part in split_by_partition(rows, schema, spec)}
    assert found == {
        PartitionKey(3, (1, "x", 10, None)): 2,
        PartitionKey(3, (1, "x", None, None)): 1,
        PartitionKey(3, (1, None, None, None)): 1,
        PartitionKey(3, (None, "x", 10, None)): 1,
    }


@pytest.mark.parametrize("count", [255, 256])
def test_keys_whose_codes_outgrow_64_bits_do_not_fall_together(count: int) -> None:
    """Nine fields of 256 values, NULL perhaps among them: the ninth would shift the first one out of a 64-bit code."""
    names = [f"c{number}" for number in range(9)]
    schema = schema_of(", ".join(f"{name} int" for name in names))
    columns = {name: [*range(count), *range(count)] for name in names} | {
        "c0": [*range(count), *reversed(range(count))]
    }
    rows = pa.Table.from_pydict(columns, arrow_schema(schema.fields))
    parts = list(split_by_partition(rows, schema, spec_of(schema, *(f"{name} identity" for name in names))))
    assert sum(part.num_rows for _, part in parts) == 2 * count
    for key, part in parts:
        assert {tuple(row.values()) for row in part.to_pylist()} == {key.values}


def test_no_partition_and_no_rows() -> None:
    schema = schema_of("a int")
    rows = pa.table({"a": pa.array([1, 2], pa.int32())})
    assert [(key, part.num_rows) for key, part in split_by_partition(rows, schema, spec_of(schema, "a void"))] == [
        (PartitionKey(0, (None,)), 2)
    ]
    empty = list(split_by_partition(rows.slice(2), schema, spec_of(schema, "a identity")))
    assert sum(part.num_rows for _, part in empty) == 0


def test_a_decimal_that_its_truncation_makes_longer_still_has_a_partition() -> None:
    source = DecimalType(2, 0)
    column = pa.array([Decimal(-99)], pa.decimal128(2, 0))
    assert transformed_array(transform_from_json("truncate[10]"), source, column).to_pylist() == [Decimal(-100)]


def test_rows_are_not_written_under_a_transform_that_is_not_known() -> None:
    with pytest.raises(Unsupported, match="partition transform zorder is not known here"):
        transformed_array(UnknownTransform("zorder"), Primitive.INT, pa.array([1]))
