"""How do the rows of a DataFrame become data files? Spark computes and distributes them, its Python workers write."""

import pickle
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext, inheritable_thread_target
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

from lakewright import errors
from lakewright.engine.arrow.conform import conform_table
from lakewright.engine.arrow.write import PartitionedWriter
from lakewright.engine.spark.frames import quoted
from lakewright.engine.spark.types import spark_type
from lakewright.model.assignment import ColumnAssignment, Filled, FromColumn
from lakewright.model.files import DataFile
from lakewright.model.layout import Distribution, WriteLayout
from lakewright.model.partitioning import Bucket, Day, Hour, Identity, Month, PartitionField, Truncate, Void, Year
from lakewright.model.sorting import SortField
from lakewright.model.types import Primitive
from lakewright.protocols import Clock, ObjectStore

_BATCH_ROWS = 100_000
_BATCH_BYTES = 64 << 20
_OUR_ERROR = re.compile(r"lakewright\.errors\.(\w+): (.*)")
_SWEEPS_MAX = 40
_SWEEP_WAIT_SECONDS = 0.5
_QUIET_SWEEPS = 10
"""Spark looks every two seconds for tasks that were stopped, and gives their Python two more, in which they may still
finish a file."""
_STOP_SECONDS_MAX = 10.0


def write_frame(
    spark: SparkSession,
    frame: DataFrame,
    columns: tuple[ColumnAssignment, ...],
    layout: WriteLayout,
    store: ObjectStore,
    clock: Clock,
) -> tuple[DataFile, ...]:
    """Write the rows as one job. When it fails or is interrupted, its tasks are stopped and their files removed."""
    arranged = _arranged(_selected(frame, columns), layout)
    written = _received(columns)
    write = _WriteRows(written, layout, store)
    try:
        outcomes = _collected(spark, arranged.mapInArrow(write, "files binary"), f"lakewright-{layout.write_id}")
    except BaseException as error:
        sweep(layout, store, clock)
        ours = error_of_ours(error)
        if ours is not None:
            raise ours from error
        raise
    return tuple(file for row in outcomes for file in pickle.loads(bytes(row["files"])))  # noqa: S301 -- our own workers' words


def _collected(spark: SparkSession, frame: DataFrame, tag: str) -> list[Row]:
    """Collect on another thread: Ctrl-C in the midst of a call to the JVM would break the way to stop the job."""

    def collect() -> list[Row]:
        spark.addTag(tag)
        return frame.collect()

    pool = ThreadPoolExecutor(1)
    running: Future[list[Row]] = pool.submit(inheritable_thread_target(spark)(collect))
    try:
        return running.result()
    except BaseException:
        if not running.done():
            _interrupt(spark, tag)
            wait([running], _STOP_SECONDS_MAX)
        raise
    finally:
        pool.shutdown(wait=False)


def _interrupt(spark: SparkSession, tag: str) -> None:
    """Over Connect a tag reaches every thread's operations; elsewhere only those of its own, so all of the session stop,
    as they do whenever Spark itself meets Ctrl-C."""
    with suppress(Exception):
        if not spark.interruptTag(tag):
            spark.interruptAll()


def sweep(layout: WriteLayout, store: ObjectStore, clock: Clock) -> None:
    """Remove the files of an abandoned write, until none has come for as long as a task may outlive its job."""
    quiet = 0
    for _ in range(_SWEEPS_MAX):
        found = [stored.location for stored in store.list(layout.location.root) if layout.write_id in stored.location]
        for location in found:
            with suppress(OSError):
                store.delete(location)
        quiet = 0 if found else quiet + 1
        if quiet == _QUIET_SWEEPS:
            return
        clock.sleep(_SWEEP_WAIT_SECONDS)


def error_of_ours(error: BaseException) -> errors.LakewrightError | None:
    """An error that a worker raised on purpose, out of the text in which Spark wraps it."""
    found = _OUR_ERROR.search(str(error))
    kind = getattr(errors, found[1], None) if found else None
    return kind(found[2].strip()) if found and kind else None


