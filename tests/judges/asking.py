"""How are judges asked for the rows of a table, and how do rows answer a question about a column?"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyiceberg.expressions import (
    AlwaysTrue,
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotNull,
)
from pyiceberg.table import StaticTable

from tests import canonical
from tests.foreign import arrow_rows

COMPARISONS: Mapping[str, tuple[Callable[[Any, Any], bool], type[BooleanExpression]]] = {
    "=": (operator.eq, EqualTo),
    "<>": (operator.ne, NotEqualTo),
    "<": (operator.lt, LessThan),
    "<=": (operator.le, LessThanOrEqual),
    ">": (operator.gt, GreaterThan),
    ">=": (operator.ge, GreaterThanOrEqual),
}
SQL_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.time64("us"): "TIME",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("us", "UTC"): "TIMESTAMPTZ",
    pa.timestamp("ns"): "TIMESTAMP_NS",
    pa.string(): "VARCHAR",
    pa.uuid(): "UUID",
}


@dataclass(frozen=True)
class Question:
    """A condition on one column; without a value it asks for NULL."""

    column: str
    sign: str
    value: pa.Scalar | None = None

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {'NULL' if self.value is None else self.value}"

    def ids(self, rows: pa.Table, *, nan_is_greatest: bool) -> list[int]:
        """The numbers of the rows for which the answer is yes; NULL is neither equal nor different."""
        values = comparable(rows.column(self.column))
        if self.value is None:
            wanted = [(value is None) == (self.sign == "IS") for value in values]
        else:
            asked = comparable(pa.chunked_array([pa.array([self.value])]))[0]
            compare = COMPARISONS[self.sign][0]
            wanted = [
                value is not None and _holds(compare, value, asked, nan_is_greatest=nan_is_greatest) for value in values
            ]
        return sorted(number for number, is_wanted in zip(rows["id"].to_pylist(), wanted, strict=True) if is_wanted)

    @property
    def sql(self) -> str:
        return f"{quoted(self.column)} {self.sign} {'NULL' if self.value is None else literal(self.value)}"

    @property
    def expression(self) -> BooleanExpression:
        if self.value is None:
            return (IsNull if self.sign == "IS" else NotNull)(self.column)
        return COMPARISONS[self.sign][1](self.column, _plain(self.value))


@dataclass(frozen=True)
class DuckDb:
    """Reads the metadata file by itself; to it NaN is greater than every number."""

    connection: Any
    nan_is_greatest = True

    def rows(self, location: str) -> pa.Table:
        return in_utc(self.connection.execute(f"SELECT * FROM {_scan(location)}").to_arrow_table())

    def answers(self, location: str, questions: Sequence[Question]) -> list[list[int]]:
        """All questions in one statement, each with a scan of its own."""
        scans = (
            f"SELECT {number}, id FROM {_scan(location)} WHERE {question.sql}"
            for number, question in enumerate(questions)
        )
        found: list[list[int]] = [[] for _ in questions]
        for number, row_id in self.connection.execute(" UNION ALL ".join(scans)).fetchall():
            found[number].append(row_id)
        return [sorted(ids) for ids in found]

    def row_ids(self, location: str) -> dict[int, int]:
        """The lineage of each row, by its number."""
        return dict(self.connection.execute(f"SELECT id, _row_id FROM {_scan(location)}").fetchall())


@dataclass(frozen=True)
class PyIceberg:
    """Reads the metadata file by itself; to it NaN is neither less nor greater."""

    nan_is_greatest = False

    def rows(self, location: str, where: BooleanExpression = AlwaysTrue()) -> pa.Table:  # noqa: B008 -- it never changes
        return StaticTable.from_metadata(location).scan(row_filter=where).to_arrow()

    def answers(self, location: str, questions: Sequence[Question]) -> list[list[int]]:
        table = StaticTable.from_metadata(location)
        scans = (table.scan(row_filter=question.expression, selected_fields=("id",)) for question in questions)
        return [sorted(scan.to_arrow()["id"].to_pylist()) for scan in scans]


@dataclass(frozen=True)
class Lakewright:
    """Our own Arrow reader; it is asked for rows only, since conditions are evaluated by Spark."""

    def rows(self, location: str) -> pa.Table:
        return arrow_rows.rows_of(location, moved={})


Judge = DuckDb | PyIceberg
Reader = Judge | Lakewright


def difference(found: pa.Table, expected: pa.Table) -> str:
    """How rows of a judge differ from ours, column order included; empty when they do not."""
    if found.column_names != expected.column_names:
        return f"columns {found.column_names}, expected {expected.column_names}"
    return canonical.difference(canonical.lines(_in_one_spelling(found)), canonical.lines(_in_one_spelling(expected)))


def wrong_answers(judge: Judge, location: str, rows: pa.Table, questions: Sequence[Question]) -> str:
    """A line for each question that the judge answers otherwise than the rows do."""
    answers = judge.answers(location, questions)
    expected = [question.ids(rows, nan_is_greatest=judge.nan_is_greatest) for question in questions]
    return "\n".join(
        f"{question}: found {found}, expected {wanted}"
        for question, found, wanted in zip(questions, answers, expected, strict=True)
        if found != wanted
    )


def questions_about(rows: pa.Table, column: str, signs: Sequence[str] = tuple(COMPARISONS)) -> list[Question]:
    """Each sign with a value of its own from the column, then NULL and not NULL. NaN is asked for by nobody."""
    values = [value for value in rows.column(column).to_pylist() if value is not None and value == value]
    distinct = list(dict.fromkeys(values))
    kind = rows.schema.field(column).type
    asked = [
        Question(column, sign, _scalar(distinct[number % len(distinct)], kind)) for number, sign in enumerate(signs)
    ]
    return [*asked, Question(column, "IS"), Question(column, "IS NOT")]


def comparable(column: pa.ChunkedArray) -> list[Any]:
    """Values in an order that engines agree on: texts by code point, moments as counts."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.int64()).to_pylist()
    return column.to_pylist()


