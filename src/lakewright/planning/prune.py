"""Which files and planning tasks may hold rows for which a condition is TRUE, and of which files is every row one?

Whatever is known of a column, from statistics, from partitions or from the summary of a manifest, is turned into
`ColumnFacts` first, for many files at once; then the predicate is asked about the facts.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from math import isnan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakewright.model.columns import FileColumns, Pieces
from lakewright.model.files import DataFile
from lakewright.model.partitioning import Bucket, PartitionField, PartitionSpec, UnknownTransform, Void, result_type
from lakewright.model.predicates import AllOf, Always, AnyOf, Operator, Predicate, Test, Unjudged, parts_of
from lakewright.model.schema import Schema
from lakewright.model.snapshot import FieldSummary, PlanningTask, Snapshot
from lakewright.model.transforms import apply_transform, preimage
from lakewright.model.types import FLOATING, INTEGRAL, TIMESTAMPS, ColumnType, Primitive, Value
from lakewright.model.values import decode_value

Bools: TypeAlias = NDArray[np.bool_]
_FEW = 50
"""So many values are compared one by one, with all files at once."""
Values: TypeAlias = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]
_FIXED_WIDTH: Mapping[ColumnType, Mapping[int, str]] = {
    Primitive.INT: {4: "<i4"},
    Primitive.DATE: {4: "<i4"},
    Primitive.LONG: {4: "<i4", 8: "<i8"},
    Primitive.FLOAT: {4: "<f4"},
    Primitive.DOUBLE: {4: "<f4", 8: "<f8"},
    Primitive.TIME: {8: "<i8"},
    **{timestamp: {8: "<i8"} for timestamp in TIMESTAMPS},
}
"""How bounds lie in their bytes, by their length: a column may have been promoted since."""


class Verdict(Enum):
    """What a file's statistics say about its rows."""

    NO_ROW = "no row can match"
    SOME_ROWS = "some rows may match"
    EVERY_ROW = "every row matches"


