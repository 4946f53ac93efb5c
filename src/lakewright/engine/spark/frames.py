"""How do the files of a scan become a DataFrame? By Spark's own Parquet reader where that is safe, else by ours.

Spark's reader is the faster one, and loses rows in silence in some cases; each is a condition in `is_native_safe`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

from lakewright.engine.arrow.read import FileReader
from lakewright.engine.arrow.show import shown_batch
from lakewright.engine.spark.types import spark_schema
from lakewright.model.files import DataFile
from lakewright.model.scan import Scan
from lakewright.model.types import (
    FLOATING,
    ColumnType,
    DecimalType,
    Field,
    ListType,
    MapType,
    Primitive,
    StructType,
    children,
)
from lakewright.protocols import ObjectStore

_NATIVE_TYPES = frozenset(
    {
        Primitive.BOOLEAN,
        Primitive.INT,
        Primitive.LONG,
        Primitive.FLOAT,
        Primitive.DOUBLE,
        Primitive.DATE,
        Primitive.TIMESTAMP,
        Primitive.TIMESTAMPTZ,
        Primitive.STRING,
        Primitive.BINARY,
    }
)
_NATIVE_FILES_MAX = 1_000
"""Spark lists explicit paths with a task for each once they are many; our tasks read many files each."""
_UNSAFE_IN_PATHS = re.compile(r"[*?\[\]{}\\:]")
_TASK_BYTES = 128 << 20
_SPLIT_OPEN_BYTES = 4 << 20
_NATIVE_OPTIONS = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "recursiveFileLookup": "true",
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    "mergeSchema": "false",
    "pathGlobFilter": "*",
}
"""Each overrides a session setting, or a guess from the paths, that would change rows or hide them."""


def native_frame(spark: SparkSession, scan: Scan, store: ObjectStore) -> DataFrame:
    """Spark's reader over exactly these files; floating columns are handed out so that nothing is pushed onto them."""
    paths = [native_path(file.location, store) for file in scan.files]
    reader = spark.read.schema(spark_schema(scan.fields)).options(**_NATIVE_OPTIONS)
    frame = reader.parquet(*paths)
    return frame.select(*(_guarded(child) for child in scan.fields))


def arrow_frame(spark: SparkSession, scan: Scan, store: ObjectStore, tasks_min: int) -> DataFrame:
    """Our reader in Python workers: every file that is supported, wherever it lies."""
    tasks = packed(scan.files, tasks_min)
    reader = FileReader(scan.fields, dict(scan.specs), scan.table)
    read = _ReadFiles(tasks, reader, store)
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, spark_schema(scan.fields))


def is_native_safe(scan: Scan, store: ObjectStore) -> bool:
    """Whether Spark's reader returns all rows of these files, whatever filters and settings come later."""
    return (
        len(scan.files) <= _NATIVE_FILES_MAX
        and scan.names_are_stable
        and scan.columns_are_in_files
        and _names_differ_beyond_case(scan.fields)
        and all(_is_native_type(child.type) for child in scan.fields)
        and all(_is_native_path(file.location, store) for file in scan.files)
    )


def native_path(location: str, store: ObjectStore) -> str:
    """The location as the JVM takes it: a literal path, in which nothing is an escape."""
    actual = store.actual(location)
    return actual if "://" in actual or actual.startswith("file:") else f"file://{actual}"


def packed(files: tuple[DataFile, ...], tasks_min: int) -> tuple[tuple[DataFile, ...], ...]:
    """Files in tasks of even size: the largest files first, each into the task that has least to do."""
    total = sum(file.size_bytes + _SPLIT_OPEN_BYTES for file in files)
    count = min(len(files), max(tasks_min, -(-total // _TASK_BYTES)))
    loads: list[tuple[int, int, list[DataFile]]] = [(0, index, []) for index in range(count)]
    heapify(loads)
    for file in sorted(files, key=lambda file: (-file.size_bytes, file.location)):
        load, index, members = heappop(loads)
        members.append(file)
        heappush(loads, (load + file.size_bytes + _SPLIT_OPEN_BYTES, index, members))
    return tuple(tuple(members) for _, _, members in sorted(loads, key=lambda item: item[1]))


@dataclass(frozen=True)
class _ReadFiles:
    """What a worker runs: the numbers of its tasks come in, their rows go out."""

    tasks: tuple[tuple[DataFile, ...], ...]
    reader: FileReader
    store: ObjectStore

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file in self.tasks[number]:
                    for rows in self.reader.batches(file, self.store):
                        yield shown_batch(rows, self.reader.fields)


def _is_native_type(column_type: ColumnType) -> bool:
    """Floats inside structs are not guarded, so such columns are read by Arrow."""
    match column_type:
        case StructType(fields):
            return all(_is_native_type(child.type) and child.type not in FLOATING for child in fields)
        case ListType() | MapType():
            return all(_is_native_type(child.type) for child in children(column_type))
        case DecimalType():
            return True
        case _:
            return column_type in _NATIVE_TYPES


def _is_native_path(location: str, store: ObjectStore) -> bool:
    """Spark drops files by their name, takes some characters for patterns, and reaches only some file systems."""
    path = native_path(location, store).removeprefix("file://").removeprefix("file:")
    name = path.rpartition("/")[2]
    return "://" not in path and not _UNSAFE_IN_PATHS.search(path) and not name.startswith(("_", "."))


def _names_differ_beyond_case(fields: tuple[Field, ...]) -> bool:
    names = [child.name.lower() for child in fields]
    return len(set(names)) == len(names) and all(
        _names_differ_beyond_case(children(child.type)) for child in fields if children(child.type)
    )


def _guarded(child: Field) -> Column:
    """A no-op that Spark does not see through: footers of other writers have bounds although a chunk holds NaN, and order
    -0.0 below 0.0, so a filter that is pushed down would lose rows."""
    column = F.col(quoted(child.name))
    return F.nanvl(column, column).alias(child.name) if child.type in FLOATING else column


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
