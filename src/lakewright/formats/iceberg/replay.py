"""What is a table at one version, according to its metadata and the manifest list of that version?"""

from lakewright.errors import CorruptTable, InvalidRequest, Unsupported
from lakewright.formats.iceberg.records.manifests import Content, Manifest
from lakewright.formats.iceberg.records.metadata import Document, Metadata, summary_count
from lakewright.model.schema import Schema
from lakewright.model.snapshot import HistoryEntry, Snapshot
from lakewright.model.types import UnreadableType

_TOTALS = {"total-data-files": "files", "total-records": "rows", "total-files-size": "bytes"}


def snapshot_node(metadata: Metadata, version: int | None) -> Document | None:
    """The record of a snapshot: the current one when no version is asked for; None when nothing was ever written."""
    if version is None:
        current = metadata.current_snapshot_id
        return None if current is None else metadata.snapshots[current]
    if version in metadata.snapshots:
        return metadata.snapshots[version]
    known = [str(known_id) for known_id in list(metadata.snapshots)[-5:]]
    raise InvalidRequest(
        f"table {metadata.table_location} has no version {version}; its newest are {', '.join(known) or 'none'}, "
        "see history()"
    )


def manifest_list_location(metadata: Metadata, node: Document) -> str:
    location = node.get("manifest-list")
    if location:
        return str(location)
    if "manifests" in node:
        raise Unsupported(
            f"snapshot {node['snapshot-id']} of {metadata.table_location} lists its manifests inside the metadata, as only "
            "the first writers did; this is not read yet"
        )
    raise CorruptTable(f"snapshot {node['snapshot-id']} in {metadata.location} names no manifest list")


def snapshot_of(
    metadata: Metadata, node: Document | None, manifests: tuple[Manifest, ...], *, current: bool
) -> Snapshot:
    """The current version has the table's current schema, an older one the schema that it was written with."""
    schema = metadata.schema
    if node is not None and not current and node.get("schema-id") is not None:
        schema = metadata.schema_by_id(node["schema-id"])
    refuse_unreadable(schema, metadata.table_location)
    refuse_deletes(manifests, metadata.table_location)
    return Snapshot(
        version=None if node is None else node["snapshot-id"],
        timestamp_ms=None if node is None else node["timestamp-ms"],
        format_label=f"Iceberg v{metadata.format_version}",
        location=metadata.table_location,
        schema=schema,
        specs=metadata.specs,
        default_spec_id=metadata.default_spec_id,
        sort_order=metadata.sort_order,
        properties=metadata.properties,
        tasks=tuple(manifest for manifest in manifests if manifest.may_have_live_files),
        schemas=tuple(metadata.schemas.values()) or (schema,),
        totals=dict.fromkeys(_TOTALS.values(), 0) if node is None else _totals(node),
    )


def _totals(node: Document) -> dict[str, int]:
    found = {ours: summary_count(node, theirs) for theirs, ours in _TOTALS.items()}
    return {name: count for name, count in found.items() if count is not None}


def history_of(metadata: Metadata) -> tuple[HistoryEntry, ...]:
    """What was current when, oldest first; versions that were expired since are gone from it."""
    log = metadata.document.get("snapshot-log") or [
        {"snapshot-id": node["snapshot-id"], "timestamp-ms": node["timestamp-ms"]}
        for node in metadata.snapshots.values()
    ]
    entries = []
    for item in log:
        node = metadata.snapshots.get(item["snapshot-id"])
        if node is not None:
            summary = dict(node.get("summary") or {})
            operation = str(summary.pop("operation", "unknown"))
            entries.append(HistoryEntry(node["snapshot-id"], item["timestamp-ms"], operation, summary))
    return tuple(entries)


def refuse_unreadable(schema: Schema, table: str) -> None:
    for field_id, child in schema.by_id.items():
        if isinstance(child.type, UnreadableType):
            raise Unsupported(
                f"column {schema.names_by_id[field_id]} of {table} has type {child.type}, which is not supported"
            )


def refuse_deletes(manifests: tuple[Manifest, ...], table: str) -> None:
    for manifest in manifests:
        if manifest.content is Content.DELETES and manifest.may_have_live_files:
            raise Unsupported(
                f"table {table} has row-level deletes (manifest {manifest.location}); reading them is not supported yet"
            )
