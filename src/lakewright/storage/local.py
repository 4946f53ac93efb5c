"""How are objects kept in a folder of this machine, or of a file system that is mounted here?"""

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from pyarrow import OSFile

from lakewright.protocols import StoredObject

_SCHEMES = ("file://", "file:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_UNFINISHED = re.compile(r"\.lakewright-\d+-\d+\.part")
_NUMBERS = count()


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
        descriptor, unfinished = _open_unfinished(path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.link(unfinished, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(unfinished)
        return True

    def actual(self, location: str) -> str:
        return location

    def exists(self, location: str) -> bool:
        return os.path.isfile(local_path(location))

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """What a dead process left unfinished is no object, nor is what vanishes while we look."""
        root = local_path(prefix).rstrip("/")
        for path, size in _files(root or "/"):
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
    return location.startswith("file://") or not _SCHEME.match(location)


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """All files below a folder with their sizes, in the order of their paths."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: f"{entry.name}/" if entry.is_dir() else entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in found:
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _files(entry.path)
        elif not _UNFINISHED.fullmatch(entry.name):
            with contextlib.suppress(FileNotFoundError):
                yield entry.path, entry.stat().st_size


def _with_folder(location: str) -> Path:
    path = Path(local_path(location))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _open_unfinished(folder: Path) -> tuple[int, str]:
    """A new file under a name that nobody else uses, with the permissions that the user's files have."""
    for number in _NUMBERS:
        path = str(folder / f".lakewright-{os.getpid()}-{number}.part")
        with contextlib.suppress(FileExistsError):
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), path
    raise OSError(f"there is no free name in {folder}")


class _WholeFile:
    """A file that bears its name once it is complete; left by an exception, it is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        descriptor, self._unfinished = _open_unfinished(path.parent)
        self._file = os.fdopen(descriptor, "wb")

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
        if self._file.closed:
            return
        try:
            self._file.close()
            os.replace(self._unfinished, self._path)
        except BaseException:
            self._remove()
            raise

    def discard(self) -> None:
        if not self._file.closed:
            try:
                self._file.close()
            finally:
                self._remove()

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._unfinished)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
