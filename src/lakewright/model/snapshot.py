"""What is a table at one version?"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lakewright.errors import CorruptTable
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.scan import MappedName
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortOrder
from lakewright.model.types import Field


@dataclass(frozen=True)
class FieldSummary:
    """What all partition values of one spec field in one planning task have in common."""

    contains_null: bool
    contains_nan: bool | None
    lower: bytes | None
    upper: bytes | None


@dataclass(frozen=True)
class PlanningTask:
    """A part of a snapshot's list of files that can be read on its own: a manifest, a part of a checkpoint."""

    location: str
    size_bytes: int
    spec_id: int
    summaries: tuple[FieldSummary, ...] | None
    """One for each field of the spec; None when the writer left them out."""


@dataclass(frozen=True)
class HistoryEntry:
    """One version that the table went through, oldest first in a history."""

    version: int
    timestamp_ms: int
    operation: str
    summary: Mapping[str, str]


@dataclass(frozen=True)
class Snapshot:
    """A table at one version; it never changes. `version` is None for a table that nothing was ever written to."""

    version: int | None
    timestamp_ms: int | None
    format_label: str
    location: str
    schema: Schema
    specs: Mapping[int, PartitionSpec]
    default_spec_id: int
    sort_order: SortOrder
    properties: Mapping[str, str]
    tasks: tuple[PlanningTask, ...]
    schemas: tuple[Schema, ...]
    """All schemas the table ever had, oldest first, the snapshot's own included."""
    totals: Mapping[str, int]
    """What the writer of the snapshot counted: `files`, `rows`, `bytes`; a missing one was not counted."""
    delete_tasks: tuple[PlanningTask, ...] = ()
    """Where deletes are listed by themselves; none where they stand beside their files."""
    metadata_columns: tuple[Field, ...] = ()
    """What can be asked of a row beside its values."""
    name_mapping: tuple[MappedName, ...] | None = None

    @cached_property
    def known_columns(self) -> Mapping[int, Field]:
        """Every column that the table has or had, as its newest schema has it."""
        return {**{k: v for schema in self.schemas for k, v in schema.by_id.items()}, **self.schema.by_id}

    @cached_property
    def columns_to_ask(self) -> Schema:
        """The schema, and after it the metadata columns whose names it leaves free."""
        names = {child.name.lower() for child in self.schema.fields}
        free = tuple(child for child in self.metadata_columns if child.name not in names)
        return Schema((*self.schema.fields, *free), self.schema.schema_id, self.schema.identifier_ids)

    @property
    def default_spec(self) -> PartitionSpec:
        return self.spec(self.default_spec_id, "the table's default")

    def spec(self, spec_id: int, where: str) -> PartitionSpec:
        """A spec by its id; `where` names, for the error, what refers to it."""
        if spec_id not in self.specs:
            known = ", ".join(str(known_id) for known_id in sorted(self.specs))
            raise CorruptTable(f"{where} names partition spec {spec_id}, table {self.location} has specs {known}")
        return self.specs[spec_id]
