"""How are objects kept in S3, Google Cloud Storage or Azure? Through Rust's object_store, with conditional puts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import SEEK_CUR, SEEK_END, SEEK_SET, BufferedIOBase
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import ObjectStore as RemoteStore
from obstore.store import from_url

from lakewright.protocols import StoredObject

_WRITE_BUFFER_BYTES = 10 << 20
_S3_SETTINGS = {
    "s3.endpoint": "endpoint",
    "s3.access-key-id": "access_key_id",
    "s3.secret-access-key": "secret_access_key",
    "s3.session-token": "session_token",
    "s3.region": "region",
    "client.access-key-id": "access_key_id",
    "client.secret-access-key": "secret_access_key",
    "client.session-token": "session_token",
    "client.region": "region",
}
_GCS_SETTINGS = {"gcs.service-account-key": "service_account_key"}
_AZURE_SETTINGS = {
    "adls.account-name": "account_name",
    "adls.account-key": "account_key",
    "adls.sas-token": "sas_token",
    "adls.tenant-id": "tenant_id",
    "adls.client-id": "client_id",
    "adls.client-secret": "client_secret",
}
_SETTINGS_BY_SCHEME: Mapping[str, Mapping[str, str]] = {
    "s3": _S3_SETTINGS,
    "s3a": _S3_SETTINGS,
    "s3n": _S3_SETTINGS,
    "gs": _GCS_SETTINGS,
    "abfs": _AZURE_SETTINGS,
    "abfss": _AZURE_SETTINGS,
    "az": _AZURE_SETTINGS,
}
_URL_SCHEMES = {"s3n": "s3a"}
"""Old names that the library does not know."""
REMOTE_SCHEMES = frozenset(_SETTINGS_BY_SCHEME)


@dataclass(frozen=True)
class RemoteObjects:
    """Locations are URLs; settings have the names that Iceberg catalogs use, such as `s3.endpoint`."""

    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def read(self, location: str) -> bytes:
        store, key = self._reach(location)
        with _as_os_errors(location):
            return bytes(obstore.get(store, key).bytes())

    def open(self, location: str) -> BinaryIO:
        store, key = self._reach(location)
        with _as_os_errors(location):
            size = obstore.head(store, key)["size"]
        return cast(BinaryIO, _RangeReader(store, key, location, size))

    def create(self, location: str) -> BinaryIO:
        """A multipart upload: nothing is visible before it is completed."""
        store, key = self._reach(location)
        with _as_os_errors(location):
            return cast(BinaryIO, _Upload(obstore.open_writer(store, key, buffer_size=_WRITE_BUFFER_BYTES), location))

    def write(self, location: str, content: bytes) -> None:
        store, key = self._reach(location)
        with _as_os_errors(location):
            obstore.put(store, key, content)

    def put_if_absent(self, location: str, content: bytes) -> bool:
        store, key = self._reach(location)
        with _as_os_errors(location):
            try:
                obstore.put(store, key, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    def actual(self, location: str) -> str:
        return location

    def exists(self, location: str) -> bool:
        store, key = self._reach(location)
        try:
            with _as_os_errors(location):
                obstore.head(store, key)
        except FileNotFoundError:
            return False
        return True

    def list(self, prefix: str) -> Iterator[StoredObject]:
        store, key = self._reach(prefix)
        root = prefix.rstrip("/")[: len(prefix.rstrip("/")) - len(key.rstrip("/"))]
        with _as_os_errors(prefix):
            found = [meta for batch in obstore.list(store, key.rstrip("/")) for meta in batch]
        for meta in sorted(found, key=lambda meta: meta["path"]):
            yield StoredObject(f"{root}{meta['path']}", meta["size"])

    def delete(self, location: str) -> None:
        store, key = self._reach(location)
        try:
            with _as_os_errors(location):
                obstore.delete(store, key)
        except FileNotFoundError:
            return

    def _reach(self, location: str) -> tuple[RemoteStore, str]:
        scheme, _, rest = location.partition("://")
        bucket, _, key = rest.partition("/")
        return _store(f"{_URL_SCHEMES.get(scheme, scheme)}://{bucket}", scheme, self.settings), key


class _RangeReader(BufferedIOBase):
    """Asks for exactly the bytes that are read: Arrow knows best which it needs."""

    def __init__(self, store: RemoteStore, key: str, location: str, size: int) -> None:
        super().__init__()
        self._store = store
        self._key = key
        self._location = location
        self._size = size
        self._position = 0

    def read(self, size: int | None = -1, /) -> bytes:
        rest = max(0, self._size - self._position)
        length = rest if size is None or size < 0 else min(size, rest)
        if length == 0:
            return b""
        with _as_os_errors(self._location):
            content = bytes(obstore.get_range(self._store, self._key, start=self._position, length=length))
        self._position += len(content)
        return content

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        origin = {SEEK_SET: 0, SEEK_CUR: self._position, SEEK_END: self._size}[whence]
        self._position = origin + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def size(self) -> int:
        return self._size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


class _Upload:
    """A sink that counts; left by an exception, the upload is given up."""

    def __init__(self, inner: "obstore.WritableFile", location: str) -> None:
        self._inner = inner
        self._location = location
        self._written = 0
        self._is_open = True

    def write(self, content: bytes) -> int:
        with _as_os_errors(self._location):
            self._inner.write(content)
        self._written += len(content)
        return len(content)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Parts are sent as they fill up."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def closed(self) -> bool:
        return not self._is_open

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with _as_os_errors(self._location):
                self._inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._is_open:
            self._is_open = False
            with _as_os_errors(self._location):
                self._inner.__exit__(kind, error, trace)


@lru_cache(maxsize=64)
def _store(root: str, scheme: str, settings: tuple[tuple[str, str], ...]) -> RemoteStore:
    """One client for each bucket and set of credentials; it keeps its connections."""
    names = _SETTINGS_BY_SCHEME[scheme]
    config = {names[name]: value for name, value in settings if name in names}
    config |= _for_one_account(root, settings)
    endpoint = config.get("endpoint", "")
    options = {"allow_http": True} if endpoint.startswith("http://") else {}
    token = dict(settings).get("gcs.oauth2.token") if scheme == "gs" else None
    provider = None if token is None else lambda: {"token": token, "expires_at": None}
    make: Any = from_url
    return cast(RemoteStore, make(root, config=config, client_options=options, credential_provider=provider))


def _for_one_account(root: str, settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """A signature that a catalog hands out for Azure names its account, or the host of it."""
    host = root.partition("@")[2]
    named = (f"adls.sas-token.{host}", f"adls.sas-token.{host.partition('.')[0]}")
    tokens = [value for name, value in settings if host and name in named]
    return {"sas_token": tokens[0]} if tokens else {}


@contextmanager
def _as_os_errors(location: str) -> Iterator[None]:
    """The errors that every object store of ours raises."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise FileNotFoundError(f"{location} does not exist") from error
    except AlreadyExistsError:
        raise
    except (BaseError, ValueError) as error:
        raise OSError(f"{location}: {error}") from error
