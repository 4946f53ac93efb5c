"""How do workers run tasks of ours? Numbers of tasks go in, their answers come out."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from lakewright.errors import LakewrightError

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_on_workers(spark: SparkSession, run: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
    """One Spark task for each; the answers in the order of the tasks. What a task refuses is raised here as it was there."""
    work = _Work(tuple(tasks), run)
    rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(work, "number bigint, answer binary").collect()
    answers = {row["number"]: pickle.loads(bytes(row["answer"])) for row in rows}  # noqa: S301 -- our own workers' words
    for number in range(len(tasks)):
        if isinstance(answers[number], LakewrightError):
            raise answers[number]
    return [answers[number] for number in range(len(tasks))]


@dataclass(frozen=True)
class _Work:
    tasks: tuple[Any, ...]
    run: Callable[[Any], Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            answers = [pickle.dumps(self._answer(self.tasks[number])) for number in numbers]
            yield pa.RecordBatch.from_pydict({"number": numbers, "answer": answers})

    def _answer(self, task: Any) -> Any:
        """Spark tries again what is raised, and shows it as an error of its own."""
        try:
            return self.run(task)
        except LakewrightError as error:
            return error
