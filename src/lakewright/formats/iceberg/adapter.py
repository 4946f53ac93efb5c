"""How does an Iceberg table take part? Its metadata read, its next version staged and published."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from lakewright.errors import CommitUnknown, CorruptTable, InvalidRequest, LakewrightError
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
from lakewright.formats.iceberg.planning import DecodedManifests, ManifestReader
from lakewright.formats.iceberg.records.manifests import Manifest, Status, read_manifest_list, unlisted_manifest
from lakewright.formats.iceberg.records.metadata import Document, Metadata, parse_metadata, render_metadata
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
    Committed,
    Head,
    PublishOutcome,
    RetrySettings,
    StagedCommit,
    Taken,
    Unknown,
    UpgradeFormat,
)
from lakewright.model.creation import NewTable
from lakewright.model.layout import WriteLayout
from lakewright.model.snapshot import HistoryEntry, Snapshot
from lakewright.protocols import Capabilities, Catalog, Clock, Ids, ObjectStore, TablePointer

_LOG_ENTRIES_MAX = 100
_LOOKS_MAX = 4
_LOOK_WAIT_SECONDS = 0.2


@dataclass(frozen=True)
class IcebergHead(Head):
    metadata: Metadata


@dataclass(frozen=True)
class IcebergStaged(StagedCommit):
    """`content` goes to `metadata_location` when it is published."""

    metadata_location: str = ""
    content: bytes = b""


@dataclass(frozen=True)
class IcebergTable:
    """One table, by the name that its catalog knows it by."""

    name: str
    catalog: Catalog
    store: ObjectStore
    clock: Clock
    ids: Ids
    decoded: DecodedManifests = field(default_factory=DecodedManifests, repr=False, compare=False)

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
        manifests = () if node is None else self._manifests(metadata, node)
        return snapshot_of(metadata, node, manifests, current=version is None)

    def reader(self, snapshot: Snapshot) -> ManifestReader:
        return ManifestReader(snapshot.specs, snapshot.location, self.decoded)

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
        assert isinstance(staged, IcebergStaged)
        for location in staged.obsolete:
            if location != staged.metadata_location:
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
        manifests = () if node is None else self._manifests(metadata, node)
        if metadata.format_version == 1:
            return manifests
        return tuple(
            self._counted(metadata, manifest) if manifest.added_files is None else manifest for manifest in manifests
        )

    def _counted(self, metadata: Metadata, manifest: Manifest) -> Manifest:
        """Writers of version 1 could leave the counts out, and an invented 0 would hide the files."""
        reader = ManifestReader(metadata.specs, metadata.table_location, self.decoded)
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

    def _manifests(self, metadata: Metadata, node: Document) -> tuple[Manifest, ...]:
        location = manifest_list_location(metadata, node)
        if location is None:
            locations = [str(each) for each in node["manifests"]]
            contents = [self._content(each, "manifest", metadata) for each in locations]
            return tuple(map(unlisted_manifest, locations, contents))
        return read_manifest_list(location, self._content(location, "manifest list", metadata))

    def _content(self, location: str, what: str, metadata: Metadata) -> bytes:
        try:
            return self.store.read(location)
        except FileNotFoundError as error:
            raise CorruptTable(f"{what} {location} of table {metadata.table_location} is missing") from error

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
    decoded: DecodedManifests = field(default_factory=DecodedManifests, repr=False, compare=False)

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
        outcome = self._created(
            catalog, name, Metadata(first, document), render_metadata(document, compressed=compressed)
        )
        if isinstance(outcome, Unknown):
            raise CommitUnknown(
                f"whether table {name} was created is not known: {outcome.reason}; look before you retry"
            )
        if isinstance(outcome, Taken):
            with suppress(OSError):
                catalog.abandon(first)
            raise InvalidRequest(f"table {name} exists already")
        return self._table(name, catalog)

    def tables(self) -> tuple[str, ...]:
        return self.catalog.tables()

    def drop(self, name: str) -> None:
        (FolderCatalog(self.store) if "/" in name else self.catalog).drop(name)

    def _table(self, name: str, catalog: Catalog) -> IcebergTable:
        return IcebergTable(name, catalog, self.store, self.clock, self.ids, self.decoded)

    def _created(self, catalog: Catalog, name: str, first: Metadata, content: bytes) -> PublishOutcome:
        """The first swap, done again while its answer is lost: twice is the same as once."""
        outcome: PublishOutcome = Unknown("it was not tried")
        for look in range(_LOOKS_MAX):
            try:
                outcome = catalog.swap(name, TablePointer(None), first.location, content)
            except LakewrightError as error:
                if look == 0:
                    with suppress(OSError, LakewrightError):
                        catalog.abandon(first.location)
                    raise
                outcome = Unknown(str(error))
            except Exception as error:  # noqa: BLE001 -- whatever a catalog lets through, its answer is lost
                outcome = Unknown(f"{type(error).__name__}: {error}")
            if not isinstance(outcome, Unknown):
                return outcome
            if self._is_known_as(name, catalog, first.table_uuid):
                return Committed()
            self.clock.sleep(_LOOK_WAIT_SECONDS * 2**look)
        return outcome

    def _is_known_as(self, name: str, catalog: Catalog, table_uuid: str | None) -> bool:
        """By its identity: others may have committed to a new table already."""
        try:
            return self._table(name, catalog).head().identity == table_uuid
        except Exception:  # noqa: BLE001 -- a look that fails settles nothing, whatever it meets
            return False


def _metadata(head: Head) -> Metadata:
    assert isinstance(head, IcebergHead)
    return head.metadata


def _is_compressed(properties: Mapping[str, str]) -> bool:
    codecs = frozenset({"none", "gzip"})
    return Properties(properties).text("write.metadata.compression-codec", "none", one_of=codecs) == "gzip"


def _deletes_old_metadata(metadata: Metadata) -> bool:
    return Properties(metadata.properties).flag("write.metadata.delete-after-commit.enabled", False)
