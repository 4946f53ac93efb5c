"""What does a condition say about single columns? SQL text in, a bound predicate out.

sqlglot only looks: the text that selects rows goes to the engine as the user wrote it. Here a condition is taken apart as
far as its meaning is certain, for pruning; the rest becomes `Unjudged`, of which every row may be TRUE.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite

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
from lakewright.model.types import FLOATING, INTEGRAL, ColumnType, DecimalType, Field, Primitive, Value
from lakewright.planning.literals import date_days, timestamp_units, uuid_bytes

_DOUBLE_EXACT_MAX = 2**53
_DECIMAL_PRECISION_MAX = 38
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
_PARTS_OF_OTHER_SCOPES = (sql.Lambda, sql.Query)


def bind(condition: str, schema: Schema, settings: SqlSettings) -> Predicate:
    """Bind a condition to a schema; names that do not exist or are ambiguous are refused.

    A text that sqlglot cannot read may still be one that Spark can, so it is `Unjudged` and left for Spark to refuse.
    """
    if '"' in condition:
        return Unjudged(condition)
    try:
        tree = sqlglot.parse_one(condition, dialect="spark")
    except SqlglotError:
        return Unjudged(condition)
    return _Binder(schema, settings, texts_are_plain="\\" not in condition).predicate(tree, negated=False)


@dataclass(frozen=True)
class _NotJudged(Exception):
    """The meaning of a part is not certain here."""


@dataclass(frozen=True)
class _Binder:
    schema: Schema
    settings: SqlSettings
    texts_are_plain: bool
    """Whether no backslash is there, whose meaning depends on a session setting."""

    def predicate(self, tree: sql.Expr, *, negated: bool) -> Predicate:
        match tree:
            case sql.Paren():
                return self.predicate(tree.this, negated=negated)
            case sql.Not():
                return self.predicate(tree.this, negated=not negated)
            case sql.And() | sql.Or():
                parts = tuple(self.predicate(side, negated=negated) for side in (tree.left, tree.right))
                return _joined(parts, all_of=isinstance(tree, sql.And) != negated)
            case sql.Between():
                low, high = (
                    kind(this=tree.this.copy(), expression=bound.copy())
                    for kind, bound in ((sql.GTE, tree.args["low"]), (sql.LTE, tree.args["high"]))
                )
                return self.predicate(sql.And(this=low, expression=high), negated=negated)
            case _:
                return self._leaf(tree, negated)

    def _leaf(self, tree: sql.Expr, negated: bool) -> Predicate:
        try:
            return self._test(tree, negated)
        except _NotJudged:
            self._check_names(tree)
            return Unjudged(tree.sql(dialect="spark"))

    def _test(self, tree: sql.Expr, negated: bool) -> Predicate:
        match tree:
            case sql.Boolean():
                return Always(bool(tree.this) != negated)
            case sql.Null():
                return NO_ROW
            case sql.Column():
                return self._flag(tree, Operator.EQ, negated)
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
                return self._compare(tree, _COMPARISONS[type(tree)], negated)
            case _:
                raise _NotJudged

    def _flag(self, column: sql.Expr, operator: Operator, negated: bool) -> Predicate:
        found = self._column(column)
        if found.type != Primitive.BOOLEAN:
            raise _NotJudged
        return Test(found.id, _operator(operator, negated), (True,))

    def _is(self, tree: sql.Is, negated: bool) -> Predicate:
        match tree.expression:
            case sql.Null():
                return Test(self._column(tree.this).id, _operator(Operator.IS_NULL, negated))
            case sql.Boolean() as truth if truth.this:
                return self._flag(tree.this, Operator.NULL_SAFE_EQ, negated)
            case _:
                raise _NotJudged

    def _nan(self, tree: sql.IsNan, negated: bool) -> Predicate:
        """`isnan(NULL)` is FALSE, so its negation is TRUE of NULL."""
        found = self._column(tree.this)
        if found.type not in FLOATING:
            raise _NotJudged
        return Test(found.id, _operator(Operator.IS_NAN, negated))

    def _in(self, tree: sql.In, negated: bool) -> Predicate:
        items = tree.expressions
        if not items or tree.args.get("query"):
            raise _NotJudged
        has_null = any(isinstance(item, sql.Null) for item in items)
        if has_null and negated:
            return NO_ROW
        equal = [
            self._compare(sql.EQ(this=tree.this.copy(), expression=item.copy()), Operator.EQ, False)
            for item in items
            if not isinstance(item, sql.Null)
        ]
        if not equal:
            return NO_ROW
        tests = [test for test in equal if isinstance(test, Test)]
        if len(tests) != len(equal) or len({test.as_double for test in tests}) != 1:
            raise _NotJudged
        values = tuple(test.values[0] for test in tests)
        return Test(tests[0].field_id, _operator(Operator.IN, negated), values, tests[0].as_double)

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

    def _compare(self, tree: sql.Expr, operator: Operator, negated: bool) -> Predicate:
        left, right = tree.this, tree.expression
        if not isinstance(left, sql.Column | sql.Dot):
            left, right, operator = right, left, _MIRRORED.get(operator, operator)
        found = self._column(left)
        if isinstance(right, sql.Null):
            return self._compare_with_null(found, operator, negated)
        value, as_double = self._literal(right, found.type)
        return Test(found.id, _operator(operator, negated), (value,), as_double)

    def _compare_with_null(self, column: Field, operator: Operator, negated: bool) -> Predicate:
        match _operator(operator, negated):
            case Operator.NULL_SAFE_EQ:
                return Test(column.id, Operator.IS_NULL)
            case Operator.NULL_SAFE_NE:
                return Test(column.id, Operator.IS_NOT_NULL)
            case _:
                return NO_ROW

    def _column(self, tree: sql.Expr) -> Field:
        """The column that is named; one inside a list or map, or an expression, is not judged."""
        while isinstance(tree, sql.Paren):
            tree = tree.this
        if not isinstance(tree, sql.Column | sql.Dot):
            raise _NotJudged
        path = tuple(part.name for part in tree.parts)
        return self.schema.resolve(path, case_sensitive=self.settings.case_sensitive)

    def _check_names(self, tree: sql.Expr) -> None:
        """Refuse unknown names early, unless the part has names of its own: lambda variables, columns of a subquery."""
        if any(isinstance(node, _PARTS_OF_OTHER_SCOPES) for node in tree.walk()):
            return
        for node in tree.find_all(sql.Column):
            self.schema.resolve((node.parts[0].name,), case_sensitive=self.settings.case_sensitive)

    def _text(self, tree: sql.Expr) -> str:
        if isinstance(tree, sql.Literal) and tree.is_string and self.texts_are_plain:
            return str(tree.this)
        raise _NotJudged

    def _literal(self, tree: sql.Expr, column_type: ColumnType) -> tuple[Value, bool]:
        """The literal in the column's domain, and whether Spark compares both as doubles."""
        if isinstance(tree, sql.Boolean) and column_type == Primitive.BOOLEAN:
            return bool(tree.this), False
        if isinstance(tree, sql.HexString) and column_type == Primitive.BINARY:
            return bytes.fromhex(str(tree.this)), False
        if isinstance(tree, sql.Literal) and tree.is_string:
            return self._from_text(self._text(tree), column_type), False
        if isinstance(tree, sql.Cast) and tree.this.is_string and self.texts_are_plain:
            typed = self._from_typed_text(str(tree.this.this), tree.to.this, column_type)
            if typed is not None:
                return typed, False
        return _compared_numbers(_number(tree), column_type)

    def _from_text(self, text: str, column_type: ColumnType) -> Value:
        """Spark casts a string literal to the type of the column."""
        value: Value | None
        match column_type:
            case Primitive.STRING:
                return text
            case Primitive.DATE:
                value = date_days(text)
            case Primitive.TIMESTAMP | Primitive.TIMESTAMPTZ:
                value = timestamp_units(text, column_type, self.settings.time_zone)
            case Primitive.UUID:
                value = uuid_bytes(text)
            case _:
                raise _NotJudged
        return _certain(value)

    def _from_typed_text(self, text: str, literal_type: object, column_type: ColumnType) -> Value | None:
        """`DATE '…'` and `TIMESTAMP '…'`, as far as no conversion of the column is needed; None for other types."""
        kind = sql.DataType.Type
        zone = self.settings.time_zone
        match literal_type, column_type:
            case (kind.DATE, Primitive.DATE):
                return _certain(date_days(text))
            case (kind.DATE, Primitive.TIMESTAMP | Primitive.TIMESTAMPTZ):
                return _certain(timestamp_units(f"{text} 00:00:00", column_type, zone))
            case (kind.TIMESTAMPTZ | kind.TIMESTAMPLTZ | kind.TIMESTAMP, Primitive.TIMESTAMPTZ):
                return _certain(timestamp_units(text, column_type, zone))
            case (kind.TIMESTAMPNTZ, Primitive.TIMESTAMP):
                return _certain(timestamp_units(text, column_type, zone))
            case (kind.DATE | kind.TIMESTAMPTZ | kind.TIMESTAMPLTZ | kind.TIMESTAMP | kind.TIMESTAMPNTZ, _):
                raise _NotJudged
            case _:
                return None


