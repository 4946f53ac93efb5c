"""What does a condition say about single columns? SQL text in, a bound predicate out.

sqlglot only looks: the text that selects rows goes to the engine as the user wrote it. Here a condition is taken apart
as far as its meaning is certain, for pruning; the rest becomes `Unjudged`, of which every row may be TRUE.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import sqlglot
from sqlglot import expressions as sql
from sqlglot.errors import SqlglotError

from lakewright.model.predicates import (
    EVERY_ROW,
    NEGATED,
    NO_ROW,
    AllOf,
    Always,
    AnyOf,
    Operator,
    Predicate,
    Test,
    Unjudged,
)
from lakewright.model.schema import Schema
from lakewright.model.session import SqlSettings
from lakewright.model.types import FLOATING, TIMESTAMPS, ColumnType, Field, ListType, MapType, Primitive, Value
from lakewright.planning.literals import date_days, timestamp_units, uuid_bytes
from lakewright.planning.numerals import Numeral, compared, negative, plain_numeral, typed_numeral

_COMPARISONS: dict[type[sql.Expr], Operator] = {
    sql.EQ: Operator.EQ,
    sql.NEQ: Operator.NE,
    sql.LT: Operator.LT,
    sql.LTE: Operator.LE,
    sql.GT: Operator.GT,
    sql.GTE: Operator.GE,
    sql.NullSafeEQ: Operator.NULL_SAFE_EQ,
    sql.NullSafeNEQ: Operator.NULL_SAFE_NE,
}
_MIRRORED = {Operator.LT: Operator.GT, Operator.LE: Operator.GE, Operator.GT: Operator.LT, Operator.GE: Operator.LE}
_UNDERSTOOD: dict[type[sql.Expr], frozenset[str]] = {
    **dict.fromkeys(_COMPARISONS, frozenset({"this", "expression"})),
    sql.And: frozenset({"this", "expression"}),
    sql.Or: frozenset({"this", "expression"}),
    sql.Not: frozenset({"this"}),
    sql.Paren: frozenset({"this"}),
    sql.Between: frozenset({"this", "low", "high", "negate"}),
    sql.In: frozenset({"this", "expressions", "negate"}),
    sql.Is: frozenset({"this", "expression", "negate"}),
    sql.Like: frozenset({"this", "expression", "negate"}),
    sql.StartsWith: frozenset({"this", "expression"}),
    sql.IsNan: frozenset({"this"}),
    sql.Column: frozenset({"this", "table", "db", "catalog"}),
    sql.Dot: frozenset({"this", "expression"}),
    sql.Identifier: frozenset({"this", "quoted"}),
    sql.Boolean: frozenset({"this"}),
    sql.Null: frozenset(),
    sql.Literal: frozenset({"this", "is_string"}),
    sql.HexString: frozenset({"this"}),
    sql.Neg: frozenset({"this"}),
    sql.Cast: frozenset({"this", "to"}),
    sql.TryCast: frozenset({"this", "to", "safe"}),
}
"""What of each part of a tree is looked at; a part that says more than this is not judged."""
_OPAQUE = ('"', "${", "--", "/*", ";")
"""Quotes that a setting gives a meaning, variables, and comments, which Spark ends differently."""
_PARTS_OF_OTHER_SCOPES = (sql.Lambda, sql.Query)
_NAMES_OF_SPARK = frozenset(("current_time", "localtimestamp", "session", "system", "user"))
"""Functions that need no parentheses, and the homes of session variables."""
_HEXADECIMAL = re.compile(r"(?:[0-9a-fA-F]{2})*")
Found = TypeVar("Found")


def bind(condition: str, schema: Schema, settings: SqlSettings) -> Predicate:
    """Bind a condition to a schema; names that do not exist or are ambiguous are refused.

    A text that sqlglot cannot read may still be one that Spark can, so it is `Unjudged` and left for Spark to refuse.
    """
    tree = None if any(text in condition for text in _OPAQUE) else _parsed(condition)
    if tree is None:
        return Unjudged(condition)
    try:
        return _Binder(condition, schema, settings).predicate(tree, negated=False)
    except RecursionError:
        return Unjudged(condition)


def columns_named(condition: str, schema: Schema) -> tuple[Field, ...]:
    """The table's columns that a condition may need: those whose names stand anywhere in it as words.

    A star, a variable or a name that is put together from texts may mean every column.
    """
    text = condition.casefold()
    if "${" in text or "identifier" in text or ("*" in text and _may_have_star(condition)):
        return schema.fields
    return tuple(child for child in schema.fields if _stands_in(child.name.casefold(), text))


def _parsed(condition: str) -> sql.Expr | None:
    try:
        return sqlglot.parse_one(condition, dialect="spark", into=sql.Condition)
    except (SqlglotError, RecursionError):
        return None


def _may_have_star(condition: str) -> bool:
    tree = _parsed(condition)
    return tree is None or tree.find(sql.Star) is not None


def _stands_in(name: str, text: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", text) for spelling in {name, name.replace("`", "``")})


@dataclass(frozen=True)
class _NotJudged(Exception):
    """The meaning of a part is not certain here."""


@dataclass(frozen=True)
class _Binder:
    condition: str
    schema: Schema
    settings: SqlSettings

    def predicate(self, tree: sql.Expr, *, negated: bool) -> Predicate:
        if not _is_understood(tree):
            return self._unjudged(tree)
        match tree:
            case sql.Paren():
                return self.predicate(tree.this, negated=negated)
            case sql.Not():
                return self.predicate(tree.this, negated=not negated)
            case sql.And() | sql.Or():
                parts = [self.predicate(side, negated=negated) for side in _sides(tree)]
                return _joined(parts, all_of=isinstance(tree, sql.And) != negated)
            case _:
                return self._leaf(tree, negated != bool(tree.args.get("negate")))

    def _leaf(self, tree: sql.Expr, negated: bool) -> Predicate:
        try:
            return self._test(tree, negated)
        except _NotJudged:
            return self._unjudged(tree)

    def _unjudged(self, tree: sql.Expr) -> Unjudged:
        """Unknown names are refused early, unless the part has names of its own: of lambdas, of subqueries."""
        if not any(isinstance(node, _PARTS_OF_OTHER_SCOPES) for node in tree.walk()):
            for node in tree.find_all(sql.Column):
                first = node.parts[0]
                if isinstance(first, sql.Identifier) and first.name.lower() not in _NAMES_OF_SPARK:
                    self.schema.resolve((first.name,), case_sensitive=self.settings.case_sensitive)
        return Unjudged(tree.sql(dialect="spark"))

    def _test(self, tree: sql.Expr, negated: bool) -> Predicate:
        match tree:
            case sql.Boolean():
                return Always(bool(tree.this) != negated)
            case sql.Null():
                return NO_ROW
            case sql.Column() | sql.Dot():
                return self._flag(tree, Operator.EQ, True, negated)
            case sql.Between():
                return self._between(tree, negated)
            case sql.Is():
                return self._is(tree, negated)
            case sql.IsNan():
                return self._nan(tree, negated)
            case sql.In():
                return self._in(tree, negated)
            case sql.Like():
                return self._like(tree, negated)
            case sql.StartsWith():
                return self._starts_with(tree.this, self._text(tree.expression), negated)
            case _ if type(tree) in _COMPARISONS:
                return self._compare(tree.this, _COMPARISONS[type(tree)], tree.expression, negated)
            case _:
                raise _NotJudged

    def _flag(self, column: sql.Expr, operator: Operator, truth: bool, negated: bool) -> Predicate:
        found = self._column(column)
        if found.type != Primitive.BOOLEAN:
            raise _NotJudged
        return Test(found.id, _operator(operator, negated), (truth,))

    def _between(self, tree: sql.Between, negated: bool) -> Predicate:
        bounds = ((Operator.GE, tree.args["low"]), (Operator.LE, tree.args["high"]))
        parts = [self._compare(tree.this, operator, bound, negated) for operator, bound in bounds]
        return _joined(parts, all_of=not negated)

    def _is(self, tree: sql.Is, negated: bool) -> Predicate:
        match tree.expression:
            case sql.Null():
                return Test(self._column(tree.this).id, _operator(Operator.IS_NULL, negated))
            case sql.Boolean() as truth:
                return self._flag(tree.this, Operator.NULL_SAFE_EQ, bool(truth.this), negated)
            case _:
                raise _NotJudged

    def _nan(self, tree: sql.IsNan, negated: bool) -> Predicate:
        """`isnan(NULL)` is FALSE, so its negation is TRUE of NULL."""
        found = self._column(tree.this)
        if found.type not in FLOATING:
            raise _NotJudged
        return Test(found.id, _operator(Operator.IS_NAN, negated))

    def _in(self, tree: sql.In, negated: bool) -> Predicate:
        """A NULL in the list can only make the answer NULL instead of FALSE."""
        column = self._column(tree.this)
        items = [item for item in tree.expressions if not isinstance(item, sql.Null)]
        if not tree.expressions:
            raise _NotJudged
        if column.type in TIMESTAMPS and any(isinstance(item, sql.Literal) for item in items):
            raise _NotJudged  # without ANSI mode, Spark compares these as texts
        if not items or (negated and len(items) < len(tree.expressions)):
            return NO_ROW
        values, as_double = self._literals(items, column.type)
        return Test(column.id, _operator(Operator.IN, negated), values, as_double)

    def _like(self, tree: sql.Like, negated: bool) -> Predicate:
        pattern = self._text(tree.expression)
        prefix = pattern.rstrip("%")
        if prefix == pattern or "%" in prefix or "_" in prefix or not prefix:
            raise _NotJudged
        return self._starts_with(tree.this, prefix, negated)

    def _starts_with(self, column: sql.Expr, prefix: str, negated: bool) -> Predicate:
        found = self._column(column)
        if found.type != Primitive.STRING:
            raise _NotJudged
        return Test(found.id, _operator(Operator.STARTS_WITH, negated), (prefix,))

    def _compare(self, left: sql.Expr, operator: Operator, right: sql.Expr, negated: bool) -> Predicate:
        left, right = left.unnest(), right.unnest()
        if not isinstance(left, sql.Column | sql.Dot):
            left, right, operator = right, left, _MIRRORED.get(operator, operator)
        found = self._column(left)
        if isinstance(right, sql.Null):
            return _compared_with_null(found, operator, negated)
        values, as_double = self._literals([right], found.type)
        return Test(found.id, _operator(operator, negated), values, as_double)

    def _column(self, tree: sql.Expr) -> Field:
        """The column that is named; one inside a list or map, or an expression, is not judged."""
        path = _path(tree)
        case_sensitive = self.settings.case_sensitive
        for length in range(1, len(path)):
            above = self.schema.resolve(path[:length], case_sensitive=case_sensitive)
            if isinstance(above.type, ListType | MapType) or above.type == Primitive.VARIANT:
                raise _NotJudged
        return self.schema.resolve(path, case_sensitive=case_sensitive)

    def _text(self, tree: sql.Expr) -> str:
        """What a backslash means in a text depends on a setting, and what two quotes mean on another."""
        if not isinstance(tree, sql.Literal) or not tree.is_string:
            raise _NotJudged
        text = str(tree.this)
        if "\\" in self.condition or "'" in text:
            raise _NotJudged
        return text

    def _literals(self, items: list[sql.Expr], column_type: ColumnType) -> tuple[tuple[Value, ...], bool]:
        """The literals in the column's domain, and whether Spark compares all as doubles."""
        values = [self._value(item.unnest(), column_type) for item in items]
        known = tuple(value for value in values if value is not None)
        if len(known) == len(values):
            return known, False
        return _certain(compared([_numeral(item) for item in items], column_type))

    def _value(self, tree: sql.Expr, column_type: ColumnType) -> Value | None:
        """A literal that is not a number; None if it may be one."""
        match tree:
            case sql.Boolean() if column_type == Primitive.BOOLEAN:
                return bool(tree.this)
            case sql.HexString() if column_type == Primitive.BINARY:
                return self._bytes(str(tree.this))
            case sql.Literal() if tree.is_string:
                return _certain_value(self._from_text(self._text(tree), column_type))
            case sql.Cast() if tree.this.is_string and tree.to.is_type(*sql.DataType.TEMPORAL_TYPES):
                return _certain_value(self._from_typed_text(self._text(tree.this), tree.to.this, column_type))
            case _:
                return None

    def _bytes(self, text: str) -> bytes:
        """Only X'…', since 0x… is a name to Spark, and only whole bytes."""
        if f"'{text}'" not in self.condition or not _HEXADECIMAL.fullmatch(text):
            raise _NotJudged
        return bytes.fromhex(text)

    def _from_text(self, text: str, column_type: ColumnType) -> Value | None:
        """Spark casts a string literal to the type of the column."""
        match column_type:
            case Primitive.STRING:
                return text
            case Primitive.DATE:
                return date_days(text)
            case Primitive.TIMESTAMP | Primitive.TIMESTAMPTZ:
                return timestamp_units(text, column_type, self.settings.time_zone)
            case Primitive.UUID:
                return uuid_bytes(text)
            case _:
                return None

    def _from_typed_text(self, text: str, literal_type: object, column_type: ColumnType) -> Value | None:
        """`DATE '…'` and `TIMESTAMP '…'`, as far as no conversion of the column is needed."""
        kind = sql.DataType.Type
        zone = self.settings.time_zone
        match literal_type, column_type:
            case (kind.DATE, Primitive.DATE):
                return date_days(text)
            case (kind.DATE, Primitive.TIMESTAMP | Primitive.TIMESTAMPTZ):
                return timestamp_units(f"{text} 00:00:00", column_type, zone)
            case (kind.TIMESTAMPTZ | kind.TIMESTAMPLTZ | kind.TIMESTAMP, Primitive.TIMESTAMPTZ):
                return timestamp_units(text, column_type, zone)
            case (kind.TIMESTAMPNTZ, Primitive.TIMESTAMP):
                return timestamp_units(text, column_type, zone)
            case _:
                return None


