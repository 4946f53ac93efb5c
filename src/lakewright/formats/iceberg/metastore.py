"""How do pyiceberg's catalogs hold the pointer to a table's newest metadata?

pyiceberg's own commit cannot write version 3 and drops what its models do not know, so metadata files are written by us
and only the pointer goes through pyiceberg. This is the one module that reaches into pyiceberg's private names:
`_update_and_stage_table`, `_write_metadata`, `_load_file_io` and `_resolve_table_location` of its metastore catalogs,
`_write_metadata_no_exist_check` of the Glue one, and `_create_table_row` of the SQL one. Tests run each of them on the
supported version.
"""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from pyiceberg.catalog import Catalog as PyIcebergCatalog
from pyiceberg.catalog import MetastoreCatalog, load_catalog
from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    RESTError,
    TableAlreadyExistsError,
    ValidationError,
)
from pyiceberg.table import StagedTable
from pyiceberg.table.metadata import TableMetadataUtil
from requests import RequestException
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from lakewright.errors import InvalidRequest, LakewrightError, Unsupported
from lakewright.formats.iceberg.catalog import MetadataFile, is_written, read_newest, remove_obsolete
from lakewright.formats.iceberg.records.metadata import parse_metadata, render_metadata
from lakewright.model.changes import Committed, PublishOutcome, Taken, Unknown
from lakewright.model.schema import nearest
from lakewright.protocols import MetadataCommit, NewestMetadata, ObjectStore

_COMMITTING = frozenset({"SqlCatalog", "HiveCatalog", "GlueCatalog"})
"""By name, because the packages of some need not be there. pyiceberg's others cannot commit to a table."""
_NUMBER = re.compile(r"(\d+)-")


def open_catalog(name: str, properties: Mapping[str, str]) -> PyIcebergCatalog:
    """A catalog as pyiceberg configures it: by its name in the user's configuration, or by properties."""
    try:
        return load_catalog(name, **properties)
    except (ValueError, ImportError, RESTError, RequestException) as error:
        raise InvalidRequest(f"catalog {name!r} cannot be opened: {error}") from error


class _MovedOn(Exception):
    """The catalog points elsewhere than at the base of a swap."""


@dataclass(frozen=True)
class MetastoreTables:
    """The tables of one metastore catalog."""

    catalog: PyIcebergCatalog
    store: ObjectStore

    @property
    def read_only_because(self) -> str | None:
        if any(kind.__name__ in _COMMITTING for kind in type(self.catalog).__mro__):
            return None
        return f"catalog {self.catalog.name} is a {type(self.catalog).__name__}; committing through it is not supported"

    def tables(self) -> tuple[str, ...]:
        names = {
            ".".join(identifier)
            for namespace in self._namespaces(())
            for identifier in self.catalog.list_tables(namespace)
        }
        return tuple(sorted(names))

    def load(self, name: str) -> NewestMetadata:
        return read_newest(self._known_location(name), name, self.store)

    def location_for(self, name: str) -> str:
        namespace, table = split_name(name)
        metastore = self._metastore()
        self._ensure_namespace(namespace)
        try:
            return str(metastore._resolve_table_location(None, ".".join(namespace), table)).rstrip("/")
        except ValueError as error:
            raise InvalidRequest(f"catalog {self.catalog.name} has no place for {name}: set its warehouse") from error

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        new_location, content = _placed(commit)
        self.store.write(new_location, content)
        try:
            if isinstance(self.catalog, SqlCatalog):
                swapped = self._swap_sql(self.catalog, name, commit.base, new_location)
            else:
                swapped = swap_staged(self._metastore(), name, commit.base, new_location, content)
        except (_MovedOn, CommitFailedException, NoSuchTableError, TableAlreadyExistsError, IntegrityError):
            swapped = False
        except LakewrightError:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever a client of a remote catalog raises, its answer is lost
            return Unknown(f"{type(error).__name__}: {error}")
        if swapped:
            return Committed()
        return Committed() if self._location(name) == new_location else Taken()

    def includes(self, commit: MetadataCommit, newest: NewestMetadata) -> bool:
        return is_written(commit, *_placed(commit), newest)

    def abandon(self, commit: MetadataCommit) -> None:
        self.store.delete(_placed(commit)[0])

    def clean_up(self, commit: MetadataCommit) -> None:
        remove_obsolete(commit, _placed(commit)[0], self.store)

    def drop(self, name: str) -> None:
        """The catalog forgets the table; its files stay."""
        self._known_location(name)
        namespace, table = split_name(name)
        self.catalog.drop_table((*namespace, table))

    def _known_location(self, name: str) -> str:
        location = self._location(name)
        if location is None:
            raise InvalidRequest(
                f"there is no table {name} in catalog {self.catalog.name}; {nearest(name, self.tables())}"
            )
        return location

    def _location(self, name: str) -> str | None:
        namespace, table = split_name(name)
        if isinstance(self.catalog, SqlCatalog):
            wanted = select(IcebergTables.metadata_location).where(*_row(self.catalog, namespace, table))
            with Session(self.catalog.engine) as session:
                return session.execute(wanted).scalar_one_or_none()
        try:
            return self.catalog.load_table((*namespace, table)).metadata_location
        except (NoSuchTableError, NoSuchNamespaceError):
            return None
        except ValidationError as error:
            raise _beyond_pyiceberg(self.catalog, name, error) from error

    def _swap_sql(self, catalog: SqlCatalog, name: str, base: str | None, new_location: str) -> bool:
        namespace, table = split_name(name)
        values = {"metadata_location": new_location, "previous_metadata_location": base}
        with Session(catalog.engine) as session:
            if base is None:
                row = catalog._create_table_row(".".join(namespace), table, new_location)
                session.execute(insert(IcebergTables).values(**row))
                session.commit()
                return True
            current = update(IcebergTables).where(
                *_row(catalog, namespace, table), IcebergTables.metadata_location == base
            )
            result: Any = session.execute(current.values(**values))
            session.commit()
            return bool(result.rowcount)

    def _metastore(self) -> MetastoreCatalog:
        if isinstance(self.catalog, MetastoreCatalog) and self.read_only_because is None:
            return self.catalog
        raise Unsupported(str(self.read_only_because))

    def _ensure_namespace(self, namespace: tuple[str, ...]) -> None:
        for depth in range(1, len(namespace) + 1):
            try:
                self.catalog.create_namespace(namespace[:depth])
            except (NamespaceAlreadyExistsError, IntegrityError):
                continue

    def _namespaces(self, parent: tuple[str, ...]) -> list[tuple[str, ...]]:
        found = [tuple(namespace) for namespace in self.catalog.list_namespaces(parent)]
        below = [inner for namespace in found if namespace != parent for inner in self._namespaces(namespace)]
        return found + below


