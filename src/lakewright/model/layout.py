"""How are new data files to be written? What a table declares, as values that travel to the workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lakewright.model.partitioning import PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortOrder


class Distribution(Enum):
    """How rows travel before they are written."""

    NONE = "none"
    HASH = "hash"
    RANGE = "range"


class MetricsKind(Enum):
    NONE = "none"
    COUNTS = "counts"
    TRUNCATED = "truncate"
    FULL = "full"


@dataclass(frozen=True)
class MetricsMode:
    """How much is recorded of a column; texts and bytes are cut to a width where it says so."""

    kind: MetricsKind
    width: int = 0


@dataclass(frozen=True)
class ParquetOptions:
    compression: str = "zstd"
    compression_level: int | None = None
    row_group_bytes: int = 128 << 20
    page_bytes: int = 1 << 20
    page_rows: int = 20_000
    dictionary_bytes: int = 2 << 20


@dataclass(frozen=True)
class DataLocation:
    """Where data files go; `hashed` spreads them over prefixes, as object stores like it."""

    root: str
    hashed: bool = False
    partition_folders: bool = True


@dataclass(frozen=True)
class WriteLayout:
    """All that a task needs to know to write data files of one table."""

    schema: Schema
    spec: PartitionSpec
    sort_order: SortOrder
    location: DataLocation
    write_id: str
    """Part of every file name of this write, so that an abandoned write can be found and removed."""
    target_file_bytes: int = 512 << 20
    parquet: ParquetOptions = ParquetOptions()
    distribution: Distribution = Distribution.NONE
    metrics: Mapping[int, MetricsMode] = field(default_factory=dict)
    ignored_properties: tuple[str, ...] = ()
    """Declared by the table, not honoured by this writer."""
