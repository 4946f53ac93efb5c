"""What does a table metadata file say? The document is kept whole; keys that we do not know survive a commit."""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.records.types import schema_from_json, transform_from_json
from lakewright.model.partitioning import PartitionField, PartitionSpec
from lakewright.model.refs import MAIN, Ref, RefKind, Retention
from lakewright.model.scan import MappedName
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortField, SortOrder

Document: TypeAlias = dict[str, Any]

NEWEST_VERSION = 3
_GZIP_MAGIC = b"\x1f\x8b"
_KINDS = {
    "location": str,
    "table-uuid": str,
    "properties": dict,
    "schemas": list,
    "partition-specs": list,
    "sort-orders": list,
    "snapshots": list,
    "snapshot-log": list,
    "metadata-log": list,
    "refs": dict,
}
_COUNTERS = {2: ("last-sequence-number",), 3: ("last-sequence-number", "next-row-id")}
"""Numbers that go up from commit to commit: an invented one would be given to two commits."""

_LISTS = ("schemas", "partition-specs", "sort-orders", "snapshots", "snapshot-log", "metadata-log")
_SHAPES: Mapping[str, type] = {**dict.fromkeys(_LISTS, list), "properties": dict, "refs": dict}
_JSON_NAMES: Mapping[type, str] = {list: "array", dict: "object"}


@dataclass(frozen=True)
class Metadata:
    """One table metadata file: where it lies, and the document with typed views on the parts that we need."""

    location: str
    document: Mapping[str, Any]

    @cached_property
    def format_version(self) -> int:
        return int(self.document["format-version"])

    @cached_property
    def table_uuid(self) -> str | None:
        return self.document.get("table-uuid")

    @cached_property
    def table_location(self) -> str:
        return str(self.document["location"]).rstrip("/")

    @cached_property
    def properties(self) -> Mapping[str, str]:
        return self.document.get("properties") or {}

    @cached_property
    def schemas(self) -> Mapping[int, Schema]:
        nodes = self.document.get("schemas") or [self.document["schema"]]
        return {schema.schema_id: schema for schema in map(schema_from_json, nodes)}

    @cached_property
    def schema(self) -> Schema:
        """The table's current schema."""
        current = self.document.get("current-schema-id")
        if current is None:
            return schema_from_json(self.document["schema"])
        return self.schema_by_id(current)

    def schema_by_id(self, schema_id: int) -> Schema:
        if schema_id not in self.schemas:
            known = ", ".join(map(str, sorted(self.schemas)))
            raise CorruptTable(f"{self.location} refers to schema {schema_id}, it has schemas {known}")
        return self.schemas[schema_id]

    @cached_property
    def specs(self) -> Mapping[int, PartitionSpec]:
        if "partition-specs" in self.document:
            nodes = self.document["partition-specs"]
            return {node["spec-id"]: _spec_from_json(node["spec-id"], node["fields"]) for node in nodes}
        return {0: _spec_from_json(0, self.document.get("partition-spec") or [])}

    @cached_property
    def default_spec_id(self) -> int:
        return int(self.document.get("default-spec-id", 0))

    @cached_property
    def sort_order(self) -> SortOrder:
        """The order that writers are to use."""
        default = self.document.get("default-sort-order-id", 0)
        for node in self.document.get("sort-orders") or ():
            if node["order-id"] == default:
                return _order_from_json(node)
        if default == 0:
            return SortOrder()
        raise CorruptTable(f"{self.location} names sort order {default} as its default and does not have it")

    @cached_property
    def snapshots(self) -> Mapping[int, Document]:
        return {node["snapshot-id"]: node for node in self.document.get("snapshots") or ()}

    @cached_property
    def current_snapshot_id(self) -> int | None:
        """-1 is how writers of versions 1 and 2 say that there is none."""
        current = self.document.get("current-snapshot-id")
        return None if current in (None, -1) else int(current)

    @cached_property
    def ref_nodes(self) -> Mapping[str, Document]:
        """Refs by name; writers of version 1 leave out the branch that every table with a version has."""
        nodes = self.document.get("refs") or {}
        if MAIN in nodes or self.current_snapshot_id is None:
            return nodes
        return {MAIN: {"type": RefKind.BRANCH.value, "snapshot-id": self.current_snapshot_id}, **nodes}

    @cached_property
    def refs(self) -> tuple[Ref, ...]:
        found = (_ref(name, node) for name, node in self.ref_nodes.items())
        return tuple(sorted(found, key=lambda ref: (ref.name != MAIN, ref.name)))

    @cached_property
    def name_mapping(self) -> tuple[MappedName, ...] | None:
        """What files without field ids mean by their names; None when the table does not say."""
        text = self.properties.get("schema.name-mapping.default")
        if text is None:
            return None
        try:
            return tuple(_mapped_name(node) for node in json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CorruptTable(
                f"{self.location} has a schema.name-mapping.default that is damaged: {error!r}"
            ) from error

    @cached_property
    def last_sequence_number(self) -> int:
        return int(self.document.get("last-sequence-number", 0))

    @cached_property
    def last_updated_ms(self) -> int:
        return int(self.document.get("last-updated-ms", 0))

    @cached_property
    def next_row_id(self) -> int:
        return int(self.document.get("next-row-id", 0))


def parse_metadata(location: str, content: bytes) -> Metadata:
    """The metadata in a file's bytes, gzip or not."""
    return metadata_of(location, parse_document(location, content))


def metadata_of(location: str, document: Mapping[str, Any]) -> Metadata:
    """A document with views on it; refused by name if it is damaged or from a future we do not know."""
    version = document.get("format-version")
    if type(version) is not int or version < 1:
        raise CorruptTable(f"{location} has format-version {version!r}; it is not the metadata of an Iceberg table")
    if version > NEWEST_VERSION:
        raise Unsupported(
            f"{location} is Iceberg format version {version}; versions 1 to {NEWEST_VERSION} are understood"
        )
    if document.get("encryption-keys"):
        raise Unsupported(f"{location} has encryption-keys; encrypted tables are not supported")
    for name in _COUNTERS.get(version, ()):
        if not isinstance(document.get(name), int):
            raise CorruptTable(
                f"{location} has {name} {document.get(name)!r}; format version {version} requires a number there, "
                "so the metadata is damaged"
            )
    for name, kind in _SHAPES.items():
        if not isinstance(document.get(name), kind | None):
            raise CorruptTable(f"{location} lacks or garbles a required part: {name} is no JSON {_JSON_NAMES[kind]}")
    metadata = Metadata(location, document)
    _check_required_parts(metadata)
    return metadata


def summary_count(node: Mapping[str, Any], name: str) -> int | None:
    """What the writer of a snapshot counted; what is no number was not counted."""
    text = str((node.get("summary") or {}).get(name))
    return int(text) if text.isdecimal() else None


def parse_document(location: str, content: bytes) -> Document:
    """The JSON object in a file's bytes, gzip or not."""
    try:
        text = gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content
        document = json.loads(text)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise CorruptTable(f"{location} is not a readable metadata file: {error}") from error
    if not isinstance(document, dict):
        raise CorruptTable(f"{location} does not hold a JSON object; it is not a table's metadata")
    return document


def render_metadata(document: Mapping[str, Any], *, compressed: bool) -> bytes:
    content = json.dumps(document, separators=(",", ":")).encode()
    return gzip.compress(content, mtime=0) if compressed else content


def _check_required_parts(metadata: Metadata) -> None:
    """Touch what every later step relies on, so that damage is met here and named."""
    try:
        _touch(metadata)
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, OverflowError) as error:
        raise CorruptTable(f"{metadata.location} lacks or garbles a required part: {error!r}") from error
    if metadata.default_spec_id not in metadata.specs:
        known = ", ".join(map(str, sorted(metadata.specs)))
        raise CorruptTable(
            f"{metadata.location} names default partition spec {metadata.default_spec_id}, it has specs "
            f"{known or 'none'}"
        )
    if metadata.current_snapshot_id is not None and metadata.current_snapshot_id not in metadata.snapshots:
        raise CorruptTable(
            f"{metadata.location} names current snapshot {metadata.current_snapshot_id} and does not have it"
        )
    for ref in metadata.refs:
        if ref.version not in metadata.snapshots:
            raise CorruptTable(
                f"{metadata.location} has a {ref} of snapshot {ref.version} and does not have that snapshot"
            )
        if ref.name == MAIN and ref.version != metadata.current_snapshot_id:
            raise CorruptTable(
                f"{metadata.location} has branch main at snapshot {ref.version} and names another current snapshot, "
                f"{metadata.current_snapshot_id}"
            )
    if not metadata.schema.fields and metadata.current_snapshot_id is not None:
        raise CorruptTable(f"{metadata.location} has a schema without columns")


