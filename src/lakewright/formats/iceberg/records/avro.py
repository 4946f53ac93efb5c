"""How are Avro files read and written so that values stay as they are stored?

fastavro turns dates, timestamps, decimals and uuids into Python objects, which cannot hold all that Avro can. So
logical types are taken off the schema in the file's header before it is read; values that are written are given as
stored, and fastavro passes them through.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import fastavro

_MAGIC = b"Obj\x01"
_HEADER_MAP = {"type": "map", "values": "bytes"}
_HEADER_MAP_SCHEMA = fastavro.parse_schema(_HEADER_MAP)


@dataclass(frozen=True)
class AvroFile:
    """A file's key-value header, its schema as written, and its records by field id."""

    header: Mapping[str, str]
    schema: Mapping[str, Any]
    records: Iterator[Mapping[str, Any]]


class _NotAvro(Exception):
    """The bytes, or what their header says, are not what a manifest or manifest list has."""


def read_avro(content: bytes) -> AvroFile:
    """Raises an error of the decoder, whichever, when the bytes are no Avro file: callers know whose bytes they are."""
    source = BytesIO(content)
    if source.read(4) != _MAGIC:
        raise _NotAvro("it does not begin as an Avro file does")
    header: Any = fastavro.schemaless_reader(source, _HEADER_MAP_SCHEMA, None)
    schema = json.loads(header["avro.schema"])
    rewritten = BytesIO()
    rewritten.write(_MAGIC)
    plain = {**header, "avro.schema": json.dumps(_without_logical_types(schema)).encode()}
    fastavro.schemaless_writer(rewritten, _HEADER_MAP_SCHEMA, plain)
    rewritten.write(memoryview(content)[source.tell() :])
    rewritten.seek(0)
    texts = {key: bytes(value).decode("utf-8", "replace") for key, value in header.items()}
    records: Any = fastavro.reader(rewritten)
    return AvroFile(texts, schema, iter(records))


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


def _without_logical_types(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_logical_types(option) for option in node]
    if isinstance(node, dict):
        return {key: _without_logical_types(value) for key, value in node.items() if key != "logicalType"}
    return node