@dataclass(frozen=True)
class Bound:
    """A value for each place, where it is known."""

    values: "Values"
    known: Bools

    @classmethod
    def unknown(cls, count: int) -> "Bound":
        return cls(np.zeros(count, np.int64), np.zeros(count, np.bool_))

    @classmethod
    def of(cls, values: Sequence[Value | None]) -> "Bound":
        known = np.array([value is not None for value in values], np.bool_)
        column = np.empty(len(values), object)
        column[:] = [0 if value is None else value for value in values]
        return cls(column, known)

    def below(self, value: Value) -> Bools:
        """Certainly less."""
        return self._compared(np.less, value)

    def above(self, value: Value) -> Bools:
        return self._compared(np.greater, value)

    def equals(self, value: Value) -> Bools:
        return self._compared(np.equal, value)

    def begins(self, prefix: str) -> Bools:
        return self._where(lambda value: isinstance(value, str) and value.startswith(prefix))

    def beginning_below(self, prefix: str) -> Bools:
        return self._where(lambda value: isinstance(value, str) and value[: len(prefix)] < prefix)

    def beginning_above(self, prefix: str) -> Bools:
        return self._where(lambda value: isinstance(value, str) and value[: len(prefix)] > prefix)

    def as_doubles(self) -> "Bound":
        values = np.zeros(len(self.known), np.float64)
        values[self.known] = [float(value) for value in self.values[self.known]]
        return Bound(values, self.known)

    def at(self, rows: NDArray[np.int64]) -> "Bound":
        return Bound(self.values[rows], self.known[rows])

    def tighter(self, other: "Bound", *, upper: bool) -> "Bound":
        """Both hold, so the narrower one does."""
        both = np.flatnonzero(self.known & other.known)
        ours, theirs = self.values[both], other.values[both]
        wins = other.known & ~self.known
        wins[both] = (theirs < ours) if upper else (theirs > ours)
        if not wins.any():
            return self
        values = self.values.astype(object)
        values[wins] = other.values[wins]
        return Bound(values, self.known | other.known)

    def _compared(self, compare: Callable[[Any, Any], Any], value: Value) -> Bools:
        """As Python compares: NumPy's own texts lose zeros at their end, and its integers end at 64 bits."""
        other: Any = np.empty((), object)
        other[()] = value
        answer = np.zeros(len(self.known), np.bool_)
        if isinstance(value, float) or (
            isinstance(value, int) and self.values.dtype == np.int64 and _in_64_bits(value)
        ):
            other = value
        answer[self.known] = compare(self.values[self.known], other)
        return answer

    def _where(self, holds: Callable[[Any], bool]) -> Bools:
        pairs = zip(self.values, self.known, strict=True)
        return np.array([bool(known) and holds(value) for value, known in pairs], np.bool_)


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of all values of one column, in each of some places. Bounds hold for values neither NULL nor NaN."""

    lower: Bound
    upper: Bound
    may_be_null: Bools
    may_be_nan: Bools
    may_be_value: Bools
    """Whether there may be anything that is neither NULL nor NaN."""
    buckets: tuple[tuple[int, Bound], ...] = ()
    """Bucket counts with the bucket that all values are in."""

    @classmethod
    def nothing(cls, count: int, column_type: ColumnType) -> "ColumnFacts":
        anything = np.ones(count, np.bool_)
        may_be_nan = anything if column_type in FLOATING else ~anything
        return cls(Bound.unknown(count), Bound.unknown(count), anything, may_be_nan, anything)


@dataclass(frozen=True)
class Pruner:
    """A predicate made ready to judge the files and planning tasks of one snapshot; a value that can travel to workers."""

    predicate: Predicate
    schema: Schema
    specs: Mapping[int, PartitionSpec]

    @classmethod
    def of(cls, predicate: Predicate, snapshot: Snapshot) -> "Pruner":
        return cls(predicate, snapshot.schema, snapshot.specs)

    def keeps_task(self, task: PlanningTask) -> bool:
        """False only when no file of the task can hold a match."""
        if task.summaries is None or task.spec_id not in self.specs:
            return True
        facts = {
            field_id: self._task_facts(self.specs[task.spec_id], task.summaries, field_id)
            for field_id in self._tested_ids
        }
        return bool(may_match(self.predicate, Places(1, facts, self._types))[0])

    def keeps(self, files: FileColumns) -> Bools:
        """For each file, false only when no row of it can match."""
        has_rows: Bools = files.record_counts > 0
        if self.predicate == Always(True):
            return has_rows
        return has_rows & may_match(self.predicate, self._places(files))

    def judge(self, file: DataFile) -> Verdict:
        """Judge one data file by its statistics and its partition."""
        files = FileColumns.of([file])
        if not self.keeps(files)[0]:
            return Verdict.NO_ROW
        return Verdict.EVERY_ROW if must_match(self.predicate, self._places(files))[0] else Verdict.SOME_ROWS

    @cached_property
    def _tested_ids(self) -> tuple[int, ...]:
        return tuple(sorted({part.field_id for part in parts_of(self.predicate) if isinstance(part, Test)}))

    @cached_property
    def _types(self) -> Mapping[int, ColumnType]:
        return {field_id: self.schema.by_id[field_id].type for field_id in self._tested_ids}

    def _places(self, files: FileColumns) -> "Places":
        return Places(len(files), {each: self._file_facts(files, each) for each in self._tested_ids}, self._types)

    def _file_facts(self, files: FileColumns, field_id: int) -> ColumnFacts:
        column_type = self._types[field_id]
        facts = facts_from_metrics(files, field_id, column_type)
        spec = self.specs.get(files.spec_id)
        for part, values in zip(spec.fields if spec else (), files.partitions, strict=False):
            if part.source_id == field_id:
                facts = narrowed(facts, facts_from_partitions(part, column_type, values))
        return facts

    def _task_facts(self, spec: PartitionSpec, summaries: tuple[FieldSummary, ...], field_id: int) -> ColumnFacts:
        column_type = self._types[field_id]
        facts = ColumnFacts.nothing(1, column_type)
        for part, summary in zip(spec.fields, summaries, strict=False):
            if part.source_id == field_id:
                facts = narrowed(facts, facts_from_summary(part, column_type, summary))
        return facts


@dataclass(frozen=True)
class Places:
    """Some files, or what else holds rows, with what is known of each column there."""

    count: int
    facts: Mapping[int, ColumnFacts]
    types: Mapping[int, ColumnType] = field(default_factory=dict)

    def everywhere(self, truth: bool) -> Bools:
        return np.full(self.count, truth)


def facts_from_metrics(files: FileColumns, field_id: int, column_type: ColumnType) -> ColumnFacts:
    """What files' own statistics say; counts that contradict the record count are not believed."""
    count, metrics = len(files), files.metrics
    lower, upper = (
        known_bound(column_type, bounds.of_field(field_id, count))
        for bounds in (metrics.lower_bounds, metrics.upper_bounds)
    )
    nulls, nans, values = (
        counts.of_field(field_id, count) for counts in (metrics.null_counts, metrics.nan_counts, metrics.value_counts)
    )
    all_null = (nulls >= 0) & (values > 0) & (values <= nulls)
    all_nan = (nans > 0) & (nulls >= 0) & (values > 0) & (values <= nans + nulls)
    floating = column_type in FLOATING
    return ColumnFacts(
        lower,
        upper,
        may_be_null=nulls != 0,
        may_be_nan=(nans != 0) & ~all_null if floating else np.zeros(count, np.bool_),
        may_be_value=~all_null & ~all_nan if floating else ~all_null,
    )


