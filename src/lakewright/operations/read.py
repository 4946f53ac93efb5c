"""READ: the rows of one version as a lazy DataFrame, from as few files as the condition leaves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakewright.errors import InvalidRequest
from lakewright.model.predicates import EVERY_ROW, Predicate
from lakewright.model.scan import Planned, Scan, TableColumns
from lakewright.model.snapshot import Snapshot
from lakewright.model.types import Field
from lakewright.planning.bind import bind, columns_named
from lakewright.planning.prune import Pruner
from lakewright.planning.subqueries import queries_of_values, with_values
from lakewright.protocols import Engine, TableFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Read:
    """No columns means all of them; `where` is a condition in Spark's SQL."""

    columns: Sequence[str] | None = None
    where: str | None = None


def frame(request: Read, snapshot: Snapshot, table: TableFormat, engine: Engine) -> "DataFrame":
    """Nothing but the table's records is read before the DataFrame is used."""
    settings = engine.settings()
    asked = snapshot.columns_to_ask
    shown = _shown(request.columns, snapshot, settings.case_sensitive)
    predicate: Predicate = EVERY_ROW
    read, where = shown, request.where
    if where is not None:
        where = with_values(where, queries_of_values(where), engine.values_of)
        predicate = bind(where, asked, settings)
        needed = columns_named(where, asked)
        read = tuple(child for child in asked.fields if child in shown or child in needed)
    planned = plan(snapshot, Pruner(predicate, asked, snapshot.specs), table, engine)
    return engine.frame(scan_of(read, planned, snapshot), where, tuple(child.name for child in shown))


def plan(snapshot: Snapshot, pruner: Pruner, table: TableFormat, engine: Engine) -> Planned:
    return engine.plan(snapshot, table.reader(snapshot), pruner)


def scan_of(fields: tuple[Field, ...], planned: Planned, snapshot: Snapshot) -> Scan:
    columns = TableColumns(
        table=snapshot.location,
        fields=fields,
        specs=snapshot.specs,
        known=snapshot.known_columns,
        name_mapping=snapshot.name_mapping,
    )
    return Scan(columns, planned.candidates)


def _shown(names: Sequence[str] | None, snapshot: Snapshot, case_sensitive: bool) -> tuple[Field, ...]:
    """All columns, or those that are named; metadata columns only if they are named."""
    if names is None:
        return snapshot.schema.fields
    if isinstance(names, str):
        raise InvalidRequest(f"columns is a list of names, found the text {names!r}")
    shown = tuple(snapshot.columns_to_ask.resolve((name,), case_sensitive=case_sensitive) for name in names)
    for child in shown:
        if shown.count(child) > 1:
            raise InvalidRequest(f"column {child.name} is asked for twice")
    return shown
