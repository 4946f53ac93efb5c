"""How does a change become the next version's records? Pure: what is to be written, and where, is returned."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lakewright._version import __version__
from lakewright.errors import CommitConflict, InvalidRequest, Unsupported
from lakewright.formats.iceberg.records.manifests import (
    Content,
    Entry,
    Manifest,
    Status,
    write_manifest,
    write_manifest_list,
)
from lakewright.formats.iceberg.records.metadata import NEWEST_VERSION, Document, Metadata, summary_count
from lakewright.formats.iceberg.records.partitions import summarise
from lakewright.formats.iceberg.records.types import schema_to_json
from lakewright.model.changes import AppendFiles, DropRef, SetRef
from lakewright.model.creation import NewTable
from lakewright.model.files import DataFile
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.refs import MAIN, Ref, RefKind
from lakewright.model.sorting import SortOrder

_FIRST_PARTITION_FIELD_ID = 1000
_NO_SNAPSHOT = -1
_TOTAL_OF = {
    "total-data-files": "added-data-files",
    "total-records": "added-records",
    "total-files-size": "added-files-size",
    "total-delete-files": None,
    "total-position-deletes": None,
    "total-equality-deletes": None,
}

_REQUIRED_OF_BASE = (
    ("assert-table-uuid", "uuid", "table-uuid"),
    ("assert-current-schema-id", "current-schema-id", "current-schema-id"),
    ("assert-last-assigned-field-id", "last-assigned-field-id", "last-column-id"),
    ("assert-default-spec-id", "default-spec-id", "default-spec-id"),
    ("assert-last-assigned-partition-id", "last-assigned-partition-id", "last-partition-id"),
    ("assert-default-sort-order-id", "default-sort-order-id", "default-sort-order-id"),
)
"""The kind of a requirement, the name of what it requires, and the key of the metadata that has it."""


@dataclass(frozen=True)
class Attempt:
    """What makes one attempt differ from every other."""

    snapshot_id: int
    unique: str
    now_ms: int


@dataclass(frozen=True)
class Encoded:
    """Objects to write, then updates to publish, in the form in which REST catalogs take them."""

    objects: tuple[tuple[str, bytes], ...]
    updates: tuple[Document, ...]


def encode_append(metadata: Metadata, manifests: Sequence[Manifest], changes: AppendFiles, attempt: Attempt) -> Encoded:
    """One manifest for each spec of the new files, and a manifest list that begins with them and goes on with `manifests`,
    those of the branch."""
    version = metadata.format_version
    sequence_number = metadata.last_sequence_number + 1 if version > 1 else 0
    folder = metadata_folder(metadata)
    objects: list[tuple[str, bytes]] = []
    added: list[Manifest] = []
    by_spec = groupby(
        sorted(changes.files, key=lambda file: file.partition.spec_id), key=lambda file: file.partition.spec_id
    )
    for index, (spec_id, files) in enumerate(by_spec):
        location = f"{folder}/{attempt.unique}-m{index}.avro"
        manifest, content = _added_manifest(metadata, spec_id, tuple(files), attempt, location, sequence_number)
        added.append(manifest)
        objects.append((location, content))
    listed = with_row_ids((*added, *manifests), metadata.next_row_id) if version > 2 else (*added, *manifests)
    list_location = f"{folder}/snap-{attempt.snapshot_id}-1-{attempt.unique}.avro"
    node = _snapshot_node(metadata, changes, attempt, list_location, sequence_number, listed)
    objects.append((list_location, write_manifest_list(version, listed, _list_header(node))))
    return Encoded(tuple(objects), (_add_snapshot(node), _set_branch(metadata, changes.branch, attempt.snapshot_id)))


def encode_upgrade(metadata: Metadata, format_version: int) -> Encoded:
    """Upgrading to the version that the table has is no change."""
    current = metadata.format_version
    if not current <= format_version <= NEWEST_VERSION:
        raise InvalidRequest(
            f"table {metadata.table_location} has format version {current}; it can be upgraded to versions up to "
            f"{NEWEST_VERSION} and never goes back, asked for {format_version}"
        )
    if format_version == current:
        return Encoded((), ())
    return Encoded((), ({"action": "upgrade-format-version", "format-version": format_version},))


def encode_set_ref(metadata: Metadata, changes: SetRef) -> Encoded:
    """A ref that is so already is no change; of one that stays of its kind, what we do not know of stays."""
    ref = changes.ref
    if ref.version not in metadata.snapshots:
        raise CommitConflict(
            f"version {ref.version} of {metadata.table_location} was expired while this operation ran, so there can be no "
            f"{ref} of it; run it again with another version"
        )
    existing = metadata.ref_nodes.get(ref.name) or {}
    kept = existing if existing.get("type") == ref.kind else {}
    update = _set_ref(ref.name, kept | _ref_node(ref))
    return Encoded((), () if update == _set_ref(ref.name, existing) else (update,))


def encode_drop_ref(metadata: Metadata, changes: DropRef) -> Encoded:
    if changes.name not in metadata.ref_nodes:
        return Encoded((), ())
    return Encoded((), ({"action": "remove-snapshot-ref", "ref-name": changes.name},))


def branch_head(metadata: Metadata, branch: str) -> int | None:
    """The newest version of a branch; None before there is one."""
    node = metadata.ref_nodes.get(branch)
    return None if node is None else int(node["snapshot-id"])


def apply_updates(metadata: Metadata, updates: Iterable[Document], now_ms: int) -> Document:
    """The document after the updates; what they do not speak of stays as it was, known to us or not."""
    document = dict(metadata.document)
    for update in updates:
        match update["action"]:
            case "add-snapshot":
                _apply_snapshot(document, update["snapshot"])
            case "set-snapshot-ref":
                _apply_ref(document, update, now_ms)
            case "remove-snapshot-ref":
                document["refs"] = {
                    name: node for name, node in _ref_nodes(document).items() if name != update["ref-name"]
                }
            case "upgrade-format-version":
                _apply_upgrade(document, metadata, update["format-version"])
            case action:
                raise Unsupported(f"metadata update {action} is not known here")
    document["last-updated-ms"] = now_ms
    return document


def requirements_of(metadata: Metadata, updates: Iterable[Document]) -> tuple[Document, ...]:
    """All that can be required of the base of a commit: whoever changed one of these first has won.

    What the base does not record, as version 1 may, cannot be required.
    """
    document = metadata.document
    heads = {MAIN: metadata.current_snapshot_id}
    for update in updates:
        if update["action"] in ("set-snapshot-ref", "remove-snapshot-ref"):
            heads[update["ref-name"]] = branch_head(metadata, update["ref-name"])
    requirements: list[Document] = [
        {"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": snapshot_id}
        for name, snapshot_id in heads.items()
    ]
    for requirement, required, recorded in _REQUIRED_OF_BASE:
        if document.get(recorded) is not None:
            requirements.append({"type": requirement, required: document[recorded]})
    return tuple(requirements)


def is_in_effect(metadata: Metadata, updates: Sequence[Document]) -> bool:
    """Whether a table is as updates would have it. A snapshot has an id that nobody else uses, and stays when branches move
    on; of other updates it is not certain who made them."""
    added = [update["snapshot"]["snapshot-id"] for update in updates if update["action"] == "add-snapshot"]
    if added:
        return all(snapshot_id in metadata.snapshots for snapshot_id in added)
    return all(_holds(metadata, update) for update in updates)


def updates_to_create(table: NewTable, location: str | None, table_uuid: str) -> tuple[Document, ...]:
    """A new table as updates of nothing; without a location, where it goes is left to the catalog."""
    schema = schema_to_json(table.schema)
    spec = {"spec-id": table.spec.spec_id, "fields": _spec_fields(table.spec)}
    placed = () if location is None else ({"action": "set-location", "location": location},)
    return (
        {"action": "assign-uuid", "uuid": table_uuid},
        {"action": "upgrade-format-version", "format-version": table.format_version},
        {"action": "add-schema", "schema": schema, "last-column-id": table.schema.highest_id},
        {"action": "set-current-schema", "schema-id": table.schema.schema_id},
        {"action": "add-spec", "spec": spec},
        {"action": "set-default-spec", "spec-id": table.spec.spec_id},
        {"action": "add-sort-order", "sort-order": _order_node(table.sort_order)},
        {"action": "set-default-sort-order", "sort-order-id": table.sort_order.order_id},
        *placed,
        {"action": "set-properties", "updates": dict(table.properties)},
    )


def with_metadata_log(document: Document, base: Metadata, entries_max: int) -> tuple[Document, tuple[str, ...]]:
    """The document with its predecessor in the log, and the table's own metadata files that fall out of the log by that."""
    log = [
        *(document.get("metadata-log") or ()),
        {"metadata-file": base.location, "timestamp-ms": base.last_updated_ms},
    ]
    kept = log[-max(1, entries_max) :]
    still_named = {item["metadata-file"] for item in kept}
    dropped = dict.fromkeys(item["metadata-file"] for item in log[: len(log) - len(kept)])
    own = tuple(name for name in dropped if name not in still_named and _is_own_metadata(base, name))
    return {**document, "metadata-log": kept}, own