def _is_understood(tree: sql.Expr) -> bool:
    looked_at = _UNDERSTOOD.get(type(tree))
    return looked_at is not None and all(name in looked_at or not value for name, value in tree.args.items())


def _sides(tree: sql.Expr) -> Iterable[sql.Expr]:
    """What a chain of ANDs, or of ORs, joins: such chains may be thousands long."""
    kind, pending = type(tree), [tree]
    while pending:
        node = pending.pop()
        if type(node) is kind:
            pending += [node.expression, node.this]
        else:
            yield node


def _path(tree: sql.Expr) -> tuple[str, ...]:
    """The names of a column and of members below it."""
    if not _is_understood(tree):
        raise _NotJudged
    match tree:
        case sql.Identifier():
            return (tree.name,)
        case sql.Column():
            return tuple(name for part in tree.parts for name in _path(part))
        case sql.Dot():
            return (*_path(tree.this), *_path(tree.expression))
        case sql.Paren():
            return _path(tree.this)
        case _:
            raise _NotJudged


def _numeral(tree: sql.Expr) -> Numeral:
    if not _is_understood(tree):
        raise _NotJudged
    match tree:
        case sql.Neg():
            return negative(_numeral(tree.this))
        case sql.Paren():
            return _numeral(tree.this)
        case sql.Literal() if not tree.is_string:
            return _certain(plain_numeral(str(tree.this)))
        case sql.Cast() if isinstance(tree.this, sql.Literal):
            return _certain(typed_numeral(str(tree.this.this), tree.to))
        case _:
            raise _NotJudged