def facts_from_partitions(part: PartitionField, column_type: ColumnType, values: Sequence[Value | None]) -> ColumnFacts:
    """What the partitions of files say about the source column: many files are in one partition."""
    numbers: dict[object, int] = {}
    codes = [numbers.setdefault("NaN" if _is_nan(value) else (type(value), value), len(numbers)) for value in values]
    firsts: dict[int, Value | None] = {}
    for code, value in zip(codes, values, strict=True):
        firsts.setdefault(code, value)
    distinct = _facts_of_values(part, column_type, list(firsts.values()))
    rows = np.array(codes, np.int64)
    return ColumnFacts(
        distinct.lower.at(rows),
        distinct.upper.at(rows),
        distinct.may_be_null[rows],
        distinct.may_be_nan[rows],
        distinct.may_be_value[rows],
        tuple((count, bucket.at(rows)) for count, bucket in distinct.buckets),
    )


def _facts_of_values(part: PartitionField, column_type: ColumnType, values: list[Value | None]) -> ColumnFacts:
    """A transform gives NULL exactly for NULL; NaN is a partition of its own."""
    if isinstance(part.transform, Void | UnknownTransform):
        return ColumnFacts.nothing(len(values), column_type)
    is_null = np.array([value is None for value in values], np.bool_)
    is_nan = np.array([_is_nan(value) for value in values], np.bool_)
    facts = ColumnFacts(
        Bound.unknown(len(values)),
        Bound.unknown(len(values)),
        may_be_null=is_null,
        may_be_nan=is_nan,
        may_be_value=~is_null & ~is_nan,
    )
    if isinstance(part.transform, Bucket):
        return replace(facts, buckets=((part.transform.count, Bound.of(values)),))
    ranges = [
        (None, None) if value is None or _is_nan(value) else preimage(part.transform, column_type, value)
        for value in values
    ]
    return replace(facts, lower=Bound.of([low for low, _ in ranges]), upper=Bound.of([high for _, high in ranges]))


def facts_from_summary(part: PartitionField, column_type: ColumnType, summary: FieldSummary) -> ColumnFacts:
    """What the range of partition values in one planning task says about the source column."""
    facts = ColumnFacts.nothing(1, column_type)
    if isinstance(part.transform, Void | UnknownTransform):
        return facts
    partition_type = result_type(part.transform, column_type)
    lowest, highest = (_known(partition_type, raw) for raw in (summary.lower, summary.upper))
    lower, _ = (None, None) if lowest is None else preimage(part.transform, column_type, lowest)
    of_highest, upper = (None, None) if highest is None else preimage(part.transform, column_type, highest)
    same_bucket = isinstance(part.transform, Bucket) and lowest is not None and lowest == highest
    return replace(
        facts,
        # What came round from the lower end of the numbers is among the highest.
        lower=Bound.of([None if of_highest is None else lower]),
        upper=Bound.of([upper]),
        may_be_null=np.array([summary.contains_null]),
        may_be_nan=facts.may_be_nan & (summary.contains_nan is not False),
        buckets=((part.transform.count, Bound.of([lowest])),)
        if same_bucket and isinstance(part.transform, Bucket)
        else (),
    )


def narrowed(left: ColumnFacts, right: ColumnFacts) -> ColumnFacts:
    """Both are true, so what either excludes is excluded."""
    return ColumnFacts(
        lower=left.lower.tighter(right.lower, upper=False),
        upper=left.upper.tighter(right.upper, upper=True),
        may_be_null=left.may_be_null & right.may_be_null,
        may_be_nan=left.may_be_nan & right.may_be_nan,
        may_be_value=left.may_be_value & right.may_be_value,
        buckets=left.buckets + right.buckets,
    )


