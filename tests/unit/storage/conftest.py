"""Which stores are held to the promises of `ObjectStore`?"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakewright.protocols import ObjectStore
from lakewright.storage.local import LocalStore
from lakewright.storage.locations import Storage
from lakewright.storage.objects import RemoteObjects
from lakewright.testing.memory import MemoryStore
from tests.object_store_server import BUCKET, ObjectStoreServer


@dataclass(frozen=True)
class Place:
    """A store, and a folder in it that is empty."""

    store: ObjectStore
    folder: str
    is_sent_as_a_value: bool = True


def memory(_: pytest.FixtureRequest, __: Path) -> Place:
    return Place(MemoryStore(), "memory://somewhere/folder", is_sent_as_a_value=False)


def local(_: pytest.FixtureRequest, root: Path) -> Place:
    return Place(LocalStore(), f"{root}/folder")


def local_url(_: pytest.FixtureRequest, root: Path) -> Place:
    return Place(Storage(), f"file://{root}/folder")


def moved(_: pytest.FixtureRequest, root: Path) -> Place:
    return Place(Storage.of({}, {"s3://old/place": f"{root}/new place"}), "s3://old/place/folder")


def remote(request: pytest.FixtureRequest, root: Path) -> Place:
    server: ObjectStoreServer = request.getfixturevalue("object_store_server")
    return Place(RemoteObjects(tuple(sorted(server.settings.items()))), f"s3://{BUCKET}/{root.name}/folder")


def moved_to_remote(request: pytest.FixtureRequest, root: Path) -> Place:
    server: ObjectStoreServer = request.getfixturevalue("object_store_server")
    store = Storage.of(server.settings, {"hdfs://old": f"s3a://{BUCKET}/{root.name}/new"})
    return Place(store, "hdfs://old/folder")


@pytest.fixture(params=[memory, local, local_url, moved, remote, moved_to_remote], ids=lambda made: made.__name__)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    make: Callable[[pytest.FixtureRequest, Path], Place] = request.param
    return make(request, tmp_path)
