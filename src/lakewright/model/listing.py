"""What does a table say about itself? Rows about its files, versions and refs, as values."""

from dataclasses import dataclass, field

from lakewright.model.types import Field


@dataclass(frozen=True)
class Listing:
    """Columns, and rows with a value for each; structs and lists are tuples, maps are mappings, the rest is as stored."""

    fields: tuple[Field, ...]
    rows: tuple[tuple[object, ...], ...] = field(repr=False)
