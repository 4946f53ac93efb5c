"""What does a table know about one of its files?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lakewright.model.partitioning import PartitionKey


@dataclass(frozen=True)
class FileMetrics:
    """Statistics by field id; what is not there is not known. Bounds are encoded single values and may be truncated.

    Bounds hold for values that are neither NULL nor NaN.
    """

    column_sizes: Mapping[int, int] = field(default_factory=dict)
    value_counts: Mapping[int, int] = field(default_factory=dict)
    null_counts: Mapping[int, int] = field(default_factory=dict)
    nan_counts: Mapping[int, int] = field(default_factory=dict)
    lower_bounds: Mapping[int, bytes] = field(default_factory=dict)
    upper_bounds: Mapping[int, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class DataFile:
    """A file of rows; `location` is the recorded string, which other records of the table repeat exactly."""

    location: str
    partition: PartitionKey
    record_count: int
    size_bytes: int
    metrics: FileMetrics = FileMetrics()
    file_format: str = "parquet"
    split_offsets: tuple[int, ...] = ()
    sort_order_id: int | None = None
    first_row_id: int | None = None
    data_sequence_number: int | None = None


class DeleteKind(Enum):
    """How a delete file says which rows are gone."""

    POSITIONS = "rows of files, by file and position"
    VECTOR = "rows of one file, as a bitmap"
    EQUALITY = "rows that have the values of some columns"


@dataclass(frozen=True)
class DeleteFile:
    """A file, or a piece of one, that takes rows out of data files."""

    location: str
    kind: DeleteKind
    partition: PartitionKey
    record_count: int
    size_bytes: int
    data_sequence_number: int
    file_format: str = "parquet"
    referenced_data_file: str | None = None
    """The one data file that it is about; None when there may be several."""
    content_offset: int = 0
    content_size: int = 0
    """Where a vector lies in its file."""
    equality_ids: tuple[int, ...] = ()
    metrics: FileMetrics = FileMetrics()
    split_offsets: tuple[int, ...] = ()
    sort_order_id: int | None = None