def may_match(predicate: Predicate, places: Places) -> Bools:
    """For each place, false only when it is certain that the predicate is TRUE of no row."""
    match predicate:
        case Always(truth):
            return places.everywhere(truth)
        case AllOf(parts):
            return _all_of([may_match(part, places) for part in parts])
        case AnyOf(parts):
            return _any_of([may_match(part, places) for part in parts])
        case Unjudged():
            return places.everywhere(True)
        case Test() as test:
            return _test_may(test, _comparable(test, places.facts[test.field_id]), places.types[test.field_id])


def must_match(predicate: Predicate, places: Places) -> Bools:
    """For each place, true only when it is certain that the predicate is TRUE of every row."""
    match predicate:
        case Always(truth):
            return places.everywhere(truth)
        case AllOf(parts):
            return _all_of([must_match(part, places) for part in parts])
        case AnyOf(parts):
            return _any_of([must_match(part, places) for part in parts])
        case Unjudged():
            return places.everywhere(False)
        case Test() as test:
            return _test_must(test, _comparable(test, places.facts[test.field_id]))


def _test_may(test: Test, facts: ColumnFacts, column_type: ColumnType) -> Bools:
    operator, values = test.operator, test.values
    match operator:
        case Operator.IS_NULL:
            return facts.may_be_null
        case Operator.IS_NOT_NULL:
            return facts.may_be_value | facts.may_be_nan
        case Operator.IS_NAN:
            return facts.may_be_nan
        case Operator.IS_NOT_NAN:
            return facts.may_be_value | facts.may_be_null
        case Operator.NULL_SAFE_NE:
            return facts.may_be_null | _may_differ(facts, values)
        case Operator.IN if len(values) > _FEW:
            return _may_equal_one_of_many(facts, values)
        case Operator.EQ | Operator.NULL_SAFE_EQ | Operator.IN:
            return _any_of([_may_equal(facts, value, column_type) for value in values])
        case Operator.NE | Operator.NOT_IN:
            return _may_differ(facts, values)
        case _:
            return _may_compare(operator, facts, values[0])


def _test_must(test: Test, facts: ColumnFacts) -> Bools:
    match test.operator:
        case Operator.IS_NULL:
            return ~facts.may_be_value & ~facts.may_be_nan
        case Operator.IS_NOT_NULL:
            return ~facts.may_be_null
        case Operator.IS_NAN:
            return ~facts.may_be_value & ~facts.may_be_null
        case Operator.IS_NOT_NAN:
            return ~facts.may_be_nan
        case _ if any(_is_nan(value) for value in test.values):
            return np.zeros(len(facts.may_be_null), np.bool_)
        case operator:
            return ~facts.may_be_null & ~facts.may_be_nan & _values_must(operator, test.values, facts)


def _values_must(operator: Operator, values: tuple[Value, ...], facts: ColumnFacts) -> Bools:
    """Whether the bounds alone decide, now that no NULL and no NaN is possible."""
    lower, upper = facts.lower, facts.upper
    match operator:
        case Operator.EQ | Operator.NULL_SAFE_EQ | Operator.IN:
            return _any_of([lower.equals(value) & upper.equals(value) for value in values])
        case Operator.NE | Operator.NULL_SAFE_NE | Operator.NOT_IN:
            return _all_of([_outside(facts, value) for value in values])
        case Operator.STARTS_WITH:
            return lower.begins(str(values[0])) & upper.begins(str(values[0]))
        case Operator.NOT_STARTS_WITH:
            return ~_may_begin(facts, str(values[0]))
        case Operator.LT:
            return upper.below(values[0])
        case Operator.LE:
            return upper.known & ~upper.above(values[0])
        case Operator.GT:
            return lower.above(values[0])
        case _:
            return lower.known & ~lower.below(values[0])


def _may_equal(facts: ColumnFacts, value: Value, column_type: ColumnType) -> Bools:
    if _is_nan(value):
        return facts.may_be_nan
    possible = facts.may_be_value & ~_outside(facts, value)
    for count, bucket in facts.buckets:
        possible = possible & (~bucket.known | _falls_into(bucket, count, value, column_type))
    return possible


def _may_equal_one_of_many(facts: ColumnFacts, values: tuple[Value, ...]) -> Bools:
    """Whether one of them lies between the bounds; hashing all of them for buckets would cost more than it saves."""
    ordered: list[Any] = sorted(value for value in values if not _is_nan(value))
    answer = np.zeros(len(facts.may_be_null), np.bool_)
    for row in np.flatnonzero(facts.may_be_value).tolist():
        first = bisect_left(ordered, facts.lower.values[row]) if facts.lower.known[row] else 0
        answer[row] = first < len(ordered) and not (facts.upper.known[row] and facts.upper.values[row] < ordered[first])
    return answer | facts.may_be_nan if len(ordered) < len(values) else answer


