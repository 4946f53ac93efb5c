"""Which column does a name mean?"""

import pytest

from lakewright.errors import InvalidRequest
from lakewright.model.schema import Schema, nearest
from tests.described import schema_of

SCHEMA = schema_of(
    "id long, Name string, NAME string, place struct<city: string, City: string, zip: int>, "
    "tags array<struct<k: string>>, `a.b` int, STRASSE int"
)


@pytest.mark.parametrize(
    ("path", "case_sensitive", "found"),
    [
        ("id", True, "id"),
        ("ID", False, "id"),
        ("Name", True, "Name"),
        ("PLACE.ZIP", False, "place.zip"),
        ("place.City", True, "place.City"),
        ("place", False, "place"),
        ("tags", False, "tags"),
    ],
)
def test_a_name_is_found_at_any_depth_of_structs(path: str, case_sensitive: bool, found: str) -> None:
    child = SCHEMA.resolve(tuple(path.split(".")), case_sensitive=case_sensitive)
    assert SCHEMA.names_by_id[child.id] == found


def test_a_name_with_a_dot_is_one_name() -> None:
    assert SCHEMA.resolve(("a.b",), case_sensitive=True).name == "a.b"


@pytest.mark.parametrize(
    ("path", "case_sensitive", "said"),
    [
        ("name", False, "column name is ambiguous: it may mean NAME, Name; write the name in its exact case"),
        ("place.city", False, "it may mean place.City, place.city"),
        ("name", True, "there is no column name; did you mean Name?"),
        ("ID", True, "did you mean id?"),
        ("plaec.zip", False, "did you mean place.zip or "),
        ("id.x", False, "there is no column id.x"),
        ("tags.k", False, "there is no column tags.k"),
        ("qqqqqqqqq", False, "there are Name, STRASSE, "),
    ],
)
def test_a_name_that_does_not_mean_one_column_is_refused_with_the_nearest(
    path: str, case_sensitive: bool, said: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        SCHEMA.resolve(tuple(path.split(".")), case_sensitive=case_sensitive)
    assert said in str(refused.value)


def test_what_lies_in_lists_and_maps_is_repeated_and_what_lies_in_structs_is_not() -> None:
    schema = schema_of("a struct<b: int, c: array<int>>, m map<string, struct<d: int>>")
    assert {schema.names_by_id[field_id] for field_id in schema.repeated_ids} == {
        "a.c.element",
        "m.key",
        "m.value",
        "m.value.d",
    }


def test_the_nearest_names_are_few_and_none_is_said_so() -> None:
    assert nearest("x", []) == "there are none"
    assert nearest("zzz", [f"column{number:02d}" for number in range(20)]).endswith("column09, …")
    assert Schema(()).highest_id == 0