def _touch(metadata: Metadata) -> None:
    """Any error means damage."""
    for name, kind in _KINDS.items():
        if not isinstance(metadata.document.get(name), kind | None):
            raise CorruptTable(f"{metadata.location} lacks or garbles a required part: {name} is no {kind.__name__}")
    for schema in (metadata.schema, *metadata.schemas.values()):
        _ = schema.names_by_id
    for spec in metadata.specs.values():
        _ = sorted(part.name for part in spec.fields), hash(spec)
    for node in metadata.snapshots.values():
        _ = int(node["snapshot-id"]), int(node["timestamp-ms"]), dict(node.get("summary") or {}).items()
    for logged in metadata.document.get("snapshot-log") or ():
        _ = int(logged["snapshot-id"]), int(logged["timestamp-ms"])
    _ = metadata.document["location"] + "", hash(metadata.sort_order), metadata.default_spec_id
    _ = (
        metadata.refs,
        metadata.current_snapshot_id,
        metadata.last_sequence_number,
        metadata.last_updated_ms,
        metadata.next_row_id,
    )


def _spec_from_json(spec_id: int, nodes: list[Mapping[str, Any]]) -> PartitionSpec:
    """Specs of version 1 have no field ids; they count from 1000."""
    fields = tuple(
        PartitionField(
            source_id=_source_id(node),
            field_id=int(node.get("field-id", 1000 + index)),
            name=node["name"],
            transform=transform_from_json(node["transform"]),
        )
        for index, node in enumerate(nodes)
    )
    return PartitionSpec(spec_id, fields)


def _order_from_json(node: Mapping[str, Any]) -> SortOrder:
    fields = tuple(
        SortField(
            source_id=_source_id(child),
            transform=transform_from_json(child["transform"]),
            descending=child["direction"].lower() == "desc",
            nulls_first=child["null-order"].lower() == "nulls-first",
        )
        for child in node["fields"]
    )
    return SortOrder(node["order-id"], fields)


def _ref(name: str, node: Mapping[str, Any]) -> Ref:
    ages = (node.get(key) for key in ("max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep"))
    retention = Retention(*(None if age is None else int(age) for age in ages))
    return Ref(name, RefKind(node["type"].lower()), int(node["snapshot-id"]), retention)


def _source_id(node: Mapping[str, Any]) -> int:
    """Version 3 allows transforms of several columns: the first stands for them, the transform is unknown here."""
    if "source-id" in node:
        return int(node["source-id"])
    return int(node["source-ids"][0])


def _mapped_name(node: Mapping[str, Any]) -> MappedName:
    return MappedName(
        frozenset(map(str, node["names"])), node.get("field-id"), tuple(map(_mapped_name, node.get("fields") or ()))
    )
