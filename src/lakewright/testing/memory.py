"""What behaves as an object store does, and keeps nothing? For tests within one process."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from threading import Lock
from types import TracebackType
from typing import BinaryIO, Self, cast

from lakewright.protocols import StoredObject


@dataclass(frozen=True)
class MemoryStore:
    """Any text is a location. Threads may share it; a copy that is sent to another process would be another store."""

    objects: dict[str, bytes] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def read(self, location: str) -> bytes:
        with self._lock:
            if location in self.objects:
                return self.objects[location]
        raise FileNotFoundError(f"{location} does not exist")

    def open(self, location: str) -> BinaryIO:
        return BytesIO(self.read(location))

    def create(self, location: str) -> BinaryIO:
        return cast(BinaryIO, _Sink(self, location))

    def write(self, location: str, content: bytes) -> None:
        with self._lock:
            self.objects[location] = bytes(content)

    def put_if_absent(self, location: str, content: bytes) -> bool:
        with self._lock:
            if location in self.objects:
                return False
            self.objects[location] = bytes(content)
            return True

    def exists(self, location: str) -> bool:
        with self._lock:
            return location in self.objects

    def actual(self, location: str) -> str:
        return location

    def list(self, prefix: str) -> Iterator[StoredObject]:
        folder = f"{prefix.rstrip('/')}/"
        with self._lock:
            found = {location: len(content) for location, content in self.objects.items()}
        yield from (
            StoredObject(location, found[location]) for location in sorted(found) if location.startswith(folder)
        )

    def delete(self, location: str) -> None:
        with self._lock:
            self.objects.pop(location, None)


class _Sink(BytesIO):
    """The object appears when this is closed, unless it is left by an exception."""

    def __init__(self, store: MemoryStore, location: str) -> None:
        super().__init__()
        self._store = store
        self._location = location

    def close(self) -> None:
        if not self.closed:
            self._store.write(self._location, self.getvalue())
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            super().close()

    def __del__(self) -> None:
        """Forgotten is not closed: a writer that died leaves no object."""
        super().close()
