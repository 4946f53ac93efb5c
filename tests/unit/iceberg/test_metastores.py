"""Do pyiceberg's catalogs keep the pointer to a table's newest metadata as we rely on?"""

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.catalog.sql import SqlCatalog

from lakewright.errors import InvalidRequest, Unsupported
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.metastore import MetastoreTables, open_catalog, split_name
from lakewright.formats.iceberg.records.metadata import render_metadata
from lakewright.model.changes import AppendFiles, Committed, Taken, UpgradeFormat
from lakewright.protocols import MetadataCommit
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds, SystemClock
from lakewright.testing.tables import TableBuilder, listed_files
from tests.object_store_server import BUCKET, ObjectStoreServer

Opened = Callable[[], MetastoreTables]
NAMES = (
    "sales.orders",
    "sales.ord ers",
    "sales.100%",
    "sales.a#b",
    "sales.a+b=c",
    "sales.größe",
    "a.b.c.deep",
    "sales._",
)


@pytest.fixture
def sql(tmp_path: Path) -> Opened:
    """Each call opens the catalog as another process would."""
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
    return lambda: MetastoreTables(open_catalog("a catalog", properties), Storage())


@pytest.fixture
def glue(object_store_server: ObjectStoreServer, tmp_path: Path) -> Opened:
    settings = {**object_store_server.settings, "type": "glue", "warehouse": f"s3://{BUCKET}/{tmp_path.name}"}
    return lambda: MetastoreTables(open_catalog("a glue", settings), Storage.of(settings, {}))


def source_of(tables: MetastoreTables) -> IcebergSource:
    return IcebergSource(tables, tables.store, SystemClock(), RandomIds())


def live_rows(source: IcebergSource, name: str) -> list[int]:
    table = source.open(name)
    snapshot = table.snapshot(table.head())
    read = listed_files(snapshot, table, source.store)
    return sorted(file.record_count for file in read)


@pytest.mark.parametrize(
    ("owner", "name", "parameters"),
    [
        (
            MetastoreCatalog,
            "_update_and_stage_table",
            ["self", "current_table", "table_identifier", "requirements", "updates"],
        ),
        (MetastoreCatalog, "_write_metadata", ["metadata", "io", "metadata_path"]),
        (MetastoreCatalog, "_load_file_io", ["self", "properties", "location"]),
        (MetastoreCatalog, "_resolve_table_location", ["self", "location", "database_name", "table_name"]),
        (GlueCatalog, "_write_metadata_no_exist_check", ["metadata", "io", "metadata_path"]),
        (SqlCatalog, "_create_table_row", ["self", "namespace", "table_name", "metadata_location"]),
    ],
)
def test_a_private_name_that_we_use_takes_what_we_give(owner: type, name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(owner, name)).parameters) == parameters


