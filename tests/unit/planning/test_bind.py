"""What of a condition is judged, what is left to Spark, and which names are refused?"""

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakewright.errors import InvalidRequest
from lakewright.model.predicates import EVERY_ROW, NO_ROW, AllOf, AnyOf, Operator, Predicate, Unjudged
from lakewright.model.predicates import Test as ColumnTest
from lakewright.model.session import SqlSettings
from lakewright.planning.bind import bind, columns_named
from tests.described import schema_of

SCHEMA = schema_of(
    "i int, l long, m decimal(9, 2), x double, s string, b boolean, d date, t timestamp, n timestamp_ntz, u uuid, "
    "r binary, p struct<a: int, `q r`: string>, v array<int>, k map<string, int>, `odd name` int, f float, e time"
)
ID = {name: field_id for field_id, name in SCHEMA.names_by_id.items()}
HOUR = 3_600_000_000
BERLIN = SqlSettings(time_zone="Europe/Berlin")


def asks(column: str, operator: str, *values: object, as_double: bool = False) -> ColumnTest:
    return ColumnTest(ID[column], Operator(operator), values, as_double)


@pytest.mark.parametrize(
    ("condition", "predicate"),
    [
        ("i = 1", asks("i", "=", 1)),
        ("1 < i", asks("i", ">", 1)),
        ("i != 1", asks("i", "<>", 1)),
        ("i == 1", asks("i", "=", 1)),
        ("(i) = (-(1))", asks("i", "=", -1)),
        ("i = 1L", asks("i", "=", 1)),
        ("i = 1.50BD", asks("i", "=", Decimal("1.50"))),
        ("i = 1D", asks("i", "=", 1.0, as_double=True)),
        ("i IN (1, 2e0)", asks("i", "IN", 1.0, 2.0, as_double=True)),
        ("m = 1", asks("m", "=", Decimal(1))),
        ("x >= 1", asks("x", ">=", 1.0, as_double=True)),
        ("i = CAST('7' AS INT)", asks("i", "=", 7)),
        ("s = 'it'", asks("s", "=", "it")),
        ("s LIKE 'ab%'", asks("s", "STARTS WITH", "ab")),
        ("s LIKE 'ab%%'", asks("s", "STARTS WITH", "ab")),
        ("NOT s LIKE 'ab%'", asks("s", "NOT STARTS WITH", "ab")),
        ("b", asks("b", "=", True)),
        ("NOT b", asks("b", "<>", True)),
        ("b = false", asks("b", "=", False)),
        ("b IS NOT FALSE", asks("b", "NOT <=>", False)),
        ("d = '1970-01-02'", asks("d", "=", 1)),
        ("d >= DATE '1970-01-02'", asks("d", ">=", 1)),
        ("t = '1970-01-01 02:00:00'", asks("t", "=", HOUR)),
        ("t = TIMESTAMP '1970-01-01 02:00:00'", asks("t", "=", HOUR)),
        ("t = TIMESTAMP '1970-01-01 02:00:00Z'", asks("t", "=", 2 * HOUR)),
        ("t >= DATE '1970-01-01'", asks("t", ">=", -HOUR)),
        ("n = '1970-01-01 02:00:00'", asks("n", "=", 2 * HOUR)),
        ("n >= DATE '1970-01-01'", asks("n", ">=", 0)),
        ("u = '00000000-0000-0000-0000-000000000001'", asks("u", "=", b"\x00" * 15 + b"\x01")),
        ("r = X'00fF'", asks("r", "=", b"\x00\xff")),
        ("p.a = 1", asks("p.a", "=", 1)),
        ("p.`q r` = 'x'", asks("p.q r", "=", "x")),
        ("`odd name` = 1", asks("odd name", "=", 1)),
        ("I = 1", asks("i", "=", 1)),
        ("isnan(x)", asks("x", "IS NAN")),
        ("NOT isnan(x)", asks("x", "IS NOT NAN")),
        ("i IS NOT NULL", asks("i", "IS NOT NULL")),
        ("p IS NULL", asks("p", "IS NULL")),
        ("v IS NULL", asks("v", "IS NULL")),
        ("i <=> NULL", asks("i", "IS NULL")),
        ("NOT i <=> NULL", asks("i", "IS NOT NULL")),
        ("i IS DISTINCT FROM 3", asks("i", "NOT <=>", 3)),
        ("i = NULL", NO_ROW),
        ("i NOT IN (1, NULL)", NO_ROW),
        ("i IN (1, NULL)", asks("i", "IN", 1)),
        ("i NOT BETWEEN 1 AND NULL", asks("i", "<", 1)),
        ("NOT (i = 1 AND s = 'a')", AnyOf((asks("i", "<>", 1), asks("s", "<>", "a")))),
        ("NOT (i = 1 OR NOT b)", AllOf((asks("i", "<>", 1), asks("b", "=", True)))),
        ("i = 1 AND (i = 2 AND i = 3)", AllOf((asks("i", "=", 1), asks("i", "=", 2), asks("i", "=", 3)))),
        ("i = 1 AND true", asks("i", "=", 1)),
        ("i = 1 OR true", EVERY_ROW),
        ("i = 1 AND NULL", NO_ROW),
        ("NOT NULL", NO_ROW),
        ("i = 1 AND length(s) > 3", AllOf((asks("i", "=", 1), Unjudged("LENGTH(s) > 3")))),
    ],
)
def test_a_condition_on_single_columns_is_judged(condition: str, predicate: Predicate) -> None:
    found = bind(condition, SCHEMA, BERLIN)
    assert found == predicate
    assert repr(found) == repr(predicate), "equal values of other types"


