"""What is to be read? A projection of a snapshot's files, decided before any row is touched."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakewright.model.files import DataFile
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.types import Field


@dataclass(frozen=True)
class Planned:
    """The files that a predicate leaves, and what planning passed over."""

    files: tuple[DataFile, ...]
    tasks_total: int = 0
    tasks_read: int = 0
    files_seen: int = 0


@dataclass(frozen=True)
class Scan:
    """Columns of files, and what has to be known to choose a way of reading them."""

    table: str
    fields: tuple[Field, ...]
    """The wanted columns, and those that a condition on the rows needs."""
    files: tuple[DataFile, ...]
    specs: Mapping[int, PartitionSpec]
    names_are_stable: bool
    """Whether each column, by its id, had one name and type through the whole history, and no other had that name."""
    columns_are_in_files: bool
    """Whether a column that a file lacks is NULL there, rather than a default or a partition value."""
