"""Which files and planning tasks may hold rows for which a predicate is TRUE, and in which must all rows be so?

The rule of this file: a one-sided answer errs on its safe side. `may_match` is False only when certain, `must_match` is
True only when certain. Whatever is known of a column, by its bounds or by the partition that the file is in, is first
turned into one `ColumnFacts`; then the predicate is asked about the facts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from math import isnan

from lakewright.model.files import DataFile
from lakewright.model.partitioning import Bucket, PartitionField, PartitionSpec, UnknownTransform, Void, result_type
from lakewright.model.predicates import AllOf, Always, AnyOf, Operator, Predicate, Test, Unjudged, parts_of
from lakewright.model.schema import Schema
from lakewright.model.snapshot import FieldSummary, PlanningTask, Snapshot
from lakewright.model.transforms import apply_transform, preimage
from lakewright.model.types import FLOATING, INTEGRAL, ColumnType, Primitive, Value
from lakewright.model.values import decode_value


class Verdict(Enum):
    """What a file's statistics say about its rows."""

    NO_ROW = "no row can match"
    SOME_ROWS = "some rows may match"
    EVERY_ROW = "every row matches"


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of all values of one column in one place. Bounds hold for values that are neither NULL nor NaN."""

    lower: Value | None = None
    upper: Value | None = None
    may_be_null: bool = True
    may_be_nan: bool = True
    may_be_value: bool = True
    """Whether there may be anything that is neither NULL nor NaN."""
    buckets: tuple[tuple[int, int], ...] = ()
    """Bucket counts with the bucket that all values are in."""


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
        return may_match(self.predicate, facts, self._types)

    def keeps_file(self, file: DataFile) -> bool:
        """False only when no row of the file can match."""
        return self.judge(file) is not Verdict.NO_ROW

    def judge(self, file: DataFile) -> Verdict:
        """Judge a data file by its statistics and its partition."""
        if file.record_count == 0:
            return Verdict.NO_ROW
        facts = {field_id: self._file_facts(file, field_id) for field_id in self._tested_ids}
        if not may_match(self.predicate, facts, self._types):
            return Verdict.NO_ROW
        return Verdict.EVERY_ROW if must_match(self.predicate, facts) else Verdict.SOME_ROWS

    @cached_property
    def _tested_ids(self) -> tuple[int, ...]:
        return tuple(sorted({part.field_id for part in parts_of(self.predicate) if isinstance(part, Test)}))

    @cached_property
    def _types(self) -> Mapping[int, ColumnType]:
        return {field_id: self.schema.by_id[field_id].type for field_id in self._tested_ids}

    def _file_facts(self, file: DataFile, field_id: int) -> ColumnFacts:
        column_type = self.schema.by_id[field_id].type
        facts = facts_from_metrics(file, field_id, column_type)
        spec = self.specs.get(file.partition.spec_id)
        for part, value in zip(spec.fields if spec else (), file.partition.values, strict=False):
            if part.source_id == field_id:
                facts = narrowed(facts, facts_from_partition(part, column_type, value))
        return facts

    def _task_facts(self, spec: PartitionSpec, summaries: tuple[FieldSummary, ...], field_id: int) -> ColumnFacts:
        column_type = self.schema.by_id[field_id].type
        facts = ColumnFacts(may_be_nan=column_type in FLOATING)
        for part, summary in zip(spec.fields, summaries, strict=False):
            if part.source_id == field_id:
                facts = narrowed(facts, facts_from_summary(part, column_type, summary))
        return facts


def facts_from_metrics(file: DataFile, field_id: int, column_type: ColumnType) -> ColumnFacts:
    """What a file's own statistics say; counts that contradict the record count are not believed."""
    metrics = file.metrics
    lower, upper = (
        _known(column_type, bounds.get(field_id)) for bounds in (metrics.lower_bounds, metrics.upper_bounds)
    )
    nulls = metrics.null_counts.get(field_id)
    nans = metrics.nan_counts.get(field_id)
    values = metrics.value_counts.get(field_id)
    all_null = nulls is not None and values is not None and 0 < values <= nulls
    all_nan = nans is not None and nulls is not None and values is not None and 0 < values <= nans + nulls and nans > 0
    floating = column_type in FLOATING
    return ColumnFacts(
        lower,
        upper,
        may_be_null=nulls != 0,
        may_be_nan=floating and nans != 0 and not all_null,
        may_be_value=not all_null and not (floating and all_nan),
    )


