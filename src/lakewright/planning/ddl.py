"""What do the texts mean that describe a table: its columns, its partitioning, its order?

A table can be made without Spark, so Spark's own DDL parser is not at hand; and Iceberg has types that it does not know.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from lakewright.errors import InvalidRequest
from lakewright.model.partitioning import Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year
from lakewright.model.types import (
    ColumnType,
    DecimalType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
)

_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|('(?:[^'\\]|\\.|'')*')|([^\W\d]\w*|\d+\w*)|([<>(),:.\[\]]))", re.UNICODE)
_TYPE_NAMES = {
    "boolean": Primitive.BOOLEAN,
    "tinyint": Primitive.INT,
    "byte": Primitive.INT,
    "smallint": Primitive.INT,
    "short": Primitive.INT,
    "int": Primitive.INT,
    "integer": Primitive.INT,
    "bigint": Primitive.LONG,
    "long": Primitive.LONG,
    "float": Primitive.FLOAT,
    "real": Primitive.FLOAT,
    "double": Primitive.DOUBLE,
    "date": Primitive.DATE,
    "time": Primitive.TIME,
    "timestamp": Primitive.TIMESTAMPTZ,
    "timestamp_ltz": Primitive.TIMESTAMPTZ,
    "timestamptz": Primitive.TIMESTAMPTZ,
    "timestamp_ntz": Primitive.TIMESTAMP,
    "timestamp_ns": Primitive.TIMESTAMP_NS,
    "timestamptz_ns": Primitive.TIMESTAMPTZ_NS,
    "string": Primitive.STRING,
    "varchar": Primitive.STRING,
    "char": Primitive.STRING,
    "binary": Primitive.BINARY,
    "uuid": Primitive.UUID,
}
_TIME_TRANSFORMS: dict[str, Callable[[], Transform]] = {
    "year": Year,
    "years": Year,
    "month": Month,
    "months": Month,
    "day": Day,
    "days": Day,
    "date": Day,
    "hour": Hour,
    "hours": Hour,
    "date_hour": Hour,
    "identity": Identity,
    "void": Void,
}
_DECIMAL_DEFAULT = (10, 0)
_DECIMAL_PRECISION_MAX = 38

Path: TypeAlias = tuple[str, ...]
Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class TransformText:
    """A transform of a named column, as `bucket(16, id)` says it."""

    path: Path
    transform: Transform


@dataclass(frozen=True)
class SortText:
    """One key of an order, as `id DESC NULLS LAST` says it."""

    key: TransformText
    descending: bool
    nulls_first: bool


def parse_columns(text: str) -> tuple[Field, ...]:
    """The columns of `id BIGINT NOT NULL, name STRING`; their ids are 0, to be assigned by whoever makes the table."""
    return _Parser(text, "a list of columns such as 'id BIGINT NOT NULL, name STRING'").whole(_Parser.columns)


def parse_transform(text: str) -> TransformText:
    return _Parser(text, "a partition field such as region, day(ts) or bucket(16, id)").whole(_Parser.transform)


def parse_sort_key(text: str) -> SortText:
    """NULLs come first in ascending order and last in descending order, as in Spark, unless the text says otherwise."""
    return _Parser(text, "a sort key such as id, id DESC or day(ts) NULLS LAST").whole(_Parser.sort_key)


@dataclass
class _Parser:
    """Reads one text from left to right."""

    text: str
    expected: str
    _tokens: list[str] = field(default_factory=list)
    _position: int = 0

    def __post_init__(self) -> None:
        end = 0
        stripped = self.text.rstrip()
        while end < len(stripped):
            found = _TOKEN.match(stripped, end)
            if found is None:
                raise self._wrong(stripped[end:].lstrip()[:1])
            self._tokens.append(found[0].strip())
            end = found.end()

    def whole(self, rule: Callable[["_Parser"], Parsed]) -> Parsed:
        parsed = rule(self)
        if self._position < len(self._tokens):
            raise self._wrong(self._tokens[self._position])
        return parsed

    def columns(self) -> tuple[Field, ...]:
        fields = [self._column()]
        while self._take(","):
            fields.append(self._column())
        return tuple(fields)

    def transform(self) -> TransformText:
        if self._peek(1) != "(":
            return TransformText(self._path(), Identity())
        function = self._next().lower()
        self._expect("(")
        if function in _TIME_TRANSFORMS:
            transform = TransformText(self._path(), _TIME_TRANSFORMS[function]())
        elif function in ("bucket", "truncate"):
            transform = self._numbered(function)
        else:
            raise InvalidRequest(
                f"there is no partition transform {function}; there are identity, bucket(n, column), "
                "truncate(width, column), year, month, day, hour"
            )
        self._expect(")")
        return transform

    def sort_key(self) -> SortText:
        key = self.transform()
        descending = self._take_word("desc")
        if not descending:
            self._take_word("asc")
        nulls_first = not descending
        if self._take_word("nulls"):
            nulls_first = self._take_word("first")
            if not nulls_first and not self._take_word("last"):
                raise self._wrong(self._peek())
        return SortText(key, descending, nulls_first)

    def _numbered(self, function: str) -> TransformText:
        """The number may stand before or after the column."""
        if self._peek().isdecimal():
            number = self._number()
            self._expect(",")
            path = self._path()
        else:
            path = self._path()
            self._expect(",")
            number = self._number()
        if number < 1:
            raise InvalidRequest(f"{self.text!r}: the number of {function} has to be at least 1")
        return TransformText(path, Bucket(number) if function == "bucket" else Truncate(number))

    def _column(self) -> Field:
        name = self._name()
        self._take(":")
        column_type = self._type()
        required = self._take_word("not")
        if required:
            self._expect_word("null")
        doc = self._comment()
        return Field(0, name, column_type, required, doc)

    def _comment(self) -> str | None:
        if not self._take_word("comment"):
            return None
        token = self._next()
        if not token.startswith("'"):
            raise self._wrong(token)
        return token[1:-1].replace("''", "'").replace("\\'", "'")

    def _type(self) -> ColumnType:
        word = self._next().lower()
        match word:
            case "struct":
                return StructType(self._between("<", _Parser.columns))
            case "array" | "list":
                element = self._between("<", _Parser._type)
                return ListType(Field(0, "element", element))
            case "map":
                key, value = self._between("<", _Parser._pair)
                return MapType(Field(0, "key", key, required=True), Field(0, "value", value))
            case "decimal" | "dec" | "numeric":
                return self._decimal()
            case "fixed":
                return FixedType(self._between("(", _Parser._number))
            case "varchar" | "char":
                self._between("(", _Parser._number)
                return Primitive.STRING
            case _ if word in _TYPE_NAMES:
                return _TYPE_NAMES[word]
            case _:
                raise InvalidRequest(
                    f"there is no column type {word}; there are {', '.join(sorted(_TYPE_NAMES))}, decimal(p, s), "
                    "fixed(n), struct<…>, array<…>, map<…>"
                )

    def _decimal(self) -> ColumnType:
        if self._peek() != "(":
            return DecimalType(*_DECIMAL_DEFAULT)
        self._expect("(")
        precision = self._number()
        scale = self._number() if self._take(",") else 0
        self._expect(")")
        if not (0 < precision <= _DECIMAL_PRECISION_MAX and scale <= precision):
            raise InvalidRequest(
                f"decimal({precision}, {scale}) is no type: precisions go up to {_DECIMAL_PRECISION_MAX}, scales up to the "
                "precision"
            )
        return DecimalType(precision, scale)

    def _pair(self) -> tuple[ColumnType, ColumnType]:
        key = self._type()
        self._expect(",")
        return key, self._type()

    def _between(self, opening: str, rule: Callable[["_Parser"], Parsed]) -> Parsed:
        self._expect(opening)
        parsed = rule(self)
        self._expect({"<": ">", "(": ")"}[opening])
        return parsed

    def _path(self) -> Path:
        path = [self._name()]
        while self._take("."):
            path.append(self._name())
        return tuple(path)

    def _name(self) -> str:
        token = self._next()
        if token.startswith("`"):
            return token[1:-1].replace("``", "`")
        if not (token[0].isalnum() or token[0] == "_"):
            raise self._wrong(token)
        return token

    def _number(self) -> int:
        token = self._next()
        if not token.isdecimal():
            raise self._wrong(token)
        return int(token)

    def _peek(self, ahead: int = 0) -> str:
        position = self._position + ahead
        return self._tokens[position] if position < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise self._wrong(token)
        self._position += 1
        return token

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._position += 1
        return True

    def _take_word(self, word: str) -> bool:
        return self._take(self._peek()) if self._peek().lower() == word else False

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._wrong(self._peek())

    def _expect_word(self, word: str) -> None:
        if not self._take_word(word):
            raise self._wrong(self._peek())

    def _wrong(self, token: str) -> InvalidRequest:
        found = f"found {token!r}" if token else "it ends too early"
        return InvalidRequest(f"{self.text!r} is not {self.expected}: {found}")
