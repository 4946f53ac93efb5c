"""What can be said of a data file that was just written? Counts and bounds, mostly from the footer that Arrow made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakewright.model.files import FileMetrics
from lakewright.model.layout import MetricsKind, MetricsMode
from lakewright.model.transforms import next_bytes, next_text
from lakewright.model.types import (
    FLOATING,
    ColumnType,
    DecimalType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
)
from lakewright.model.values import encode_value, signed_bytes

_TRUNCATED = MetricsMode(MetricsKind.TRUNCATED, 16)


@dataclass(frozen=True)
class Leaf:
    """A column as Parquet sees it: the primitives, in the order in which they lie in the file."""

    field: Field
    path: tuple[int, ...]
    """Positions from the top-level column down through structs."""
    name: str
    """The dotted path that Parquet gives it."""
    repeated: bool


@dataclass
class FloatFacts:
    """What is counted of a floating column while it is written: footers know nothing of NaN."""

    nulls: int = 0
    nans: int = 0
    lower: float | None = None
    upper: float | None = None

    def add(self, values: pa.ChunkedArray) -> None:
        self.nulls += values.null_count
        is_nan = pc.is_nan(values)
        nans = pc.sum(is_nan).as_py() or 0
        self.nans += nans
        known = values.filter(pc.invert(is_nan)) if nans else values
        bounds = pc.min_max(known).as_py()
        if bounds["min"] is not None:
            self.lower = bounds["min"] if self.lower is None else min(self.lower, bounds["min"])
            self.upper = bounds["max"] if self.upper is None else max(self.upper, bounds["max"])


@dataclass
class Measures:
    """Collects what the footer does not tell, by field id."""

    leaves: tuple[Leaf, ...]
    floats: dict[int, FloatFacts] = field(default_factory=dict)

    def add(self, rows: pa.Table) -> None:
        for leaf in self.leaves:
            if leaf.field.type in FLOATING and not leaf.repeated:
                self.floats.setdefault(leaf.field.id, FloatFacts()).add(leaf_column(rows, leaf))


def leaves_of(fields: tuple[Field, ...]) -> tuple[Leaf, ...]:
    return tuple(leaf for index, child in enumerate(fields) for leaf in _leaves(child, (index,), child.name, False))


def leaf_column(rows: pa.Table, leaf: Leaf) -> pa.ChunkedArray:
    column = rows.column(leaf.path[0])
    for position in leaf.path[1:]:
        column = pc.struct_field(column, [position])
    return column


def metrics_of(footer: pq.FileMetaData, measures: Measures, modes: Mapping[int, MetricsMode]) -> FileMetrics:
    """Bounds hold for the file as a whole; a column with a row group that has none has none."""
    sizes: dict[int, int] = {}
    counts: dict[int, int] = {}
    nulls: dict[int, int] = {}
    nans: dict[int, int] = {}
    lower: dict[int, bytes] = {}
    upper: dict[int, bytes] = {}
    for index, leaf in enumerate(measures.leaves):
        field_id, mode = leaf.field.id, modes.get(leaf.field.id, _TRUNCATED)
        chunks = [footer.row_group(group).column(index) for group in range(footer.num_row_groups)]
        if mode.kind is MetricsKind.NONE:
            continue
        sizes[field_id] = sum(chunk.total_compressed_size for chunk in chunks)
        if leaf.repeated:
            continue
        counts[field_id] = footer.num_rows
        if field_id in measures.floats:
            facts = measures.floats[field_id]
            nulls[field_id], nans[field_id] = facts.nulls, facts.nans
            bounds = _float_bounds(facts, leaf.field.type)
        else:
            found = [chunk.statistics for chunk in chunks]
            if all(statistics is not None and statistics.has_null_count for statistics in found):
                nulls[field_id] = sum(statistics.null_count for statistics in found)
            bounds = _bounds(found, leaf.field.type, mode)
        if mode.kind is not MetricsKind.COUNTS:
            if bounds[0] is not None:
                lower[field_id] = bounds[0]
            if bounds[1] is not None:
                upper[field_id] = bounds[1]
    return FileMetrics(sizes, counts, nulls, nans, lower, upper)


def split_offsets_of(footer: pq.FileMetaData) -> tuple[int, ...]:
    """Where each row group begins."""
    offsets = []
    for group in range(footer.num_row_groups):
        chunk = footer.row_group(group).column(0)
        starts = [chunk.dictionary_page_offset, chunk.data_page_offset]
        offsets.append(min(start for start in starts if start is not None))
    return tuple(offsets)


def _leaves(child: Field, path: tuple[int, ...], name: str, repeated: bool) -> Iterator[Leaf]:
    match child.type:
        case StructType(fields):
            for index, member in enumerate(fields):
                yield from _leaves(member, (*path, index), f"{name}.{member.name}", repeated)
        case ListType(element):
            yield from _leaves(element, path, f"{name}.list.element", True)
        case MapType(key, value):
            yield from _leaves(key, path, f"{name}.key_value.key", True)
            yield from _leaves(value, path, f"{name}.key_value.value", True)
        case _:
            yield Leaf(child, path, name, repeated)


def _float_bounds(facts: FloatFacts, column_type: ColumnType) -> tuple[bytes | None, bytes | None]:
    """Zeros have no sign in comparisons, so a lower bound takes the negative one and an upper bound the positive."""
    if facts.lower is None or facts.upper is None or isnan(facts.lower) or isnan(facts.upper):
        return None, None
    lower = -0.0 if facts.lower == 0 else facts.lower
    upper = 0.0 if facts.upper == 0 else facts.upper
    return encode_value(column_type, lower), encode_value(column_type, upper)


def _bounds(found: list[Any], column_type: ColumnType, mode: MetricsMode) -> tuple[bytes | None, bytes | None]:
    """uuids have none: engines disagree about their order."""
    with_values = [statistics for statistics in found if statistics is None or statistics.num_values > 0]
    if not with_values or column_type == Primitive.UUID:
        return None, None
    if any(statistics is None or not statistics.has_min_max for statistics in with_values):
        return None, None
    lower = min(_comparable(statistics.min_raw, column_type) for statistics in with_values)
    upper = max(_comparable(statistics.max_raw, column_type) for statistics in with_values)
    return _encoded(lower, column_type, mode, is_upper=False), _encoded(upper, column_type, mode, is_upper=True)


def _comparable(raw: Any, column_type: ColumnType) -> Any:
    """A footer's value in the domain in which it is ordered."""
    if isinstance(column_type, DecimalType) and isinstance(raw, bytes):
        return int.from_bytes(raw, "big", signed=True)
    if column_type == Primitive.STRING:
        return raw.decode() if isinstance(raw, bytes) else raw
    return raw


def _encoded(value: Any, column_type: ColumnType, mode: MetricsMode, *, is_upper: bool) -> bytes | None:
    if isinstance(column_type, DecimalType):
        return signed_bytes(value)
    cut = mode.kind is MetricsKind.TRUNCATED and isinstance(value, str | bytes) and len(value) > mode.width
    if cut and not isinstance(column_type, FixedType):
        value = _cut(value, mode.width, is_upper)
    return None if value is None else encode_value(column_type, value)


def _cut(value: str | bytes, width: int, is_upper: bool) -> str | bytes | None:
    """A prefix is below every longer value; as an upper bound it has to be raised."""
    if not is_upper:
        return value[:width]
    return next_text(value[:width]) if isinstance(value, str) else next_bytes(value[:width])
