"""How does this machine alone plan and write? On threads: Arrow and the store hold no lock of Python's while they work."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

from lakewright.engine.arrow.conform import conform_table
from lakewright.engine.arrow.sort import sorted_rows
from lakewright.engine.arrow.write import PartitionedWriter
from lakewright.model.assignment import ColumnAssignment
from lakewright.model.columns import rows_where
from lakewright.model.files import DataFile, DeleteFile
from lakewright.model.layout import Distribution, WriteLayout
from lakewright.model.scan import Candidate, Planned
from lakewright.model.snapshot import PlanningTask, Snapshot
from lakewright.protocols import FilePruner, ObjectStore, TaskReader

_THREAD_ROWS_BYTES_MIN = 64 << 20
_READ_THREADS_MAX = 16
Read = TypeVar("Read")


def plan_on_threads(snapshot: Snapshot, reader: TaskReader, pruner: FilePruner, store: ObjectStore) -> Planned:
    """Read the planning tasks that may matter, and keep the files that may."""
    wanted = tuple(task for task in snapshot.tasks if pruner.keeps_task(task))
    with_deletes = reader.with_deletes(deletes_on_threads(snapshot, reader, pruner, store)) if wanted else reader
    listed = _on_threads(lambda task: candidates_of(task, with_deletes, pruner, store), wanted)
    return planned_of(snapshot, wanted, listed)


def deletes_on_threads(
    snapshot: Snapshot, reader: TaskReader, pruner: FilePruner, store: ObjectStore
) -> tuple[DeleteFile, ...]:
    """All deletes that may matter: those of a partition matter to its own files alone."""
    wanted = tuple(task for task in snapshot.delete_tasks if pruner.keeps_task(task))
    return tuple(delete for found in _on_threads(lambda task: reader.deletes(task, store), wanted) for delete in found)


def candidates_of(
    task: PlanningTask, reader: TaskReader, pruner: FilePruner, store: ObjectStore
) -> tuple[int, tuple[Candidate, ...]]:
    """How many files a task lists, and those of them that may matter."""
    files = reader.files(task, store)
    kept = tuple(files.candidate(row) for row in rows_where(pruner.keeps(files.columns)))
    return len(files.columns), kept


def planned_of(
    snapshot: Snapshot, read: tuple[PlanningTask, ...], listed: list[tuple[int, tuple[Candidate, ...]]]
) -> Planned:
    return Planned(
        tuple(candidate for _, kept in listed for candidate in kept),
        tasks_total=len(snapshot.tasks),
        tasks_read=len(read),
        files_seen=sum(count for count, _ in listed),
    )


def write_on_threads(
    rows: pa.Table, columns: tuple[ColumnAssignment, ...], layout: WriteLayout, store: ObjectStore
) -> tuple[DataFile, ...]:
    """Large tables in equal parts, one for each thread; either all files are written or none is left."""
    conformed = sorted_rows(conform_table(rows, columns), layout.schema, layout.sort_order)
    if conformed.num_rows == 0:
        return ()
    threads = min(os.cpu_count() or 1, max(1, conformed.nbytes // _THREAD_ROWS_BYTES_MIN))
    if layout.distribution is not Distribution.NONE and not layout.spec.is_unpartitioned:
        threads = 1  # the table asks that a partition be written by one writer
    if threads == 1:
        return _write(conformed, layout, store, 0)
    size = -(-conformed.num_rows // threads)
    with ThreadPoolExecutor(threads) as pool:
        parts = [
            pool.submit(_write, conformed.slice(number * size, size), layout, store, number)
            for number in range(threads)
        ]
    failed = [error for error in (part.exception() for part in parts) if error is not None]
    if failed:
        discard_files((file.location for part in parts if part.exception() is None for file in part.result()), store)
        raise failed[0]
    return tuple(file for part in parts for file in part.result())


def discard_files(locations: Iterable[str], store: ObjectStore) -> None:
    for location in locations:
        try:
            store.delete(location)
        except OSError:
            continue


def _write(rows: pa.Table, layout: WriteLayout, store: ObjectStore, number: int) -> tuple[DataFile, ...]:
    with PartitionedWriter(layout, store, f"{number:05d}-0") as writer:
        writer.write(rows)
        return writer.close()


def _on_threads(read: Callable[[PlanningTask], Read], tasks: tuple[PlanningTask, ...]) -> list[Read]:
    if len(tasks) < 2:
        return [read(task) for task in tasks]
    with ThreadPoolExecutor(min(_READ_THREADS_MAX, 2 * (os.cpu_count() or 1), len(tasks))) as pool:
        return list(pool.map(read, tasks))
