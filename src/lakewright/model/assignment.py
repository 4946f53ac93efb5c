"""How does each column of a table get its value from incoming rows?"""

from dataclasses import dataclass
from typing import TypeAlias

from lakewright.model.types import Field, Value


@dataclass(frozen=True)
class FromColumn:
    """Taken from an incoming column; `engine_cast` when only Spark's own cast has the right meaning."""

    target: Field
    source_name: str
    engine_cast: bool = False


@dataclass(frozen=True)
class Filled:
    """Not among the incoming columns: every row gets the default, or NULL."""

    target: Field
    value: Value | None


ColumnAssignment: TypeAlias = FromColumn | Filled
