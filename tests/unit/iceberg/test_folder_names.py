"""Which names can a table in a folder have, and where does it lie?"""

from pathlib import Path

import pytest

from lakewright.errors import InvalidRequest
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog, version_number
from lakewright.storage.locations import Storage
from lakewright.testing.steady import CountingIds, FixedClock
from lakewright.testing.tables import TableBuilder
from tests.unit.iceberg.test_metastores import NAMES, live_rows


def source_at(warehouse: str | None) -> IcebergSource:
    store = Storage()
    return IcebergSource(FolderCatalog(store, warehouse), store, FixedClock(), CountingIds())


@pytest.mark.parametrize("name", [*NAMES, "orders", "v1", "metadata", "data"])
def test_a_name_may_have_unusual_characters(tmp_path: Path, name: str) -> None:
    source = source_at(f"file://{tmp_path}/a wärehouse %20#")
    builder = TableBuilder(source)
    builder.append_rows(builder.create(name), 3)
    assert live_rows(source, name) == [3]
    assert source.tables() == (name,)
    place = f"file://{tmp_path}/a wärehouse %20#/{name.replace('.', '/')}"
    assert source.open(name).head().metadata.table_location == place
    opened = source.open_location(place, guess=False)
    assert opened.head().token == source.open(name).head().token
    source.drop(name)
    assert source.tables() == ()


@pytest.mark.parametrize("name", ["", ".", "sales.", ".orders", "sales..orders"])
def test_a_name_that_lacks_a_word_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="a name is a word, or words with dots between them"):
        source_at(str(tmp_path)).open(name).head()


def test_a_name_with_a_slash_is_a_location(tmp_path: Path) -> None:
    source = source_at(None)
    builder = TableBuilder(source)
    builder.append_rows(builder.create(f"{tmp_path}/a place"), 2)
    assert live_rows(source, f"{tmp_path}/a place") == [2]
    assert (tmp_path / "a place" / "metadata" / "v2.metadata.json").exists()
    assert source.tables() == ()


def test_without_a_warehouse_a_name_means_nothing() -> None:
    with pytest.raises(InvalidRequest, match="'orders' is not the location of a table"):
        source_at(None).open("orders").head()


def test_metadata_that_goes_elsewhere_is_refused_because_nobody_would_find_it(tmp_path: Path) -> None:
    builder = TableBuilder(source_at(str(tmp_path)))
    with pytest.raises(InvalidRequest, match=r"leave out location and write\.metadata\.path"):
        builder.create("orders", properties={"write.metadata.path": f"{tmp_path}/elsewhere"})
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize(
    ("name", "number"), [("v7.metadata.json", 7), ("v10.gz.metadata.json", 10), ("v8.metadata.json.gz", 8)]
)
def test_a_version_is_read_from_its_name(name: str, number: int) -> None:
    assert version_number(f"s3://b/t/metadata/{name}") == number
