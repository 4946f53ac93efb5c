"""How are the same rows read in both ways, and how are rows compared?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import lakewright as lw
from lakewright.engine.arrow.deletes import KnownMarks
from lakewright.engine.arrow.footers import Footers
from lakewright.engine.spark import frames
from lakewright.engine.spark.engine import SparkEngine
from lakewright.engine.spark.session import Session
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.scan import Planned, Scan
from lakewright.model.session import SqlSettings
from lakewright.operations import read
from lakewright.protocols import TableFormat
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds, SystemClock
from tests import canonical

Way = Literal["native", "arrow"]
WAYS: tuple[Way, ...] = ("native", "arrow")
_TASKS_MIN = 2


class NotSafe(Exception):
    """Spark's own reader would not be chosen for these files."""


def lines(rows: "DataFrame | pa.Table") -> list[str]:
    """Rows as text that can be compared: exact, with NaN, NULL and -0.0 told apart."""
    return canonical.lines(rows if isinstance(rows, pa.Table) else rows.toArrow())


def frame(
    table: lw.Table,
    spark: SparkSession,
    way: Way,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    version: int | None = None,
) -> DataFrame:
    """As `Table.to_df`, in the way that is asked for; NotSafe if Spark's own reader would not be chosen."""
    found, store = _opened(table)
    snapshot = found.snapshot(found.head(), version)
    engine: Any = _OneWay(SparkEngine(Session(spark), store, SystemClock()), way)
    return read.frame(read.Read(columns, where), snapshot, found, engine)


def is_native(table: lw.Table, spark: SparkSession, *, columns: Sequence[str] | None = None) -> bool:
    """Whether Spark's own reader is chosen for the table."""
    try:
        frame(table, spark, "native", columns=columns)
    except NotSafe:
        return False
    return True


def _opened(table: lw.Table) -> tuple[TableFormat, Storage]:
    store = Storage()
    source = IcebergSource(FolderCatalog(store), store, SystemClock(), RandomIds())
    return source.open_location(table.metadata_location, guess=False), store


@dataclass(frozen=True)
class _OneWay:
    """The engine, robbed of its choice."""

    engine: SparkEngine
    way: Way

    def settings(self) -> SqlSettings:
        return self.engine.settings()

    def values_of(self, query: str) -> str | None:
        return self.engine.values_of(query)

    def plan(self, *arguments: Any) -> Planned:
        return self.engine.plan(*arguments)

    def frame(self, scan: Scan, where: str | None, columns: tuple[str, ...]) -> DataFrame:
        spark, store = self.engine.session.spark, self.engine.store
        if not scan.candidates:
            return self.engine.frame(scan, where, columns)
        if self.way == "arrow":
            found = frames.arrow_frame(spark, scan, store, _TASKS_MIN)
        elif frames.is_native_safe(scan, store, Footers(store)):
            found = frames.native_frame(spark, scan, store, KnownMarks())
        else:
            raise NotSafe(scan.columns.table)
        kept = found if where is None else found.where(where)
        return kept.select(*(frames.quoted(name) for name in columns))