def _certain(value: Value | None) -> Value:
    if value is None:
        raise _NotJudged
    return value


def _operator(operator: Operator, negated: bool) -> Operator:
    return NEGATED[operator] if negated else operator


def _joined(parts: tuple[Predicate, ...], *, all_of: bool) -> Predicate:
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


def _number(tree: sql.Expr) -> int | Decimal | float:
    """A number with the type that Spark gives it: an integer, a decimal (with a point), a double (with an exponent)."""
    match tree:
        case sql.Neg():
            return -_number(tree.this)
        case sql.Paren():
            return _number(tree.this)
        case sql.Cast() if isinstance(tree.this, sql.Literal):
            return _typed_number(str(tree.this.this), tree.to.this, has_parameters=bool(tree.to.expressions))
        case sql.Literal() if not tree.is_string:
            text = str(tree.this).lower()
            if "e" in text:
                return float(text)
            return Decimal(text) if "." in text else int(text)
        case _:
            raise _NotJudged


def _typed_number(text: str, literal_type: object, *, has_parameters: bool) -> int | Decimal | float:
    kind = sql.DataType.Type
    convert: Callable[[str], int | Decimal | float]
    match literal_type:
        case kind.TINYINT | kind.SMALLINT | kind.INT | kind.BIGINT if text.lstrip("-").isdigit():
            convert = int
        case kind.DOUBLE:
            convert = float
        case kind.DECIMAL if has_parameters:
            convert = Decimal
        case _:
            raise _NotJudged
    try:
        return convert(text)
    except (ValueError, ArithmeticError):
        raise _NotJudged from None


