"""Which metadata file is a table's newest, and how does the next one take its place?

Two kinds of catalog. A *metastore* (SQL, Hive, Glue, …) keeps a pointer to the newest of many `NNNNN-<uuid>.metadata.json`
files and swaps it. A *folder* is its own catalog: the newest is the `vN.metadata.json` with the highest N, and to write the
next one first is to win.
"""

import re
from dataclasses import dataclass

from lakewright.errors import CommitConflict, CorruptTable, InvalidRequest, LakewrightError, Unsupported
from lakewright.formats.iceberg.encode import metadata_folder
from lakewright.formats.iceberg.records.metadata import Metadata, parse_document, parse_metadata, render_metadata
from lakewright.formats.iceberg.write_properties import Properties
from lakewright.model.changes import Committed, PublishOutcome, Taken, Unknown
from lakewright.protocols import MetadataCommit, NewestMetadata, ObjectStore

_NUMBERED = re.compile(r"v(\d+)(?:\.gz\.metadata\.json|\.metadata\.json|\.metadata\.json\.gz)")
_METASTORE_FILE = re.compile(r"(\d+)-[^/]*\.metadata\.json(?:\.gz)?|\d+-[^/]*\.gz\.metadata\.json")
_HINT = "version-hint.text"
_DROP_ROUNDS_MAX = 10
_PLAIN, _GZIP = ".metadata.json", ".gz.metadata.json"
_CODECS = frozenset({"none", "gzip"})


@dataclass(frozen=True)
class MetadataFile:
    """The next metadata as a file: where the table wants it, how its name ends, and what is in it."""

    folder: str
    ending: str
    content: bytes

    @classmethod
    def of(cls, commit: MetadataCommit) -> "MetadataFile":
        metadata = Metadata("", commit.document)
        codec = Properties(metadata.properties).text("write.metadata.compression-codec", "none", one_of=_CODECS)
        compressed = codec == "gzip"
        content = render_metadata(commit.document, compressed=compressed)
        return cls(metadata_folder(metadata), _GZIP if compressed else _PLAIN, content)


def read_newest(location: str, name: str, store: ObjectStore) -> NewestMetadata:
    """What a catalog that keeps files answers for a table."""
    try:
        content = store.read(location)
    except FileNotFoundError as error:
        raise CorruptTable(f"metadata file {location} of table {name} is missing") from error
    return NewestMetadata(location, parse_document(location, content), store)


def is_written(commit: MetadataCommit, location: str, content: bytes, newest: NewestMetadata) -> bool:
    """Whether the file of a commit is the newest or one of those before it, and is ours: in a folder, a winner's has the same
    name. A new table is known by its identity, since others may have committed to it already."""
    metadata = Metadata(newest.location, newest.document)
    if commit.base is None:
        return metadata.table_uuid == table_uuid_in(commit)
    log = metadata.document.get("metadata-log") or ()
    is_named = location in {newest.location, *(item["metadata-file"] for item in log)}
    return is_named and newest.store.read(location) == content


def table_uuid_in(commit: MetadataCommit) -> str | None:
    return Metadata("", commit.document).table_uuid