def new_document(table: NewTable, location: str, table_uuid: str, now_ms: int) -> Document:
    """The metadata of a table before anything is written to it."""
    schema, version = schema_to_json(table.schema), table.format_version
    spec_fields = _spec_fields(table.spec)
    document: Document = {
        "format-version": version,
        "table-uuid": table_uuid,
        "location": location,
        "last-updated-ms": now_ms,
        "last-column-id": table.schema.highest_id,
        "schemas": [schema],
        "current-schema-id": table.schema.schema_id,
        "partition-specs": [{"spec-id": table.spec.spec_id, "fields": spec_fields}],
        "default-spec-id": table.spec.spec_id,
        "last-partition-id": max((part.field_id for part in table.spec.fields), default=_FIRST_PARTITION_FIELD_ID - 1),
        "sort-orders": [
            _order_node(order) for order in sorted({SortOrder(), table.sort_order}, key=lambda o: o.order_id)
        ],
        "default-sort-order-id": table.sort_order.order_id,
        "properties": dict(table.properties),
        "snapshots": [],
        "refs": {},
        "snapshot-log": [],
        "metadata-log": [],
    }
    if version < 3:
        document["current-snapshot-id"] = _NO_SNAPSHOT
    if version == 1:
        return document | {"schema": schema, "partition-spec": spec_fields}
    document["last-sequence-number"] = 0
    return document if version == 2 else document | {"next-row-id": 0}


