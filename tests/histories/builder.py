"""How does a test get an Iceberg table with a past? Real files, written one after the other as other engines do.

It writes what lakewright itself does not: deletes of every kind, and whatever schemas and specs a table went through.
Beside the files it keeps, for each snapshot, what was written, which is what an oracle needs.
"""

import json
import struct
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from lakewright.engine.arrow.types import arrow_schema, arrow_type
from lakewright.formats.iceberg.records.manifests import (
    Content,
    Entry,
    Manifest,
    Status,
    write_manifest,
    write_manifest_list,
)
from lakewright.formats.iceberg.records.partitions import summarise
from lakewright.formats.iceberg.records.types import schema_to_json
from lakewright.model.files import DataFile, DeleteFile, DeleteKind, FileMetrics
from lakewright.model.partitioning import PartitionField, PartitionKey, PartitionSpec
from lakewright.model.scan import LAST_UPDATED_ID, ROW_ID_ID
from lakewright.model.schema import Schema
from lakewright.model.types import Field, ListType, MapType, Primitive, StructType, Value
from lakewright.protocols import ObjectStore
from tests.histories.values import Row, named

PATH = Field(2147483546, "file_path", Primitive.STRING, required=True)
POSITION = Field(2147483545, "pos", Primitive.LONG, required=True)
LINEAGE = (
    Field(ROW_ID_ID, "_row_id", Primitive.LONG),
    Field(LAST_UPDATED_ID, "_last_updated_sequence_number", Primitive.LONG),
)
NO_METRICS = FileMetrics()
UNPARTITIONED = PartitionSpec(0)
_FIRST_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Written:
    """A data file and its rows, as they were given; those ids and ages of rows that it holds itself."""

    file: DataFile
    rows: tuple[Row, ...]
    lineage: tuple[tuple[int | None, int | None], ...] | None = None


@dataclass(frozen=True)
class Mark:
    """A delete file and what it says: positions by path, or keys of some columns."""

    file: DeleteFile
    positions: frozenset[tuple[str, int]] = frozenset()
    keys: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Version:
    """What a snapshot is made of."""

    number: int
    schema: Schema
    data: tuple[Written, ...]
    marks: tuple[Mark, ...]
    known: Mapping[int, Field]


@dataclass
class _Listed:
    """A manifest with the files that it lists."""

    manifest: Manifest
    entries: list[Entry]