@pytest.mark.parametrize(
    "condition",
    [
        "i + 1 = 2",
        "i = l",
        "upper(s) = 'A'",
        "s = 5",
        "i = '5'",
        "x = 'NaN'",
        "x = double('NaN')",
        "f = 16777217",
        "x = 1.5F",
        "l = 1." + "1" * 30,
        "i = " + "9" * 5000,
        "s LIKE 'a_c%'",
        "s LIKE '%c'",
        "s LIKE 'abc'",
        "s LIKE '%'",
        "s ILIKE 'a%'",
        "s RLIKE 'a%'",
        "s LIKE 'a%' ESCAPE '!'",
        r"s LIKE 'a\\_%'",
        r"s = 'a\nb'",
        "s = 'it''s'",
        "s = 'a' COLLATE UTF8_LCASE",
        "d = '1970-1-2'",
        "d = TIMESTAMP '1970-01-01 00:00:00'",
        "t = '1970-01-01 02:00'",
        "t = '1970-01-01 00:00:00+99:00'",
        "t IN ('1970-01-01 02:00:00')",
        "n = TIMESTAMP '1970-01-01 02:00:00'",
        "u = '00000000-0000-0000-0000-00000000000A'",
        "r = 'abc'",
        "r = X'0'",
        "e = '12:00:00'",
        "b = 'true'",
        "b = 1",
        "i",
        "isnan(i)",
        "v[0] = 1",
        "k['a'] = 1",
        "i IN (SELECT 1)",
        "EXISTS (SELECT nosuch FROM other)",
        "exists(v, nosuch -> nosuch > 1)",
        "i = :parameter",
        "i = current_date",
        "i = 1 -- and more",
        "i = 1 /* and more */",
        's = "a"',
        "i = ${x}",
        "i =",
        "",
        "(" * 400 + "i = 1" + ")" * 400,
    ],
)
def test_what_is_not_certain_is_left_to_spark(condition: str) -> None:
    assert isinstance(bind(condition, SCHEMA, BERLIN), Unjudged)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("reigon = 1 OR nosuch = 2", "there is no column reigon"),
        ("p.b = 1", "there is no column p.b; did you mean p.a"),
        ("length(nosuch) > 3", "there is no column nosuch"),
        ("i = 1 AND upper(nosuch) = 'A'", "there is no column nosuch"),
        ("`odd nmae` = 1", "did you mean odd name?"),
        ("'a' = S2", "there is no column S2"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_the_nearest(condition: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        bind(condition, SCHEMA, BERLIN)
    assert said in str(refused.value)


def test_names_are_matched_as_the_session_says() -> None:
    schema = schema_of("id int, Id int, other int")
    exact, folded = SqlSettings(case_sensitive=True), SqlSettings()
    assert bind("Id = 1", schema, exact) == ColumnTest(2, Operator.EQ, (1,))
    assert bind("OTHER = 1", schema, folded) == ColumnTest(3, Operator.EQ, (1,))
    with pytest.raises(InvalidRequest, match="ambiguous: it may mean Id, id"):
        bind("Id = 1", schema, folded)
    with pytest.raises(InvalidRequest, match="there is no column OTHER; did you mean other"):
        bind("OTHER = 1", schema, exact)


def test_a_chain_of_thousands_is_judged() -> None:
    found = bind(" OR ".join(f"i = {number}" for number in range(1000)), SCHEMA, BERLIN)
    assert isinstance(found, AnyOf)
    assert len(found.parts) == 1000
    assert isinstance(bind(f"i IN ({', '.join(map(str, range(1000)))})", SCHEMA, BERLIN), ColumnTest)


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("i = 1", {"i"}),
        ("`odd name` = 1 and upper(S) = 'abc'", {"odd name", "s"}),
        ("p.a = 1", {"p"}),
        ("exists(v, each -> each > 1)", {"v"}),
        ("i * 2 = 4", {"i"}),
        ("count(*) > 1", {child.name for child in SCHEMA.fields}),
        ("identifier('i') = 1", {child.name for child in SCHEMA.fields}),
        ("true", set()),
    ],
)
def test_the_columns_that_a_condition_may_need_are_those_whose_names_stand_in_it(
    condition: str, names: set[str]
) -> None:
    assert {field.name for field in columns_named(condition, SCHEMA)} == names


PARTS = (
    "i",
    "s",
    "x",
    "=",
    "<",
    "<=>",
    "NOT",
    "AND",
    "OR",
    "(",
    ")",
    "1",
    "-1.5",
    "1e400",
    "'a'",
    "IN",
    "LIKE",
    "IS",
    "NULL",
    "BETWEEN",
    "'1970-01-01'",
    "DATE",
    "isnan(x)",
    "*",
    ",",
    "p.a",
    "CASE",
    "nosuch",
    "`",
    "9" * 60,
)


@given(st.lists(st.sampled_from(PARTS), max_size=9))
def test_any_text_is_bound_or_its_names_are_refused(parts: list[str]) -> None:
    with suppress(InvalidRequest):
        bind(" ".join(parts), SCHEMA, BERLIN)
