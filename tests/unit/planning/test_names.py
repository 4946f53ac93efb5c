"""When does reading by name mean the same as reading by id?"""

import pytest

from lakewright.model.schema import Schema
from lakewright.model.types import Field, ListType, Primitive, StructType
from lakewright.planning.names import names_are_stable

INT, LONG, STRING = Primitive.INT, Primitive.LONG, Primitive.STRING
A, B = Field(1, "a", INT), Field(2, "b", INT)


def struct(*members: Field) -> Field:
    return Field(9, "s", StructType(members))


@pytest.mark.parametrize(
    ("history", "wanted", "stable"),
    [
        ([[A, B]], [A, B], True),
        ([[A], [A, B]], [A, B], True),
        ([[A, B], [A]], [A], True),
        ([[A], [Field(1, "c", INT)]], [Field(1, "c", INT)], False),
        ([[A], [Field(1, "c", INT)], [A]], [A], False),
        ([[A, B], [Field(1, "b", INT), Field(2, "a", INT)]], [Field(1, "b", INT)], False),
        ([[A], [Field(3, "a", INT)]], [Field(3, "a", INT)], False),
        ([[A], [Field(3, "A", INT)]], [Field(3, "A", INT)], False),
        ([[A], [Field(1, "a", LONG)]], [Field(1, "a", LONG)], False),
        ([[A, B], [Field(1, "c", INT), B]], [B], True),
        ([[struct(A)], [struct(A, B)]], [struct(A, B)], True),
        ([[struct(A)], [struct(Field(3, "a", INT))]], [struct(Field(3, "a", INT))], False),
        (
            [[Field(5, "l", ListType(A))], [Field(5, "l", ListType(Field(1, "a", LONG)))]],
            [Field(5, "l", ListType(A))],
            False,
        ),
        ([], [A], True),
    ],
)
def test_a_name_is_stable_if_it_meant_one_column_of_one_type_for_ever(
    history: list[list[Field]], wanted: list[Field], stable: bool
) -> None:
    assert names_are_stable(wanted, [Schema(tuple(fields)) for fields in history]) is stable
