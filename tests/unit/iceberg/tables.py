"""Which table do the tests of Iceberg's records speak of?"""

from collections.abc import Mapping

from lakewright.formats.iceberg.encode import Attempt, Encoded, apply_updates, encode_append, new_document
from lakewright.formats.iceberg.records.manifests import Manifest, read_manifest_list
from lakewright.formats.iceberg.records.metadata import Metadata
from lakewright.model.changes import AppendFiles
from lakewright.model.creation import NewTable
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import PartitionKey, PartitionSpec, Truncate
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortField, SortOrder
from lakewright.model.types import Value
from tests.described import schema_of, spec_of

PLACE = "memory://t"
SCHEMA = schema_of("id long not null, region string, price decimal(9, 2), tags array<string>")
SPEC = spec_of(SCHEMA, "region identity", "price truncate[100]")
ORDER = SortOrder(1, (SortField(1, Truncate(10), descending=True, nulls_first=False),))


def new_metadata(version: int, spec: PartitionSpec = SPEC, schema: Schema = SCHEMA) -> Metadata:
    table = NewTable(schema, spec, ORDER, version, {"owner": "me"})
    return Metadata(f"{PLACE}/metadata/v1.metadata.json", new_document(table, PLACE, "uuid-1", 1_000))


def data_file(
    name: str, rows: int, *values: Value | None, spec: PartitionSpec = SPEC, metrics: FileMetrics | None = None
) -> DataFile:
    key = PartitionKey(spec.spec_id, values)
    return DataFile(f"{PLACE}/data/{name}", key, rows, rows * 100, metrics or FileMetrics(), split_offsets=(4,))


def appended(
    metadata: Metadata, manifests: tuple[Manifest, ...], *files: DataFile, summary: Mapping[str, str] | None = None
) -> tuple[Metadata, tuple[Manifest, ...], Encoded]:
    """The next version: its metadata, its manifests as they are read back, and what was encoded."""
    number = len(metadata.snapshots) + 1
    attempt = Attempt(snapshot_id=number * 11, unique=f"u{number}", now_ms=1_000 + number)
    encoded = encode_append(metadata, manifests, AppendFiles(files, 0, summary or {}), attempt)
    document = apply_updates(metadata, encoded.updates, attempt.now_ms)
    location, content = encoded.objects[-1]
    return (
        Metadata(f"{PLACE}/metadata/v{number + 1}.metadata.json", document),
        read_manifest_list(location, content),
        encoded,
    )