@dataclass
class TableWithPast:
    """Versions are committed one after the other; `finish` writes the metadata that names them all."""

    store: ObjectStore
    schema: Schema
    spec: PartitionSpec = UNPARTITIONED
    format_version: int = 2
    location: str = "memory://lake/t"
    versions: list[Version] = field(default_factory=list)
    schemas: list[Schema] = field(default_factory=list)
    specs: dict[int, PartitionSpec] = field(default_factory=dict)
    known: dict[int, Field] = field(default_factory=dict)
    """Every column that there was, as it was last."""
    name_mapping: list[Mapping[str, Any]] | None = None
    _listed: list[_Listed] = field(default_factory=list)
    _written: dict[str, Written] = field(default_factory=dict)
    _marks: dict[tuple[str, int], Mark] = field(default_factory=dict)
    _nodes: list[Mapping[str, Any]] = field(default_factory=list)
    _names: int = 0
    _sequence: int = 0
    _next_row_id: int = 0

    def __post_init__(self) -> None:
        self.evolve(self.schema)
        self.specs[self.spec.spec_id] = self.spec

    def evolve(self, schema: Schema) -> None:
        self.schema = replace(schema, schema_id=len(self.schemas))
        self.schemas.append(self.schema)
        self.known.update(self.schema.by_id)

    def partition_by(self, *parts: PartitionField) -> None:
        self.spec = PartitionSpec(len(self.specs), parts)
        self.specs[self.spec.spec_id] = self.spec

    @property
    def live(self) -> tuple[Written, ...]:
        return self.versions[-1].data if self.versions else ()

    def file(
        self,
        rows: Sequence[Row],
        partition: tuple[Value | None, ...] = (),
        *,
        spec: PartitionSpec | None = None,
        left_out: Collection[int] = (),
        metrics: FileMetrics = NO_METRICS,
        lineage: Sequence[tuple[int | None, int | None]] | None = None,
        with_ids: bool = True,
    ) -> Written:
        """A data file of rows in the schema of now; columns that are left out are not in the file."""
        fields = tuple(child for child in self.schema.fields if child.id not in left_out)
        columns = [
            pa.array([named(row[child.id], child.type) for row in rows], arrow_type(child.type)) for child in fields
        ]
        if lineage is not None:
            fields += LINEAGE
            columns += [pa.array([pair[place] for pair in lineage], pa.int64()) for place in (0, 1)]
        table = pa.Table.from_arrays(columns, schema=arrow_schema(fields))
        location = self._location("data", "parquet")
        size = self._parquet(location, table if with_ids else table.cast(_without_ids(table.schema)))
        key = PartitionKey((spec or self.spec).spec_id, partition)
        file = DataFile(location, key, len(rows), size, metrics)
        return Written(file, tuple(rows), None if lineage is None else tuple(lineage))

    def positions(self, marks: Iterable[tuple[Written, int]], *, referenced: bool = False, bounds: bool = True) -> Mark:
        """Position deletes in the order given, of files of one partition; what repeats, repeats."""
        pairs = [(written.file.location, position) for written, position in marks]
        key = next(written.file.partition for written, _ in marks)
        paths = {path for path, _ in pairs}
        table = pa.Table.from_arrays(
            [pa.array([path for path, _ in pairs]), pa.array([position for _, position in pairs], pa.int64())],
            schema=arrow_schema((PATH, POSITION)),
        )
        location = self._location("deletes", "parquet")
        low, high = ({PATH.id: choose(paths).encode()} for choose in (min, max))
        delete = DeleteFile(
            location=location,
            kind=DeleteKind.POSITIONS,
            partition=key,
            record_count=len(pairs),
            size_bytes=self._parquet(location, table),
            data_sequence_number=0,
            referenced_data_file=min(paths) if referenced else None,
            metrics=FileMetrics(lower_bounds=low, upper_bounds=high) if bounds else NO_METRICS,
        )
        return Mark(delete, positions=frozenset(pairs))

    def equality(
        self,
        ids: tuple[int, ...],
        keys: Sequence[Row],
        partition: tuple[Value | None, ...] = (),
        *,
        spec: PartitionSpec | None = None,
        more: Collection[int] = (),
    ) -> Mark:
        """Equality deletes by some columns; the file may hold more columns, which mean nothing."""
        fields = tuple(self.schema.by_id[each] for each in (*more, *ids))
        columns = [
            pa.array([named(key.get(child.id), child.type) for key in keys], arrow_type(child.type)) for child in fields
        ]
        location = self._location("deletes", "parquet")
        optional = tuple(replace(child, required=False) for child in fields)
        delete = DeleteFile(
            location=location,
            kind=DeleteKind.EQUALITY,
            partition=PartitionKey((spec or self.spec).spec_id, partition),
            record_count=len(keys),
            size_bytes=self._parquet(location, pa.Table.from_arrays(columns, schema=arrow_schema(optional))),
            data_sequence_number=0,
            equality_ids=ids,
        )
        return Mark(delete, keys=tuple(keys))

    def vectors(self, positions: Mapping[str, Collection[int]]) -> tuple[Mark, ...]:
        """Deletion vectors of several files, by their paths, in one Puffin file."""
        location = self._location("deletes", "puffin")
        content, places = puffin({path: vector_blob(marked) for path, marked in positions.items()})
        self.store.write(location, content)
        return tuple(
            Mark(
                DeleteFile(
                    location=location,
                    kind=DeleteKind.VECTOR,
                    partition=self._written[path].file.partition,
                    record_count=len(set(marked)),
                    size_bytes=len(content),
                    data_sequence_number=0,
                    file_format="puffin",
                    referenced_data_file=path,
                    content_offset=places[path][0],
                    content_size=places[path][1],
                ),
                positions=frozenset((path, position) for position in marked),
            )
            for path, marked in positions.items()
        )

    def commit(
        self,
        data: Iterable[Written] = (),
        marks: Iterable[Mark] = (),
        *,
        removed: Collection[DataFile | DeleteFile] = (),
        merge_manifests: bool = False,
        sequence: int | None = None,
    ) -> int:
        """A version more, and its number. With a sequence number of their own, files are older than their commit."""
        number = 100 + len(self._nodes)
        self._sequence += self.format_version > 1
        self._remove(removed, number)
        if merge_manifests:
            self._merge(number)
        self._add([written.file for written in data], Content.DATA, number, sequence)
        self._add([mark.file for mark in marks], Content.DELETES, number, sequence)
        self._written |= {written.file.location: written for written in data}
        self._marks |= {_place(mark.file): mark for mark in marks}
        self._assign_row_ids()
        self._publish(number)
        return number

    def finish(self) -> str:
        """Where the metadata is that names every version."""
        version = self.format_version
        document: dict[str, Any] = {
            "format-version": version,
            "table-uuid": "7f1d9d3e-0000-4000-8000-000000000001",
            "location": self.location,
            "last-updated-ms": _FIRST_MS,
            "last-column-id": max(self.known),
            "schemas": [_schema_node(schema) for schema in self.schemas],
            "current-schema-id": self.schema.schema_id,
            "partition-specs": [_spec_node(spec) for spec in self.specs.values()],
            "default-spec-id": self.spec.spec_id,
            "last-partition-id": max((p.field_id for spec in self.specs.values() for p in spec.fields), default=999),
            "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0,
            "properties": {},
            "snapshots": self._nodes,
            "current-snapshot-id": self._nodes[-1]["snapshot-id"] if self._nodes else -1,
        }
        if self.name_mapping is not None:
            document["properties"] = {"schema.name-mapping.default": json.dumps(self.name_mapping)}
        if version == 1:
            document |= {"schema": _schema_node(self.schema), "partition-spec": _spec_node(self.spec)["fields"]}
        else:
            document["last-sequence-number"] = self._sequence
        if version > 2:
            document["next-row-id"] = self._next_row_id
        location = f"{self.location}/metadata/v{self._next_name()}.metadata.json"
        self.store.write(location, json.dumps(document).encode())
        return location

    def _remove(self, removed: Collection[DataFile | DeleteFile], number: int) -> None:
        gone = {_place(file) for file in removed}
        for listed in self._listed:
            if any(_place(entry.file) in gone for entry in listed.entries):
                entries = [
                    replace(entry, status=Status.DELETED if _place(entry.file) in gone else Status.EXISTING)
                    for entry in listed.entries
                    if entry.status is not Status.DELETED
                ]
                listed.manifest, listed.entries = self._manifest(entries, listed.manifest.content, number), entries

    def _merge(self, number: int) -> None:
        """All manifests of one spec and content become one."""
        groups: dict[tuple[int, Content], list[Entry]] = {}
        for listed in self._listed:
            group = groups.setdefault((listed.manifest.spec_id, listed.manifest.content), [])
            kept = (entry for entry in listed.entries if entry.status is not Status.DELETED)
            group += [replace(entry, status=Status.EXISTING) for entry in kept]
        self._listed = [
            _Listed(self._manifest(entries, content, number), entries)
            for (_, content), entries in groups.items()
            if entries
        ]

    def _add(self, files: Sequence[DataFile | DeleteFile], content: Content, number: int, sequence: int | None) -> None:
        """Numbers that are not the commit's own stand in the entries."""
        status = Status.ADDED if sequence is None else Status.EXISTING
        own = self._sequence if sequence is None else sequence
        for spec_id in sorted({file.partition.spec_id for file in files}):
            entries = [
                Entry(status, number, own, self._sequence, replace(file, data_sequence_number=own))
                for file in files
                if file.partition.spec_id == spec_id
            ]
            self._listed.insert(0, _Listed(self._manifest(entries, content, number), entries))

    def _manifest(self, entries: Sequence[Entry], content: Content, number: int) -> Manifest:
        spec = self.specs[entries[0].file.partition.spec_id]
        wide = Schema(tuple(self.known.values()), self.schema.schema_id)
        raw = write_manifest(self.format_version, wide, spec, entries, content)
        location = self._location("metadata", "avro")
        self.store.write(location, raw)
        live = [entry for entry in entries if entry.status is not Status.DELETED]
        counts = [
            [e.file.record_count for e in entries if e.status == status]
            for status in (Status.ADDED, Status.EXISTING, Status.DELETED)
        ]
        return Manifest(
            location=location,
            size_bytes=len(raw),
            spec_id=spec.spec_id,
            summaries=summarise(spec, wide, (entry.file.partition.values for entry in live)),
            content=content,
            sequence_number=self._sequence,
            min_sequence_number=min((entry.data_sequence_number or 0 for entry in live), default=self._sequence),
            added_snapshot_id=number,
            added_files=len(counts[0]),
            existing_files=len(counts[1]),
            deleted_files=len(counts[2]),
            added_rows=sum(counts[0]),
            existing_rows=sum(counts[1]),
            deleted_rows=sum(counts[2]),
        )

    def _assign_row_ids(self) -> None:
        """Version 3: data manifests without a first row id get the next range, and files theirs of it in their order."""
        for listed in self._listed:
            manifest = listed.manifest
            if self.format_version < 3 or manifest.content is Content.DELETES or manifest.first_row_id is not None:
                continue
            listed.manifest = replace(manifest, first_row_id=self._next_row_id)
            next_id = self._next_row_id
            for place, entry in enumerate(listed.entries):
                if entry.status is not Status.DELETED and entry.file.first_row_id is None:
                    listed.entries[place] = replace(entry, file=replace(entry.file, first_row_id=next_id))
                    next_id += entry.file.record_count
            self._next_row_id += (manifest.added_rows or 0) + (manifest.existing_rows or 0)

    def _publish(self, number: int) -> None:
        location = f"{self.location}/metadata/snap-{number}.avro"
        manifests = [listed.manifest for listed in self._listed]
        self.store.write(location, write_manifest_list(self.format_version, manifests, {"snapshot-id": str(number)}))
        node: dict[str, Any] = {
            "snapshot-id": number,
            "timestamp-ms": _FIRST_MS + number,
            "manifest-list": location,
            "schema-id": self.schema.schema_id,
            "summary": {"operation": "overwrite"},
        }
        if self.format_version > 1:
            node["sequence-number"] = self._sequence
        if self.format_version > 2:
            node |= {"first-row-id": 0, "added-rows": self._next_row_id}
        self._nodes.append(node)
        entries = [entry for listed in self._listed for entry in listed.entries if entry.status is not Status.DELETED]
        self.versions.append(
            Version(
                number,
                self.schema,
                tuple(
                    replace(self._written[e.file.location], file=e.file)
                    for e in entries
                    if isinstance(e.file, DataFile)
                ),
                tuple(
                    replace(self._marks[_place(e.file)], file=e.file) for e in entries if isinstance(e.file, DeleteFile)
                ),
                dict(self.known),
            )
        )

    def _parquet(self, location: str, table: pa.Table) -> int:
        sink = BytesIO()
        pq.write_table(table, sink, row_group_size=3, write_page_checksum=True)
        self.store.write(location, sink.getvalue())
        return len(sink.getvalue())

    def _location(self, folder: str, ending: str) -> str:
        return f"{self.location}/{folder}/{self._next_name():05d}.{ending}"

    def _next_name(self) -> int:
        self._names += 1
        return self._names