def _compared_with_null(column: Field, operator: Operator, negated: bool) -> Predicate:
    match _operator(operator, negated):
        case Operator.NULL_SAFE_EQ:
            return Test(column.id, Operator.IS_NULL)
        case Operator.NULL_SAFE_NE:
            return Test(column.id, Operator.IS_NOT_NULL)
        case _:
            return NO_ROW


def _certain(value: Found | None) -> Found:
    if value is None:
        raise _NotJudged
    return value


def _certain_value(value: Value | None) -> Value:
    """A union of its own, which the type checker loses in a type variable."""
    if value is None:
        raise _NotJudged
    return value


def _operator(operator: Operator, negated: bool) -> Operator:
    return NEGATED[operator] if negated else operator


def _joined(parts: Sequence[Predicate], *, all_of: bool) -> Predicate:
    """AND or OR, without the parts that do not matter."""
    kind: type[AllOf] | type[AnyOf]
    kind, neutral, deciding = (AllOf, EVERY_ROW, NO_ROW) if all_of else (AnyOf, NO_ROW, EVERY_ROW)
    if deciding in parts:
        return deciding
    flat = [
        inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,)) if inner != neutral
    ]
    if not flat:
        return neutral
    return flat[0] if len(flat) == 1 else kind(tuple(flat))