def with_row_ids(manifests: Sequence[Manifest], next_row_id: int) -> tuple[Manifest, ...]:
    """Version 3: a data manifest without row ids, new or from before the upgrade, gets the next free range."""
    assigned = []
    for manifest in manifests:
        if manifest.content is Content.DATA and manifest.first_row_id is None:
            manifest = replace(manifest, first_row_id=next_row_id)
            next_row_id += _live_rows(manifest)
        assigned.append(manifest)
    return tuple(assigned)


def metadata_folder(metadata: Metadata) -> str:
    return metadata.properties.get("write.metadata.path", f"{metadata.table_location}/metadata").rstrip("/")


def _is_own_metadata(metadata: Metadata, location: str) -> bool:
    """A log may name anything, and what it names is removed: only files named and placed as this table's metadata is."""
    folder, _, name = location.rpartition("/")
    is_placed = folder in (f"{metadata.table_location}/metadata", metadata_folder(metadata))
    is_within = folder.startswith(f"{metadata.table_location}/") and ".." not in folder.split("/")
    return is_placed and is_within and name.endswith((".metadata.json", ".metadata.json.gz"))


def _added_manifest(
    metadata: Metadata, spec_id: int, files: tuple[DataFile, ...], attempt: Attempt, location: str, sequence_number: int
) -> tuple[Manifest, bytes]:
    schema, spec, version = metadata.schema, metadata.specs[spec_id], metadata.format_version
    snapshot_id = attempt.snapshot_id
    entries = (Entry(Status.ADDED, snapshot_id, None, None, file) for file in files)
    content = write_manifest(version, schema, spec, entries)
    manifest = Manifest(
        location=location,
        size_bytes=len(content),
        spec_id=spec_id,
        summaries=summarise(spec, schema, (file.partition.values for file in files)),
        content=Content.DATA,
        sequence_number=sequence_number,
        min_sequence_number=sequence_number,
        added_snapshot_id=snapshot_id,
        added_files=len(files),
        existing_files=0,
        deleted_files=0,
        added_rows=sum(file.record_count for file in files),
        existing_rows=0,
        deleted_rows=0,
    )
    return manifest, content


