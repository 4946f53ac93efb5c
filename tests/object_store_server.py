"""Where do tests find S3 and Glue? In a server on this machine, begun by the first test that asks for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

_REGION = "us-east-1"
BUCKET = "a-bucket"


@dataclass(frozen=True)
class ObjectStoreServer:
    """Its address, and what a catalog is told to reach it."""

    endpoint: str

    @property
    def settings(self) -> dict[str, str]:
        keys = {"access-key-id": "anybody", "secret-access-key": "anything", "region": _REGION}
        return {
            **{f"{service}.{key}": value for service in ("s3", "glue") for key, value in keys.items()},
            "s3.endpoint": self.endpoint,
            "glue.endpoint": self.endpoint,
        }


@pytest.fixture(scope="session")
def object_store_server() -> Iterator[ObjectStoreServer]:
    """One for the run, with one bucket."""
    from moto.server import ThreadedMotoServer  # only here: it takes long, and few tests ask for it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = ObjectStoreServer(f"http://{host}:{port}")
    _put(f"{found.endpoint}/{BUCKET}")
    yield found
    server.stop()


def _put(url: str) -> None:
    try:
        with urlopen(Request(url, method="PUT"), timeout=30):
            return
    except HTTPError as error:
        pytest.fail(f"the server did not make the bucket: {error}")
