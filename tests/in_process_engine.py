"""How do operations run without Spark? An engine for Arrow tables that reads and writes as SparkEngine does for them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from lakewright.engine.arrow.listings import listing_table, mark_fields, marked_rows
from lakewright.engine.arrow.local import discard_files, plan_on_threads, write_on_threads
from lakewright.engine.arrow.read import RowReader
from lakewright.engine.arrow.types import arrow_schema, columns_of_schema
from lakewright.model.assignment import ColumnAssignment
from lakewright.model.files import DataFile, DeleteFile
from lakewright.model.layout import WriteLayout
from lakewright.model.listing import Listing
from lakewright.model.scan import Planned, Scan, TableColumns
from lakewright.model.session import SqlSettings
from lakewright.model.snapshot import Snapshot
from lakewright.model.types import StructType
from lakewright.protocols import FilePruner, ObjectStore, TaskReader


@dataclass(frozen=True)
class InProcessEngine:
    """Conditions prune files and are not evaluated on rows."""

    store: ObjectStore

    def reaching(self, store: ObjectStore) -> "InProcessEngine":
        return replace(self, store=store)

    def settings(self) -> SqlSettings:
        return SqlSettings()

    def is_case_sensitive(self) -> bool:
        return False

    def values_of(self, query: str) -> str | None:
        return None

    def plan(self, snapshot: Snapshot, reader: TaskReader, pruner: FilePruner) -> Planned:
        return plan_on_threads(snapshot, reader, pruner, self.store)

    def columns_of(self, rows: pa.Table) -> StructType:
        return columns_of_schema(rows.schema)

    def write(self, rows: pa.Table, columns: tuple[ColumnAssignment, ...], layout: WriteLayout) -> tuple[DataFile, ...]:
        return write_on_threads(rows, columns, layout, self.store)

    def frame(self, scan: Scan, where: str | None, columns: tuple[str, ...]) -> Any:
        """All rows, at once, as an Arrow table."""
        reader = RowReader.of(scan.columns, self.store)
        batches = [batch for candidate in scan.candidates for batch in reader.batches(candidate)]
        return pa.Table.from_batches(batches, arrow_schema(scan.columns.fields)).select(list(columns))

    def listed(self, listing: Listing) -> Any:
        return listing_table(listing)

    def marked(self, deletes: tuple[DeleteFile, ...], columns: TableColumns) -> Any:
        batches = [batch for delete in deletes for batch in marked_rows(delete, columns, self.store)]
        return pa.Table.from_batches(batches, arrow_schema(mark_fields(columns)))

    def discard(self, locations: Iterable[str]) -> None:
        discard_files(locations, self.store)
