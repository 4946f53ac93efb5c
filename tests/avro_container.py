"""How does an Avro file look that other writers would make of the same records? Blocks of any size, in any codec."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa

_SYNC = b"sixteen bytes !!"


def _deflated(plain: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(plain) + deflater.flush()


def _snappy(plain: bytes) -> bytes:
    compressed: bytes = pa.compress(plain, codec="snappy", asbytes=True)
    return compressed + zlib.crc32(plain).to_bytes(4, "big")


CODECS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": lambda plain: plain,
    "deflate": _deflated,
    "snappy": _snappy,
    "zstandard": lambda plain: pa.compress(plain, codec="zstd", asbytes=True),
}


def avro_container(header: Mapping[str, str], blocks: Sequence[tuple[int, bytes]], codec: str = "null") -> bytes:
    """Each block is its count of records, and these as they are encoded, one after the other."""
    sink = BytesIO()
    sink.write(b"Obj\x01")
    texts = {key: value.encode() for key, value in {**header, "avro.codec": codec}.items()}
    _write(sink, {"type": "map", "values": "bytes"}, texts)
    sink.write(_SYNC)
    for count, records in blocks:
        _write(sink, "long", count)
        _write(sink, "bytes", CODECS[codec](records))
        sink.write(_SYNC)
    return sink.getvalue()


def encoded(schema: Any, record: Mapping[str, Any]) -> bytes:
    """One record, without logical types."""
    sink = BytesIO()
    _write(sink, schema, record)
    return sink.getvalue()


def _write(sink: BytesIO, schema: Any, value: Any) -> None:
    fastavro.schemaless_writer(sink, fastavro.parse_schema(schema), value)
