"""How is a table partitioned? Transforms, partition specs, and keys that say under which spec they hold."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from lakewright.model.types import ColumnType, Primitive, Value


@dataclass(frozen=True)
class Identity:
    def __str__(self) -> str:
        return "identity"


@dataclass(frozen=True)
class Bucket:
    count: int

    def __str__(self) -> str:
        return f"bucket[{self.count}]"


@dataclass(frozen=True)
class Truncate:
    width: int

    def __str__(self) -> str:
        return f"truncate[{self.width}]"


@dataclass(frozen=True)
class Year:
    def __str__(self) -> str:
        return "year"


@dataclass(frozen=True)
class Month:
    def __str__(self) -> str:
        return "month"


@dataclass(frozen=True)
class Day:
    def __str__(self) -> str:
        return "day"


@dataclass(frozen=True)
class Hour:
    def __str__(self) -> str:
        return "hour"


@dataclass(frozen=True)
class Void:
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class UnknownTransform:
    """A transform that a newer writer knows: files under it can be read, not written and not judged."""

    text: str

    def __str__(self) -> str:
        return self.text


Transform: TypeAlias = Identity | Bucket | Truncate | Year | Month | Day | Hour | Void | UnknownTransform

TIME_TRANSFORMS = (Year, Month, Day, Hour)


@dataclass(frozen=True)
class PartitionField:
    """One field of a spec: a transform of a source column."""

    source_id: int
    field_id: int
    name: str
    transform: Transform


@dataclass(frozen=True)
class PartitionSpec:
    spec_id: int
    fields: tuple[PartitionField, ...] = ()

    @cached_property
    def is_unpartitioned(self) -> bool:
        """No field, or only void ones: such files are in no partition."""
        return all(isinstance(part.transform, Void) for part in self.fields)


@dataclass(frozen=True)
class PartitionKey:
    """Partition values with the spec that gives them a meaning."""

    spec_id: int
    values: tuple[Value | None, ...] = ()


def result_type(transform: Transform, source: ColumnType) -> ColumnType:
    """The type of a partition value."""
    match transform:
        case Identity() | Truncate() | Void():
            return source
        case Bucket() | Year() | Month() | Hour():
            return Primitive.INT
        case Day():
            return Primitive.DATE
        case UnknownTransform():
            return Primitive.STRING
