"""How does an Iceberg table take part? Its metadata read, its next version staged and published."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from lakewright.errors import CommitUnknown, CorruptTable, InvalidRequest, Unsupported
from lakewright.formats.iceberg.catalog import FixedMetadata, FolderCatalog, is_metadata_file, newest_by_guess
from lakewright.formats.iceberg.encode import (
    Attempt,
    Encoded,
    apply_updates,
    encode_append,
    encode_upgrade,
    metadata_folder,
    new_document,
    with_metadata_log,
)
from lakewright.formats.iceberg.records.manifests import Entry, Manifest, Status, read_manifest, read_manifest_list
from lakewright.formats.iceberg.records.metadata import Metadata, parse_metadata, render_metadata
from lakewright.formats.iceberg.replay import (
    history_of,
    manifest_list_location,
    refuse_unreadable,
    snapshot_node,
    snapshot_of,
)
from lakewright.formats.iceberg.write_properties import Properties, retry_settings, write_layout
from lakewright.model.changes import (
    AppendFiles,
    Changes,
    Head,
    PublishOutcome,
    RetrySettings,
    StagedCommit,
    Taken,
    Unknown,
    UpgradeFormat,
)
from lakewright.model.creation import NewTable
from lakewright.model.files import DataFile
from lakewright.model.layout import WriteLayout
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.snapshot import HistoryEntry, PlanningTask, Snapshot
from lakewright.protocols import Capabilities, Catalog, Clock, Ids, ObjectStore, TablePointer

_LOG_ENTRIES_MAX = 100


@dataclass(frozen=True)
class IcebergHead(Head):
    metadata: Metadata


@dataclass(frozen=True)
class IcebergStaged(StagedCommit):
    """`content` goes to `metadata_location` when it is published."""

    metadata_location: str = ""
    content: bytes = b""


@dataclass(frozen=True)
class ManifestReader:
    """Reads the live data files that a manifest lists."""

    specs: Mapping[int, PartitionSpec]
    table: str

    def __call__(self, task: PlanningTask, store: ObjectStore) -> Iterable[DataFile]:
        assert isinstance(task, Manifest)
        for entry in self.entries(task, store):
            if entry.status is not Status.DELETED:
                yield entry.file

    def entries(self, manifest: Manifest, store: ObjectStore) -> Iterable[Entry]:
        try:
            content = store.read(manifest.location)
        except FileNotFoundError as error:
            raise CorruptTable(f"manifest {manifest.location} of table {self.table} is missing") from error
        for entry in read_manifest(manifest, content, self.specs, self.table):
            if entry.file.file_format != "parquet" and entry.status is not Status.DELETED:
                raise Unsupported(
                    f"file {entry.file.location} of table {self.table} is {entry.file.file_format.upper()}; only Parquet "
                    "data files are read"
                )
            yield entry


@dataclass(frozen=True)
class IcebergTable:
    """One table, by the name that its catalog knows it by."""

    name: str
    catalog: Catalog
    store: ObjectStore
    clock: Clock
    ids: Ids

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(can_mark_rows=False, read_only_because=self.catalog.read_only_because)

    @property
    def place(self) -> str:
        return self.name

    def head(self) -> IcebergHead:
        pointer = self.catalog.load(self.name)
        assert pointer.metadata_location is not None
        return self._head_at(pointer.metadata_location)

    def snapshot(self, head: Head, version: int | None = None) -> Snapshot:
        metadata = _metadata(head)
        node = snapshot_node(metadata, version)
        manifests = () if node is None else self._manifests(metadata, manifest_list_location(metadata, node))
        return snapshot_of(metadata, node, manifests, current=version is None)

    def reader(self, snapshot: Snapshot) -> ManifestReader:
        return ManifestReader(snapshot.specs, snapshot.location)

    def history(self, head: Head) -> tuple[HistoryEntry, ...]:
        return history_of(_metadata(head))

    def layout(self, snapshot: Snapshot, write_id: str) -> WriteLayout:
        return write_layout(snapshot, write_id)

    def retry_settings(self, head: Head) -> RetrySettings:
        return retry_settings(_metadata(head).properties)

    def stage(self, head: Head, changes: Changes) -> IcebergStaged | None:
        metadata = _metadata(head)
        refuse_unreadable(metadata.schema, metadata.table_location)
        now_ms = max(self.clock.now_ms(), metadata.last_updated_ms + 1)
        attempt = Attempt(self.ids.version(), self.ids.unique(), now_ms)
        encoded = self._encoded(metadata, changes, attempt)
        if not encoded.updates:
            return None
        document = apply_updates(metadata, encoded.updates, now_ms)
        entries_max = Properties(metadata.properties).number("write.metadata.previous-versions-max", _LOG_ENTRIES_MAX)
        document, obsolete = with_metadata_log(document, metadata, entries_max)
        compressed = _is_compressed(metadata.properties)
        location = self.catalog.next_metadata_location(
            TablePointer(metadata.location), metadata_folder(metadata), attempt.unique, compressed=compressed
        )
        self._write_all(encoded.objects)
        return IcebergStaged(
            base=head,
            version=attempt.snapshot_id if isinstance(changes, AppendFiles) else metadata.current_snapshot_id,
            locations=tuple(written for written, _ in encoded.objects),
            obsolete=obsolete if _deletes_old_metadata(metadata) else (),
            metadata_location=location,
            content=render_metadata(document, compressed=compressed),
        )

    def publish(self, staged: StagedCommit) -> PublishOutcome:
        assert isinstance(staged, IcebergStaged)
        base = TablePointer(_metadata(staged.base).location)
        return self.catalog.swap(self.name, base, staged.metadata_location, staged.content)

    def includes(self, head: Head, staged: StagedCommit) -> bool:
        """By the snapshot, which stays when later commits follow; a change without one by its metadata file, as far as
        that is ours: in a folder, a winner's has the same name."""
        assert isinstance(staged, IcebergStaged)
        metadata = _metadata(head)
        if staged.version != _metadata(staged.base).current_snapshot_id:
            return staged.version in metadata.snapshots
        logged = {item["metadata-file"] for item in metadata.document.get("metadata-log") or ()}
        is_named = staged.metadata_location in logged | {metadata.location}
        return is_named and self.store.read(staged.metadata_location) == staged.content

    def abandon(self, staged: StagedCommit) -> None:
        assert isinstance(staged, IcebergStaged)
        for location in staged.locations:
            self.store.delete(location)
        self.catalog.abandon(staged.metadata_location)

    def clean_up(self, staged: StagedCommit) -> None:
        own_place = f"{_metadata(staged.base).table_location}/"
        for location in staged.obsolete:
            if location.startswith(own_place):
                self.store.delete(location)

    def _encoded(self, metadata: Metadata, changes: Changes, attempt: Attempt) -> Encoded:
        match changes:
            case AppendFiles():
                return encode_append(metadata, self._listed(metadata), changes, attempt)
            case UpgradeFormat(format_version):
                return encode_upgrade(metadata, format_version)

    def _listed(self, metadata: Metadata) -> tuple[Manifest, ...]:
        """The manifests of the current version, each with the counts that newer format versions require."""
        node = snapshot_node(metadata, None)
        manifests = () if node is None else self._manifests(metadata, manifest_list_location(metadata, node))
        if metadata.format_version == 1:
            return manifests
        return tuple(
            self._counted(metadata, manifest) if manifest.added_files is None else manifest for manifest in manifests
        )

    def _counted(self, metadata: Metadata, manifest: Manifest) -> Manifest:
        """Writers of version 1 could leave the counts out, and an invented 0 would hide the files."""
        reader = ManifestReader(metadata.specs, metadata.table_location)
        entries = list(reader.entries(manifest, self.store))
        files = {status: sum(entry.status is status for entry in entries) for status in Status}
        rows = {
            status: sum(entry.file.record_count for entry in entries if entry.status is status) for status in Status
        }
        return replace(
            manifest,
            added_files=files[Status.ADDED],
            existing_files=files[Status.EXISTING],
            deleted_files=files[Status.DELETED],
            added_rows=rows[Status.ADDED],
            existing_rows=rows[Status.EXISTING],
            deleted_rows=rows[Status.DELETED],
        )

    def _manifests(self, metadata: Metadata, location: str) -> tuple[Manifest, ...]:
        try:
            content = self.store.read(location)
        except FileNotFoundError as error:
            raise CorruptTable(f"manifest list {location} of table {metadata.table_location} is missing") from error
        return read_manifest_list(location, content)

    def _head_at(self, location: str) -> IcebergHead:
        try:
            content = self.store.read(location)
        except FileNotFoundError as error:
            raise CorruptTable(f"metadata file {location} of table {self.name} is missing") from error
        metadata = parse_metadata(location, content)
        return IcebergHead(location, metadata.table_uuid or metadata.table_location, metadata)

    def _write_all(self, objects: Iterable[tuple[str, bytes]]) -> None:
        written: list[str] = []
        try:
            for location, content in objects:
                written.append(location)
                self.store.write(location, content)
        except BaseException:
            for location in written:
                with suppress(OSError):
                    self.store.delete(location)
            raise