class TestSql:
    def test_a_row_of_the_sql_catalog_has_the_columns_that_its_own_tables_have(self, sql: Opened) -> None:
        tables = sql()
        TableBuilder(source_of(tables)).create("sales.orders")
        loaded = tables.catalog.load_table("sales.orders")
        assert loaded.metadata_location == tables.load("sales.orders").location
        assert tables.catalog.list_tables("sales") == [("sales", "orders")]

    @pytest.mark.parametrize("name", NAMES)
    def test_a_name_may_have_unusual_characters(self, sql: Opened, name: str) -> None:
        builder = TableBuilder(source_of(sql()))
        builder.append_rows(builder.create(name), 3)
        assert live_rows(source_of(sql()), name) == [3]
        assert sql().tables() == (name,)
        sql().drop(name)
        assert sql().tables() == ()

    @pytest.mark.parametrize("name", ["orders", "", ".", "sales.", ".orders", "sales..orders"])
    def test_a_name_without_a_namespace_or_a_word_is_refused(self, sql: Opened, name: str) -> None:
        with pytest.raises(InvalidRequest, match=r"a name has a namespace, such as sales\.orders"):
            sql().load(name)

    def test_a_name_that_does_not_exist_lists_the_nearest(self, sql: Opened) -> None:
        builder = TableBuilder(source_of(sql()))
        builder.create("sales.orders")
        builder.create("people.cities")
        with pytest.raises(InvalidRequest, match=r"there is no table sales\.order in catalog a catalog.*sales\.orders"):
            sql().load("sales.order")
        with pytest.raises(InvalidRequest, match=r"sales\.orders"):
            sql().drop("sales.order")

    def test_the_tables_of_all_namespaces_are_listed_in_order(self, sql: Opened) -> None:
        builder = TableBuilder(source_of(sql()))
        for name in ("z.t", "a.b.t", "a.t", "a.b.c.t"):
            builder.create(name)
        assert sql().tables() == ("a.b.c.t", "a.b.t", "a.t", "z.t")

    def test_namespaces_that_differ_by_a_wildcard_only_are_kept_apart(self, sql: Opened) -> None:
        builder = TableBuilder(source_of(sql()))
        builder.append_rows(builder.create("a_c.t"), 1)
        builder.append_rows(builder.create("abc.t"), 2)
        assert (live_rows(source_of(sql()), "a_c.t"), live_rows(source_of(sql()), "abc.t")) == ([1], [2])
        assert sql().tables() == ("a_c.t", "abc.t")

    def test_catalogs_that_share_a_database_are_kept_apart(self, sql: Opened, tmp_path: Path) -> None:
        TableBuilder(source_of(sql())).create("sales.orders")
        uri = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/other"}
        other = MetastoreTables(open_catalog("another", uri), Storage())
        assert other.tables() == ()
        TableBuilder(source_of(other)).create("sales.orders")
        other.drop("sales.orders")
        assert sql().tables() == ("sales.orders",)

    def test_a_catalog_without_a_place_for_tables_says_so(self, tmp_path: Path) -> None:
        tables = MetastoreTables(open_catalog("bare", {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db"}), Storage())
        with pytest.raises(InvalidRequest, match=r"no place for sales\.orders: set its warehouse"):
            tables.location_for("sales.orders")

    def test_a_catalog_that_cannot_be_opened_is_refused_by_name(self) -> None:
        with pytest.raises(InvalidRequest, match="catalog 'odd' cannot be opened"):
            open_catalog("odd", {"type": "no such type"})

    def test_threads_may_make_tables_of_one_new_namespace(self, sql: Opened) -> None:
        tables = sql()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: TableBuilder(source_of(tables)).create(f"new.t{number}"), range(8)))
        assert tables.tables() == tuple(f"new.t{number}" for number in range(8))


class TestGlue:
    """Stands for Hive, too: both let `swap_staged` commit."""

    @pytest.mark.parametrize(("version", "codec"), [(2, "gzip"), (3, "none")])
    def test_a_table_is_made_appended_to_and_dropped(self, glue: Opened, version: int, codec: str) -> None:
        builder, name = TableBuilder(source_of(glue())), f"db{version}{codec}.orders"
        codec_property = {"write.metadata.compression-codec": codec}
        table = builder.create(name, format_version=version, properties=codec_property)
        builder.append_rows(table, 1, 2)
        builder.append_rows(table, 3)
        another = source_of(glue())
        assert live_rows(another, name) == [1, 2, 3]
        head = another.open(name).head()
        assert head.metadata.format_version == version
        assert head.token.endswith(".gz.metadata.json") == (codec == "gzip")
        assert name in builder.source.tables()
        builder.source.drop(name)
        assert name not in builder.source.tables()

    def test_the_metadata_is_ours_byte_for_byte(self, glue: Opened) -> None:
        """What pyiceberg's models do not know stays, and version 3 is written, which pyiceberg cannot."""
        builder = TableBuilder(source_of(glue()))
        table = builder.create("bytes.orders", format_version=3)
        staged = table.stage(table.head(), AppendFiles((builder.file(table, 1),), 0))
        document = {**staged.commit.document, "not-in-any-specification": {"kept": True}}
        tables = glue()
        assert tables.swap("bytes.orders", replace(staged.commit, describe=lambda: document)) == Committed()
        newest = tables.load("bytes.orders").location
        assert tables.store.read(newest) == render_metadata(document, compressed=False)
        builder.append_rows(table, 2)
        assert tables.load("bytes.orders").document["not-in-any-specification"] == {"kept": True}

    def test_metadata_that_pyiceberg_does_not_understand_is_refused_and_nothing_is_swapped(self, glue: Opened) -> None:
        source = source_of(glue())
        table = TableBuilder(source).create("odd.orders")
        staged = table.stage(table.head(), UpgradeFormat(3))
        odd = {**staged.commit.document, "statistics": "of no kind"}
        with pytest.raises(Unsupported, match=r"odd\.orders cannot go through catalog a glue: pyiceberg"):
            table.publish(replace(staged, commit=replace(staged.commit, describe=lambda: odd)))
        assert table.head().metadata.format_version == 2
        source.store.write(table.head().token, render_metadata(odd, compressed=False))
        with pytest.raises(Unsupported, match=r"odd\.orders cannot go through catalog a glue: pyiceberg"):
            table.head()

    def test_the_second_of_two_on_one_base_is_taken_and_the_first_said_again_is_committed(self, glue: Opened) -> None:
        source = source_of(glue())
        builder = TableBuilder(source)
        table = builder.create("race.orders")
        head = table.head()
        first, second = (table.stage(head, AppendFiles((builder.file(table, rows),), 0)) for rows in (1, 2))
        assert table.publish(first) == Committed()
        assert table.publish(first) == Committed()
        assert table.publish(second) == Taken()
        assert live_rows(source, "race.orders") == [1]

    def test_a_table_that_was_dropped_meanwhile_is_not_made_again(self, glue: Opened) -> None:
        source = source_of(glue())
        table = TableBuilder(source).create("gone.orders")
        staged = table.stage(table.head(), UpgradeFormat(3))
        source.drop("gone.orders")
        assert table.publish(staged) == Taken()
        with pytest.raises(InvalidRequest, match=r"there is no table gone\.orders"):
            table.head()

    def test_a_name_that_is_taken_is_refused(self, glue: Opened) -> None:
        builder = TableBuilder(source_of(glue()))
        builder.append_rows(builder.create("taken.orders"), 1)
        with pytest.raises(InvalidRequest, match=r"taken\.orders exists already"):
            builder.create("taken.orders")
        assert live_rows(builder.source, "taken.orders") == [1]

    def test_threads_that_swap_through_one_catalog_object_do_not_get_in_each_others_way(self, glue: Opened) -> None:
        source = source_of(glue())
        builder = TableBuilder(source)
        for number in range(4):
            builder.create(f"threads.t{number}")

        def append(number: int) -> None:
            own = TableBuilder(source)
            for rows in (10 * number + 1, 10 * number + 2):
                own.append_rows(source.open(f"threads.t{number}"), rows)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(append, range(4)))
        for number in range(4):
            assert live_rows(source, f"threads.t{number}") == [10 * number + 1, 10 * number + 2]

    def test_a_swap_leaves_the_catalog_object_as_it_was(self, glue: Opened) -> None:
        tables = glue()
        before = dict(vars(tables.catalog))
        TableBuilder(source_of(tables)).create("untouched.orders")
        assert vars(tables.catalog) == before


def test_the_number_of_metadata_files_goes_up_whoever_wrote_the_last(sql: Opened) -> None:
    tables = sql()
    tables.location_for("numbers.any")
    for base, expected in ((None, "00000-u"), ("s3://b/00041-x.metadata.json", "00042-u"), ("s3://b/odd", "00000-u")):
        place = tables.catalog.properties["warehouse"] + "/numbers"
        commit = MetadataCommit(base, "u", (), (), lambda place=place: {"location": place})
        tables.swap("numbers.any", commit)
        written = f"{place}/metadata/{expected}.metadata.json"
        assert tables.store.exists(written)
        tables.abandon(commit)
        assert not tables.store.exists(written)


def test_a_name_is_split_at_its_last_dot() -> None:
    assert split_name("a.b.c") == (("a", "b"), "c")
