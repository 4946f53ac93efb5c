"""Do names, namespaces, tokens, prefixes and signatures of REST catalogs work as pyiceberg configures them?"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import lakewright
from lakewright.errors import InvalidRequest, Unsupported
from tests.catalogs.rest_server import Fault, RestServer
from tests.catalogs.writers import NAME, Writer, rows


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestServer]:
    with RestServer(f"file://{tmp_path}/warehouse") as running:
        yield running


def test_connect_finds_out_that_a_catalog_is_one_of_these(server: RestServer) -> None:
    lake = lakewright.connect(catalog={"name": "shop", "uri": server.uri})
    orders = lake.create_table_as(NAME, rows(1, 2), partitioned_by=["region"], sorted_by=["id"], format_version=3)
    orders.append(rows(3))
    assert lake.tables() == (NAME,)
    assert lake.table(NAME).history()[-1].summary["total-records"] == "3"
    made = server.metadata(NAME)
    assert [field["transform"] for field in made["partition-specs"][0]["fields"]] == ["identity"]
    assert [field["direction"] for field in made["sort-orders"][0]["fields"]] == ["asc"]
    assert (made["default-sort-order-id"], made["format-version"], made["next-row-id"]) == (1, 3, 3)
    lake.drop_table(NAME)
    assert lake.tables() == ()


@pytest.mark.parametrize("name", ["sales.orders", "eu.shop.orders", "a b.ü%20y", "a b.c%d e.orders"])
def test_a_table_of_any_name_is_made_with_its_namespaces(server: RestServer, name: str) -> None:
    writer = Writer(server)
    writer.create(name).append(rows(1))
    assert writer.ids_in(name) == [1]
    assert writer.catalog.tables() == (name,)
    writer.source.drop(name)
    assert server.tables == {}


def test_all_tables_of_all_namespaces_are_listed_over_all_pages(server: RestServer) -> None:
    names = {*(f"sales.t{number}" for number in range(5)), "eu.north.orders", "eu.orders"}
    writer = Writer(server)
    for name in names:
        writer.create(name)
    assert set(writer.catalog.tables()) == names


def test_a_name_that_is_not_there_is_refused_with_the_nearest(server: RestServer) -> None:
    writer = Writer(server)
    writer.create("sales.orders")
    for action in (writer.format("sales.ordres").head, lambda: writer.source.drop("sales.ordres")):
        with pytest.raises(InvalidRequest, match=r"no table sales\.ordres in catalog shop.*sales\.orders"):
            action()
    with pytest.raises(InvalidRequest, match=r"no table sale\.orders in catalog shop.*sales"):
        writer.format("sale.orders").head()
    with pytest.raises(InvalidRequest, match="has a namespace"):
        writer.format("orders").head()


def test_a_table_goes_where_it_is_told_to(server: RestServer, tmp_path: Path) -> None:
    writer = Writer(server)
    writer.create(location=f"file://{tmp_path}/elsewhere/").append(rows(1))
    assert server.metadata(NAME)["location"] == f"file://{tmp_path}/elsewhere"
    assert writer.ids_in() == [1]


def test_a_server_that_makes_another_format_version_than_asked_for_is_refused(server: RestServer) -> None:
    server.newest_version = 2
    with pytest.raises(Unsupported, match=r"makes tables of format version 2 where 3 .*was not made"):
        Writer(server).create(format_version=3)
    assert server.tables == {}


def test_a_server_that_takes_no_commits_says_so_before_anything_is_written(server: RestServer) -> None:
    Writer(server).create()
    server.endpoints = ["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"]
    with pytest.raises(Unsupported, match="catalog shop says that it takes no commits"):
        Writer(server).table().append(rows(1))


def test_a_token_that_expires_is_renewed_and_the_request_repeated(server: RestServer) -> None:
    server.token = "first"
    writer = Writer(server, credential="id:secret", **{"oauth2-server-uri": f"{server.uri}/v1/oauth/tokens"})
    table = writer.create()
    server.token = "second"
    table.append(rows(1))
    assert writer.ids_in() == [1]


def test_whom_the_server_does_not_know_it_does_not_let_in(server: RestServer) -> None:
    server.token = "right"
    with pytest.raises(InvalidRequest, match=r"catalog .shop. cannot be opened: .*who are you"):
        Writer(server, token="wrong")
    writer = Writer(server, token="right")
    writer.create()
    server.token = "another"
    with pytest.raises(InvalidRequest, match=r"refused to load table sales\.orders: 401 .*who are you"):
        writer.format().head()


SIGNED = {
    "rest.sigv4-enabled": "true",
    "rest.signing-region": "eu-central-1",
    "rest.signing-name": "glue",
    "client.access-key-id": "AKIA",
    "client.secret-access-key": "secret",
    "client.region": "eu-central-1",
}


@pytest.mark.parametrize(
    ("properties", "header", "start"),
    [
        ({"token": "t"}, "Authorization", "Bearer t"),
        ({"header.X-Tenant": "shop-7"}, "X-Tenant", "shop-7"),
        ({}, "X-Iceberg-Access-Delegation", "vended-credentials"),
        ({"header.X-Iceberg-Access-Delegation": "none"}, "X-Iceberg-Access-Delegation", "none"),
        (SIGNED, "Authorization", "AWS4-HMAC-SHA256 Credential=AKIA/"),
    ],
    ids=["token", "header", "delegation", "no_delegation", "signature"],
)
def test_every_request_carries_what_was_configured(
    server: RestServer, properties: Mapping[str, str], header: str, start: str
) -> None:
    Writer(server, **properties).create().append(rows(1))
    assert server.commits() == 1
    assert all(sent.get(header, "").startswith(start) for sent in server.headers)


def test_the_prefix_that_a_server_gives_is_part_of_every_address(server: RestServer) -> None:
    server.config = {"prefix": "shop"}
    writer = Writer(server)
    writer.create("eu.sales.orders").append(rows(1))
    assert writer.catalog.tables() == ("eu.sales.orders",)
    assert writer.ids_in("eu.sales.orders") == [1]


def test_a_redirected_commit_does_not_pass_for_one_that_was_made(server: RestServer) -> None:
    table = Writer(server).create()
    server.faults.append(Fault.REDIRECT)
    with pytest.raises(InvalidRequest, match="302"):
        table.append(rows(1))
    assert table.history() == ()
