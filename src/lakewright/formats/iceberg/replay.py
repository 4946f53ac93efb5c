"""What is a table at one version, according to its metadata and the manifest list of that version?"""

from dataclasses import replace

from lakewright.errors import CorruptTable, InvalidRequest, Unsupported
from lakewright.formats.iceberg.records.manifests import Content, Manifest
from lakewright.formats.iceberg.records.metadata import Document, Metadata, summary_count
from lakewright.model.partitioning import PartitionField, Void, result_type
from lakewright.model.scan import FILE_ID, LAST_UPDATED_ID, PARTITION_ID, POSITION_ID, ROW_ID_ID, SPEC_ID_ID
from lakewright.model.schema import Schema
from lakewright.model.snapshot import HistoryEntry, Snapshot
from lakewright.model.types import ColumnType, Field, Primitive, StructType, UnreadableType

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


def manifest_list_location(metadata: Metadata, node: Document) -> str | None:
    """None for a snapshot of version 1 that lists its manifests itself."""
    location = node.get("manifest-list")
    if location:
        return str(location)
    if isinstance(node.get("manifests"), list):
        return None
    raise CorruptTable(f"snapshot {node['snapshot-id']} in {metadata.location} names no manifest list")


def snapshot_of(
    metadata: Metadata, node: Document | None, manifests: tuple[Manifest, ...], *, current: bool
) -> Snapshot:
    """The current version has the table's current schema, an older one the schema that it was written with."""
    schema = metadata.schema
    if node is not None and not current and node.get("schema-id") is not None:
        schema = metadata.schema_by_id(node["schema-id"])
    refuse_unreadable(schema, metadata.table_location)
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
        tasks=_live(manifests, Content.DATA),
        delete_tasks=_live(manifests, Content.DELETES),
        metadata_columns=metadata_columns(metadata),
        name_mapping=metadata.name_mapping,
        schemas=tuple(metadata.schemas[key] for key in sorted(metadata.schemas)) or (schema,),
        totals=dict.fromkeys(_TOTALS.values(), 0) if node is None else _totals(node),
    )


def metadata_columns(metadata: Metadata) -> tuple[Field, ...]:
    """What can be asked of a row beside its values: `_partition` has a member for each field of any spec.

    Columns and partition fields are numbered apart, and wide tables have columns with the numbers of partition fields. So
    the members have the numbers of partition fields below zero.
    """
    members = tuple(replace(member, id=-member.id) for member in partition_members(metadata))
    partition = (Field(PARTITION_ID, "_partition", StructType(members)),) if members else ()
    lineage = (
        Field(ROW_ID_ID, "_row_id", Primitive.LONG),
        Field(LAST_UPDATED_ID, "_last_updated_sequence_number", Primitive.LONG),
    )
    return (
        Field(FILE_ID, "_file", Primitive.STRING),
        Field(POSITION_ID, "_pos", Primitive.LONG),
        Field(SPEC_ID_ID, "_spec_id", Primitive.INT),
        *partition,
        *(lineage if metadata.format_version > 2 else ()),
    )


def partition_members(metadata: Metadata) -> tuple[Field, ...]:
    """The partition fields of all specs by id, each by its newest name. A void field has the type that it had before.

    Of fields with one name, as another transform of the same column has it, the newest keeps it.
    """
    parts: dict[int, PartitionField] = {}
    for spec_id in sorted(metadata.specs):
        for part in metadata.specs[spec_id].fields:
            before = parts.get(part.field_id)
            if before is not None and isinstance(part.transform, Void):
                part = replace(before, name=part.name)
            parts[part.field_id] = part
    newest = {parts[field_id].name.lower(): field_id for field_id in sorted(parts)}
    return tuple(
        Field(
            field_id,
            part.name if newest[part.name.lower()] == field_id else f"{part.name}_{field_id}",
            partition_type(part, metadata),
        )
        for field_id, part in sorted(parts.items())
    )


def partition_type(part: PartitionField, metadata: Metadata) -> ColumnType:
    """By the newest schema that has the source column."""
    for schema_id in sorted(metadata.schemas, reverse=True):
        source = metadata.schemas[schema_id].by_id.get(part.source_id)
        if source is not None:
            return result_type(part.transform, source.type)
    return Primitive.STRING


def _live(manifests: tuple[Manifest, ...], content: Content) -> tuple[Manifest, ...]:
    return tuple(each for each in manifests if each.content is content and each.may_have_live_files)


def _totals(node: Document) -> dict[str, int]:
    found = {ours: summary_count(node, theirs) for theirs, ours in _TOTALS.items()}
    return {name: count for name, count in found.items() if count is not None}


def history_of(metadata: Metadata) -> tuple[HistoryEntry, ...]:
    """What was current when, oldest first; versions that were expired since are gone from it."""
    log = metadata.document.get("snapshot-log") or [
        {"snapshot-id": node["snapshot-id"], "timestamp-ms": node["timestamp-ms"]}
        for node in metadata.snapshots.values()
    ]
    nodes = ((metadata.snapshots.get(item["snapshot-id"]), item["timestamp-ms"]) for item in log)
    return tuple(_history_entry(node, timestamp_ms) for node, timestamp_ms in nodes if node is not None)


def ancestry_of(metadata: Metadata, version: int) -> tuple[HistoryEntry, ...]:
    """A version after those that it was made of, oldest first, as far back as they are known."""
    line: dict[int, Document] = {}
    following: int | None = version
    while following is not None and following in metadata.snapshots and following not in line:
        line[following] = metadata.snapshots[following]
        following = line[following].get("parent-snapshot-id")
    return tuple(_history_entry(node, node["timestamp-ms"]) for node in reversed(line.values()))


def _history_entry(node: Document, timestamp_ms: int) -> HistoryEntry:
    summary = dict(node.get("summary") or {})
    operation = str(summary.pop("operation", "unknown"))
    return HistoryEntry(node["snapshot-id"], timestamp_ms, operation, summary)


def refuse_unreadable(schema: Schema, table: str) -> None:
    for field_id, child in schema.by_id.items():
        if isinstance(child.type, UnreadableType):
            raise Unsupported(
                f"column {schema.names_by_id[field_id]} of {table} has type {child.type}, which is not supported"
            )
