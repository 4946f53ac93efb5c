"""How does a test read a table that was built? Without Spark, by the metadata that the builder wrote."""

from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.table import Table
from lakewright.testing.steady import CountingIds, FixedClock
from tests.histories.builder import TableWithPast
from tests.in_process_engine import InProcessEngine


def opened(table: TableWithPast) -> Table:
    source = IcebergSource(FolderCatalog(table.store), table.store, FixedClock(), CountingIds())
    found = source.open_location(table.finish(), guess=False)
    return Table("t", found, InProcessEngine(table.store), FixedClock(), CountingIds())
