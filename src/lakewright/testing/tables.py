"""How does a test get a small table? A builder that works on whatever adapter it is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakewright.errors import LakewrightError
from lakewright.model.changes import AppendFiles, Committed
from lakewright.model.creation import NewTable
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import PartitionField, PartitionKey, PartitionSpec, Transform
from lakewright.model.refs import MAIN
from lakewright.model.schema import Schema
from lakewright.model.snapshot import Snapshot
from lakewright.model.sorting import SortOrder
from lakewright.model.types import ColumnType, Field, Primitive, Value
from lakewright.protocols import ObjectStore, TableFormat, TableSource

_FIRST_PARTITION_FIELD_ID = 1000
_BYTES_FOR_EACH_ROW = 100
COLUMNS: Mapping[str, ColumnType] = {"id": Primitive.LONG, "region": Primitive.STRING}


class NotBuilt(LakewrightError):
    """A table for a test could not be made; the adapter's answer stands in the message."""


@dataclass
class TableBuilder:
    """Makes tables whose data files are records only: no rows lie behind them, all that planning sees is there."""

    source: TableSource
    files_made: int = field(default=0, init=False)

    def create(
        self,
        name: str,
        columns: Mapping[str, ColumnType] = COLUMNS,
        *,
        required: Sequence[str] = (),
        partitioned_by: Mapping[str, Transform] | None = None,
        format_version: int = 2,
        properties: Mapping[str, str] | None = None,
    ) -> TableFormat:
        """A table without rows. Columns get the ids 1, 2, …; a column is partitioned by one transform at most."""
        schema = Schema(
            tuple(
                Field(number, column, kind, column in required)
                for number, (column, kind) in enumerate(columns.items(), start=1)
            )
        )
        ids = {child.name: child.id for child in schema.fields}
        parts = tuple(
            PartitionField(ids[column], _FIRST_PARTITION_FIELD_ID + index, f"{column}_{transform}", transform)
            for index, (column, transform) in enumerate((partitioned_by or {}).items())
        )
        table = NewTable(schema, PartitionSpec(0, parts), SortOrder(), format_version, properties or {})
        return self.source.create(name, table)

    def file(
        self,
        table: TableFormat,
        rows: int,
        *,
        partition: tuple[Value | None, ...] = (),
        metrics: FileMetrics | None = None,
    ) -> DataFile:
        """The record of a new data file under the table's newest spec."""
        self.files_made += 1
        snapshot = table.snapshot(table.head())
        return DataFile(
            location=f"{snapshot.location}/data/{self.files_made:05d}.parquet",
            partition=PartitionKey(snapshot.default_spec_id, partition),
            record_count=rows,
            size_bytes=rows * _BYTES_FOR_EACH_ROW,
            metrics=metrics or FileMetrics(),
        )

    def append(
        self, table: TableFormat, *files: DataFile, summary: Mapping[str, str] | None = None, branch: str = MAIN
    ) -> int:
        """Commit a version that adds files, and tell its number."""
        head = table.head()
        changes = AppendFiles(files, table.snapshot(head).schema.schema_id, summary or {}, branch)
        staged = table.stage(head, changes)
        if staged is None or staged.version is None:
            raise NotBuilt(f"appending to {table.place} staged nothing")
        outcome = table.publish(staged)
        if outcome != Committed():
            raise NotBuilt(f"appending to {table.place} ended as {outcome}")
        return staged.version

    def append_rows(self, table: TableFormat, *counts: int, branch: str = MAIN) -> int:
        """A version with one file for each count of rows."""
        return self.append(table, *(self.file(table, count) for count in counts), branch=branch)


def listed_files(snapshot: Snapshot, table: TableFormat, store: ObjectStore) -> list[DataFile]:
    """All live data files of a snapshot, whatever they hold."""
    reader = table.reader(snapshot)
    batches = [reader.files(task, store) for task in snapshot.tasks]
    return [
        replace(files.candidate(row).file, metrics=files.columns.metrics.of_file(row))
        for files in batches
        for row in range(len(files.columns))
    ]
