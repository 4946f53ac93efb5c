"""Which names does a table have for its versions? Branches, which move on with what is written to them, and tags."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lakewright.errors import InvalidRequest
from lakewright.model.schema import nearest

MAIN = "main"
"""The branch that a table means when no other is asked for."""


class RefKind(StrEnum):
    BRANCH = "branch"
    TAG = "tag"


@dataclass(frozen=True)
class Retention:
    """How long a ref, and for a branch the versions behind it, are kept; None is as the table's properties have it."""

    max_ref_age_ms: int | None = None
    max_snapshot_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None


AS_PROPERTIES_SAY = Retention()


@dataclass(frozen=True)
class Ref:
    """A name for a version: a branch can be written to and moves on by that, a tag stays."""

    name: str
    kind: RefKind
    version: int
    retention: Retention = AS_PROPERTIES_SAY

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def named(refs: Iterable[Ref], name: str) -> Ref | None:
    return next((ref for ref in refs if ref.name == name), None)


def existing_ref(refs: Iterable[Ref], name: str, table: str) -> Ref:
    """The ref of a name; refused with the nearest names when there is none."""
    known = tuple(refs)
    found = named(known, name)
    if found is None:
        names = [ref.name for ref in known]
        raise InvalidRequest(f"table {table} has no branch or tag {name}; {nearest(name, names)}")
    return found
