"""Which settings of a SQL session change what an expression means?"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SqlSettings:
    case_sensitive: bool = False
    time_zone: str | None = "UTC"
    """None when it may be another one by the time that a condition is evaluated."""
