"""INSPECT: what a table's own records say of one version, as DataFrames; no data file is read."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakewright.model.changes import Head
from lakewright.model.scan import PARTITION_ID, Planned
from lakewright.model.snapshot import Snapshot
from lakewright.operations.read import scan_of
from lakewright.protocols import Engine, TableFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_POSITION_DELETES = "position_deletes"


@dataclass(frozen=True)
class Inspect:
    """The name of a metadata table."""

    what: str


def frame(request: Inspect, head: Head, snapshot: Snapshot, table: TableFormat, engine: Engine) -> "DataFrame":
    """Listed now, on this machine; but for the rows that delete files mark, which are read when they are used."""
    if request.what != _POSITION_DELETES:
        return engine.listed(table.listing(head, snapshot, request.what))
    reader, store = table.reader(snapshot), table.store(head)
    deletes = tuple(delete for task in snapshot.delete_tasks for delete in reader.deletes(task, store))
    partition = tuple(child for child in snapshot.metadata_columns if child.id == PARTITION_ID)
    return engine.marked(deletes, scan_of(partition, Planned(()), snapshot).columns)
