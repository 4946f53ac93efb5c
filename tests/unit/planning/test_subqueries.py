"""Which queries of a condition can be asked by themselves?"""

import pytest

from lakewright.planning.subqueries import queries_of_values, with_values


@pytest.mark.parametrize(
    ("condition", "queries"),
    [
        (
            "id IN (SELECT 1) AND x NOT IN (WITH w AS (SELECT 2) SELECT * FROM w)",
            ["SELECT 1", "WITH w AS (SELECT 2) SELECT * FROM w"],
        ),
        ("(id IN (SELECT f(1)))", ["SELECT f(1)"]),
        ("id IN (SELECT v FROM t WHERE v IN (SELECT 1))", ["SELECT v FROM t WHERE v IN (SELECT 1)"]),
        ("x = ' IN (SELECT 1)' AND `in (select 1)` = 2 /* IN (SELECT 3) */", []),
        ("EXISTS (WITH w AS (SELECT 1 AS v) SELECT 1 FROM t WHERE t.id IN (SELECT v FROM w))", []),
        ("(WITH w AS (SELECT 1 AS v) SELECT max(v IN (SELECT v FROM w)) FROM t) AND id IN (SELECT 5)", ["SELECT 5"]),
        ("id IN ((SELECT 1)) OR id IN (1, 2)", []),
        ("id IN (SELECT 1", []),
        ("'", []),
    ],
)
def test_only_a_query_that_stands_in_no_other_is_asked_by_itself(condition: str, queries: list[str]) -> None:
    assert [each.text for each in queries_of_values(condition)] == queries


def test_values_take_the_place_of_their_query_and_of_nothing_else() -> None:
    condition = "a IN (SELECT 1) OR b IN (SELECT x) OR c IN ( SELECT 2 )"
    known = {"SELECT 1": "7, 8", "SELECT 2 ": "9"}
    assert with_values(condition, queries_of_values(condition), known.get) == (
        "a IN (7, 8) OR b IN (SELECT x) OR c IN ( 9)"
    )
