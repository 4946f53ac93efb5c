"""Which metadata file is a table's newest, and how does the next one take its place?

Two kinds of catalog. A *metastore* (SQL, Hive, Glue, …) keeps a pointer to the newest of many `NNNNN-<uuid>.metadata.json`
files and swaps it. A *folder* is its own catalog: the newest is the `vN.metadata.json` with the highest N, and to write the
next one first is to win.
"""

import re
from dataclasses import dataclass

from lakewright.errors import CorruptTable, InvalidRequest, Unsupported
from lakewright.model.changes import Committed, PublishOutcome, Taken, Unknown
from lakewright.protocols import ObjectStore, TablePointer

_NUMBERED = re.compile(r"v(\d+)((?:\.gz)?\.metadata\.json(?:\.gz)?)")
_METASTORE_FILE = re.compile(r"(\d+)-[^/]*\.metadata\.json(?:\.gz)?|\d+-[^/]*\.gz\.metadata\.json")
_HINT = "version-hint.text"
_PLAIN, _GZIP = ".metadata.json", ".gz.metadata.json"


@dataclass(frozen=True)
class FolderCatalog:
    """Tables by the location of their folder; below `warehouse`, when there is one, also by name."""

    store: ObjectStore
    warehouse: str | None = None
    read_only_because: str | None = None

    def tables(self) -> tuple[str, ...]:
        if self.warehouse is None:
            return ()
        root = self.warehouse.rstrip("/")
        roots = {
            stored.location[len(root) + 1 :].rpartition("/metadata/")[0]
            for stored in self.store.list(root)
            if _NUMBERED.fullmatch(stored.location.rpartition("/")[2])
        }
        return tuple(sorted(folder.replace("/", ".") for folder in roots))

    def load(self, name: str) -> TablePointer:
        root = self.location_for(name)
        versions = self._versions(root)
        if not versions:
            raise self._nothing_there(root)
        return TablePointer(versions[max(versions)])

    def location_for(self, name: str) -> str:
        if "/" in name:
            return name.rstrip("/")
        if self.warehouse is None:
            raise InvalidRequest(f"{name!r} is not the location of a table; a location has a slash in it")
        return "/".join([self.warehouse.rstrip("/"), *name.split(".")])

    def next_metadata_location(self, base: TablePointer, metadata_folder: str, unique: str, *, compressed: bool) -> str:
        number = 1 if base.metadata_location is None else version_number(base.metadata_location) + 1
        return f"{metadata_folder}/v{number}{_GZIP if compressed else _PLAIN}"

    def swap(self, name: str, base: TablePointer, new_location: str, content: bytes) -> PublishOutcome:
        """Both names of a version count, so the other one must be free as well."""
        folder, number = new_location.rpartition("/")[0], version_number(new_location)
        other = f"{folder}/v{number}{_PLAIN if new_location.endswith(_GZIP) else _GZIP}"
        try:
            if self.store.exists(other) or not self.store.put_if_absent(new_location, content):
                return Committed() if self._is_ours(new_location, content) else Taken()
        except OSError as error:
            return Unknown(str(error))
        self._hint(folder, number)
        return Committed()

    def drop(self, name: str) -> None:
        """The metadata is what makes the folder a table; newest first, so that no older version comes to light."""
        versions = self._versions(self.location_for(name))
        if not versions:
            raise self._nothing_there(self.location_for(name))
        for number in sorted(versions, reverse=True):
            self.store.delete(versions[number])

    def _is_ours(self, location: str, content: bytes) -> bool:
        try:
            return self.store.read(location) == content
        except FileNotFoundError:
            return False

    def _versions(self, root: str) -> dict[int, str]:
        found: dict[int, str] = {}
        for stored in self.store.list(f"{root}/metadata"):
            folder, _, file_name = stored.location.rpartition("/")
            numbered = _NUMBERED.fullmatch(file_name)
            if numbered and folder == f"{root}/metadata":
                number = int(numbered[1])
                if number in found:
                    raise CorruptTable(f"{found[number]} and {stored.location} are both version {number} of one table")
                found[number] = stored.location
        return found

    def _nothing_there(self, root: str) -> InvalidRequest:
        files = [stored.location for stored in self.store.list(f"{root}/metadata")]
        if any(_METASTORE_FILE.fullmatch(location.rpartition("/")[2]) for location in files):
            return InvalidRequest(
                f"{root} has only metadata files that a catalog points to; which of them is the newest committed one, only "
                "its catalog knows. Open it through the catalog, name a metadata file, or pass guess=True to read the "
                "newest one there is"
            )
        return InvalidRequest(f"there is no table at {root}: no metadata/vN.metadata.json below it")

    def _hint(self, folder: str, number: int) -> None:
        """Other readers look here first, and search upwards from it; a stale hint is only slower."""
        try:
            self.store.write(f"{folder}/{_HINT}", str(number).encode())
        except OSError:
            return


@dataclass(frozen=True)
class FixedMetadata:
    """One metadata file, as it is: there is nothing to swap."""

    location: str

    def tables(self) -> tuple[str, ...]:
        return ()

    def load(self, name: str) -> TablePointer:
        return TablePointer(self.location)

    @property
    def read_only_because(self) -> str:
        return (
            f"{self.location} was opened as a metadata file, which is one version for ever; open the table by its name in "
            "its catalog, or by its folder, to change it"
        )

    def location_for(self, name: str) -> str:
        raise Unsupported(self.read_only_because)

    def next_metadata_location(self, base: TablePointer, metadata_folder: str, unique: str, *, compressed: bool) -> str:
        raise Unsupported(self.read_only_because)

    def swap(self, name: str, base: TablePointer, new_location: str, content: bytes) -> PublishOutcome:
        raise Unsupported(self.read_only_because)

    def drop(self, name: str) -> None:
        raise Unsupported(self.read_only_because)


def newest_by_guess(store: ObjectStore, root: str) -> str:
    """The metadata file with the highest number, for a folder whose catalog is lost; it may never have been committed."""
    candidates = []
    for stored in store.list(f"{root.rstrip('/')}/metadata"):
        name = stored.location.rpartition("/")[2]
        if name.endswith((_PLAIN, f"{_PLAIN}.gz")):
            digits = re.match(r"v?(\d+)", name)
            candidates.append((int(digits[1]) if digits else -1, stored.location))
    if not candidates:
        raise InvalidRequest(f"there is no table at {root}: no metadata file below {root}/metadata")
    return max(candidates)[1]


def is_metadata_file(location: str) -> bool:
    return location.endswith((_PLAIN, f"{_PLAIN}.gz"))


def version_number(location: str) -> int:
    """The N of `vN.metadata.json`."""
    numbered = _NUMBERED.fullmatch(location.rpartition("/")[2])
    if numbered is None:
        raise CorruptTable(f"{location} is not named as the metadata file of a folder table is")
    return int(numbered[1])
