"""Do the two decoders of manifests find the same, whoever wrote them and whatever lies in them?"""

import json
import random
import struct
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile as TheirDataFile
from pyiceberg.manifest import DataFileContent, FileFormat, ManifestEntry, ManifestEntryStatus
from pyiceberg.manifest import write_manifest as their_write_manifest
from pyiceberg.partitioning import PartitionSpec as TheirSpec
from pyiceberg.schema import Schema as TheirSchema
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField

from lakewright.errors import CorruptTable
from lakewright.formats.iceberg.records.avro import AvroFile, read_avro, without_logical_types
from lakewright.formats.iceberg.records.entries import decode_manifest
from lakewright.formats.iceberg.records.manifests import Entry, Status, write_manifest
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import PartitionKey
from tests.avro_container import CODECS, avro_container, encoded
from tests.decoded_columns import at_once, one_by_one, plain
from tests.described import schema_of, spec_of

SCHEMA = schema_of("id long, region string, price decimal(9, 2), tags binary, x double, flag boolean")
SPEC = spec_of(SCHEMA, "region identity", "price truncate[100]", "x identity", "flag identity")
EXTREMES = (0, 1, 63, 64, 127, 128, 2**31 - 1, 2**31, 2**62, 2**63 - 1)
COUNT = 80


def number(draw: random.Random) -> int:
    return draw.choice(EXTREMES) if draw.random() < 0.5 else draw.randrange(10**6)


def likeness(draw: random.Random, path: str) -> bytes:
    """What might be taken for the beginning of an entry's path: its length before it, or its end cut off."""
    text = path.encode()
    length = len(text)
    varint = bytes([2 * length & 0x7F | 0x80, 2 * length >> 7]) if 2 * length > 127 else bytes([2 * length])
    return draw.choice([text, varint + text, varint + text * 2, b"\x02" + varint + text[:20], b"\xff" * 3 + text])


def data_file(draw: random.Random, name: int) -> DataFile:
    path = f"s3://bucket/warehouse/t/data/{'x' * draw.randrange(80)}{name}.parquet"
    ids = draw.sample(range(1, 7), draw.randrange(6))
    counts = [{field_id: number(draw) for field_id in ids} for _ in range(4)]
    bounds = [{field_id: likeness(draw, path) for field_id in ids} for _ in range(2)]
    price = draw.choice([None, "0.00", "-100.00", "9999999.00"])
    values = (
        draw.choice([None, "", "EU", path]),
        None if price is None else Decimal(price),
        draw.choice([None, 0.0, -0.0, float("nan"), 1e300]),
        draw.choice([None, True, False]),
    )
    return DataFile(
        location=path,
        partition=PartitionKey(0, values),
        record_count=number(draw),
        size_bytes=number(draw),
        metrics=FileMetrics(*counts, *bounds),
        split_offsets=tuple(number(draw) for _ in range(draw.randrange(4))),
        sort_order_id=draw.choice([None, 0, 2**31 - 1]),
        first_row_id=draw.choice([None, 2**63 - 1]),
    )


def entries(seed: int, count: int = COUNT) -> list[Entry]:
    draw = random.Random(seed)
    return [
        Entry(draw.choice(list(Status)), number(draw), number(draw), number(draw), data_file(draw, place))
        for place in range(count)
    ]


def same(raw: bytes) -> None:
    """Found at once, and the same as one by one."""
    avro = read_avro(raw)
    found = at_once(avro)
    assert found is not None
    assert plain(found, avro.count) == plain(one_by_one(avro), avro.count)


def recoded(avro: AvroFile, schema: Any = None, *, codec: str = "null", block_records: int = 10**6) -> bytes:
    """The same records as another writer might lay them out."""
    schema = schema or avro.schema
    records = [encoded(without_logical_types(schema), record) for record in avro.records()]
    parts = [records[start : start + block_records] for start in range(0, len(records), block_records)]
    header = {**avro.header, "avro.schema": json.dumps(schema)}
    return avro_container(header, [(len(part), b"".join(part)) for part in parts], codec)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_every_length_and_bounds_that_look_like_paths_are_decoded_alike(version: int, seed: int) -> None:
    same(write_manifest(version, SCHEMA, SPEC, entries(seed)))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("block_records", [1, 77, 10**6])
