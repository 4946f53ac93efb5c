"""Which of pyiceberg's catalogs can be written through, and is it said before anything happens that others cannot?"""

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.dynamodb import DynamoDbCatalog
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.catalog.sql import SqlCatalog

from lakewright.errors import Unsupported
from lakewright.formats.iceberg.metastore import MetastoreTables
from lakewright.storage.locations import Storage


def tables_of(kind: type[Catalog]) -> MetastoreTables:
    """The catalog reaches nobody: what it can do is known from its kind."""
    catalog = kind.__new__(kind)
    catalog.name, catalog.properties = "c", {}
    return MetastoreTables(catalog, Storage())


@pytest.mark.parametrize("kind", [SqlCatalog, InMemoryCatalog, GlueCatalog])
def test_catalogs_with_a_commit_can_be_written(kind: type[Catalog]) -> None:
    assert tables_of(kind).read_only_because is None


@pytest.mark.parametrize("kind", [DynamoDbCatalog, NoopCatalog])
def test_catalogs_without_a_commit_are_read_only(kind: type[Catalog]) -> None:
    tables = tables_of(kind)
    reason = f"catalog c is a {kind.__name__}; committing through it is not supported"
    assert tables.read_only_because == reason
    with pytest.raises(Unsupported, match=reason):
        tables.location_for("s.t")