def _falls_into(bucket: Bound, count: int, value: Value, column_type: ColumnType) -> Bools:
    """A number that no integer column can hold falls into no bucket."""
    if column_type in INTEGRAL and not (isinstance(value, int) and _in_64_bits(value)):
        return np.zeros(len(bucket.known), np.bool_)
    hashed = apply_transform(Bucket(count), column_type, value)
    assert hashed is not None
    return bucket.equals(hashed)


def _may_differ(facts: ColumnFacts, values: tuple[Value, ...]) -> Bools:
    """Some value that is none of these: excluded only if all values are one and the same, and that one is listed."""
    only_listed = _any_of([facts.lower.equals(value) & facts.upper.equals(value) for value in values])
    differs: Bools = facts.may_be_value & ~only_listed
    return differs if any(_is_nan(value) for value in values) else differs | facts.may_be_nan


def _may_compare(operator: Operator, facts: ColumnFacts, value: Value) -> Bools:
    """Spark holds NaN greater than every other number."""
    lower, upper = facts.lower, facts.upper
    if _is_nan(value):
        return facts.may_be_value | facts.may_be_nan
    match operator:
        case Operator.LT:
            return facts.may_be_value & (~lower.known | lower.below(value))
        case Operator.LE:
            return facts.may_be_value & ~lower.above(value)
        case Operator.GT:
            return facts.may_be_nan | facts.may_be_value & (~upper.known | upper.above(value))
        case Operator.GE:
            return facts.may_be_nan | facts.may_be_value & ~upper.below(value)
        case Operator.STARTS_WITH:
            return facts.may_be_value & _may_begin(facts, str(value))
        case _:
            return facts.may_be_value & ~(lower.begins(str(value)) & upper.begins(str(value)))


def _outside(facts: ColumnFacts, value: Value) -> Bools:
    return facts.lower.above(value) | facts.upper.below(value)


def _may_begin(facts: ColumnFacts, prefix: str) -> Bools:
    return ~(facts.lower.beginning_above(prefix) | facts.upper.beginning_below(prefix))


def _comparable(test: Test, facts: ColumnFacts) -> ColumnFacts:
    """Bounds as doubles where the comparison is one of doubles: rounding keeps their order."""
    if not test.as_double:
        return facts
    return replace(facts, lower=facts.lower.as_doubles(), upper=facts.upper.as_doubles(), buckets=())


def known_bound(column_type: ColumnType, pieces: Pieces) -> Bound:
    """Bounds that can be relied on. A NaN says nothing, and writers disagree about the order of uuids."""
    if column_type == Primitive.UUID or not pieces.known.any():
        return Bound.unknown(len(pieces.lengths))
    layouts = _FIXED_WIDTH.get(column_type, {})
    lengths = set(np.unique(pieces.lengths[pieces.known]).tolist())
    if len(lengths) != 1 or not lengths <= set(layouts):
        return Bound.of([_known(column_type, pieces.at(row)) for row in range(len(pieces.lengths))])
    size = lengths.pop()
    content = np.frombuffer(pieces.content, np.uint8)
    starts = pieces.starts[pieces.known]
    found = content[starts[:, None] + np.arange(size)].view(layouts[size]).ravel()
    if column_type in FLOATING:
        doubles = np.zeros(len(pieces.lengths), np.float64)
        doubles[pieces.known] = found
        return Bound(doubles, pieces.known & ~np.isnan(doubles))
    numbers = np.zeros(len(pieces.lengths), np.int64)
    numbers[pieces.known] = found
    return Bound(numbers, pieces.known)


def _all_of(parts: Sequence[Bools]) -> Bools:
    answer: Bools = np.logical_and.reduce(parts)
    return answer


def _any_of(parts: Sequence[Bools]) -> Bools:
    answer: Bools = np.logical_or.reduce(parts)
    return answer


def _in_64_bits(number: int) -> bool:
    return -(1 << 63) <= number < 1 << 63


def _known(column_type: ColumnType, raw: bytes | None) -> Value | None:
    value = None if raw is None or column_type == Primitive.UUID else decode_value(column_type, raw)
    return None if value is None or _is_nan(value) else value


def _is_nan(value: Value | None) -> bool:
    return isinstance(value, float) and isnan(value)
