"""How does this machine alone plan and write? On threads: Arrow and the store hold no lock of Python's while they work."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from lakewright.engine.arrow.conform import conform_table
from lakewright.engine.arrow.sort import sorted_rows
from lakewright.engine.arrow.write import PartitionedWriter
from lakewright.model.assignment import ColumnAssignment
from lakewright.model.files import DataFile
from lakewright.model.layout import Distribution, WriteLayout
from lakewright.model.scan import Planned
from lakewright.model.snapshot import PlanningTask
from lakewright.protocols import FilePruner, ObjectStore, TaskReader

_THREAD_ROWS_BYTES_MIN = 64 << 20
_READ_THREADS_MAX = 16


def plan_on_threads(
    tasks: tuple[PlanningTask, ...], reader: TaskReader, pruner: FilePruner, store: ObjectStore
) -> Planned:
    """Read the planning tasks that may matter, and keep the files that may."""
    wanted = [task for task in tasks if pruner.keeps_task(task)]
    read = [list(reader(wanted[0], store))] if len(wanted) == 1 else _read_many(wanted, reader, store)
    files = [file for listed in read for file in listed]
    kept = tuple(file for file in files if pruner.keeps_file(file))
    return Planned(kept, tasks_total=len(tasks), tasks_read=len(wanted), files_seen=len(files))


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


def _read_many(tasks: list[PlanningTask], reader: TaskReader, store: ObjectStore) -> list[list[DataFile]]:
    with ThreadPoolExecutor(min(_READ_THREADS_MAX, max(1, len(tasks)))) as pool:
        return list(pool.map(lambda task: list(reader(task, store)), tasks))
