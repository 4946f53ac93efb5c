"""How does an Iceberg table take part? Its metadata read, its next version staged and published."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from lakewright.errors import CommitUnknown, CorruptTable, InvalidRequest, LakewrightError, Unsupported
from lakewright.formats.iceberg.catalog import FixedMetadata, FolderCatalog, is_metadata_file, newest_by_guess
from lakewright.formats.iceberg.encode import (
    Attempt,
    Encoded,
    apply_updates,
    branch_head,
    encode_append,
    encode_drop_ref,
    encode_set_ref,
    encode_upgrade,
    new_document,
    requirements_of,
    updates_to_create,
    with_metadata_log,
)
from lakewright.formats.iceberg.listings import Recorded, listing_of
from lakewright.formats.iceberg.planning import DecodedManifests, ManifestReader
from lakewright.formats.iceberg.records.manifests import Manifest, Status, read_manifest_list, unlisted_manifest
from lakewright.formats.iceberg.records.metadata import Document, Metadata, metadata_of
from lakewright.formats.iceberg.replay import (
    ancestry_of,
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
    DropRef,
    Head,
    PublishOutcome,
    RetrySettings,
    SetRef,
    StagedCommit,
    Taken,
    Unknown,
    UpgradeFormat,
)
from lakewright.model.creation import NewTable
from lakewright.model.layout import WriteLayout
from lakewright.model.listing import Listing
from lakewright.model.refs import MAIN, RefKind, existing_ref
from lakewright.model.snapshot import HistoryEntry, Snapshot
from lakewright.protocols import Capabilities, Catalog, Clock, Ids, MetadataCommit, NewestMetadata, ObjectStore

_LOG_ENTRIES_MAX = 100
_LOOKS_MAX = 4
_LOOK_WAIT_SECONDS = 0.2


@dataclass(frozen=True)
class IcebergHead(Head):
    newest: NewestMetadata
    metadata: Metadata


@dataclass(frozen=True)
class IcebergStaged(StagedCommit):
    commit: MetadataCommit


@dataclass(frozen=True)
class IcebergTable:
    """One table, by the name that its catalog knows it by."""

    name: str
    catalog: Catalog
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
        newest = self.catalog.load(self.name)
        metadata = metadata_of(newest.location, newest.document)
        identity = metadata.table_uuid or metadata.table_location
        return IcebergHead(newest.location, identity, newest, metadata, refs=metadata.refs)

    def snapshot(self, head: Head, version: int | None = None, *, ref: str | None = None) -> Snapshot:
        """A branch has the columns that a writer to it would find, as in Iceberg's Spark; a tag is a version."""
        metadata, current = _metadata(head), version is None
        if ref is not None and ref != MAIN:
            found = existing_ref(head.refs, ref, self.name)
            version, current = found.version, found.kind is RefKind.BRANCH
        node = snapshot_node(metadata, version)
        manifests = () if node is None else _manifests(metadata, node, self.store(head))
        return snapshot_of(metadata, node, manifests, current=current)

    def store(self, head: Head) -> ObjectStore:
        return _iceberg(head).newest.store

    def listing(self, head: Head, snapshot: Snapshot, name: str) -> Listing:
        metadata, store = _metadata(head), self.store(head)
        node = None if snapshot.version is None else snapshot_node(metadata, snapshot.version)
        manifests = () if node is None else _manifests(metadata, node, store)
        return listing_of(name, Recorded(metadata, manifests, partial(self.reader(snapshot).entries, store=store)))

    def reader(self, snapshot: Snapshot) -> ManifestReader:
        return ManifestReader(snapshot.specs, snapshot.location, self.decoded)

    def history(self, head: Head, ref: str | None = None) -> tuple[HistoryEntry, ...]:
        if ref is None or not head.refs:
            return history_of(_metadata(head))
        return ancestry_of(_metadata(head), existing_ref(head.refs, ref, self.name).version)

    def layout(self, snapshot: Snapshot, write_id: str) -> WriteLayout:
        return write_layout(snapshot, write_id)

    def retry_settings(self, head: Head) -> RetrySettings:
        return retry_settings(_metadata(head).properties)

    def stage(self, head: Head, changes: Changes) -> IcebergStaged | None:
        if self.catalog.read_only_because is not None:
            raise Unsupported(self.catalog.read_only_because)
        metadata = _metadata(head)
        refuse_unreadable(metadata.schema, metadata.table_location)
        attempt = Attempt(self.ids.version(), self.ids.unique(), max(self.clock.now_ms(), metadata.last_updated_ms + 1))
        encoded = self._encoded(head, changes, attempt)
        if not encoded.updates:
            return None
        _write_all(encoded.objects, self.store(head))
        return IcebergStaged(
            base=head,
            version=_version_after(changes, metadata, attempt),
            locations=tuple(written for written, _ in encoded.objects),
            commit=MetadataCommit(
                base=metadata.location,
                unique=attempt.unique,
                requirements=requirements_of(metadata, encoded.updates),
                updates=encoded.updates,
                describe=partial(_next_document, metadata, encoded, attempt.now_ms),
                obsolete=_obsolete(metadata) if _deletes_old_metadata(metadata) else (),
            ),
        )

    def publish(self, staged: StagedCommit) -> PublishOutcome:
        assert isinstance(staged, IcebergStaged)
        return self.catalog.swap(self.name, staged.commit)

    def includes(self, head: Head, staged: StagedCommit) -> bool:
        """By the snapshot, which stays when later commits follow; what a change without one left behind, the catalog knows."""
        assert isinstance(staged, IcebergStaged)
        if head.identity != staged.base.identity:
            return False
        if any(update["action"] == "add-snapshot" for update in staged.commit.updates):
            return staged.version in _metadata(head).snapshots
        return self.catalog.includes(staged.commit, _iceberg(head).newest)

    def abandon(self, staged: StagedCommit) -> None:
        assert isinstance(staged, IcebergStaged)
        store = self.store(staged.base)
        for location in staged.locations:
            store.delete(location)
        self.catalog.abandon(staged.commit)

    def clean_up(self, staged: StagedCommit) -> None:
        assert isinstance(staged, IcebergStaged)
        self.catalog.clean_up(staged.commit)

    def _encoded(self, head: Head, changes: Changes, attempt: Attempt) -> Encoded:
        metadata = _metadata(head)
        match changes:
            case AppendFiles():
                listed = self._listed(metadata, branch_head(metadata, changes.branch), self.store(head))
                return encode_append(metadata, listed, changes, attempt)
            case UpgradeFormat(format_version):
                return encode_upgrade(metadata, format_version)
            case SetRef():
                return encode_set_ref(metadata, changes)
            case DropRef():
                return encode_drop_ref(metadata, changes)

    def _listed(self, metadata: Metadata, version: int | None, store: ObjectStore) -> tuple[Manifest, ...]:
        """The manifests of a version, each with the counts that newer format versions require."""
        node = snapshot_node(metadata, version)
        manifests = () if node is None else _manifests(metadata, node, store)
        if metadata.format_version == 1:
            return manifests
        return tuple(
            self._counted(metadata, manifest, store) if manifest.added_files is None else manifest
            for manifest in manifests
        )

    def _counted(self, metadata: Metadata, manifest: Manifest, store: ObjectStore) -> Manifest:
        """Writers of version 1 could leave the counts out, and an invented 0 would hide the files."""
        reader = ManifestReader(metadata.specs, metadata.table_location, self.decoded)
        entries = list(reader.entries(manifest, store))
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
            return self._table(location, FixedMetadata(location, self.store))
        if guess:
            return self._table(location, FixedMetadata(newest_by_guess(self.store, location), self.store))
        return self._table(location, FolderCatalog(self.store))

    def create(self, name: str, table: NewTable) -> IcebergTable:
        """Refused by the swap when the name is taken: nothing of the table that has it is touched."""
        catalog = FolderCatalog(self.store) if "/" in name else self.catalog
        location = table.location or catalog.location_for(name)
        commit = self._creation(table, None if location is None else location.rstrip("/"))
        outcome = self._created(catalog, name, commit)
        if isinstance(outcome, Unknown):
            raise CommitUnknown(
                f"whether table {name} was created is not known: {outcome.reason}; look before you retry"
            )
        if isinstance(outcome, Taken):
            with suppress(OSError):
                catalog.abandon(commit)
            raise InvalidRequest(f"table {name} exists already")
        return self._table(name, catalog)

    def tables(self) -> tuple[str, ...]:
        return self.catalog.tables()

    def drop(self, name: str) -> None:
        (FolderCatalog(self.store) if "/" in name else self.catalog).drop(name)

    def _table(self, name: str, catalog: Catalog) -> IcebergTable:
        return IcebergTable(name, catalog, self.clock, self.ids, self.decoded)

    def _creation(self, table: NewTable, location: str | None) -> MetadataCommit:
        table_uuid = self.ids.unique()
        return MetadataCommit(
            base=None,
            unique=self.ids.unique(),
            requirements=({"type": "assert-create"},),
            updates=updates_to_create(table, location, table_uuid),
            describe=partial(new_document, table, location or "", table_uuid, self.clock.now_ms()),
        )

    def _created(self, catalog: Catalog, name: str, commit: MetadataCommit) -> PublishOutcome:
        """The first swap, done again while its answer is lost: twice is the same as once."""
        outcome: PublishOutcome = Unknown("it was not tried")
        for look in range(_LOOKS_MAX):
            try:
                outcome = catalog.swap(name, commit)
            except LakewrightError as error:
                if look == 0:
                    with suppress(OSError, LakewrightError):
                        catalog.abandon(commit)
                    raise
                outcome = Unknown(str(error))
            except Exception as error:  # noqa: BLE001 -- whatever a catalog lets through, its answer is lost
                outcome = Unknown(f"{type(error).__name__}: {error}")
            if not isinstance(outcome, Unknown):
                return outcome
            if self._was_made(catalog, name, commit):
                return Committed()
            self.clock.sleep(_LOOK_WAIT_SECONDS * 2**look)
        return outcome

    def _was_made(self, catalog: Catalog, name: str, commit: MetadataCommit) -> bool:
        try:
            return catalog.includes(commit, catalog.load(name))
        except Exception:  # noqa: BLE001 -- a look that fails settles nothing, whatever it meets
            return False


