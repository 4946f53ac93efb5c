"""Which incoming column goes where, and which cannot be stored?"""

import pytest

from lakewright.errors import InvalidRequest
from lakewright.model.assignment import ColumnAssignment, Filled, FromColumn
from lakewright.model.schema import Schema
from lakewright.model.types import Field, Primitive, StructType
from lakewright.planning.assign import assign_by_name
from tests.described import schema_of

TYPES = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(9, 0)",
    "decimal(9, 2)",
    "decimal(12, 2)",
    "decimal(20, 0)",
    "date",
    "time",
    "timestamp",
    "timestamp_ntz",
    "timestamp_ns",
    "timestamptz_ns",
    "string",
    "uuid",
    "binary",
    "fixed(16)",
    "fixed(4)",
)
# Of each incoming type: the types of columns in which Arrow stores it, and those for which Spark has to cast it.
STORED: dict[str, tuple[set[str], set[str]]] = {
    "boolean": (set(), {"string"}),
    "int": ({"long", "float", "double", "decimal(12, 2)", "decimal(20, 0)"}, {"string"}),
    "long": ({"float", "double", "decimal(20, 0)"}, {"string"}),
    "float": ({"double"}, {"string"}),
    "double": (set(), {"string"}),
    "decimal(9, 0)": ({"int", "long", "decimal(12, 2)", "decimal(20, 0)"}, {"string"}),
    "decimal(9, 2)": ({"decimal(12, 2)"}, {"string"}),
    "decimal(12, 2)": (set(), {"string"}),
    "decimal(20, 0)": (set(), {"string"}),
    "date": (set(), {"timestamp", "timestamp_ntz", "string"}),
    "time": (set(), set()),
    "timestamp": ({"timestamptz_ns"}, {"timestamp_ntz", "string"}),
    "timestamp_ntz": ({"timestamp_ns"}, {"timestamp", "string"}),
    "timestamp_ns": ({"timestamp_ntz"}, set()),
    "timestamptz_ns": ({"timestamp"}, set()),
    "string": ({"uuid"}, set()),
    "uuid": (set(), set()),
    "binary": ({"fixed(16)", "fixed(4)"}, set()),
    "fixed(16)": ({"binary", "uuid"}, set()),
    "fixed(4)": ({"binary"}, set()),
}


def assigned(incoming: str, columns: str, *, case_sensitive: bool = False) -> tuple[ColumnAssignment, ...]:
    return assign_by_name(StructType(schema_of(incoming).fields), schema_of(columns), case_sensitive=case_sensitive)


@pytest.mark.parametrize("source", TYPES)
def test_a_value_is_stored_if_it_loses_nothing_and_refused_by_both_types_otherwise(source: str) -> None:
    by_arrow, by_spark = STORED[source]
    for target in TYPES:
        if target in by_arrow | by_spark | {source}:
            assert assigned(f"c {source}", f"c {target}") == (
                FromColumn(schema_of(f"c {target}").fields[0], "c", engine_cast=target in by_spark),
            ), target
        else:
            given, wanted = (schema_of(f"c {each}").fields[0].type for each in (source, target))
            with pytest.raises(InvalidRequest) as refused:
                assigned(f"c {source}", f"c {target}")
            assert f"column c is {wanted} and the incoming rows have {given}" in str(refused.value)


def test_columns_go_by_their_names_whatever_their_order() -> None:
    found = assigned("B string, a int", "a int, b string")
    assert [column.source_name for column in found if isinstance(column, FromColumn)] == ["a", "B"]


def test_a_missing_column_gets_its_default_or_null() -> None:
    target = Field(2, "b", Primitive.INT, required=True, write_default=7)
    schema = Schema((Field(1, "a", Primitive.INT), target))
    found = assign_by_name(StructType(()), schema, case_sensitive=True)
    assert found == (Filled(schema.fields[0], None), Filled(target, 7))


def test_rows_of_an_unknown_type_are_null_in_a_column_of_any_type() -> None:
    incoming = StructType((Field(1, "a", Primitive.UNKNOWN),))
    assert assign_by_name(incoming, schema_of("a struct<b: int>"), case_sensitive=True)


@pytest.mark.parametrize(
    ("incoming", "columns", "case_sensitive", "said"),
    [
        ("reigon string", "region string", False, "incoming column reigon is not in the table; did you mean region?"),
        ("Id int", "id int", True, "incoming column Id is not in the table; did you mean id?"),
        ("a int", "a int, b int not null", False, "column b is required, and the incoming rows do not have it"),
        ("id int, ID int", "id int", False, "column id is ambiguous: the incoming rows have id, ID"),
        ("s struct<a: long>", "s struct<a: int>", False, "column s.a is int and the incoming rows have long"),
        ("s struct<x: int>", "s struct<a: int>", False, "incoming member s.x is not in the table"),
        ("s struct<A: int>", "s struct<a: int>", True, "incoming member s.A is not in the table; did you mean a?"),
        ("s struct<a: int>", "s struct<a: int, b: int not null>", False, "column s.b is required"),
        ("s array<string>", "s array<int>", False, "column s.element is int and the incoming rows have string"),
        ("s array<int>", "s array<string>", False, "column s.element is string and the incoming rows have int"),
        ("s map<string, long>", "s map<string, int>", False, "column s.value is int"),
        ("s map<long, int>", "s map<int, int>", False, "column s.key is int"),
        ("s int", "s array<int>", False, "column s is list<int> and the incoming rows have int"),
        ("s struct<a: int>", "s int", False, "column s is int and the incoming rows have struct<a: int>"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(incoming: str, columns: str, case_sensitive: bool, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        assigned(incoming, columns, case_sensitive=case_sensitive)
    assert said in str(refused.value)


def test_nested_types_are_stored_member_by_member() -> None:
    assert assigned(
        "s struct<b: int, a: array<int>>, m map<int, struct<x: float>>",
        "s struct<a: array<long>, b: long, c: string>, m map<long, struct<x: double>>",
    )


def test_with_case_sensitivity_names_that_differ_in_case_are_two() -> None:
    found = assigned("id int, ID int", "ID int, id int", case_sensitive=True)
    assert [column.source_name for column in found if isinstance(column, FromColumn)] == ["ID", "id"]