def swap_staged(catalog: MetastoreCatalog, name: str, base: str | None, new_location: str, content: bytes) -> bool:
    """Let a metastore catalog commit metadata that is already written, with its own locks and its own columns.

    `commit_table` of these catalogs asks `_update_and_stage_table` for the new metadata and one of the others to write it;
    a copy of the catalog answers with ours, so that threads can share the catalog itself.
    """
    namespace, table = split_name(name)
    metadata = parse_metadata(new_location, content)
    try:
        theirs = TableMetadataUtil.parse_raw(render_metadata(metadata.document, compressed=False).decode())
    except ValidationError as error:
        raise _beyond_pyiceberg(catalog, name, error) from error
    io = catalog._load_file_io(dict(metadata.properties), new_location)
    staged = StagedTable((*namespace, table), theirs, new_location, io, catalog)

    def stage(current: Any, *_: Any) -> StagedTable:
        if (None if current is None else current.metadata_location) != base:
            raise _MovedOn
        return staged

    ours: Any = copy(catalog)
    ours._update_and_stage_table = stage
    ours._write_metadata = ours._write_metadata_no_exist_check = lambda *_, **__: None
    ours.commit_table(staged, (), ())
    return True


def _placed(commit: MetadataCommit) -> tuple[str, bytes]:
    """In the folder that the table names, under the number after its predecessor's."""
    file = MetadataFile.of(commit)
    digits = _NUMBER.match((commit.base or "").rpartition("/")[2])
    number = int(digits[1]) + 1 if digits else 0
    return f"{file.folder}/{number:05d}-{commit.unique}{file.ending}", file.content


def _beyond_pyiceberg(catalog: PyIcebergCatalog, name: str, error: ValidationError) -> Unsupported:
    return Unsupported(
        f"table {name} cannot go through catalog {catalog.name}: pyiceberg, which speaks to it, does not understand the "
        f"table's metadata: {error}"
    )


def split_name(name: str) -> tuple[tuple[str, ...], str]:
    *namespace, table = name.split(".")
    if not namespace or not all((*namespace, table)):
        raise InvalidRequest(f"{name!r} does not name a table; a name has a namespace, such as sales.orders")
    return tuple(namespace), table


def _row(catalog: SqlCatalog, namespace: tuple[str, ...], table: str) -> tuple[Any, ...]:
    return (
        IcebergTables.catalog_name == catalog.name,
        IcebergTables.table_namespace == ".".join(namespace),
        IcebergTables.table_name == table,
    )
