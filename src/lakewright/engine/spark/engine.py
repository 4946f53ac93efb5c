"""The engine that users have: Spark for what is large or needs SQL, this machine's own threads for what is small."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakewright.engine.arrow.deletes import KnownMarks
from lakewright.engine.arrow.footers import Footers
from lakewright.engine.arrow.listings import listing_table, mark_fields
from lakewright.engine.arrow.local import discard_files, plan_on_threads, write_on_threads
from lakewright.engine.arrow.show import shown_batch
from lakewright.engine.arrow.types import columns_of_schema
from lakewright.engine.spark import casts, frames, types, writes
from lakewright.engine.spark.plans import plan_on_workers
from lakewright.engine.spark.session import Session
from lakewright.engine.spark.values import literals_of
from lakewright.errors import InvalidRequest
from lakewright.model.assignment import ColumnAssignment, FromColumn
from lakewright.model.files import DataFile, DeleteFile
from lakewright.model.layout import WriteLayout
from lakewright.model.listing import Listing
from lakewright.model.scan import Planned, Scan, TableColumns
from lakewright.model.session import SqlSettings
from lakewright.model.snapshot import Snapshot
from lakewright.model.types import StructType
from lakewright.protocols import Clock, FilePruner, ObjectStore, TaskReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakewright.protocols import Rows

_TASKS_MIN = 2
_WORKER_TASKS_MIN, _WORKER_BYTES_MIN = 16, 64 << 20


@dataclass(frozen=True)
class SparkEngine:
    """Nothing here starts Spark but what needs it."""

    session: Session
    store: ObjectStore
    clock: Clock
    _footers: Footers = field(init=False, repr=False, compare=False)
    _marks: KnownMarks = field(default_factory=KnownMarks, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_footers", Footers(self.store))

    def reaching(self, store: ObjectStore) -> "SparkEngine":
        return self if store == self.store else replace(self, store=store)

    def settings(self) -> SqlSettings:
        return self.session.settings()

    def is_case_sensitive(self) -> bool:
        return self.session.is_started and self.session.settings().case_sensitive

    def plan(self, snapshot: Snapshot, reader: TaskReader, pruner: FilePruner) -> Planned:
        """On this machine, unless there is a cluster and enough to read for its tasks to be worth their price."""
        tasks = [task for task in (*snapshot.tasks, *snapshot.delete_tasks) if pruner.keeps_task(task)]
        is_large = len(tasks) >= _WORKER_TASKS_MIN and sum(task.size_bytes for task in tasks) >= _WORKER_BYTES_MIN
        if is_large and self.session.is_on_cluster:
            return plan_on_workers(self.session.spark_with_workers, snapshot, reader, pruner, self.store)
        return plan_on_threads(snapshot, reader, pruner, self.store)

    def values_of(self, query: str) -> str | None:
        return literals_of(self.session.spark, query)

    def columns_of(self, rows: "Rows") -> StructType:
        table = arrow_rows(rows)
        return types.columns_of_schema(_frame(rows).schema) if table is None else columns_of_schema(table.schema)

    def write(self, rows: "Rows", columns: tuple[ColumnAssignment, ...], layout: WriteLayout) -> tuple[DataFile, ...]:
        """Rows that are in this process already are written by it, once Spark has cast what only Spark casts rightly."""
        table = arrow_rows(rows)
        if table is None:
            spark = self.session.spark_with_workers
            return writes.write_frame(spark, _frame(rows), columns, layout, self.store, self.clock)
        if any(isinstance(column, FromColumn) and column.engine_cast for column in columns):
            table, columns = casts.cast_by_spark(self.session.spark, table, columns)
        return write_on_threads(table, columns, layout, self.store)

    def frame(self, scan: Scan, where: str | None, columns: tuple[str, ...]) -> "DataFrame":
        frame = self._frame_of_files(scan)
        if where is not None:
            frame = frame.where(where)
        if columns == tuple(child.name for child in scan.columns.fields):
            return frame
        return frame.select(*(frames.quoted(name) for name in columns))

    def listed(self, listing: Listing) -> "DataFrame":
        rows = listing_table(listing)
        shown = [shown_batch(batch, listing.fields) for batch in rows.to_batches()]
        schema = types.spark_schema(listing.fields)
        if not shown:
            return self.session.spark.createDataFrame([], schema)
        return self.session.spark.createDataFrame(pa.Table.from_batches(shown), schema)

    def marked(self, deletes: tuple[DeleteFile, ...], columns: TableColumns) -> "DataFrame":
        if not deletes:
            return self.session.spark.createDataFrame([], types.spark_schema(mark_fields(columns)))
        return frames.marks_frame(self.session.spark_with_workers, deletes, columns, self.store)

    def discard(self, locations: Iterable[str]) -> None:
        discard_files(locations, self.store)

    def _frame_of_files(self, scan: Scan) -> "DataFrame":
        if not scan.candidates:
            return self.session.spark.createDataFrame([], types.spark_schema(scan.columns.fields))
        if frames.is_native_safe(scan, self.store, self._footers):
            return frames.native_frame(self.session.spark, scan, self.store, self._marks)
        return frames.arrow_frame(self.session.spark_with_workers, scan, self.store, _TASKS_MIN)


def arrow_rows(rows: object) -> pa.Table | None:
    """Incoming rows as an Arrow table, if they are in this process; None for a DataFrame of Spark."""
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    kind = type(rows)
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame":
        return _pandas_rows(rows)
    if hasattr(rows, "mapInArrow"):
        return None
    raise InvalidRequest(
        f"rows are a Spark DataFrame, an Arrow table or a pandas DataFrame, found {kind.__module__}.{kind.__qualname__}"
    )


def _pandas_rows(rows: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(rows, preserve_index=False)
    except pa.ArrowException as error:
        told = ": ".join(str(part) for part in reversed(error.args))
        raise InvalidRequest(f"the pandas DataFrame does not become an Arrow table. {told}") from error


def _frame(rows: Any) -> Any:
    return rows
