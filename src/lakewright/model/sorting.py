"""In which order do writers put the rows of a file?"""

from dataclasses import dataclass

from lakewright.model.partitioning import Transform


@dataclass(frozen=True)
class SortField:
    source_id: int
    transform: Transform
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class SortOrder:
    """Order 0 is no order."""

    order_id: int = 0
    fields: tuple[SortField, ...] = ()