def vector_blob(positions: Collection[int]) -> bytes:
    body = b"\xd1\xd3\x39\x64" + BitMap64(positions).serialize()
    return struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def puffin(blobs: Mapping[str, bytes]) -> tuple[bytes, Mapping[str, tuple[int, int]]]:
    """A Puffin file of vectors, with where each lies and how long it is."""
    content, places = b"PFA1", {}
    for path, blob in blobs.items():
        places[path] = (len(content), len(blob))
        content += blob
    nodes = [
        {
            "type": "deletion-vector-v1",
            "fields": [2147483645],
            "snapshot-id": -1,
            "sequence-number": -1,
            "offset": offset,
            "length": length,
            "properties": {"referenced-data-file": path},
        }
        for path, (offset, length) in places.items()
    ]
    footer = json.dumps({"blobs": nodes}).encode()
    return content + b"PFA1" + footer + struct.pack("<i4s", len(footer), b"") + b"PFA1", places


def _place(file: DataFile | DeleteFile) -> tuple[str, int]:
    return file.location, file.content_offset if isinstance(file, DeleteFile) else 0


def _without_ids(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(each.name, each.type) for each in schema])


def _spec_node(spec: PartitionSpec) -> dict[str, Any]:
    fields = [
        {"source-id": part.source_id, "field-id": part.field_id, "name": part.name, "transform": str(part.transform)}
        for part in spec.fields
    ]
    return {"spec-id": spec.spec_id, "fields": fields}


def _schema_node(schema: Schema) -> dict[str, Any]:
    node = schema_to_json(schema)
    _add_defaults(node["fields"], schema.fields)
    return node


def _add_defaults(nodes: Sequence[dict[str, Any]], fields: Sequence[Field]) -> None:
    for node, child in zip(nodes, fields, strict=True):
        if child.initial_default is not None:
            node["initial-default"] = _default_node(child)
        _add_inside(node["type"], child)


def _add_inside(node: Any, child: Field) -> None:
    match child.type:
        case StructType(members):
            _add_defaults(node["fields"], members)
        case ListType(element):
            _add_inside(node["element"], element)
        case MapType(_, value):
            _add_inside(node["value"], value)


def _default_node(child: Field) -> Any:
    value = child.initial_default
    if child.type == Primitive.DATE:
        return (date(1970, 1, 1) + timedelta(days=int(value or 0))).isoformat()
    return str(value) if isinstance(value, Decimal) else value
