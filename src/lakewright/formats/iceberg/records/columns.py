"""How are many Avro records held at once? One column for each field, whoever decoded them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

_WHOLE = frozenset({"int", "long"})
_PACKED = frozenset({"string", "bytes", "fixed", "enum"})


@dataclass(frozen=True)
class Numbers:
    """Integers, floats or booleans; what is not known is NULL."""

    values: NDArray[Any]
    known: Bools

    def to_list(self) -> list[Any]:
        values: list[Any] = self.values.tolist()
        return values if self.known.all() else [v if k else None for v, k in zip(values, self.known, strict=True)]

    def first(self, count: int) -> "Numbers":
        return Numbers(self.values[:count], self.known[:count])

    def take(self, rows: Ints) -> "Numbers":
        return Numbers(self.values[rows], self.known[rows])

    def spread(self, rows: Ints, count: int) -> "Numbers":
        values = np.zeros(count, self.values.dtype)
        values[rows] = self.values
        return Numbers(values, _spread_known(self.known, rows, count))


@dataclass(frozen=True)
class Texts:
    """Texts or bytes, each a piece of the content that all share."""

    content: bytes
    starts: Ints
    lengths: Ints
    known: Bools
    is_text: bool

    def at(self, row: int) -> Any:
        if not self.known[row]:
            return None
        start = int(self.starts[row])
        piece = self.content[start : start + int(self.lengths[row])]
        return piece.decode() if self.is_text else piece

    def to_list(self) -> list[Any]:
        ends = (self.starts.astype(np.int64) + self.lengths).tolist()
        pieces = [self.content[start:end] for start, end in zip(self.starts.tolist(), ends, strict=True)]
        values: list[Any] = [piece.decode() for piece in pieces] if self.is_text else pieces
        return values if self.known.all() else [v if k else None for v, k in zip(values, self.known, strict=True)]

    def first(self, count: int) -> "Texts":
        return Texts(self.content, self.starts[:count], self.lengths[:count], self.known[:count], self.is_text)

    def take(self, rows: Ints) -> "Texts":
        return Texts(self.content, self.starts[rows], self.lengths[rows], self.known[rows], self.is_text)

    def spread(self, rows: Ints, count: int) -> "Texts":
        starts, lengths = np.zeros(count, np.int64), np.zeros(count, np.int64)
        starts[rows], lengths[rows] = self.starts, self.lengths
        return Texts(self.content, starts, lengths, _spread_known(self.known, rows, count), self.is_text)


@dataclass(frozen=True)
class Fields:
    """The columns of a record, by name."""

    columns: Mapping[str, "Column"]

    def first(self, count: int) -> "Fields":
        return Fields({name: column.first(count) for name, column in self.columns.items()})

    def take(self, rows: Ints) -> "Fields":
        return Fields({name: column.take(rows) for name, column in self.columns.items()})

    def spread(self, rows: Ints, count: int) -> "Fields":
        return Fields({name: column.spread(rows, count) for name, column in self.columns.items()})


@dataclass(frozen=True)
class Items:
    """The items of arrays, each with the row that it belongs to; those of one row are in their order."""

    count: int
    rows: Ints
    items: "Column"

    def first(self, count: int) -> "Items":
        return self if count == self.count else self.take(np.arange(count))

    def take(self, rows: Ints) -> "Items":
        places = np.full(self.count, -1, np.int64)
        places[rows] = np.arange(len(rows))
        new_rows = places[self.rows]
        kept = np.flatnonzero(new_rows >= 0)
        return Items(len(rows), new_rows[kept], self.items.take(kept))

    def spread(self, rows: Ints, count: int) -> "Items":
        return Items(count, rows[self.rows], self.items)

    def to_lists(self) -> list[tuple[Any, ...]]:
        lists: list[list[Any]] = [[] for _ in range(self.count)]
        assert isinstance(self.items, Numbers | Texts)
        for row, item in zip(self.rows.tolist(), self.items.to_list(), strict=True):
            lists[row].append(item)
        return [tuple(items) for items in lists]


Column: TypeAlias = Numbers | Texts | Fields | Items


def compact(column: Column) -> Column:
    """The same in as little memory as its numbers allow."""
    match column:
        case Numbers(values, known):
            return Numbers(_narrowed(values), known)
        case Texts(content, starts, lengths, known, is_text):
            return Texts(content, _narrowed(starts), _narrowed(lengths), known, is_text)
        case Fields(columns):
            return Fields({name: compact(member) for name, member in columns.items()})
        case Items(count, rows, items):
            return Items(count, _narrowed(rows), compact(items))


def columns_of(schema: Any, values: Sequence[Any]) -> Column:
    """The column of values that were decoded one by one, by a schema without references to names."""
    node, values = _present(schema), list(values)
    kind = node["type"] if isinstance(node, dict) else node
    if kind == "record":
        return Fields(
            {
                field["name"]: columns_of(
                    field["type"], [None if row is None else row[field["name"]] for row in values]
                )
                for field in node["fields"]
            }
        )
    if kind == "array":
        rows = [row for row, items in enumerate(values) for _ in items or ()]
        flat = [item for items in values for item in items or ()]
        return Items(len(values), np.array(rows, np.int64), columns_of(node["items"], flat))
    known = np.array([value is not None for value in values], np.bool_)
    if kind in _PACKED:
        return _texts(values, known, is_text=kind in ("string", "enum"))
    dtype = np.int64 if kind in _WHOLE else np.bool_ if kind == "boolean" else np.float64
    return Numbers(np.array([0 if value is None else value for value in values], dtype), known)


def joined(columns: Sequence[Column]) -> Column:
    """Columns of one kind, one after the other; texts share their content."""
    first = columns[0]
    if len(columns) == 1:
        return first
    match first:
        case Numbers():
            return Numbers(_glued(c.values for c in columns), _glued(c.known for c in columns))  # type: ignore[union-attr]  # -- of one kind
        case Texts():
            parts = [(c.starts, c.lengths, c.known) for c in columns]  # type: ignore[union-attr]  # -- of one kind
            starts, lengths, known = (_glued(part) for part in zip(*parts, strict=True))
            return Texts(first.content, starts, lengths, known, first.is_text)
        case Fields(members):
            return Fields({name: joined([c.columns[name] for c in columns]) for name in members})  # type: ignore[union-attr]  # -- of one kind
        case Items():
            counts = np.cumsum([0, *(c.count for c in columns)])  # type: ignore[union-attr]  # -- of one kind
            rows = _glued(c.rows + before for c, before in zip(columns, counts, strict=False))  # type: ignore[union-attr]  # -- of one kind
            return Items(int(counts[-1]), rows, joined([c.items for c in columns]))  # type: ignore[union-attr]  # -- of one kind


def _present(schema: Any) -> Any:
    """What an optional holds when it is there."""
    if not isinstance(schema, list):
        return schema
    return next((option for option in schema if option != "null"), "null")


def _texts(values: Sequence[Any], known: Bools, *, is_text: bool) -> Texts:
    pieces = [b"" if value is None else value.encode() if isinstance(value, str) else value for value in values]
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    return Texts(b"".join(pieces), np.cumsum(lengths) - lengths, lengths, known, is_text)


def _narrowed(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype != np.int64 or not len(values):
        return values
    low, high = values.min(), values.max()
    kind = next(
        kind
        for kind in (np.int8, np.int16, np.int32, np.int64)
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max
    )
    return values.astype(kind)


def _spread_known(known: Bools, rows: Ints, count: int) -> Bools:
    everywhere = np.zeros(count, np.bool_)
    everywhere[rows] = known
    return everywhere


def _glued(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(parts))
