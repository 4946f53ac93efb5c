"""How do the files of a scan become a DataFrame? By Spark's own Parquet reader where that is safe, else by ours.

Spark's reader is the faster one, and loses rows in silence in some cases; each is a condition in `is_native_safe`.
"""

import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from heapq import heapify, heappop, heappush

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

from lakewright.engine.arrow.deletes import DeleteReader, KnownMarks
from lakewright.engine.arrow.footers import Footers
from lakewright.engine.arrow.listings import mark_fields, marked_rows
from lakewright.engine.arrow.read import RowReader
from lakewright.engine.arrow.show import shown_batch
from lakewright.engine.spark.types import spark_schema
from lakewright.model.files import DataFile, DeleteFile, DeleteKind
from lakewright.model.scan import METADATA_IDS, Candidate, Scan, TableColumns
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
        Primitive.VARIANT,
    }
)
_NATIVE_FILES_MAX = 1_000
"""Spark lists explicit paths with a task for each once they are many; our tasks read many files each."""
_NATIVE_MARKS_MAX = 2_000_000
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./=:-]*")
_SLASHES = ("/", "///")
"""Spark's file systems differ in how they spell a local path; a row is compared with both spellings."""
_PATH, _POSITION, _MARKED_POSITION, _MARKED_PATHS = "__lw_path", "__lw_position", "__lw_marked", "__lw_marked_in"
_MARKS_SCHEMA = f"{_MARKED_POSITION} bigint, {_MARKED_PATHS} array<string>"
_UNSAFE_IN_PATHS = re.compile(r"[*?\[\]{}\\:]")
_TASK_BYTES = 128 << 20
_OPEN_BYTES = 32 << 10
"""What opening a file costs, as bytes that could be read meanwhile."""
_DELETES_IN_TASK = 64
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


def native_frame(spark: SparkSession, scan: Scan, store: ObjectStore, known: KnownMarks) -> DataFrame:
    """Spark's reader over exactly these files; floating columns are handed out so that nothing is pushed onto them.

    Files that lost rows are read apart, and lose them by an anti join: the others pay nothing for it.
    """
    whole = [candidate.file for candidate in scan.candidates if not candidate.deletes]
    marked = tuple(candidate for candidate in scan.candidates if candidate.deletes)
    frames = [_plain_frame(spark, whole, scan, store)] if whole else []
    if marked:
        frames.append(_marked_frame(spark, marked, scan, store, known))
    frame = reduce(lambda left, right: left.union(right), frames)
    guarded = {child.name: _guarded(child) for child in scan.columns.fields if child.type in FLOATING}
    return frame.withColumns(guarded) if guarded else frame


def arrow_frame(spark: SparkSession, scan: Scan, store: ObjectStore, tasks_min: int) -> DataFrame:
    """Our reader in Python workers: every file that is supported, wherever it lies."""
    tasks = packed(scan.candidates, tasks_min)
    read = _ReadFiles(tuple(pickle.dumps(task) for task in tasks), scan.columns, store)
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, spark_schema(scan.columns.fields))


def marks_frame(
    spark: SparkSession, deletes: tuple[DeleteFile, ...], columns: TableColumns, store: ObjectStore
) -> DataFrame:
    """The rows that delete files mark, a few files to a task."""
    tasks = tuple(deletes[first : first + _DELETES_IN_TASK] for first in range(0, len(deletes), _DELETES_IN_TASK))
    read = _ListMarks(tasks, columns, store)
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, spark_schema(mark_fields(columns)))


def is_native_safe(scan: Scan, store: ObjectStore, footers: Footers) -> bool:
    """Whether Spark's reader returns all rows of these files, whatever filters and settings come later."""
    fields = scan.columns.fields
    return (
        len(scan.candidates) <= _NATIVE_FILES_MAX
        and METADATA_IDS.isdisjoint(child.id for child in fields)
        and _names_differ_beyond_case(fields)
        and all(_is_native_type(child.type) for child in fields)
        and all(_is_native_path(candidate.file.location, store) for candidate in scan.candidates)
        and _are_native_deletes(scan, store)
        and footers.read_by_name((candidate.file for candidate in scan.candidates), scan.columns)
    )


def _plain_frame(spark: SparkSession, files: Iterable[DataFile], scan: Scan, store: ObjectStore) -> DataFrame:
    reader = spark.read.schema(spark_schema(scan.columns.fields)).options(**_NATIVE_OPTIONS)
    return reader.parquet(*(native_path(file.location, store) for file in files))


def _marked_frame(
    spark: SparkSession, candidates: tuple[Candidate, ...], scan: Scan, store: ObjectStore, known: KnownMarks
) -> DataFrame:
    """Rows go by position first, which Spark looks up as a number, and only where one is marked in some file by path."""
    frame = _plain_frame(spark, (candidate.file for candidate in candidates), scan, store)
    columns = [F.col(quoted(child.name)) for child in scan.columns.fields]
    located = frame.select(
        *columns, F.col("_metadata.file_path").alias(_PATH), F.col("_metadata.row_index").alias(_POSITION)
    )
    marks = F.broadcast(spark.createDataFrame(_marks(candidates, scan, store, known), _MARKS_SCHEMA))
    is_marked = (F.col(_POSITION) == F.col(_MARKED_POSITION)) & F.array_contains(F.col(_MARKED_PATHS), F.col(_PATH))
    return located.join(marks, is_marked, "left_anti").select(*columns)