def remove_obsolete(commit: MetadataCommit, new_location: str, store: ObjectStore) -> None:
    """A log may name anything, even the file that was just written."""
    for location in commit.obsolete:
        if location != new_location:
            store.delete(location)


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
        places = (stored.location[len(root) + 1 :].rpartition("/metadata/") for stored in self.store.list(root))
        folders = {folder for folder, _, file_name in places if folder and _NUMBERED.fullmatch(file_name)}
        return tuple(sorted(folder.replace("/", ".") for folder in folders))

    def load(self, name: str) -> NewestMetadata:
        root = self.location_for(name)
        versions = self._versions(f"{root}/metadata")
        if not versions:
            raise self._nothing_there(root)
        newest = versions[max(versions)]
        if len(newest) > 1:
            raise CorruptTable(f"{' and '.join(newest)} are both version {max(versions)} of one table")
        return read_newest(newest[0], name, self.store)

    def location_for(self, name: str) -> str:
        if "/" in name:
            return name.rstrip("/")
        if self.warehouse is None:
            raise InvalidRequest(f"{name!r} is not the location of a table; a location has a slash in it")
        parts = name.split(".")
        if not all(parts):
            raise InvalidRequest(f"{name!r} does not name a table; a name is a word, or words with dots between them")
        return "/".join([self.warehouse.rstrip("/"), *parts])

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        """A version has several names, and all must be free, right after the base, which must still be there.

        A name can also be free because later versions let go of the one that had it: what lies below a newer version was
        not necessarily ever the newest, so its writer has to look. Or because the table was dropped, and perhaps made
        again: that shows for certain only once the name is ours, and then what we wrote is withdrawn.
        """
        new_location, content = _placed(commit)
        folder, number = new_location.rpartition("/")[0], version_number(new_location)
        if folder != f"{self.location_for(name)}/metadata":
            raise InvalidRequest(
                f"the metadata of a table in a folder lies in that folder: {name} cannot have it in {folder}; leave out "
                "location and write.metadata.path"
            )
        try:
            is_next = self._is_next(number, commit.base, self._versions(folder))
            if not (is_next and self.store.put_if_absent(new_location, content)):
                if not self._is_ours(new_location, content):
                    return Taken()
            newest = max(self._versions(folder), default=number)
            if newest > number:
                return Unknown(f"{new_location} was written when there was a version {newest}")
            if not self._is_same_table(commit):
                self.store.delete(new_location)
                return Taken()
        except OSError as error:
            return Unknown(str(error))
        self._hint(folder, number)
        return Committed()

    def includes(self, commit: MetadataCommit, newest: NewestMetadata) -> bool:
        return is_written(commit, *_placed(commit), newest)

    def abandon(self, commit: MetadataCommit) -> None:
        """A lost swap wrote nothing: what has that name is the winner's."""

    def clean_up(self, commit: MetadataCommit) -> None:
        remove_obsolete(commit, _placed(commit)[0], self.store)

    def drop(self, name: str) -> None:
        """The metadata is what makes the folder a table; oldest first, so that no older version comes to light.

        Until nothing is left: a writer may have been about to write the next version.
        """
        folder = f"{self.location_for(name)}/metadata"
        versions = self._versions(folder)
        if not versions:
            raise self._nothing_there(self.location_for(name))
        for _ in range(_DROP_ROUNDS_MAX):
            for number in sorted(versions):
                for location in versions[number]:
                    self.store.delete(location)
            versions = self._versions(folder)
            if not versions:
                self.store.delete(f"{folder}/{_HINT}")
                return
        raise CommitConflict(f"others kept writing to {name} while it was dropped, so it is still there; run it again")

    def _is_next(self, number: int, base: str | None, versions: dict[int, list[str]]) -> bool:
        """Whether the base is the newest of these versions; without a base, whether there are none."""
        if base is None:
            return not versions
        return max(versions, default=0) == number - 1 and base in versions[number - 1]

    def _is_ours(self, location: str, content: bytes) -> bool:
        try:
            return self.store.read(location) == content
        except FileNotFoundError:
            return False

    def _is_same_table(self, commit: MetadataCommit) -> bool:
        """Whether the base is there, and the table that it was."""
        if commit.base is None:
            return True
        try:
            there = parse_metadata(commit.base, self.store.read(commit.base))
        except (FileNotFoundError, LakewrightError):
            return False
        return there.table_uuid == table_uuid_in(commit)

    def _versions(self, folder: str) -> dict[int, list[str]]:
        """The files of each version; more than one are a defect."""
        found: dict[int, list[str]] = {}
        for stored in self.store.list(folder):
            parent, _, file_name = stored.location.rpartition("/")
            numbered = _NUMBERED.fullmatch(file_name)
            if numbered and parent == folder:
                found.setdefault(int(numbered[1]), []).append(stored.location)
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
    store: ObjectStore

    def tables(self) -> tuple[str, ...]:
        return ()

    def load(self, name: str) -> NewestMetadata:
        return read_newest(self.location, name, self.store)

    @property
    def read_only_because(self) -> str:
        return (
            f"{self.location} was opened as a metadata file, which is one version for ever; open the table by its name in "
            "its catalog, or by its folder, to change it"
        )

    def location_for(self, name: str) -> str:
        raise Unsupported(self.read_only_because)

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        raise Unsupported(self.read_only_because)

    def includes(self, commit: MetadataCommit, newest: NewestMetadata) -> bool:
        return False

    def abandon(self, commit: MetadataCommit) -> None:
        raise Unsupported(self.read_only_because)

    def clean_up(self, commit: MetadataCommit) -> None:
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


def _placed(commit: MetadataCommit) -> tuple[str, bytes]:
    """Beside its predecessor, wherever the table says that its metadata goes: nobody would find it elsewhere."""
    file = MetadataFile.of(commit)
    if commit.base is None:
        return f"{file.folder}/v1{file.ending}", file.content
    folder = commit.base.rpartition("/")[0]
    return f"{folder}/v{version_number(commit.base) + 1}{file.ending}", file.content