@dataclass(frozen=True)
class _WriteRows:
    """What a worker runs on its share of the rows."""

    columns: tuple[ColumnAssignment, ...]
    layout: WriteLayout
    store: ObjectStore

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        task = f"{context.partitionId():05d}-{context.taskAttemptId()}"
        with PartitionedWriter(self.layout, self.store, task) as writer:
            for rows in _gathered(batches):
                writer.write(conform_table(rows, self.columns))
            yield pa.RecordBatch.from_pydict({"files": [pickle.dumps(writer.close())]})


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Spark sends small batches; partitions are split, and columns measured, for many at once."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(held)


def _selected(frame: DataFrame, columns: tuple[ColumnAssignment, ...]) -> DataFrame:
    """The incoming columns by the names of their targets; what only Spark casts rightly is cast here."""
    chosen = []
    for column in columns:
        if isinstance(column, FromColumn):
            source = F.col(quoted(column.source_name))
            cast = source.cast(spark_type(column.target)) if column.engine_cast else source
            chosen.append(cast.alias(column.target.name))
    return frame.select(*chosen)


def _received(columns: tuple[ColumnAssignment, ...]) -> tuple[ColumnAssignment, ...]:
    """The assignments as they look to a worker, after `_selected`."""
    return tuple(
        column if isinstance(column, Filled) else FromColumn(column.target, column.target.name) for column in columns
    )


def _arranged(frame: DataFrame, layout: WriteLayout) -> DataFrame:
    """Rows travel only if the table declares it: writers keep the number of open files bounded by themselves."""
    available = set(frame.columns)
    clusters = [
        _cluster(layout, part)
        for part in layout.spec.fields
        if not isinstance(part.transform, Void) and layout.schema.paths_by_id[part.source_id][0] in available
    ]
    order = [
        _sort_key(layout, part)
        for part in layout.sort_order.fields
        if layout.schema.paths_by_id[part.source_id][0] in available
    ]
    match layout.distribution:
        case Distribution.HASH if clusters:
            frame = frame.repartition(*clusters)
        case Distribution.RANGE if clusters or order:
            frame = frame.repartitionByRange(*clusters, *order)
    return frame.sortWithinPartitions(*order) if order else frame


def _source(layout: WriteLayout, source_id: int) -> Column:
    return F.col(".".join(quoted(name) for name in layout.schema.paths_by_id[source_id]))


def _cluster(layout: WriteLayout, part: PartitionField) -> Column:
    """Equal for rows of one partition. Buckets are not Spark's to compute, so rows cluster by the hash of the column."""
    source = _source(layout, part.source_id)
    source_type = layout.schema.by_id[part.source_id].type
    match part.transform:
        case Year():
            return F.year(source)
        case Month():
            return F.trunc(source, "month")
        case Day():
            return F.to_date(source)
        case Hour():
            return F.date_trunc("hour", source)
        case Truncate(width) if source_type == Primitive.STRING:
            return F.substring(source, 1, width)
        case Truncate(width) if source_type in (Primitive.INT, Primitive.LONG):
            return source - F.pmod(source, F.lit(width))
        case Bucket(count):
            return F.pmod(F.hash(source), F.lit(count))
        case _:
            return source


def _sort_key(layout: WriteLayout, part: SortField) -> Column:
    """A transformed key orders as its source does, but for buckets, which order by their hash."""
    source = _source(layout, part.source_id)
    key = source if isinstance(part.transform, Identity) else _cluster(layout, _as_partition_field(part))
    match part.descending, part.nulls_first:
        case True, True:
            return key.desc_nulls_first()
        case True, False:
            return key.desc_nulls_last()
        case False, True:
            return key.asc_nulls_first()
        case _:
            return key.asc_nulls_last()


def _as_partition_field(part: SortField) -> PartitionField:
    return PartitionField(part.source_id, 0, "", part.transform)
