"""How are Avro files read and written so that values stay as they are stored?

fastavro turns dates, timestamps, decimals and uuids into Python objects, which cannot hold all that Avro can. So
logical types are taken off the schema before records are read; values that are written are given as stored, and
fastavro passes them through.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_HEADER_SCHEMA = fastavro.parse_schema({"type": "map", "values": "bytes"})
_LONG = fastavro.parse_schema("long")
_BYTES = fastavro.parse_schema("bytes")
_INFLATED_BYTES_MAX = 1 << 30


class _NotAvro(Exception):
    """The bytes, or what their header says, are not what a manifest or manifest list has."""


@dataclass(frozen=True)
class AvroFile:
    """A file's key-value header, its schema as written, and its records, still encoded, one after the other."""

    header: Mapping[str, str]
    schema: Mapping[str, Any]
    count: int
    content: bytes

    def records(self) -> list[Mapping[str, Any]]:
        """One by one; all bytes have to be used up by them."""
        source = BytesIO(self.content)
        found = [self._next(source) for _ in range(self.count)]
        if source.tell() != len(self.content):
            raise _NotAvro(f"{len(self.content) - source.tell()} bytes are left after {self.count} records")
        return found

    def first(self) -> Mapping[str, Any]:
        return self._next(BytesIO(self.content))

    def _next(self, source: BytesIO) -> Mapping[str, Any]:
        record: Any = fastavro.schemaless_reader(source, self._plain_schema, None)
        found: Mapping[str, Any] = record
        return found

    @cached_property
    def _plain_schema(self) -> Any:
        return fastavro.parse_schema(without_logical_types(self.schema))


def read_avro(content: bytes) -> AvroFile:
    """Raises an error of the decoder, whichever, when the bytes are no Avro file: callers know whose bytes they are."""
    source = BytesIO(content)
    if source.read(4) != _MAGIC:
        raise _NotAvro("it does not begin as an Avro file does")
    header: Any = fastavro.schemaless_reader(source, _HEADER_SCHEMA, None)
    sync = source.read(_SYNC_BYTES)
    codec = bytes(header.get("avro.codec", b"null")).decode()
    blocks, count, inflated = [], 0, 0
    while source.tell() < len(content):
        block_count: Any = fastavro.schemaless_reader(source, _LONG, None)
        block: Any = fastavro.schemaless_reader(source, _BYTES, None)
        if block_count < 0 or source.read(_SYNC_BYTES) != sync:
            raise _NotAvro("a block does not end where it says; the file was cut or overwritten")
        count += block_count
        blocks.append(_decompressed(codec, block))
        inflated += len(blocks[-1])
        if inflated > _INFLATED_BYTES_MAX or count > inflated:
            raise _NotAvro(f"{count} records in {inflated} bytes are more than a manifest can hold")
    texts = {key: bytes(value).decode("utf-8", "replace") for key, value in header.items()}
    return AvroFile(texts, json.loads(texts["avro.schema"]), count, b"".join(blocks))


def write_avro(schema: Mapping[str, Any], records: Iterable[Mapping[str, Any]], header: Mapping[str, str]) -> bytes:
    sink = BytesIO()
    fastavro.writer(sink, dict(schema), records, codec="deflate", metadata=dict(header))
    return sink.getvalue()


def names_by_field_id(record_schema: Mapping[str, Any]) -> dict[int, str]:
    """Writers have changed the names of fields over time, never their ids."""
    return {field["field-id"]: field["name"] for field in record_schema["fields"] if "field-id" in field}


def member_schema(record_schema: Mapping[str, Any], field_id: int) -> Mapping[str, Any]:
    """The record schema of one field, looked up below an optional."""
    for field in record_schema["fields"]:
        if field.get("field-id") == field_id:
            node = field["type"]
            options = node if isinstance(node, list) else [node]
            return next(option for option in options if isinstance(option, dict))
    raise _NotAvro(f"it has no field with the id {field_id}")


def without_logical_types(node: Any) -> Any:
    if isinstance(node, list):
        return [without_logical_types(option) for option in node]
    if isinstance(node, dict):
        return {key: without_logical_types(value) for key, value in node.items() if key != "logicalType"}
    return node


def with_types_in_place(node: Any, named: dict[str, Any] | None = None) -> Any:
    """A schema in which every reference to a named type is that type."""
    named = {} if named is None else named
    if isinstance(node, str):
        return named.get(node, node)
    if isinstance(node, list):
        return [with_types_in_place(option, named) for option in node]
    whole = dict(node)
    if "fields" in node:
        whole["fields"] = [{**field, "type": with_types_in_place(field["type"], named)} for field in node["fields"]]
    if "items" in node:
        whole["items"] = with_types_in_place(node["items"], named)
    if isinstance(node.get("type"), dict):
        whole = {**whole, **with_types_in_place(node["type"], named)}
    if "name" in node:
        named[node["name"]] = whole
    return whole


def _decompressed(codec: str, block: bytes) -> bytes:
    """A block of unreasonable size is refused before it fills the memory."""
    match codec:
        case "null":
            return block
        case "deflate":
            inflater = zlib.decompressobj(-15)
            plain = inflater.decompress(block, _INFLATED_BYTES_MAX)
            if not inflater.eof:
                raise _NotAvro("a compressed block is cut, or holds more than a manifest can")
            return plain
        case "snappy":
            plain = _streamed("snappy", block[:-4], _varint(block))
            if zlib.crc32(plain) != int.from_bytes(block[-4:], "big"):
                raise _NotAvro("the checksum of a compressed block is wrong")
            return plain
        case "zstandard":
            with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as stream:
                plain = stream.read(_INFLATED_BYTES_MAX)
            return bytes(plain)
        case _:
            raise _NotAvro(f"its blocks are compressed by {codec}, which is not supported")


def _streamed(codec: str, block: bytes, size: int) -> bytes:
    if size > _INFLATED_BYTES_MAX:
        raise _NotAvro("a compressed block holds more than a manifest can")
    return bytes(pa.decompress(block, size, codec=codec, asbytes=True))


def _varint(block: bytes) -> int:
    """Snappy's own length, at the beginning."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return size