def facts_from_partition(part: PartitionField, column_type: ColumnType, value: Value | None) -> ColumnFacts:
    """What the partition of a file says about the source column: a transform gives NULL exactly for NULL."""
    floating = column_type in FLOATING
    match part.transform:
        case Void() | UnknownTransform():
            return ColumnFacts(may_be_nan=floating)
        case _ if value is None:
            return ColumnFacts(may_be_nan=False, may_be_value=False)
        case Bucket(count):
            return ColumnFacts(may_be_null=False, may_be_nan=False, buckets=((count, int(value)),))
        case _ if _is_nan(value):
            return ColumnFacts(may_be_null=False, may_be_value=False)
        case transform:
            lower, upper = preimage(transform, column_type, value)
            return ColumnFacts(lower, upper, may_be_null=False, may_be_nan=False)


def facts_from_summary(part: PartitionField, column_type: ColumnType, summary: FieldSummary) -> ColumnFacts:
    """What the range of partition values in a planning task says about the source column."""
    floating = column_type in FLOATING
    if isinstance(part.transform, Void | UnknownTransform):
        return ColumnFacts(may_be_nan=floating)
    partition_type = result_type(part.transform, column_type)
    lowest, highest = (_known(partition_type, raw) for raw in (summary.lower, summary.upper))
    lower, _ = (None, None) if lowest is None else preimage(part.transform, column_type, lowest)
    of_highest, upper = (None, None) if highest is None else preimage(part.transform, column_type, highest)
    return ColumnFacts(
        lower=None if of_highest is None else lower,  # what came round from the lower end counts among the highest
        upper=upper,
        may_be_null=summary.contains_null,
        may_be_nan=floating and summary.contains_nan is not False,
        buckets=_common_bucket(part, lowest, highest),
    )


def narrowed(left: ColumnFacts, right: ColumnFacts) -> ColumnFacts:
    """Both are true, so what either excludes is excluded."""
    return ColumnFacts(
        lower=_pick(max, left.lower, right.lower),
        upper=_pick(min, left.upper, right.upper),
        may_be_null=left.may_be_null and right.may_be_null,
        may_be_nan=left.may_be_nan and right.may_be_nan,
        may_be_value=left.may_be_value and right.may_be_value,
        buckets=left.buckets + right.buckets,
    )


def may_match(predicate: Predicate, facts: Mapping[int, ColumnFacts], types: Mapping[int, ColumnType]) -> bool:
    """False only when it is certain that the predicate is TRUE of no row."""
    match predicate:
        case Always(truth):
            return truth
        case AllOf(parts):
            return all(may_match(part, facts, types) for part in parts)
        case AnyOf(parts):
            return any(may_match(part, facts, types) for part in parts)
        case Unjudged():
            return True
        case Test() as test:
            return _test_may(test, _comparable(test, facts[test.field_id]), types[test.field_id])


def must_match(predicate: Predicate, facts: Mapping[int, ColumnFacts]) -> bool:
    """True only when it is certain that the predicate is TRUE of every row."""
    match predicate:
        case Always(truth):
            return truth
        case AllOf(parts):
            return all(must_match(part, facts) for part in parts)
        case AnyOf(parts):
            return any(must_match(part, facts) for part in parts)
        case Unjudged():
            return False
        case Test() as test:
            return _test_must(test, _comparable(test, facts[test.field_id]))


def _test_may(test: Test, facts: ColumnFacts, column_type: ColumnType) -> bool:
    operator, values = test.operator, test.values
    match operator:
        case Operator.IS_NULL:
            return facts.may_be_null
        case Operator.IS_NOT_NULL:
            return facts.may_be_value or facts.may_be_nan
        case Operator.IS_NAN:
            return facts.may_be_nan
        case Operator.IS_NOT_NAN:
            return facts.may_be_value or facts.may_be_null
        case Operator.NULL_SAFE_NE if facts.may_be_null:
            return True
        case Operator.EQ | Operator.NULL_SAFE_EQ | Operator.IN:
            return any(_may_equal(facts, value, column_type) for value in values)
        case Operator.NE | Operator.NULL_SAFE_NE | Operator.NOT_IN:
            return _may_differ(facts, values)
        case _:
            return _may_compare(operator, facts, values[0])


def _test_must(test: Test, facts: ColumnFacts) -> bool:
    match test.operator:
        case Operator.IS_NULL:
            return not facts.may_be_value and not facts.may_be_nan
        case Operator.IS_NOT_NULL:
            return not facts.may_be_null
        case Operator.IS_NAN:
            return not facts.may_be_value and not facts.may_be_null
        case Operator.IS_NOT_NAN:
            return not facts.may_be_nan
        case operator:
            return not facts.may_be_null and not facts.may_be_nan and _values_must(operator, test.values, facts)


