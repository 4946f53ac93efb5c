"""Do incoming columns become columns of the table value for value, whatever their layout in memory?"""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pytest

from lakewright.engine.arrow.conform import conform, conform_table, constant
from lakewright.engine.arrow.show import is_shown_as_stored, shown, shown_batch, shown_type
from lakewright.engine.arrow.types import arrow_schema, arrow_type, column_type_of
from lakewright.errors import InvalidRequest, Unsupported
from lakewright.model.assignment import Filled, FromColumn
from lakewright.model.types import ColumnType, Primitive, Value
from tests.described import schema_of

TEXT = "00112233-4455-6677-8899-aabbccddeeff"
RAW = bytes.fromhex(TEXT.replace("-", ""))


def type_of(text: str) -> ColumnType:
    return schema_of(f"c {text}").fields[0].type


def values_of(array: pa.Array) -> list[object]:
    array.validate(full=True)
    return array.to_pylist()


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (pa.array([1, None], pa.int8()), "int", [1, None]),
        (pa.array([2**31 - 1], pa.uint32()), "int", [2**31 - 1]),
        (pa.array([2**53 + 1]), "double", [float(2**53)]),
        (pa.array([2**24 + 1]), "float", [float(2**24)]),
        (pa.array([1.5], pa.float16()), "float", [1.5]),
        (pa.array([5]), "decimal(22, 2)", [Decimal("5.00")]),
        (pa.array([Decimal("1.50")]), "decimal(9, 3)", [Decimal("1.500")]),
        (pa.array([Decimal("7")]), "long", [7]),
        (pa.array(["a", None]).dictionary_encode(), "string", ["a", None]),
        (pa.array(["a"], pa.large_string()), "string", ["a"]),
        (pa.array(["a"], pa.string_view()), "string", ["a"]),
        (pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]), "string", ["a", "a", "b"]),
        (pa.array([b"ab"]), "fixed(2)", [b"ab"]),
        (pa.array([b"ab"], pa.binary(2)), "binary", [b"ab"]),
        (pa.array([None, None]), "struct<a: int>", [None, None]),
        (pa.array([TEXT, None, TEXT.upper()]), "uuid", [UUID(TEXT), None, UUID(TEXT)]),
        (pa.array([RAW], pa.binary(16)), "uuid", [UUID(TEXT)]),
        (pa.array([datetime(2020, 1, 1)], pa.timestamp("s")), "timestamp_ntz", [datetime(2020, 1, 1)]),
        (pa.array([10**18 + 1_000], pa.timestamp("ns")), "timestamp_ntz", [datetime(2001, 9, 9, 1, 46, 40, 1)]),
        (pa.array([date(2020, 1, 1)], pa.date64()), "date", [date(2020, 1, 1)]),
        (pa.array([time(1)], pa.time32("s")), "time", [time(1)]),
        (pa.array([[1, None], None, []], pa.large_list(pa.int32())), "array<long>", [[1, None], None, []]),
        (pa.array([[1, 2], None], pa.list_(pa.int32(), 2)), "array<long>", [[1, 2], None]),
        (pa.array([[1], None, [2, 3]], pa.list_view(pa.int32())), "array<long>", [[1], None, [2, 3]]),
        (
            pa.array([{"b": "x", "a": 1}, None]),
            "struct<a: long, b: string, c: date>",
            [{"a": 1, "b": "x", "c": None}, None],
        ),
        (pa.array([{"a": {"b": 1}}]), "struct<a: struct<b: double>>", [{"a": {"b": 1.0}}]),
        (pa.array([{}, None], pa.struct([])), "struct<a: int>", [{"a": None}, None]),
        (
            pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
            "map<string, long>",
            [[("k", 1)], None, []],
        ),
    ],
)
def test_a_value_stays_what_it_is(given: pa.Array, wanted: str, expected: list[object]) -> None:
    found = conform(given, type_of(wanted), "c")
    assert found.type == arrow_type(type_of(wanted))
    assert values_of(found) == expected
    assert values_of(conform(given.slice(1), type_of(wanted), "c")) == expected[1:]


