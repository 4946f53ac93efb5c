"""READ: the rows of one version as a lazy DataFrame, from as few files as the condition leaves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakewright.errors import InvalidRequest
from lakewright.model.files import DataFile
from lakewright.model.partitioning import Identity
from lakewright.model.predicates import EVERY_ROW, Predicate
from lakewright.model.scan import Planned, Scan
from lakewright.model.schema import Schema
from lakewright.model.snapshot import Snapshot
from lakewright.model.types import Field
from lakewright.planning.bind import bind, columns_named
from lakewright.planning.names import names_are_stable
from lakewright.planning.prune import Pruner
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
    shown = _shown(request.columns, snapshot.schema, settings.case_sensitive)
    predicate: Predicate = EVERY_ROW
    read = shown
    if request.where is not None:
        predicate = bind(request.where, snapshot.schema, settings)
        needed = columns_named(request.where, snapshot.schema)
        read = tuple(child for child in snapshot.schema.fields if child in shown or child in needed)
    planned = plan(snapshot, Pruner.of(predicate, snapshot), table, engine)
    scan = Scan(
        table=snapshot.location,
        fields=read,
        files=planned.files,
        specs=snapshot.specs,
        names_are_stable=names_are_stable(read, snapshot.schemas),
        columns_are_in_files=_columns_are_in_files(read, planned.files, snapshot),
    )
    return engine.frame(scan, request.where, tuple(child.name for child in shown))


def plan(snapshot: Snapshot, pruner: Pruner, table: TableFormat, engine: Engine) -> Planned:
    return engine.plan(snapshot.tasks, table.reader(snapshot), pruner)


def _shown(names: Sequence[str] | None, schema: Schema, case_sensitive: bool) -> tuple[Field, ...]:
    if names is None:
        return schema.fields
    if isinstance(names, str):
        raise InvalidRequest(f"columns is a list of names, found the text {names!r}")
    shown = tuple(schema.resolve((name,), case_sensitive=case_sensitive) for name in names)
    for child in shown:
        if shown.count(child) > 1:
            raise InvalidRequest(f"column {child.name} is asked for twice")
    return shown


def _columns_are_in_files(fields: tuple[Field, ...], files: tuple[DataFile, ...], snapshot: Snapshot) -> bool:
    """A column without a default that a file lacks is NULL, unless the file's partition holds its value."""
    schema = Schema(fields)
    if any(child.initial_default is not None for child in schema.by_id.values()):
        return False
    identities = {
        spec_id: [
            part.source_id
            for part in spec.fields
            if isinstance(part.transform, Identity) and part.source_id in schema.by_id
        ]
        for spec_id, spec in snapshot.specs.items()
    }
    return all(
        source_id in file.metrics.value_counts
        for file in files
        for source_id in identities.get(file.partition.spec_id, ())
    )
