"""Which settings of a SQL session change what an expression means?"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SqlSettings:
    case_sensitive: bool = False
    time_zone: str = "UTC"