HIDDEN: dict[str, tuple[pa.Array, str]] = {
    "list": (
        pa.ListArray.from_arrays(
            [0, 2, 3, 5], pa.array([1, 2, 3, 4, 5], pa.int32()), mask=pa.array([False, True, False])
        ),
        "array<long>",
    ),
    "map": (
        pa.MapArray.from_arrays(
            pa.array([0, 1, 2, 3], pa.int32()),
            pa.array(["a", "b", "c"]),
            pa.array([1, 2, 3], pa.int32()),
            mask=pa.array([False, True, False]),
        ),
        "map<string, long>",
    ),
    "struct": (
        pa.StructArray.from_arrays([pa.array([1, 2, 3], pa.int32())], ["a"], mask=pa.array([False, True, False])),
        "struct<a: long>",
    ),
    "list of structs": (
        pa.ListArray.from_arrays(
            [0, 2, 3, 5],
            pa.StructArray.from_arrays(
                [pa.array([1, 2, 3, 4, 5], pa.int32())], ["a"], mask=pa.array([False, True, True, False, False])
            ),
            mask=pa.array([False, True, False]),
        ),
        "array<struct<a: long>>",
    ),
}


@pytest.mark.parametrize("kind", HIDDEN)
@pytest.mark.parametrize(("start", "length"), [(0, 3), (1, 2), (2, 1), (1, 1), (0, 2), (3, 0)])
def test_what_lies_under_a_null_or_outside_a_slice_is_no_row(kind: str, start: int, length: int) -> None:
    array, wanted = HIDDEN[kind]
    part = array.slice(start, length)
    found = conform(part, type_of(wanted), "c")
    assert values_of(found) == part.to_pylist()
    if kind != "struct":
        assert len(found.values if hasattr(found, "values") else found.items) <= 5
    assert values_of(conform(found, type_of(wanted), "c")) == part.to_pylist()