def _snapshot_node(
    metadata: Metadata,
    changes: AppendFiles,
    attempt: Attempt,
    list_location: str,
    sequence_number: int,
    listed: Sequence[Manifest],
) -> Document:
    parent = branch_head(metadata, changes.branch)
    node: Document = {
        "snapshot-id": attempt.snapshot_id,
        "timestamp-ms": attempt.now_ms,
        "summary": _summary(metadata, changes),
        "manifest-list": list_location,
        "schema-id": metadata.schema.schema_id,
    }
    if parent is not None:
        node["parent-snapshot-id"] = parent
    if metadata.format_version > 1:
        node["sequence-number"] = sequence_number
    if metadata.format_version > 2:
        rows_end = max(
            (manifest.first_row_id + _live_rows(manifest) for manifest in listed if manifest.first_row_id is not None),
            default=metadata.next_row_id,
        )
        node["first-row-id"] = metadata.next_row_id
        node["added-rows"] = max(rows_end, metadata.next_row_id) - metadata.next_row_id
    return node


def _summary(metadata: Metadata, changes: AppendFiles) -> dict[str, str]:
    files = changes.files
    counters = {
        "added-data-files": len(files),
        "added-records": sum(file.record_count for file in files),
        "added-files-size": sum(file.size_bytes for file in files),
        "changed-partition-count": len({file.partition for file in files}),
    }
    counters = {name: count for name, count in counters.items() if count}
    totals = _totals(metadata, branch_head(metadata, changes.branch), counters)
    ours = {"operation": "append", "engine-name": "lakewright", "engine-version": __version__}
    return {**changes.summary, **ours, **{name: str(count) for name, count in (counters | totals).items()}}


def _totals(metadata: Metadata, parent: int | None, counters: Mapping[str, int]) -> dict[str, int]:
    """Running totals go on from the parent's; one that the parent does not have stays unknown."""
    totals = {}
    for total, added in _TOTAL_OF.items():
        previous = 0 if parent is None else summary_count(metadata.snapshots[parent], total)
        if previous is not None:
            totals[total] = previous + (counters.get(added, 0) if added else 0)
    return totals


def _list_header(node: Document) -> dict[str, str]:
    header = {
        "snapshot-id": str(node["snapshot-id"]),
        "parent-snapshot-id": str(node.get("parent-snapshot-id", "null")),
    }
    optional = {"sequence-number": "sequence-number", "first-row-id": "first-row-id"}
    return header | {name: str(node[key]) for key, name in optional.items() if key in node}


def _add_snapshot(node: Document) -> Document:
    return {"action": "add-snapshot", "snapshot": node}


def _set_branch(metadata: Metadata, branch: str, snapshot_id: int) -> Document:
    """The branch keeps its retention settings."""
    existing = metadata.ref_nodes.get(branch) or {}
    return _set_ref(branch, {**existing, "type": RefKind.BRANCH.value, "snapshot-id": snapshot_id})


def _set_ref(name: str, node: Mapping[str, object]) -> Document:
    return {"action": "set-snapshot-ref", "ref-name": name, **node}


