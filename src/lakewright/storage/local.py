"""How are objects kept in a folder of this machine, or of a file system that is mounted here?"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import BinaryIO, Self, cast

from pyarrow import OSFile

from lakewright.protocols import StoredObject

_SCHEMES = ("file://", "file:")


@dataclass(frozen=True)
class LocalStore:
    """Locations are literal paths, with `file:` before them or not: nothing in them is an escape."""

    def read(self, location: str) -> bytes:
        return Path(local_path(location)).read_bytes()

    def open(self, location: str) -> BinaryIO:
        """Arrow's own file: its reader needs no Python for each block."""
        return cast(BinaryIO, OSFile(local_path(location), "rb"))

    def create(self, location: str) -> BinaryIO:
        return cast(BinaryIO, _WholeFile(_with_folder(location)))

    def write(self, location: str, content: bytes) -> None:
        with self.create(location) as sink:
            sink.write(content)

    def put_if_absent(self, location: str, content: bytes) -> bool:
        """A hard link is made only if the name is free, and the name shows the whole content at once."""
        path = _with_folder(location)
        with NamedTemporaryFile(dir=path.parent, prefix=".lakewright-", delete=False) as temporary:
            temporary.write(content)
        try:
            os.link(temporary.name, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary.name)
        return True

    def actual(self, location: str) -> str:
        return location

    def exists(self, location: str) -> bool:
        return os.path.isfile(local_path(location))

    def list(self, prefix: str) -> Iterator[StoredObject]:
        root = local_path(prefix).rstrip("/")
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                size = os.path.getsize(path)
                yield StoredObject(prefix.rstrip("/") + path[len(root) :], size)

    def delete(self, location: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(local_path(location))


def local_path(location: str) -> str:
    """The path that a location names on this machine."""
    for scheme in _SCHEMES:
        if location.startswith(scheme):
            path = location[len(scheme) :]
            return path if path.startswith("/") else f"/{path}"
    return location


def is_local(location: str) -> bool:
    return "://" not in location or location.startswith("file://")


def _with_folder(location: str) -> Path:
    path = Path(local_path(location))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


class _WholeFile:
    """A file that bears its name once it is complete; left by an exception, it is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.part")
        self._file = open(self._temporary, "wb")  # noqa: SIM115 -- closed by close or discard

    def write(self, content: bytes) -> int:
        return self._file.write(content)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            os.replace(self._temporary, self._path)

    def discard(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._temporary.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
