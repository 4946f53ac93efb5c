"""How are the manifests of a snapshot read for planning? Each decoded once, its files judged by columns."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock

from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.deletes import DeleteIndex
from lakewright.formats.iceberg.records.entries import DecodedManifest, ManifestEntries, decode_manifest
from lakewright.formats.iceberg.records.manifests import Manifest
from lakewright.model.columns import FileColumns
from lakewright.model.files import DeleteFile
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.scan import Candidate
from lakewright.model.snapshot import PlanningTask
from lakewright.protocols import ObjectStore

_KEPT_BYTES_MAX = 256 << 20


class DecodedManifests:
    """The manifests that were decoded last: they never change. A copy that is sent to a worker begins empty."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], DecodedManifest] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, manifest: Manifest, store: ObjectStore, table: str) -> DecodedManifest:
        key = (manifest.location, manifest.size_bytes)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        decoded = _decoded(manifest, store, table)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = decoded
                self._bytes += decoded.size_bytes
            while self._bytes > _KEPT_BYTES_MAX:
                self._bytes -= self._kept.popitem(last=False)[1].size_bytes
        return decoded

    def __reduce__(self) -> tuple[type["DecodedManifests"], tuple[()]]:
        return DecodedManifests, ()


@dataclass(frozen=True)
class ManifestReader:
    """Reads manifests as planning tasks."""

    specs: Mapping[int, PartitionSpec]
    table: str
    decoded: DecodedManifests = field(default_factory=DecodedManifests, repr=False, compare=False)
    index: DeleteIndex | None = None

    def deletes(self, task: PlanningTask, store: ObjectStore) -> tuple[DeleteFile, ...]:
        entries = self.entries(_manifest(task), store)
        return tuple(entries.delete_file(row) for row in entries.live_rows())

    def with_deletes(self, deletes: Iterable[DeleteFile]) -> "ManifestReader":
        return replace(self, index=DeleteIndex(deletes, self.specs, self.table))

    def files(self, task: PlanningTask, store: ObjectStore) -> "LiveFiles":
        entries = self.entries(_manifest(task), store)
        return LiveFiles(entries, entries.live_rows(), self.index or DeleteIndex((), self.specs, self.table))

    def entries(self, manifest: Manifest, store: ObjectStore) -> ManifestEntries:
        decoded = self.decoded.get(manifest, store, self.table)
        return ManifestEntries(manifest, decoded, self.specs, self.table)


@dataclass(frozen=True)
class LiveFiles:
    """The data files of a manifest that are part of the snapshot, by their number among those."""

    entries: ManifestEntries
    rows: list[int]
    index: DeleteIndex

    @cached_property
    def columns(self) -> FileColumns:
        columns = self.entries.columns
        return columns if len(self.rows) == len(columns) else columns.take(self.rows)

    def candidate(self, row: int) -> Candidate:
        """Refused by name when it is no Parquet file: rows that cannot be read must not be passed over."""
        file = self.entries.data_file(self.rows[row])
        if file.file_format != "parquet":
            raise Unsupported(
                f"file {file.location} of table {self.entries.table} is {file.file_format.upper()}; only Parquet data files "
                "are read"
            )
        return Candidate(file, self.index.of(file))


def _manifest(task: PlanningTask) -> Manifest:
    assert isinstance(task, Manifest)
    return task


def _decoded(manifest: Manifest, store: ObjectStore, table: str) -> DecodedManifest:
    try:
        content = store.read(manifest.location)
    except FileNotFoundError as error:
        raise CorruptTable(f"manifest {manifest.location} of table {table} is missing") from error
    return decode_manifest(manifest.location, content)
