"""What does a table know about one of its files?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
