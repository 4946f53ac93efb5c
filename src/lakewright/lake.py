"""Which adapters stand behind a lake? connect() picks catalog, engine and store; nothing else names an adapter."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from lakewright.errors import CommitUnknown, InvalidRequest, LakewrightError
from lakewright.model.types import Field
from lakewright.operations import create_table
from lakewright.planning.ddl import parse_columns
from lakewright.protocols import Catalog, Clock, Engine, Ids, ObjectStore
from lakewright.system_clock import RandomIds, SystemClock
from lakewright.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakewright.formats.iceberg.adapter import IcebergSource
    from lakewright.protocols import Rows

_DEFAULT_FOLDER = "lakehouse"
_DEFAULT_NAME = "lakehouse"


@dataclass(frozen=True)
class Lake:
    """Tables by name and by location, and the session that works on them."""

    _source: "IcebergSource" = field(repr=False)
    _engine: Engine = field(repr=False)
    _session: Any = field(repr=False)
    _clock: Clock = field(repr=False)
    _ids: Ids = field(repr=False)

    def table(self, name: str) -> Table:
        """A table of the catalog, such as sales.orders; refused with the nearest names when there is none."""
        found = self._source.open(name)
        found.head()
        return self._handle(name, found)

    def open(self, location: str, *, guess: bool = False) -> Table:
        """A table by where it lies: a metadata file, or a folder of `vN.metadata.json` files.

        A folder with `NNNNN-<uuid>.metadata.json` files only has no truth without its catalog. With `guess` the newest
        file is read, committed or not; such a table cannot be written.
        """
        found = self._source.open_location(location, guess=guess)
        found.head()
        return self._handle(location.rstrip("/"), found)

    def tables(self) -> tuple[str, ...]:
        """The names of all tables of the catalog."""
        return self._source.tables()

    def create_table(
        self,
        name: str,
        schema: "str | StructType | Rows",
        *,
        partitioned_by: Sequence[str] = (),
        sorted_by: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        format_version: int = 2,
        location: str | None = None,
    ) -> Table:
        """Make a table without rows. A name with a slash is a location, and makes a folder that is its own catalog.

        The schema is DDL text, a Spark StructType, or a DataFrame whose columns are taken.
        """
        request = create_table.CreateTable(
            columns=self._columns(schema),
            partitioned_by=_texts(partitioned_by),
            sorted_by=_texts(sorted_by),
            properties=properties or {},
            format_version=format_version,
            location=location,
        )
        new_table = create_table.prepare(request, case_sensitive=self._engine.is_case_sensitive())
        return self._handle(name, self._source.create(name, new_table))

    def create_table_as(
        self,
        name: str,
        rows: "Rows",
        *,
        partitioned_by: Sequence[str] = (),
        sorted_by: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        format_version: int = 2,
        location: str | None = None,
    ) -> Table:
        """Make a table of the rows' own columns and append them.

        The table is dropped again if that certainly failed and nobody else has written to it since.
        """
        table = self.create_table(
            name,
            rows,
            partitioned_by=partitioned_by,
            sorted_by=sorted_by,
            properties=properties,
            format_version=format_version,
            location=location,
        )
        try:
            table.append(rows)
        except CommitUnknown:
            raise
        except BaseException:
            with suppress(OSError, LakewrightError):
                if not table.history():
                    self.drop_table(name)
            raise
        return table

    def drop_table(self, name: str) -> None:
        """Make the catalog forget a table, or a folder no longer be one. Its data files stay where they are."""
        self._source.drop(name)

    @property
    def spark(self) -> "SparkSession":
        """The session; a local one is started when there is none yet."""
        session: SparkSession = self._session.spark
        return session

    def _handle(self, name: str, found: Any) -> Table:
        return Table(name, found, self._engine, self._clock, self._ids)

    def _columns(self, schema: Any) -> tuple[Field, ...]:
        if isinstance(schema, str):
            return parse_columns(schema)
        if type(schema).__name__ == "StructType" and hasattr(schema, "fields"):
            from lakewright.engine.spark.types import columns_of_schema

            return columns_of_schema(schema).fields
        return self._engine.columns_of(schema).fields


def connect(
    *,
    spark: "SparkSession | None" = None,
    catalog: str | Mapping[str, str] | None = None,
    moved: Mapping[str, str] | None = None,
) -> Lake:
    """Connect to a lake; nothing is started before it is needed.

    Without arguments: a local Spark session, a SQLite catalog and a warehouse under ./lakehouse. `spark` is any session,
    classic or Connect. `catalog` is the name of a catalog in pyiceberg's own configuration, or its properties with a
    "name"; with "type": "folder" and a "warehouse", tables are folders below the warehouse. `moved` maps prefixes of
    recorded locations to where the objects lie now.
    """
    from lakewright.engine.spark.engine import SparkEngine
    from lakewright.engine.spark.session import Session
    from lakewright.formats.iceberg.adapter import IcebergSource
    from lakewright.storage.locations import Storage

    name, properties = _catalog_properties(catalog)
    clock, ids, session = SystemClock(), RandomIds(), Session(spark)
    if properties.get("type") in ("folder", "hadoop"):
        store: ObjectStore = Storage.of(properties, moved or {})
        tables = _folder_catalog(properties, store)
    else:
        tables, store = _named_catalog(name, properties, moved or {}, clock)
    return Lake(IcebergSource(tables, store, clock, ids), SparkEngine(session, store, clock), session, clock, ids)


def _catalog_properties(catalog: str | Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
    if catalog is None:
        folder = os.path.abspath(_DEFAULT_FOLDER)
        os.makedirs(folder, exist_ok=True)
        defaults = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/warehouse"}
        return _DEFAULT_NAME, defaults
    if isinstance(catalog, str):
        return catalog, {}
    properties = {key: str(value) for key, value in catalog.items()}
    name = properties.pop("name", None)
    if name is None:
        raise InvalidRequest("catalog properties need a name, such as {'name': 'prod', 'type': 'sql', 'uri': …}")
    return name, properties


def _folder_catalog(properties: Mapping[str, str], store: ObjectStore) -> Any:
    from lakewright.formats.iceberg.catalog import FolderCatalog

    if "warehouse" not in properties:
        raise InvalidRequest("a catalog of type folder needs a warehouse: the folder in which its tables are")
    return FolderCatalog(store, properties["warehouse"])


def _named_catalog(
    name: str, properties: dict[str, str], moved: Mapping[str, str], clock: Clock
) -> "tuple[Catalog, ObjectStore]":
    """What pyiceberg adds to the catalog's configuration, from files and the environment, reaches the store too."""
    from lakewright.formats.iceberg.metastore import MetastoreTables, open_catalog
    from lakewright.formats.iceberg.rest import RestTables, is_rest
    from lakewright.storage.locations import Storage

    catalog = open_catalog(name, properties)
    store = Storage.of({key: str(value) for key, value in catalog.properties.items()}, moved)
    if is_rest(catalog):
        return RestTables.of(catalog, partial(store.vending, clock=clock), clock), store
    return MetastoreTables(catalog, store), store


def _texts(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
