"""What do the texts mean that describe a table, and how are wrong ones refused?"""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakewright.errors import InvalidRequest
from lakewright.model.partitioning import Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year
from lakewright.model.types import ColumnType, DecimalType, Field, FixedType, ListType, MapType, Primitive, StructType
from lakewright.planning.ddl import SortText, TransformText, parse_columns, parse_sort_key, parse_transform

INT, STRING = Primitive.INT, Primitive.STRING
LIST_OF_INT = ListType(Field(0, "element", INT))


@pytest.mark.parametrize(
    ("text", "column_type"),
    [
        ("tinyint", INT),
        ("BIGINT", Primitive.LONG),
        ("real", Primitive.FLOAT),
        ("timestamp", Primitive.TIMESTAMPTZ),
        ("timestamp_ltz", Primitive.TIMESTAMPTZ),
        ("timestamp_ntz", Primitive.TIMESTAMP),
        ("timestamp_ns", Primitive.TIMESTAMP_NS),
        ("varchar(20)", STRING),
        ("uuid", Primitive.UUID),
        ("time", Primitive.TIME),
        ("fixed(16)", FixedType(16)),
        ("decimal", DecimalType(10, 0)),
        ("decimal(38, 38)", DecimalType(38, 38)),
        ("numeric(5)", DecimalType(5, 0)),
        ("array<int>", LIST_OF_INT),
        ("array<array<int>>", ListType(Field(0, "element", LIST_OF_INT))),
        ("map<string, array<int>>", MapType(Field(0, "key", STRING, True), Field(0, "value", LIST_OF_INT))),
        (
            "struct<a: int NOT NULL, `b c`: string COMMENT 'x'>",
            StructType((Field(0, "a", INT, True), Field(0, "b c", STRING, doc="x"))),
        ),
        ("struct<a int>", StructType((Field(0, "a", INT),))),
    ],
)
def test_types_are_read_by_their_names(text: str, column_type: ColumnType) -> None:
    assert parse_columns(f"c {text}") == (Field(0, "c", column_type),)


def test_columns_have_names_of_any_kind_and_say_what_they_require() -> None:
    text = "`a ``b` int not null, größe string COMMENT 'it''s \"x\"', `select` date"
    assert parse_columns(text) == (
        Field(0, "a `b", INT, True),
        Field(0, "größe", STRING, doc='it\'s "x"'),
        Field(0, "select", Primitive.DATE),
    )


@pytest.mark.parametrize(
    ("text", "path", "transform"),
    [
        ("region", ("region",), Identity()),
        ("identity(region)", ("region",), Identity()),
        ("bucket(16, id)", ("id",), Bucket(16)),
        ("bucket(id, 16)", ("id",), Bucket(16)),
        ("TRUNCATE(3, `a b`.c)", ("a b", "c"), Truncate(3)),
        ("years(ts)", ("ts",), Year()),
        ("month(ts)", ("ts",), Month()),
        ("date(ts)", ("ts",), Day()),
        ("hours(ts)", ("ts",), Hour()),
        ("void(x)", ("x",), Void()),
        ("bucket", ("bucket",), Identity()),
    ],
)
def test_transforms_are_read_by_the_names_of_spark_and_of_iceberg(
    text: str, path: tuple[str, ...], transform: Transform
) -> None:
    assert parse_transform(text) == TransformText(path, transform)


@pytest.mark.parametrize(
    ("text", "descending", "nulls_first"),
    [
        ("day(ts)", False, True),
        ("day(ts) asc", False, True),
        ("day(ts) DESC", True, False),
        ("day(ts) NULLS LAST", False, False),
        ("day(ts) desc nulls first", True, True),
    ],
)
def test_nulls_lie_where_spark_puts_them_unless_the_text_says_otherwise(
    text: str, descending: bool, nulls_first: bool
) -> None:
    assert parse_sort_key(text) == SortText(TransformText(("ts",), Day()), descending, nulls_first)


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (parse_columns, "id", "it ends too early"),
        (parse_columns, "", "it ends too early"),
        (parse_columns, "id int name string", "found 'name'"),
        (parse_columns, "id int,", "it ends too early"),
        (parse_columns, "id strnig", "there is no column type strnig"),
        (parse_columns, "id decimal(39, 0)", "decimal(39, 0) is no type"),
        (parse_columns, "id decimal(5, 6)", "scales up to the precision"),
        (parse_columns, "id decimal(5, -2)", "found '-'"),
        (parse_columns, "id array<int", "it ends too early"),
        (parse_columns, "id array(int)", "found '('"),
        (parse_columns, "id map<int>", "found '>'"),
        (parse_columns, "id fixed(x)", "found 'x'"),
        (parse_columns, "id int not", "it ends too early"),
        (parse_columns, "id int comment x", "found 'x'"),
        (parse_columns, "'id' int", "found \"'id'\""),
        (parse_transform, "buckets(16, id)", "there is no partition transform buckets"),
        (parse_transform, "bucket(0, id)", "the number of bucket has to be at least 1"),
        (parse_transform, "bucket(id)", "found ')'"),
        (parse_transform, "bucket(²,id)", "found"),
        (parse_transform, "bucket(-1, id)", "found '-'"),
        (parse_transform, "day(ts", "it ends too early"),
        (parse_transform, "day(ts) desc", "found 'desc'"),
        (parse_sort_key, "id nulls", "it ends too early"),
        (parse_sort_key, "id nulls middle", "found 'middle'"),
        (parse_sort_key, "id down", "found 'down'"),
    ],
)
def test_a_wrong_text_is_refused_with_what_was_found(parse: Callable[[str], object], text: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(text)
    assert said in str(refused.value)


@given(st.text("abint ,<>()`'.:1²é-", max_size=20) | st.text(max_size=8))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_columns, parse_transform, parse_sort_key):
        with suppress(InvalidRequest):
            parse(text)
