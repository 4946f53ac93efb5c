"""Which store holds a location? The one place where settings, schemes and moved prefixes are known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from lakewright.errors import Unsupported
from lakewright.protocols import Clock, Credentials, CredentialSource, ObjectStore, StoredObject
from lakewright.storage.local import LocalStore, is_local, local_path
from lakewright.storage.objects import REMOTE_SCHEMES, RemoteObjects
from lakewright.storage.vended import Vended


@dataclass(frozen=True)
class Storage:
    """All stores behind one face. It is a value and travels to workers.

    `moved` maps prefixes of recorded locations to where the objects lie now, longest first. Only the way to the bytes
    changes: recorded locations stay as they are everywhere else, so that records which name the same file still agree.
    A prefix on this machine may be spelled with `file:` or without, whichever way the records do it.
    """

    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    moved: tuple[tuple[str, str], ...] = ()
    vended: Vended | None = None
    """What the catalog handed out for the one table that this is the store of."""

    @classmethod
    def of(cls, settings: Mapping[str, str], moved: Mapping[str, str]) -> "Storage":
        pairs = ((_plain(old).rstrip("/"), new.rstrip("/")) for old, new in moved.items())
        return cls(tuple(sorted(settings.items())), tuple(sorted(pairs, key=lambda pair: -len(pair[0]))))

    def vending(self, credentials: tuple[Credentials, ...], source: CredentialSource, clock: Clock) -> "Storage":
        """The store of one table; this very store when the catalog handed out nothing."""
        return replace(self, vended=Vended(credentials, source, clock)) if credentials else self

    def read(self, location: str) -> bytes:
        return self._at(location).read(self.actual(location))

    def open(self, location: str) -> BinaryIO:
        return self._at(location).open(self.actual(location))

    def create(self, location: str) -> BinaryIO:
        return self._at(location).create(self.actual(location))

    def write(self, location: str, content: bytes) -> None:
        self._at(location).write(self.actual(location), content)

    def put_if_absent(self, location: str, content: bytes) -> bool:
        return self._at(location).put_if_absent(self.actual(location), content)

    def exists(self, location: str) -> bool:
        return self._at(location).exists(self.actual(location))

    def list(self, prefix: str) -> Iterator[StoredObject]:
        actual = self.actual(prefix).rstrip("/")
        for stored in self._at(prefix).list(actual):
            yield StoredObject(prefix.rstrip("/") + stored.location[len(actual) :], stored.size_bytes)

    def delete(self, location: str) -> None:
        self._at(location).delete(self.actual(location))

    def actual(self, location: str) -> str:
        """Where the bytes of a recorded location lie."""
        if not self.moved:
            return location
        plain = _plain(location)
        for old, new in self.moved:
            if plain == old or plain.startswith(f"{old}/"):
                return new + plain[len(old) :]
        return location

    def _at(self, location: str) -> ObjectStore:
        actual = self.actual(location)
        if is_local(actual):
            return LocalStore()
        scheme = actual.partition("://")[0]
        if scheme in REMOTE_SCHEMES:
            return RemoteObjects(
                self.settings if self.vended is None else self.vended.settings_for(actual, self.settings)
            )
        known = ", ".join(sorted(REMOTE_SCHEMES))
        raise Unsupported(f"location {location} has scheme {scheme}; supported are local files, {known}")


def _plain(location: str) -> str:
    return local_path(location) if is_local(location) else location