def _ref_node(ref: Ref) -> Document:
    retention = {
        "max-ref-age-ms": ref.retention.max_ref_age_ms,
        "max-snapshot-age-ms": ref.retention.max_snapshot_age_ms,
        "min-snapshots-to-keep": ref.retention.min_snapshots_to_keep,
    }
    known = {name: value for name, value in retention.items() if value is not None}
    return {"type": ref.kind.value, "snapshot-id": ref.version, **known}


def _apply_snapshot(document: Document, node: Document) -> None:
    document["snapshots"] = [*(document.get("snapshots") or ()), node]
    if "sequence-number" in node:
        document["last-sequence-number"] = node["sequence-number"]
    if "added-rows" in node:
        document["next-row-id"] = node["first-row-id"] + node["added-rows"]


def _apply_ref(document: Document, update: Document, now_ms: int) -> None:
    """Refs are written whole: what the main branch of a table without refs holds would expire beside another branch."""
    document["refs"] = {**_ref_nodes(document), update["ref-name"]: _ref_in(update)}
    if update["ref-name"] == MAIN and update["snapshot-id"] != document.get("current-snapshot-id"):
        document["current-snapshot-id"] = update["snapshot-id"]
        logged = {"snapshot-id": update["snapshot-id"], "timestamp-ms": now_ms}
        document["snapshot-log"] = [*(document.get("snapshot-log") or ()), logged]


def _ref_nodes(document: Document) -> Mapping[str, Document]:
    return Metadata("", document).ref_nodes


def _ref_in(update: Document) -> Document:
    return {key: value for key, value in update.items() if key not in ("action", "ref-name")}


def _apply_upgrade(document: Document, metadata: Metadata, format_version: int) -> None:
    """Later versions require what version 1 could leave out."""
    document["format-version"] = format_version
    document.setdefault("last-sequence-number", 0)
    document.setdefault("schemas", [schema_to_json(metadata.schema)])
    document.setdefault("current-schema-id", metadata.schema.schema_id)
    document.setdefault(
        "partition-specs", [{"spec-id": spec.spec_id, "fields": _spec_fields(spec)} for spec in metadata.specs.values()]
    )
    document.setdefault("default-spec-id", metadata.default_spec_id)
    highest = [part.field_id for spec in metadata.specs.values() for part in spec.fields]
    document.setdefault("last-partition-id", max(highest, default=_FIRST_PARTITION_FIELD_ID - 1))
    document.setdefault("sort-orders", [_order_node(SortOrder())])
    document.setdefault("default-sort-order-id", 0)
    document.pop("schema", None)
    document.pop("partition-spec", None)
    if format_version > 2:
        document.setdefault("next-row-id", 0)
        if document.get("current-snapshot-id") == _NO_SNAPSHOT:
            document.pop("current-snapshot-id")


def _holds(metadata: Metadata, update: Document) -> bool:
    match update["action"]:
        case "upgrade-format-version":
            return metadata.format_version >= int(update["format-version"])
        case "set-snapshot-ref":
            node = metadata.ref_nodes.get(update["ref-name"]) or {}
            return all(node.get(key) == value for key, value in _ref_in(update).items())
        case "remove-snapshot-ref":
            return update["ref-name"] not in metadata.ref_nodes
        case "set-properties":
            return all(metadata.properties.get(name) == value for name, value in update["updates"].items())
        case "remove-properties":
            return not any(name in metadata.properties for name in update["removals"])
        case action:
            raise Unsupported(f"whether metadata update {action} was made cannot be seen")


def _spec_fields(spec: PartitionSpec) -> list[Document]:
    return [
        {"source-id": part.source_id, "field-id": part.field_id, "name": part.name, "transform": str(part.transform)}
        for part in spec.fields
    ]


def _order_node(order: SortOrder) -> Document:
    fields = [
        {
            "source-id": part.source_id,
            "transform": str(part.transform),
            "direction": "desc" if part.descending else "asc",
            "null-order": "nulls-first" if part.nulls_first else "nulls-last",
        }
        for part in order.fields
    ]
    return {"order-id": order.order_id, "fields": fields}


def _live_rows(manifest: Manifest) -> int:
    return (manifest.added_rows or 0) + (manifest.existing_rows or 0)