@dataclass(frozen=True)
class IcebergSource:
    """Tables of one catalog, and of folders and metadata files by their location."""

    catalog: Catalog
    store: ObjectStore
    clock: Clock
    ids: Ids

    def open(self, name: str) -> IcebergTable:
        return self._table(name, self.catalog)

    def open_location(self, location: str, *, guess: bool) -> IcebergTable:
        """A metadata file, or a folder that is its own catalog."""
        if is_metadata_file(location):
            if not self.store.exists(location):
                raise InvalidRequest(f"there is no metadata file {location}")
            return self._table(location, FixedMetadata(location))
        if guess:
            return self._table(location, FixedMetadata(newest_by_guess(self.store, location)))
        return self._table(location, FolderCatalog(self.store))

    def create(self, name: str, table: NewTable) -> IcebergTable:
        """Refused by the swap when the name is taken: nothing of the table that has it is touched."""
        catalog = FolderCatalog(self.store) if "/" in name else self.catalog
        location = (table.location or catalog.location_for(name)).rstrip("/")
        document = new_document(table, location, self.ids.unique(), self.clock.now_ms())
        folder = metadata_folder(Metadata(location, document))
        compressed = _is_compressed(table.properties)
        first = catalog.next_metadata_location(TablePointer(None), folder, self.ids.unique(), compressed=compressed)
        outcome = catalog.swap(name, TablePointer(None), first, render_metadata(document, compressed=compressed))
        if isinstance(outcome, Unknown) and not self._is_at(catalog, name, first):
            raise CommitUnknown(
                f"whether table {name} was created is not known: {outcome.reason}; look before you retry"
            )
        if isinstance(outcome, Taken):
            catalog.abandon(first)
            raise InvalidRequest(f"table {name} exists already")
        return self._table(name, catalog)

    def tables(self) -> tuple[str, ...]:
        return self.catalog.tables()

    def drop(self, name: str) -> None:
        (FolderCatalog(self.store) if "/" in name else self.catalog).drop(name)

    def _table(self, name: str, catalog: Catalog) -> IcebergTable:
        return IcebergTable(name, catalog, self.store, self.clock, self.ids)

    def _is_at(self, catalog: Catalog, name: str, metadata_location: str) -> bool:
        try:
            return catalog.load(name).metadata_location == metadata_location
        except (InvalidRequest, OSError):
            return False


def _metadata(head: Head) -> Metadata:
    assert isinstance(head, IcebergHead)
    return head.metadata


def _is_compressed(properties: Mapping[str, str]) -> bool:
    codecs = frozenset({"none", "gzip"})
    return Properties(properties).text("write.metadata.compression-codec", "none", one_of=codecs) == "gzip"


def _deletes_old_metadata(metadata: Metadata) -> bool:
    return Properties(metadata.properties).flag("write.metadata.delete-after-commit.enabled", False)