def _values_must(operator: Operator, values: tuple[Value, ...], facts: ColumnFacts) -> bool:
    """Whether the bounds alone decide, now that no NULL and no NaN is possible."""
    lower, upper = facts.lower, facts.upper
    match operator:
        case Operator.EQ | Operator.NULL_SAFE_EQ | Operator.IN:
            return lower is not None and lower == upper and lower in values
        case Operator.NE | Operator.NULL_SAFE_NE | Operator.NOT_IN:
            return all(_outside(facts, value) for value in values)
        case Operator.STARTS_WITH:
            return _begins(lower, values[0]) and _begins(upper, values[0])
        case Operator.NOT_STARTS_WITH:
            return not _may_begin(facts, values[0])
        case Operator.LT:
            return upper is not None and _below(upper, values[0])
        case Operator.LE:
            return upper is not None and not _below(values[0], upper)
        case Operator.GT:
            return lower is not None and _below(values[0], lower)
        case _:
            return lower is not None and not _below(lower, values[0])


def _may_equal(facts: ColumnFacts, value: Value, column_type: ColumnType) -> bool:
    if _is_nan(value):
        return facts.may_be_nan
    if not facts.may_be_value or _outside(facts, value):
        return False
    return all(_may_fall_into(bucket, count, value, column_type) for count, bucket in facts.buckets)


def _may_fall_into(bucket: int, count: int, value: Value, column_type: ColumnType) -> bool:
    """A number that no integer column can hold falls into no bucket."""
    if column_type in INTEGRAL and not (isinstance(value, int) and -(2**63) <= value < 2**63):
        return False
    return apply_transform(Bucket(count), column_type, value) == bucket


def _may_differ(facts: ColumnFacts, values: tuple[Value, ...]) -> bool:
    """Some value that is none of these: excluded only if all values are one and the same, and that one is listed."""
    if facts.may_be_nan and not any(_is_nan(value) for value in values):
        return True
    only_value = facts.lower if facts.lower is not None and facts.lower == facts.upper else None
    return facts.may_be_value and (only_value is None or only_value not in values)


def _may_compare(operator: Operator, facts: ColumnFacts, value: Value) -> bool:
    """Spark holds NaN greater than every other number."""
    if facts.may_be_nan and operator in (Operator.GT, Operator.GE):
        return True
    if not facts.may_be_value:
        return False
    lower, upper = facts.lower, facts.upper
    match operator:
        case Operator.LT:
            return lower is None or _below(lower, value)
        case Operator.LE:
            return lower is None or not _below(value, lower)
        case Operator.GT:
            return upper is None or _below(value, upper)
        case Operator.GE:
            return upper is None or not _below(upper, value)
        case Operator.STARTS_WITH:
            return _may_begin(facts, value)
        case _:
            return not (_begins(lower, value) and _begins(upper, value))


def _outside(facts: ColumnFacts, value: Value) -> bool:
    under_all = facts.lower is not None and _below(value, facts.lower)
    return under_all or (facts.upper is not None and _below(facts.upper, value))


def _may_begin(facts: ColumnFacts, prefix: Value) -> bool:
    text = str(prefix)
    lower_is_past = isinstance(facts.lower, str) and facts.lower[: len(text)] > text
    upper_is_before = isinstance(facts.upper, str) and facts.upper[: len(text)] < text
    return not (lower_is_past or upper_is_before)


def _begins(bound: Value | None, prefix: Value) -> bool:
    return isinstance(bound, str) and bound.startswith(str(prefix))


def _comparable(test: Test, facts: ColumnFacts) -> ColumnFacts:
    """Bounds as doubles where the comparison is one of doubles: rounding keeps their order."""
    if not test.as_double:
        return facts
    lower, upper = (None if bound is None else float(bound) for bound in (facts.lower, facts.upper))
    return replace(facts, lower=lower, upper=upper, buckets=())


def _below(left: Value, right: Value) -> bool:
    return left < right  # type: ignore[operator]  # -- bounds and literals of one column are of one domain


def _common_bucket(part: PartitionField, lowest: Value | None, highest: Value | None) -> tuple[tuple[int, int], ...]:
    if isinstance(part.transform, Bucket) and lowest is not None and lowest == highest:
        return ((part.transform.count, int(lowest)),)
    return ()


def _known(column_type: ColumnType, raw: bytes | None) -> Value | None:
    """A bound that can be relied on. A NaN says nothing, and writers disagree about the order of uuids."""
    value = None if raw is None or column_type == Primitive.UUID else decode_value(column_type, raw)
    return None if value is None or _is_nan(value) else value


def _pick(choose: Callable[..., Value], left: Value | None, right: Value | None) -> Value | None:
    if left is None or right is None:
        return right if left is None else left
    return choose(left, right)


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and isnan(value)