def _compared_numbers(number: int | Decimal | float, column_type: ColumnType) -> tuple[Value, bool]:
    """Spark compares integers and decimals exactly, and as doubles as soon as one side is a double or float."""
    if isinstance(number, float) and not isfinite(number):
        raise _NotJudged
    match column_type:
        case Primitive.FLOAT | Primitive.DOUBLE:
            if isinstance(number, int) and abs(number) > _DOUBLE_EXACT_MAX:
                raise _NotJudged
            if column_type == Primitive.FLOAT and isinstance(number, int):
                return _exact_in_float(number), True
            return float(number), True
        case DecimalType(precision, scale):
            if isinstance(number, float):
                return number, True
            if max(precision - scale, _whole_digits(number)) + max(scale, _scale(number)) > _DECIMAL_PRECISION_MAX:
                raise _NotJudged
            return Decimal(number), False
        case _ if column_type in INTEGRAL:
            return number, isinstance(number, float)
        case _:
            raise _NotJudged


def _exact_in_float(number: int) -> float:
    """Spark compares a float column with an integer literal as floats, which hold integers of 24 bits exactly."""
    if abs(number) > 2**24:
        raise _NotJudged
    return float(number)


def _scale(number: int | Decimal) -> int:
    return 0 if isinstance(number, int) else max(0, -int(number.as_tuple().exponent))


def _whole_digits(number: int | Decimal) -> int:
    return len(str(abs(int(number))))


def columns_named(condition: str, schema: Schema) -> tuple[Field, ...]:
    """The table's columns that a condition may need: all of them where it cannot be told."""
    if '"' in condition:
        return schema.fields
    try:
        tree = sqlglot.parse_one(condition, dialect="spark")
    except SqlglotError:
        return schema.fields
    names = {part.name for node in tree.walk() if isinstance(node, sql.Column | sql.Dot) for part in node.parts}
    names |= {node.name for node in tree.find_all(sql.Identifier)}
    folded = {name.lower() for name in names}
    return tuple(child for child in schema.fields if child.name in names or child.name.lower() in folded)