def _version_after(changes: Changes, metadata: Metadata, attempt: Attempt) -> int | None:
    """The version that a change is about: the one that it makes, or that it names, or takes the name from."""
    match changes:
        case AppendFiles():
            return attempt.snapshot_id
        case SetRef(ref):
            return ref.version
        case DropRef(name):
            return branch_head(metadata, name)
        case UpgradeFormat():
            return metadata.current_snapshot_id


def _next_document(metadata: Metadata, encoded: Encoded, now_ms: int) -> Document:
    document = apply_updates(metadata, encoded.updates, now_ms)
    return with_metadata_log(document, metadata, _log_entries(metadata))[0]


def _obsolete(metadata: Metadata) -> tuple[str, ...]:
    """What the log of the next metadata lets go of."""
    return with_metadata_log(dict(metadata.document), metadata, _log_entries(metadata))[1]


def _manifests(metadata: Metadata, node: Document, store: ObjectStore) -> tuple[Manifest, ...]:
    location = manifest_list_location(metadata, node)
    if location is None:
        locations = [str(each) for each in node["manifests"]]
        contents = [_content(each, "manifest", metadata, store) for each in locations]
        return tuple(map(unlisted_manifest, locations, contents))
    return read_manifest_list(location, _content(location, "manifest list", metadata, store))


def _content(location: str, what: str, metadata: Metadata, store: ObjectStore) -> bytes:
    try:
        return store.read(location)
    except FileNotFoundError as error:
        raise CorruptTable(f"{what} {location} of table {metadata.table_location} is missing") from error


def _write_all(objects: Iterable[tuple[str, bytes]], store: ObjectStore) -> None:
    written: list[str] = []
    try:
        for location, content in objects:
            written.append(location)
            store.write(location, content)
    except BaseException:
        for location in written:
            with suppress(OSError):
                store.delete(location)
        raise


def _iceberg(head: Head) -> IcebergHead:
    assert isinstance(head, IcebergHead)
    return head


def _metadata(head: Head) -> Metadata:
    return _iceberg(head).metadata


def _log_entries(metadata: Metadata) -> int:
    return Properties(metadata.properties).number("write.metadata.previous-versions-max", _LOG_ENTRIES_MAX)


def _deletes_old_metadata(metadata: Metadata) -> bool:
    return Properties(metadata.properties).flag("write.metadata.delete-after-commit.enabled", False)
