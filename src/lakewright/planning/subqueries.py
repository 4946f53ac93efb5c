"""Where does a condition ask for the values of a query, and how does it read with those values in its place?

`x IN (SELECT …)` says nothing about files as long as nobody knows the values. Only the place of the query is looked for
here; the query itself goes to the engine as the user wrote it, and its values come back as literals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

_BEGINS_QUERY = frozenset({TokenType.SELECT, TokenType.WITH})


@dataclass(frozen=True)
class Subquery:
    """The query inside `IN ( … )`, and from where to where it stands in the condition."""

    text: str
    start: int
    end: int


def queries_of_values(condition: str) -> tuple[Subquery, ...]:
    """In the order in which they stand; none when the condition cannot be read.

    One inside another query is left there: what it reads may be named by that one.
    """
    try:
        tokens = sqlglot.tokenize(condition, read="spark")
    except SqlglotError:
        return ()
    kinds = [token.token_type for token in tokens]
    found, index = [], 0
    while index + 1 < len(tokens):
        begins = kinds[index] is TokenType.L_PAREN and kinds[index + 1] in _BEGINS_QUERY
        closing = _closing(tokens, index) if begins else None
        if closing is not None:
            if index and kinds[index - 1] is TokenType.IN:
                start, end = tokens[index + 1].start, tokens[closing].start
                found.append(Subquery(condition[start:end], start, end))
            index = closing
        index += 1
    return tuple(found)


def with_values(condition: str, subqueries: Sequence[Subquery], literals: Callable[[str], str | None]) -> str:
    """The condition with lists of literals for those queries whose values are given."""
    for each in reversed(subqueries):
        found = literals(each.text)
        if found is not None:
            condition = condition[: each.start] + found + condition[each.end :]
    return condition


def _closing(tokens: Sequence[Token], opening: int) -> int | None:
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].token_type is TokenType.L_PAREN:
            depth += 1
        elif tokens[index].token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return index
    return None
