"""How do data files that somebody else wrote come into a table?"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import lakewright as lw
from lakewright.engine.arrow.types import arrow_schema
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.files import DataFile
from lakewright.model.partitioning import PartitionKey
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds, SystemClock
from lakewright.testing.tables import TableBuilder


def register(table: lw.Table, path: Path, rows: pa.Table) -> None:
    """Write a Parquet file as pyarrow does, and add it to an unpartitioned table that knows only its number of rows."""
    store = Storage()
    source = IcebergSource(FolderCatalog(store), store, SystemClock(), RandomIds())
    found = source.open(place(table))
    snapshot = found.snapshot(found.head())
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows.cast(arrow_schema(snapshot.schema.fields)), path)
    key = PartitionKey(snapshot.default_spec_id, ())
    TableBuilder(source).append(found, DataFile(str(path), key, rows.num_rows, path.stat().st_size))


def place(table: lw.Table) -> str:
    """The folder of a table in a catalog of folders."""
    return str(Path(table.metadata_location.removeprefix("file://")).parents[1])


def data_files(table: lw.Table) -> list[Path]:
    return sorted(Path(place(table)).rglob("*.parquet"))
