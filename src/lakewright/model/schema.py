"""What are the columns of a table, and which of them does a name mean?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from lakewright.errors import InvalidRequest
from lakewright.model.scan import METADATA_IDS
from lakewright.model.types import Field, StructType, children, walk


@dataclass(frozen=True)
class Schema:
    """Columns with ids; two schemas of one table share the ids of the columns that they share."""

    fields: tuple[Field, ...]
    schema_id: int = 0
    identifier_ids: frozenset[int] = frozenset()

    @cached_property
    def by_id(self) -> Mapping[int, Field]:
        """Every field, nested ones included."""
        return {child.id: child for _, child in walk(self.fields)}

    @cached_property
    def paths_by_id(self) -> Mapping[int, tuple[str, ...]]:
        """The way to every field, from the column down."""
        return {child.id: path for path, child in walk(self.fields)}

    @cached_property
    def names_by_id(self) -> Mapping[int, str]:
        """The dotted name of every field, for people."""
        return {field_id: ".".join(path) for field_id, path in self.paths_by_id.items()}

    @cached_property
    def highest_id(self) -> int:
        return max(self.by_id, default=0)

    @cached_property
    def repeated_ids(self) -> frozenset[int]:
        """Fields inside a list or a map: one row may hold many of their values."""
        return frozenset(_repeated(self.fields, within=False))

    def resolve(self, path: tuple[str, ...], *, case_sensitive: bool) -> Field:
        """The field that a name means; refused when there is none or more than one.

        A path is followed from a column into the members of structs.
        """
        found = _followed(self.fields, path, case_sensitive)
        if len(found) == 1:
            return found[0]
        shown = ".".join(path)
        if found:
            names = ", ".join(sorted(self.names_by_id[child.id] for child in found))
            raise InvalidRequest(f"column {shown} is ambiguous: it may mean {names}; write the name in its exact case")
        raise InvalidRequest(f"there is no column {shown}; {nearest(shown, self._struct_names)}")

    @cached_property
    def _struct_names(self) -> tuple[str, ...]:
        """What a request may name; not what is about rows, which nobody means by a slip."""
        named = tuple(child for child in self.fields if child.id not in METADATA_IDS)
        return tuple(".".join(path) for path, child in walk(named) if child.id not in self.repeated_ids)


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that refuses a name: the nearest names that do exist."""
    by_folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    if not by_folded:
        return "there are none"
    close = get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(by_folded[folded] for folded in close) + "?"
    shown = sorted(by_folded.values())
    return "there are " + ", ".join(shown[:10]) + (", …" if len(shown) > 10 else "")


def _followed(fields: tuple[Field, ...], path: tuple[str, ...], case_sensitive: bool) -> list[Field]:
    head, rest = path[0], path[1:]
    found = [child for child in fields if _same_name(child.name, head, case_sensitive)]
    if not rest:
        return found
    return [
        deeper
        for child in found
        if isinstance(child.type, StructType)
        for deeper in _followed(child.type.fields, rest, case_sensitive)
    ]


def _same_name(left: str, right: str, case_sensitive: bool) -> bool:
    return left == right if case_sensitive else left.lower() == right.lower()


def _repeated(fields: tuple[Field, ...], *, within: bool) -> Iterable[int]:
    for child in fields:
        if within:
            yield child.id
        inside = within or not isinstance(child.type, StructType)
        yield from _repeated(children(child.type), within=inside)