def _marks(candidates: tuple[Candidate, ...], scan: Scan, store: ObjectStore, known: KnownMarks) -> pa.Table:
    """Every position that is marked in some file, with the paths of those files as Spark spells them."""
    reader = DeleteReader(scan.columns.table, scan.columns.known, store)
    gone = [known.of(candidate, reader) for candidate in candidates]
    positions = np.concatenate(gone)
    files = np.repeat(np.arange(len(candidates)), [len(part) for part in gone])
    order = np.argsort(positions, kind="stable")
    distinct, firsts = np.unique(positions[order], return_index=True)
    spellings = [f"file:{slashes}" for slashes in _SLASHES]
    paths = pa.array(
        [f"{start}{local}" for local in _local_paths(candidates, store) for start in spellings], pa.string()
    )
    of_both = (files[order][:, None] * len(spellings) + np.arange(len(spellings))).ravel()
    offsets = np.append(firsts, len(positions)) * len(spellings)
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), paths.take(pa.array(of_both)))
    return pa.table([pa.array(distinct, pa.int64()), lists], names=[_MARKED_POSITION, _MARKED_PATHS])


def _local_paths(candidates: Iterable[Candidate], store: ObjectStore) -> Iterator[str]:
    return (native_path(candidate.file.location, store).removeprefix("file:").lstrip("/") for candidate in candidates)


def _are_native_deletes(scan: Scan, store: ObjectStore) -> bool:
    """Marks travel to every worker, so they have to be few; paths that Spark would spell otherwise are not compared, and
    what counts is where the files lie now."""
    marked = [candidate for candidate in scan.candidates if candidate.deletes]
    deletes = {(d.location, d.content_offset): d for candidate in marked for d in candidate.deletes}
    names = {child.name.lower() for child in scan.columns.fields}
    return (
        all(delete.kind is not DeleteKind.EQUALITY for delete in deletes.values())
        and sum(delete.record_count for delete in deletes.values()) <= _NATIVE_MARKS_MAX
        and all(_PLAIN_PATH.fullmatch(native_path(candidate.file.location, store)) for candidate in marked)
        and not (marked and names & {_PATH, _POSITION, _MARKED_POSITION, _MARKED_PATHS, "_metadata"})
    )


def native_path(location: str, store: ObjectStore) -> str:
    """The location as the JVM takes it: a literal path, in which nothing is an escape."""
    actual = store.actual(location)
    return actual if "://" in actual or actual.startswith("file:") else f"file://{actual}"


def packed(candidates: tuple[Candidate, ...], tasks_min: int) -> tuple[tuple[Candidate, ...], ...]:
    """Files in tasks of even size: the largest files first, each into the task that has least to do."""
    total = sum(candidate.file.size_bytes + _OPEN_BYTES for candidate in candidates)
    count = min(len(candidates), max(tasks_min, -(-total // _TASK_BYTES)))
    loads: list[tuple[int, int, list[Candidate]]] = [(0, index, []) for index in range(count)]
    heapify(loads)
    for each in sorted(candidates, key=lambda each: (-each.file.size_bytes, each.file.location)):
        load, index, members = heappop(loads)
        members.append(each)
        heappush(loads, (load + each.file.size_bytes + _OPEN_BYTES, index, members))
    return tuple(tuple(members) for _, _, members in sorted(loads, key=lambda item: item[1]))


@dataclass(frozen=True)
class _ReadFiles:
    """What a worker runs: the numbers of its tasks come in, their rows go out. It unpacks no task but its own."""

    tasks: tuple[bytes, ...]
    columns: TableColumns
    store: ObjectStore

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                reader = RowReader.of(self.columns, self.store)
                for candidate in pickle.loads(self.tasks[number]):  # noqa: S301 -- our own words
                    for rows in reader.batches(candidate):
                        yield shown_batch(rows, self.columns.fields)


@dataclass(frozen=True)
class _ListMarks:
    tasks: tuple[tuple[DeleteFile, ...], ...]
    columns: TableColumns
    store: ObjectStore

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        fields = mark_fields(self.columns)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for delete in self.tasks[number]:
                    for rows in marked_rows(delete, self.columns, self.store):
                        yield shown_batch(rows, fields)


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
    """Spark drops files by their name, takes some characters for patterns, and reaches only some file systems. Where a
    checksum lies beside a file, Hadoop holds to it, be it of that file or of one before."""
    path = native_path(location, store).removeprefix("file://").removeprefix("file:")
    name = path.rpartition("/")[2]
    is_plain = "://" not in path and not _UNSAFE_IN_PATHS.search(path) and not name.startswith(("_", "."))
    return is_plain and not store.exists(f"{location.rpartition('/')[0]}/.{name}.crc")


def _names_differ_beyond_case(fields: tuple[Field, ...]) -> bool:
    names = [child.name.lower() for child in fields]
    return len(set(names)) == len(names) and all(
        _names_differ_beyond_case(children(child.type)) for child in fields if children(child.type)
    )


def _guarded(child: Field) -> Column:
    """A no-op that Spark does not see through: footers of other writers have bounds although a chunk holds NaN, and order
    -0.0 below 0.0, so a filter that is pushed down would lose rows."""
    column = F.col(quoted(child.name))
    return F.nanvl(column, column)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
