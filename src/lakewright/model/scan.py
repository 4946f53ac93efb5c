"""What is to be read? A projection of a snapshot's files, decided before any row is touched."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakewright.model.files import DataFile, DeleteFile
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.types import Field


@dataclass(frozen=True)
class Candidate:
    """A file that may hold matching rows, and the deletes that take rows out of it."""

    file: DataFile
    deletes: tuple[DeleteFile, ...] = ()


@dataclass(frozen=True)
class Planned:
    """The files that a predicate leaves, and what planning passed over."""

    candidates: tuple[Candidate, ...]
    tasks_total: int = 0
    tasks_read: int = 0
    files_seen: int = 0


@dataclass(frozen=True)
class MappedName:
    """Which column a file without ids means by a name; a column may have had several names."""

    names: frozenset[str]
    field_id: int | None
    members: tuple["MappedName", ...] = ()


@dataclass(frozen=True)
class TableColumns:
    """What is to be known of a table to read columns of its files; a value that workers are sent."""

    table: str
    fields: tuple[Field, ...]
    """The wanted columns, those that a condition on the rows needs among them."""
    specs: Mapping[int, PartitionSpec]
    known: Mapping[int, Field]
    """Every column that the table has or had: deletes may speak of one that is gone."""
    name_mapping: tuple[MappedName, ...] | None = None


@dataclass(frozen=True)
class Scan:
    """Columns of files that may matter."""

    columns: TableColumns
    candidates: tuple[Candidate, ...]


FILE_ID = 2147483646
POSITION_ID = 2147483645
SPEC_ID_ID = 2147483643
PARTITION_ID = 2147483642
ROW_ID_ID = 2147483540
LAST_UPDATED_ID = 2147483539
METADATA_IDS = frozenset({FILE_ID, POSITION_ID, SPEC_ID_ID, PARTITION_ID, ROW_ID_ID, LAST_UPDATED_ID})
"""Columns that are about a row, and not among its values; the ids are the ones that Iceberg reserves for them."""
