"""Are a table's objects reached with what its catalog handed out for them, and with nothing else?"""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from lakewright.protocols import Credentials
from lakewright.storage.vended import Vended, choose
from lakewright.testing.steady import FixedClock
from tests.catalogs.bucket import Bucket
from tests.catalogs.rest_metadata import Json
from tests.catalogs.rest_server import RestServer
from tests.catalogs.writers import NAME, Writer, rows

LATER_MS = FixedClock().ms + 3_600_000


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with Bucket() as running:
        yield running


@pytest.fixture
def server(bucket: Bucket) -> Iterator[RestServer]:
    with RestServer("s3://shop/wh", files=bucket) as running:
        yield running


def writer(server: RestServer, bucket: Bucket, **properties: str) -> Writer:
    return Writer(server, **{"s3.endpoint": bucket.endpoint, "s3.region": "eu-central-1"}, **properties)


def key(name: str, *, expires_at_ms: int = LATER_MS) -> Json:
    return {
        "s3.access-key-id": name,
        "s3.secret-access-key": "secret",
        "s3.session-token": "token",
        "s3.session-token-expires-at-ms": str(expires_at_ms),
    }


@pytest.mark.parametrize("under", ["config", "storage-credentials"])
def test_a_table_is_written_and_read_with_what_the_catalog_hands_out(
    server: RestServer, bucket: Bucket, under: str
) -> None:
    def vend(location: str) -> Json:
        return {under: key("ours") if under == "config" else [{"prefix": location, "config": key("ours")}]}

    bucket.opens["ours/token"] = "s3://shop/wh/sales/"
    server.vend = vend
    user = writer(server, bucket)
    user.create(format_version=3).append(rows(1, 2))
    assert user.ids_in() == [1, 2]
    assert bucket.refused == []
    assert all(location.startswith("s3://shop/wh/sales/") for location in bucket.objects)


def test_two_tables_are_reached_with_a_key_each(server: RestServer, bucket: Bucket) -> None:
    server.vend = lambda location: {"config": key(location.rpartition("/")[2].partition("-")[0])}
    bucket.opens |= {"orders/token": "s3://shop/wh/sales/orders-", "items/token": "s3://shop/wh/sales/items-"}
    user = writer(server, bucket)
    for name in ("sales.orders", "sales.items"):
        user.create(name).append(rows(1))
    assert (user.ids_in("sales.orders"), user.ids_in("sales.items"), bucket.refused) == ([1], [1], [])


def test_what_is_handed_out_goes_before_what_was_configured(server: RestServer, bucket: Bucket) -> None:
    """A key without a token is not used with the token of another key, and a setting has two names."""
    handed_out = {"s3.access-key-id": "ours", "s3.secret-access-key": "secret", "client.region": "eu-north-1"}
    server.vend = lambda location: {
        "config": key("wide"),
        "storage-credentials": [{"prefix": location, "config": handed_out}],
    }
    bucket.opens["ours/"] = "s3://shop/"
    user = writer(server, bucket, **{"client.access-key-id": "mine", "client.session-token": "mine"})
    user.create().append(rows(1))
    assert (user.ids_in(), bucket.refused, bucket.regions) == ([1], [], {"eu-north-1"})


def test_what_was_configured_serves_where_nothing_is_handed_out(server: RestServer, bucket: Bucket) -> None:
    bucket.opens["mine/"] = "s3://shop/"
    user = writer(server, bucket, **{"s3.access-key-id": "mine", "s3.secret-access-key": "secret"})
    user.create().append(rows(1))
    assert (user.ids_in(), bucket.refused) == ([1], [])


def test_every_operation_has_credentials_of_its_own(server: RestServer, bucket: Bucket) -> None:
    handed_out = iter(range(100))

    def vend(_: str) -> Json:
        name = f"key{next(handed_out)}"
        bucket.opens.clear()
        bucket.opens[f"{name}/token"] = "s3://shop/"
        return {"config": key(name)}

    server.vend = vend
    user = writer(server, bucket)
    user.create()
    head = user.format().head()
    user.format().store(head).write("s3://shop/wh/x", b"x")
    later = user.format().head()
    user.format().store(later).write("s3://shop/wh/y", b"y")
    with pytest.raises(OSError, match="s3://shop/wh/x"):
        user.format().store(head).read("s3://shop/wh/x")


TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"


@pytest.mark.parametrize("endpoint", ["orders", "orders/credentials"])
def test_a_worker_asks_anew_when_its_credentials_have_expired(
    server: RestServer, bucket: Bucket, endpoint: str
) -> None:
    """By the endpoint for credentials where the server has one, otherwise by loading the table."""
    if endpoint == "orders/credentials":
        server.endpoints = [f"GET {TABLE}", f"POST {TABLE}", f"GET {TABLE}/credentials"]
    current = [key("old")]
    server.vend = lambda location: {"storage-credentials": [{"prefix": location, "config": current[0]}]}
    bucket.opens["old/token"] = "s3://shop/"
    user = writer(server, bucket)
    user.create().append(rows(1))
    store = user.format().store(user.format().head())
    user.clock.sleep(3_600)
    current[0] = key("new", expires_at_ms=LATER_MS + 3_600_000)
    bucket.opens = {"new/token": "s3://shop/"}
    server.requests.clear()
    location = server.metadata(NAME)["snapshots"][0]["manifest-list"]
    sent = pickle.dumps(store)
    for _ in range(2):
        assert pickle.loads(sent).read(location) == bucket.objects[location]
    assert bucket.refused == []
    assert [path for _, path, _ in server.requests] == ["/v1/config", f"/v1/namespaces/sales/tables/{endpoint}"]


@dataclass(frozen=True)
class Source:
    """Hands out credentials that end at a time of its own, or fails."""

    name: str
    expires_at_ms: int | None

    def __call__(self) -> tuple[Credentials, ...]:
        asked.append(self.name)
        if self.expires_at_ms is None:
            raise ConnectionError("nobody is there")
        return (Credentials("s3://shop/", (("s3.access-key-id", self.name),), self.expires_at_ms),)


asked: list[str] = []


@dataclass(frozen=True)
class At:
    """A clock that stands."""

    ms: int
    slept: list[float] = field(default_factory=list, compare=False)

    def now_ms(self) -> int:
        return self.ms

    def seconds(self) -> float:
        return self.ms / 1000

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


OLD = Credentials("s3://shop/", (("s3.access-key-id", "old"),), 100_000)


@pytest.mark.parametrize(
    ("now_ms", "source", "key_used"),
    [
        (0, Source("never asked", None), "old"),
        (100_000, Source("asked", 200_000), "asked"),
        (80_000, Source("asked a little before", 200_000), "asked a little before"),
    ],
    ids=lambda value: value.name if isinstance(value, Source) else None,
)
def test_credentials_are_renewed_shortly_before_they_end(now_ms: int, source: Source, key_used: str) -> None:
    vended = Vended((OLD,), source, At(now_ms))
    for _ in range(2):
        assert dict(vended.settings_for("s3://shop/a", ()))["s3.access-key-id"] == key_used
    assert asked.count(source.name) == (0 if key_used == "old" else 1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [(Source("unreachable", None), "nobody is there"), (Source("stale", 100_000), "have expired already")],
    ids=lambda value: value.name if isinstance(value, Source) else None,
)
def test_expired_credentials_that_cannot_be_renewed_say_so(source: Source, reason: str) -> None:
    with pytest.raises(OSError, match=rf"s3://shop/a: .*{reason}.*run it again"):
        Vended((OLD,), source, At(100_000)).settings_for("s3://shop/a", ())


@pytest.mark.parametrize(
    ("location", "chosen"),
    [
        ("s3://shop/a/b/c", ["", "s3://shop/a/b"]),
        ("s3a://shop/a/b/c", ["", "s3://shop/a/b"]),
        ("s3://shop/a/x", ["", "s3://shop/a"]),
        ("s3://other/a", [""]),
        ("gs://shop/a", [""]),
    ],
)
def test_the_longest_prefix_of_a_location_wins(location: str, chosen: list[str]) -> None:
    given = tuple(Credentials(prefix, ()) for prefix in ("s3://shop/a/b", "", "s3://shop/a", "gs://other/"))
    assert [each.prefix for each in choose(given, location)] == chosen
