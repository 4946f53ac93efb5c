"""What is a table to look like when it is made?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakewright.model.partitioning import PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortOrder


@dataclass(frozen=True)
class NewTable:
    """Ids are already assigned."""

    schema: Schema
    spec: PartitionSpec
    sort_order: SortOrder
    format_version: int
    properties: Mapping[str, str] = field(default_factory=dict)
    location: str | None = None