def literal(value: pa.Scalar) -> str:
    """The value as DuckDB spells it."""
    kind = value.type
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return f"from_hex('{value.as_py().hex()}')"
    if pa.types.is_decimal(kind):
        return f"CAST('{value.as_py():f}' AS DECIMAL({kind.precision}, {kind.scale}))"
    text = value.cast(pa.string()).as_py() if kind != pa.uuid() else str(value.as_py())
    return "CAST('" + text.replace("'", "''") + f"' AS {SQL_TYPES[kind]})"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def in_utc(table: pa.Table) -> pa.Table:
    """DuckDB names the zone of moments after the session; the moments are the same in any zone."""
    return table.cast(pa.schema([field.with_type(_type_in_utc(field.type)) for field in table.schema]))


def _type_in_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_type_in_utc(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_type_in_utc(kind.key_type), _type_in_utc(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_type_in_utc(kind.value_type))
    return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz else kind


def _in_one_spelling(table: pa.Table) -> pa.Table:
    """Nanoseconds as counts, since Python's moments end at microseconds."""
    columns = [
        column.cast(pa.int64()) if column.type in (pa.timestamp("ns"), pa.timestamp("ns", "UTC")) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _scan(location: str) -> str:
    """Compressed metadata is not recognised by its name."""
    codec = ", metadata_compression_codec => 'gzip'" if location.endswith(".gz.metadata.json") else ""
    return "iceberg_scan('" + location.replace("'", "''") + f"'{codec})"


def _holds(compare: Callable[[Any, Any], bool], value: Any, asked: Any, *, nan_is_greatest: bool) -> bool:
    if nan_is_greatest and isinstance(value, float) and math.isnan(value):
        return compare(1, 0)
    return compare(value, asked)


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar:
    if kind == pa.uuid():
        return pa.uuid().wrap_array(pa.array([value.bytes], pa.binary(16)))[0]
    return pa.scalar(value, kind)


def _plain(value: pa.Scalar) -> Any:
    """As pyiceberg takes literals: moments as text."""
    kind = value.type
    if pa.types.is_timestamp(kind):
        text = value.cast(pa.string()).as_py().replace(" ", "T")
        return text.replace("Z", "+00:00")
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return value.as_py().isoformat()
    return value.as_py()
