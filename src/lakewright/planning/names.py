"""Can the columns of a table be told apart by name in every file that was ever written for it?"""

import re
from collections.abc import Iterable

from lakewright.model.schema import Schema
from lakewright.model.types import ColumnType, Field, children, walk

# Writers spell a column in a file as Avro would: `a b` becomes a_x20b. These names no writer changes.
_SPELLED_ALIKE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def names_are_stable(fields: Iterable[Field], schemas: Iterable[Schema]) -> bool:
    """Whether each of these fields, by its id, had one name and one type through all schemas, and no other had its name.

    The name must also be one that every writer gives the column in a file.

    Only then does reading by name, which is how Spark's reader works, mean the same as reading by id.
    """
    kept = tuple(schemas)
    names: dict[int, set[tuple[str, ...]]] = {}
    ids: dict[tuple[str, ...], set[int]] = {}
    types: dict[int, set[str]] = {}
    for schema in kept:
        for path, child in walk(schema.fields):
            folded = tuple(part.lower() for part in path)
            names.setdefault(child.id, set()).add(path)
            ids.setdefault(folded, set()).add(child.id)
            types.setdefault(child.id, set()).add(_shape(child.type))
    for path, child in walk(tuple(fields)):
        folded = tuple(part.lower() for part in path)
        if names.get(child.id, {path}) != {path} or ids.get(folded, {child.id}) != {child.id}:
            return False
        if not _SPELLED_ALIKE.fullmatch(child.name):
            return False
        if len(types.get(child.id, ())) > 1:
            return False
    return True


def _shape(column_type: ColumnType) -> str:
    """A type without its members, which are compared for themselves."""
    if children(column_type):
        return type(column_type).__name__
    return str(column_type)
