"""Who works on the tables of a REST catalog? Writers of ours, each with a way of their own to the server."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from lakewright.formats.iceberg.adapter import IcebergSource, IcebergTable
from lakewright.formats.iceberg.metastore import open_catalog
from lakewright.formats.iceberg.rest import RestTables
from lakewright.model.creation import NewTable
from lakewright.model.partitioning import Identity, PartitionField, PartitionSpec
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortOrder
from lakewright.model.types import Field, Primitive
from lakewright.protocols import Clock
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds
from lakewright.table import Table
from lakewright.testing.steady import FixedClock
from tests.catalogs.rest_server import RestServer
from tests.in_process_engine import InProcessEngine

NAME = "sales.orders"
COLUMNS = Schema((Field(1, "id", Primitive.LONG), Field(2, "region", Primitive.STRING)))
BY_REGION = PartitionSpec(0, (PartitionField(2, 1000, "region", Identity()),))
NO_PROPERTIES: Mapping[str, str] = {}


class Writer:
    """Opens the catalog as `connect` does; its clock does not really wait."""

    def __init__(self, server: RestServer, clock: Clock | None = None, **properties: str) -> None:
        self.clock, self.ids = clock or FixedClock(), RandomIds()
        catalog = open_catalog("shop", server.properties(**properties))
        self.store = Storage.of({key: str(value) for key, value in catalog.properties.items()}, {})
        self.catalog = RestTables.of(catalog, partial(self.store.vending, clock=self.clock), self.clock)
        self.source = IcebergSource(self.catalog, self.store, self.clock, self.ids)

    def format(self, name: str = NAME) -> IcebergTable:
        return self.source.open(name)

    def table(self, name: str = NAME) -> Table:
        return Table(name, self.format(name), InProcessEngine(self.store), self.clock, self.ids)

    def create(
        self,
        name: str = NAME,
        properties: Mapping[str, str] = NO_PROPERTIES,
        *,
        format_version: int = 2,
        location: str | None = None,
        spec: PartitionSpec = BY_REGION,
    ) -> Table:
        self.source.create(name, NewTable(COLUMNS, spec, SortOrder(), format_version, properties, location))
        return self.table(name)

    def ids_in(self, name: str = NAME) -> list[int]:
        found: Any = self.table(name).to_df()
        return sorted(found.column("id").to_pylist())


def rows(*ids: int) -> pa.Table:
    """Rows of two partitions, when there are at least two."""
    return pa.table({"id": pa.array(ids, pa.int64()), "region": ["EU" if each % 2 else "US" for each in ids]})


def files_below(places: Iterable[str]) -> set[str]:
    return {stored.location for place in places for stored in Storage().list(place)}
