"""How is a large table planned by a cluster? Each worker reads some planning tasks, with the code that threads run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import SparkSession

from lakewright.engine.arrow.local import candidates_of, planned_of
from lakewright.engine.spark.tasks import run_on_workers
from lakewright.model.files import DeleteFile
from lakewright.model.scan import Candidate, Planned
from lakewright.model.snapshot import PlanningTask, Snapshot
from lakewright.protocols import FilePruner, ObjectStore, TaskReader

_GROUP_BYTES = 8 << 20
_Listed = TypeVar("_Listed")


def plan_on_workers(
    spark: SparkSession, snapshot: Snapshot, reader: TaskReader, pruner: FilePruner, store: ObjectStore
) -> Planned:
    """The same plan as `plan_on_threads` makes: deletes first, then the files that they belong to."""
    wanted = tuple(task for task in snapshot.tasks if pruner.keeps_task(task))
    delete_tasks = tuple(task for task in snapshot.delete_tasks if pruner.keeps_task(task))
    deletes = _run(spark, _ReadDeletes(reader, store), delete_tasks)
    with_deletes = reader.with_deletes(delete for listed in deletes for delete in listed)
    listed = _run(spark, _ReadFiles(with_deletes, pruner, store), wanted)
    return planned_of(snapshot, wanted, listed)


@dataclass(frozen=True)
class _ReadDeletes:
    reader: TaskReader
    store: ObjectStore

    def __call__(self, tasks: tuple[PlanningTask, ...]) -> list[tuple[DeleteFile, ...]]:
        return [self.reader.deletes(task, self.store) for task in tasks]


@dataclass(frozen=True)
class _ReadFiles:
    reader: TaskReader
    pruner: FilePruner
    store: ObjectStore

    def __call__(self, tasks: tuple[PlanningTask, ...]) -> list[tuple[int, tuple[Candidate, ...]]]:
        return [candidates_of(task, self.reader, self.pruner, self.store) for task in tasks]


def _run(
    spark: SparkSession, read: Callable[[tuple[PlanningTask, ...]], list[_Listed]], tasks: tuple[PlanningTask, ...]
) -> list[_Listed]:
    """Small tasks together, so that each worker has real work; the order of the tasks stays."""
    groups: list[list[PlanningTask]] = []
    size = _GROUP_BYTES
    for task in tasks:
        if size >= _GROUP_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(task)
        size += task.size_bytes
    answers = run_on_workers(spark, read, [tuple(group) for group in groups]) if groups else []
    return [listed for answer in answers for listed in answer]
