"""Where do the bytes of a location lie?"""

import os
import stat
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.request import urlopen

import pytest

from lakewright.errors import Unsupported
from lakewright.storage.local import LocalStore, is_local, local_path
from lakewright.storage.locations import Storage
from lakewright.storage.objects import REMOTE_SCHEMES, RemoteObjects
from tests.object_store_server import BUCKET, ObjectStoreServer
from tests.unit.storage.test_promises import UNUSUAL_NAMES


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/a/b c%20d#e", "/a/b c%20d#e"),
        ("file:///a/b c%20d#e", "/a/b c%20d#e"),
        ("file:/a/b", "/a/b"),
        ("file://a/b", "/a/b"),
        ("a:b/c", "a:b/c"),
    ],
)
def test_a_local_location_names_a_literal_path(location: str, path: str) -> None:
    assert is_local(location)
    assert local_path(location) == path


@pytest.mark.parametrize("location", ["s3://b/k", "gs://b/k", "hdfs://host/k", "abfss://c@a.dfs.core.windows.net/k"])
def test_a_url_of_another_scheme_is_not_local(location: str) -> None:
    assert not is_local(location)


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_all_spellings_of_s3_reach_the_same_objects(
    scheme: str, object_store_server: ObjectStoreServer, tmp_path: Path
) -> None:
    store = Storage.of(object_store_server.settings, {})
    place = f"://{BUCKET}/{tmp_path.name}"
    store.write(f"s3{place}/x", b"one object")
    assert store.read(f"{scheme}{place}/x") == b"one object"
    assert [each.location for each in store.list(f"{scheme}{place}")] == [f"{scheme}{place}/x"]


@pytest.mark.parametrize(
    ("location", "settings"),
    [
        ("gs://a-bucket/x", {}),
        (
            "abfss://container@account.dfs.core.windows.net/x",
            {"adls.account-name": "account", "adls.account-key": "a2V5"},
        ),
        (
            "abfs://container@account.dfs.core.windows.net/x",
            {"adls.account-name": "account", "adls.account-key": "a2V5"},
        ),
        ("az://container/x", {"adls.account-name": "account", "adls.account-key": "a2V5"}),
    ],
)
def test_a_client_is_made_for_every_scheme(location: str, settings: dict[str, str]) -> None:
    """Making one needs no connection; a name that the library does not take is an error here."""
    sink = RemoteObjects(tuple(settings.items())).create(location)
    with pytest.raises(KeyError), sink:
        raise KeyError
    assert location.partition("://")[0] in REMOTE_SCHEMES


@pytest.mark.parametrize("location", ["hdfs://host/x", "ftp://host/x", "memory://x/y"])
def test_a_scheme_that_is_not_reached_is_refused_by_name(location: str) -> None:
    with pytest.raises(
        Unsupported, match=f"{location} has scheme {location.partition(':')[0]}; supported are local files, abfs"
    ):
        Storage().read(location)


def test_another_failure_of_a_remote_store_is_an_error_of_the_system_that_names_the_location(
    object_store_server: ObjectStoreServer,
) -> None:
    store = Storage.of(object_store_server.settings, {})
    for act in (
        lambda: store.write("s3://no-such-bucket/x", b"1"),
        lambda: store.put_if_absent("s3://no-such-bucket/x", b"1"),
        lambda: store.read("s3://no-such-bucket/x"),
    ):
        with pytest.raises(OSError, match="s3://no-such-bucket/x"):
            act()


@pytest.mark.parametrize(
    ("location", "actual"),
    [
        ("s3://old", "/everything"),
        ("s3://old/x", "/everything/x"),
        ("s3://old/place", "/one"),
        ("s3://old/place/x", "/one/x"),
        ("s3://old/place/deep/x", "gs://b/two/x"),
        ("s3://old/places/x", "/everything/places/x"),
        ("s3://older/x", "s3://older/x"),
        ("/one/x", "/one/x"),
    ],
)
@pytest.mark.parametrize("ending", ["", "/"])
def test_the_longest_moved_prefix_counts(location: str, actual: str, ending: str) -> None:
    moved = {
        f"s3://old{ending}": f"/everything{ending}",
        f"s3://old/place/deep{ending}": f"gs://b/two{ending}",
        f"s3://old/place{ending}": f"/one{ending}",
    }
    for order in (moved, dict(reversed(moved.items()))):
        assert Storage.of({}, order).actual(location) == actual


@pytest.mark.parametrize("name", UNUSUAL_NAMES)
def test_a_path_of_this_machine_is_named_as_its_location_says(tmp_path: Path, name: str) -> None:
    LocalStore().write(f"file://{tmp_path}/{name}", b"1")
    found = [os.path.join(folder, file) for folder, _, files in os.walk(tmp_path) for file in files]
    assert found == [f"{tmp_path}/{name}"]


def test_a_key_is_what_its_location_says(object_store_server: ObjectStoreServer, tmp_path: Path) -> None:
    """Other engines look for it there."""
    store = RemoteObjects(tuple(sorted(object_store_server.settings.items())))
    for name in UNUSUAL_NAMES:
        store.write(f"s3://{BUCKET}/{tmp_path.name}/{name}", b"1")
    with urlopen(f"{object_store_server.endpoint}/{BUCKET}?list-type=2&prefix={tmp_path.name}/", timeout=30) as answer:
        keys = [node.text or "" for node in ET.fromstring(answer.read()).iter() if node.tag.endswith("Key")]
    assert sorted(keys) == sorted(f"{tmp_path.name}/{name}" for name in UNUSUAL_NAMES)


def test_what_a_dead_process_left_unfinished_is_no_object(tmp_path: Path) -> None:
    sink = LocalStore().create(f"{tmp_path}/x")
    sink.write(b"half")
    assert len(list(tmp_path.iterdir())) == 1
    assert list(LocalStore().list(str(tmp_path))) == []


def test_nothing_unfinished_is_left_beside_what_was_written(tmp_path: Path) -> None:
    store = LocalStore()
    store.write(f"{tmp_path}/x", b"1")
    store.put_if_absent(f"{tmp_path}/x", b"2")
    store.put_if_absent(f"{tmp_path}/y", b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]


def test_a_file_has_the_permissions_that_the_users_files_have(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    expected = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    LocalStore().write(f"{tmp_path}/written", b"1")
    LocalStore().put_if_absent(f"{tmp_path}/put", b"1")
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("written", "put")} == {expected}