@pytest.mark.parametrize(
    ("given", "wanted", "said"),
    [
        (pa.array([2**31]), "int", "a value of column c does not fit its type int"),
        (pa.array([Decimal("1.5")]), "long", "a value of column c does not fit its type long"),
        (pa.array([Decimal("12345.6")]), "decimal(5, 2)", "does not fit its type decimal(5, 2)"),
        (pa.array([b"abc"]), "fixed(2)", "does not fit its type fixed[2]"),
        (pa.array(["x"]), "uuid", "does not fit its type uuid: 'x'"),
        (pa.array([TEXT + "0"]), "uuid", "does not fit its type uuid"),
        (pa.array([10**18 + 1], pa.timestamp("ns")), "timestamp_ntz", "does not fit its type timestamp"),
        (pa.array([10**18], pa.timestamp("s")), "timestamp_ns", "does not fit its type timestamp_ns"),
        (
            pa.array([[{"a": 2**40}]]),
            "array<struct<a: int>>",
            "a value of column c.element.a does not fit its type int",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_column(given: pa.Array, wanted: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        conform(given, type_of(wanted), "c")
    assert said in str(refused.value)


def test_a_table_gets_the_columns_of_the_schema_with_their_ids() -> None:
    schema = schema_of("id long, tags array<int>, day date, n int")
    rows = pa.table({"n": pa.chunked_array([[1], [2]]), "T": pa.array([[1], None], pa.list_(pa.int8()))})
    columns = (
        Filled(schema.fields[0], 7),
        FromColumn(schema.fields[1], "T"),
        Filled(schema.fields[2], None),
        FromColumn(schema.fields[3], "n"),
    )
    found = conform_table(rows, columns)
    assert found.schema.equals(arrow_schema(schema.fields), check_metadata=True)
    assert found.to_pylist() == [
        {"id": 7, "tags": [1], "day": None, "n": 1},
        {"id": 7, "tags": None, "day": None, "n": 2},
    ]


STRUCT = pa.struct([("a", pa.int32())])
REQUIRED: list[tuple[str, pa.Array, str | None]] = [
    (
        "int not null",
        pa.array([1, None, None], pa.int32()),
        "column c is required, and 2 incoming rows have no value for it",
    ),
    ("struct<a: int not null>", pa.array([{"a": None}, None], STRUCT), "column c.a is required, and 1 incoming rows"),
    ("struct<a: int not null>", pa.array([{"a": 1}, None], STRUCT), None),
    (
        "array<struct<a: int not null>>",
        pa.array([[{"a": None}], None], pa.list_(STRUCT)),
        "column c.element.a is required",
    ),
    ("array<struct<a: int not null>>", pa.array([[{"a": 1}, None], None], pa.list_(STRUCT)), None),
    (
        "map<int, struct<a: int not null>>",
        pa.array([[(1, {"a": None})]], pa.map_(pa.int32(), STRUCT)),
        "column c.value.a",
    ),
]


@pytest.mark.parametrize(("column", "given", "said"), REQUIRED)
def test_a_required_value_has_to_be_there_wherever_its_parent_is(
    column: str, given: pa.Array, said: str | None
) -> None:
    schema = schema_of(f"c {column}")
    columns = (FromColumn(schema.fields[0], "c"),)
    if said is None:
        assert conform_table(pa.table({"c": given}), columns).column("c").to_pylist() == given.to_pylist()
        return
    with pytest.raises(InvalidRequest) as refused:
        conform_table(pa.table({"c": given}), columns)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("column", "stored", "seen"),
    [
        ("date", -1, date(1969, 12, 31)),
        ("timestamp_ntz", -1, datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        ("time", 1, time(0, 0, 0, 1)),
        ("uuid", RAW, UUID(TEXT)),
        ("fixed(2)", b"ab", b"ab"),
        ("decimal(9, 2)", Decimal("1.50"), Decimal("1.50")),
        ("boolean", False, False),
        ("struct<a: int>", None, None),
    ],
)
def test_a_default_is_repeated_as_it_is_stored(column: str, stored: Value | None, seen: object) -> None:
    assert values_of(constant(type_of(column), stored, 2)) == [seen, seen]
    assert len(constant(type_of(column), stored, 0)) == 0


SHOWN = "u uuid, q fixed(2), t time, s struct<u: uuid, i: int>, l array<uuid>, m map<uuid, fixed(2)>, i int"


@pytest.mark.parametrize("cut", [lambda batch: batch, lambda batch: batch.slice(1), lambda batch: batch.slice(2)])
def test_what_an_engine_has_no_type_for_is_shown_as_text_or_bytes(
    cut: Callable[[pa.RecordBatch], pa.RecordBatch],
) -> None:
    schema = schema_of(SHOWN)
    identifier = pa.uuid().wrap_array(pa.array([RAW, None], pa.binary(16)))
    stored = [
        identifier,
        pa.array([b"ab", None], pa.binary(2)),
        pa.array([time(1, 2, 3), None], pa.time64("us")),
        pa.StructArray.from_arrays(
            [identifier, pa.array([1, 2], pa.int32())], ["u", "i"], mask=pa.array([False, True])
        ),
        pa.ListArray.from_arrays([0, 1, 2], identifier, mask=pa.array([False, True])),
        pa.MapArray.from_arrays(
            pa.array([0, 1, 1], pa.int32()), identifier.slice(0, 1), pa.array([b"cd"], pa.binary(2))
        ),
        pa.array([1, 2], pa.int32()),
    ]
    batch = cut(pa.RecordBatch.from_arrays(stored, names=[child.name for child in schema.fields]))
    rows: list[dict[str, object]] = [
        {
            "u": TEXT,
            "q": b"ab",
            "t": time(1, 2, 3),
            "s": {"u": TEXT, "i": 1},
            "l": [TEXT],
            "m": [(TEXT, b"cd")],
            "i": 1,
        },
        {"u": None, "q": None, "t": None, "s": None, "l": None, "m": [], "i": 2},
    ]
    found = shown_batch(batch, schema.fields)
    found.validate(full=True)
    assert found.to_pylist() == rows[2 - batch.num_rows :]
    assert [column.type for column in found.columns] == [shown_type(child.type) for child in schema.fields]


def test_what_needs_no_showing_is_left_alone() -> None:
    array = pa.array([[1]])
    assert shown(array, type_of("array<long>")) is array
    assert not is_shown_as_stored(type_of("array<struct<a: uuid>>"))


@pytest.mark.parametrize(
    ("arrow", "column"),
    [
        (pa.uint16(), "int"),
        (pa.uint32(), "long"),
        (pa.float16(), "float"),
        (pa.date64(), "date"),
        (pa.timestamp("ms"), "timestamp_ntz"),
        (pa.timestamp("ns", "UTC"), "timestamptz_ns"),
        (pa.timestamp("us", "Europe/Berlin"), "timestamp"),
        (pa.dictionary(pa.int8(), pa.large_string()), "string"),
        (pa.binary(16), "fixed(16)"),
        (pa.uuid(), "uuid"),
        (pa.decimal128(9, 2), "decimal(9, 2)"),
    ],
)
def test_an_arrow_type_is_read_as_the_narrowest_type_that_holds_it(arrow: pa.DataType, column: str) -> None:
    assert column_type_of(arrow, "c") == type_of(column)


@pytest.mark.parametrize("arrow", [pa.uint64(), pa.duration("s"), pa.decimal256(60, 2), pa.month_day_nano_interval()])
def test_an_arrow_type_that_no_column_holds_is_refused_with_the_column(arrow: pa.DataType) -> None:
    with pytest.raises(Unsupported, match="column c has Arrow type"):
        column_type_of(arrow, "c")


def test_a_type_that_cannot_be_written_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="columns of type unknown cannot be read or written"):
        arrow_type(Primitive.UNKNOWN)