def test_blocks_of_any_codec_and_size_are_decoded_alike(codec: str, block_records: int) -> None:
    avro = read_avro(write_manifest(2, SCHEMA, SPEC, entries(1)))
    again = recoded(avro, codec=codec, block_records=block_records)
    assert read_avro(again).content == avro.content
    same(again)


def test_a_writer_may_say_that_everything_is_optional() -> None:
    def optional(fields: list[Any]) -> list[Any]:
        kinds = [field["type"] if isinstance(field["type"], list) else ["null", field["type"]] for field in fields]
        return [{**field, "type": kind} for field, kind in zip(fields, kinds, strict=True)]

    avro = read_avro(write_manifest(2, SCHEMA, SPEC, entries(2)))
    *others, file = avro.schema["fields"]
    file = {**file, "type": {**file["type"], "fields": optional(file["type"]["fields"])}}
    same(recoded(avro, {**avro.schema, "fields": optional([*others, file])}))


def test_a_null_may_be_the_second_of_what_a_field_can_be() -> None:
    avro = read_avro(write_manifest(2, SCHEMA, SPEC, entries(3)))

    def turned(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: turned(value) for key, value in node.items() if key != "default"}
        if isinstance(node, list):
            items = [turned(item) for item in node]
            return items[::-1] if len(items) == 2 and items[0] == "null" else items
        return node

    same(recoded(avro, turned(avro.schema)))


def test_thousands_of_entries_are_decoded_alike() -> None:
    same(write_manifest(2, SCHEMA, SPEC, entries(4, 2_000)))


def test_manifests_of_pyiceberg_are_decoded_alike(tmp_path: Path) -> None:
    schema, spec = TheirSchema(NestedField(1, "id", LongType(), required=False)), TheirSpec()
    location, draw = f"{tmp_path}/m.avro", random.Random(5)
    with their_write_manifest(2, spec, schema, PyArrowFileIO().new_output(location), 42, "deflate") as writer:
        for place in range(COUNT):
            file = TheirDataFile.from_args(
                content=DataFileContent.DATA,
                file_path=f"{tmp_path}/data/{place}.parquet",
                file_format=FileFormat.PARQUET,
                partition=Record(),
                record_count=number(draw),
                file_size_in_bytes=number(draw),
                column_sizes={1: number(draw)},
                value_counts={1: number(draw)},
                null_value_counts={1: 0},
                nan_value_counts={},
                lower_bounds={1: struct.pack("<q", place)},
                upper_bounds={1: struct.pack("<q", place)},
                split_offsets=[4],
            )
            writer.add_entry(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=42, data_file=file))
    raw = Path(location).read_bytes()
    assert read_avro(raw).count == COUNT
    same(raw)


def test_records_that_are_cut_or_too_many_are_not_decoded_at_once() -> None:
    avro = read_avro(write_manifest(2, SCHEMA, SPEC, entries(6)))
    assert at_once(replace(avro, content=avro.content[:-1])) is None
    assert at_once(replace(avro, content=avro.content + b"\x00")) is None
    assert at_once(replace(avro, count=avro.count + 1)) is None
    assert at_once(replace(avro, count=avro.count - 1)) is None


def test_a_snappy_block_whose_checksum_is_wrong_is_refused() -> None:
    raw = recoded(read_avro(write_manifest(2, SCHEMA, SPEC, entries(7, 3))), codec="snappy")
    wrong = raw[:-17] + bytes([raw[-17] ^ 1]) + raw[-16:]
    with pytest.raises(CorruptTable, match="checksum"):
        decode_manifest("m.avro", wrong)


def test_what_looks_like_many_endless_entries_is_left_to_the_other_decoder() -> None:
    """Work and memory are bounded by the bytes there are, not by how many entries they might be."""
    first, *others = entries(8, 40)
    likenesses = (b"\x18s3://bucket/" * 500) + b"\x02" * 400_000
    file = replace(first.file, metrics=FileMetrics(lower_bounds={1: likenesses}, upper_bounds={1: b"\x80\x20"}))
    raw = write_manifest(2, SCHEMA, SPEC, [*others, replace(first, file=file)])
    assert len(raw) < 20_000
    assert at_once(read_avro(raw)) is None


def test_a_block_of_more_records_than_bytes_is_refused() -> None:
    avro = read_avro(write_manifest(2, SCHEMA, SPEC, entries(9, 3)))
    with pytest.raises(CorruptTable, match="more than a manifest can hold"):
        decode_manifest("m.avro", avro_container(avro.header, [(2**60, avro.content)]))
