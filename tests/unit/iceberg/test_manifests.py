"""Are manifests and manifest lists read back as they were written, by us and by libraries that share no code with us?"""

import io
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile as TheirDataFile
from pyiceberg.manifest import ManifestFile
from pyiceberg.manifest import read_manifest_list as their_manifest_list

from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.records.avro import member_schema, read_avro, write_avro
from lakewright.formats.iceberg.records.entries import read_manifest
from lakewright.formats.iceberg.records.manifests import (
    Content,
    Entry,
    Manifest,
    Status,
    read_manifest_list,
    write_manifest,
    write_manifest_list,
)
from lakewright.formats.iceberg.records.partitions import avro_name, summarise
from lakewright.formats.iceberg.records.schemas import manifest_list_schema
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import Identity, PartitionField, PartitionKey, PartitionSpec
from lakewright.model.snapshot import FieldSummary
from lakewright.model.types import Value
from tests.described import schema_of, spec_of

SCHEMA = schema_of(
    "i int, l long, f float, x double, m decimal(9, 2), wide decimal(38, 10), s string, b boolean, d date, "
    "t timestamp, n timestamp_ntz, ns timestamp_ns, u uuid, r binary, q fixed(3), `odd näme/1` string, c time"
)
VALUES: dict[str, Value] = {
    "i": -1,
    "l": 2**62,
    "f": 1.5,
    "x": -0.0,
    "m": Decimal("-12.34"),
    "wide": Decimal("9999999999999999999999999999.9999999999"),
    "s": "EU/ü",
    "b": False,
    "d": -1,
    "t": -1,
    "n": 10**17,
    "ns": -1,
    "u": bytes(range(16)),
    "r": b"",
    "q": b"\x00\xff\x01",
    "odd näme/1": "",
    "c": 1,
}
METRICS = FileMetrics({1: 10}, {1: 5}, {1: 0}, {4: 1}, {1: b"\x01\x00\x00\x00"}, {1: b"\x02\x00\x00\x00"})
MANIFEST = Manifest(
    "memory://m.avro",
    100,
    0,
    None,
    Content.DATA,
    7,
    5,
    42,
    added_files=1,
    existing_files=0,
    deleted_files=0,
    added_rows=5,
    existing_rows=0,
    deleted_rows=0,
)


SPEC = PartitionSpec(
    0,
    tuple(PartitionField(child.id, 1000 + index, child.name, Identity()) for index, child in enumerate(SCHEMA.fields)),
)
FILE = DataFile(
    "memory://t/data/1 ü.parquet", PartitionKey(0, tuple(VALUES.values())), 5, 1_000, METRICS, "parquet", (4, 99), 1
)
NULLS = replace(
    FILE, partition=PartitionKey(0, (None,) * len(VALUES)), metrics=FileMetrics(), split_offsets=(), sort_order_id=None
)


def written(version: int, *entries: Entry) -> bytes:
    return write_manifest(version, SCHEMA, SPEC, entries)


def added(*files: DataFile) -> tuple[Entry, ...]:
    return tuple(Entry(Status.ADDED, 42, None, None, file) for file in files)


def read_back(raw: bytes, manifest: Manifest = MANIFEST) -> list[Entry]:
    return list(read_manifest(manifest, raw, {0: SPEC}, "t"))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_entries_are_read_back_with_partition_values_of_every_type(version: int) -> None:
    entries = read_back(written(version, *added(FILE, NULLS)))
    assert [replace(entry.file, data_sequence_number=None) for entry in entries] == [FILE, NULLS]
    assert [str(value) for value in entries[0].file.partition.values] == [str(value) for value in VALUES.values()]
    assert {(entry.status, entry.snapshot_id, entry.data_sequence_number) for entry in entries} == {
        (Status.ADDED, 42, 7)
    }


@pytest.mark.parametrize("count", [1, 40])
def test_a_type_that_a_manifest_names_a_second_time_is_the_first_one(count: int) -> None:
    """Iceberg's Java library calls all decimals of one precision and scale alike, and writes down the first alone."""
    schema = schema_of("a decimal(9, 2), b decimal(9, 2), u uuid, v uuid")
    spec = spec_of(schema, "a identity", "b identity", "u identity", "v identity")
    values = (Decimal("1.10"), Decimal("-2.20"), bytes(16), bytes(range(16)))
    raw = write_manifest(2, schema, spec, added(*[replace(FILE, partition=PartitionKey(0, values))] * count))
    avro = read_avro(raw)
    alike = json.loads(json.dumps(avro.schema))
    types = [member["type"] for member in member_schema(member_schema(alike, 2), 102)["fields"]]
    types[1][1], types[3][1] = types[0][1]["name"], types[2][1]["name"]
    header = {key: text for key, text in avro.header.items() if not key.startswith("avro.")}
    records: Any = fastavro.reader(io.BytesIO(raw))
    entries = read_manifest(MANIFEST, write_avro(alike, records, header), {0: spec}, "t")
    assert [entry.file.partition.values for entry in entries] == [values] * count


def test_a_nan_partition_is_read_back() -> None:
    values = tuple(math.nan if name in ("f", "x") else value for name, value in VALUES.items())
    entry = read_back(written(2, *added(replace(FILE, partition=PartitionKey(0, values)))))[0]
    assert math.isnan(entry.file.partition.values[2])
    assert math.isnan(entry.file.partition.values[3])


@pytest.mark.parametrize("version", [1, 2, 3])
def test_fastavro_reads_the_header_and_the_records(version: int) -> None:
    reader = fastavro.reader(io.BytesIO(written(version, *added(FILE))))
    assert reader.metadata["format-version"] == str(version)
    assert reader.metadata["partition-spec-id"] == "0"
    assert reader.metadata.get("content") == (None if version == 1 else "data")
    record = next(reader)
    assert record["data_file"]["file_format"] == "PARQUET"
    assert record["data_file"]["partition"]["wide"] == VALUES["wide"]
    assert record["data_file"]["partition"]["odd_x20n_xE4me_x2F1"] == ""
    assert ("block_size_in_bytes" in record["data_file"]) is (version == 1)
    assert ("first_row_id" in record["data_file"]) is (version == 3)


@pytest.mark.parametrize("version", [1, 2])
def test_pyiceberg_reads_our_manifests_and_lists(version: int, tmp_path: Path) -> None:
    """But for partitions by nanoseconds, whose Avro type it does not know."""
    spec = replace(SPEC, fields=tuple(part for part in SPEC.fields if part.name != "ns"))
    keys = [
        tuple(v for v, part in zip(file.partition.values, SPEC.fields, strict=True) if part.name != "ns")
        for file in (FILE, NULLS)
    ]
    files = [replace(file, partition=PartitionKey(0, key)) for file, key in zip((FILE, NULLS), keys, strict=True)]
    content = write_manifest(version, SCHEMA, spec, added(*files))
    (tmp_path / "m.avro").write_bytes(content)
    summaries = summarise(spec, SCHEMA, keys)
    manifest = replace(MANIFEST, location=str(tmp_path / "m.avro"), size_bytes=len(content), summaries=summaries)
    (tmp_path / "snap.avro").write_bytes(write_manifest_list(version, [manifest], {"snapshot-id": "42"}))
    local = PyArrowFileIO()
    found: list[ManifestFile] = list(their_manifest_list(local.new_input(str(tmp_path / "snap.avro"))))
    assert [(one.added_rows_count, one.partition_spec_id, one.added_snapshot_id) for one in found] == [(5, 0, 42)]
    assert [one.lower_bound for one in found[0].partitions] == [one.lower for one in summaries]
    theirs: list[TheirDataFile] = [entry.data_file for entry in found[0].fetch_manifest_entry(local)]
    assert [(one.file_path, one.record_count) for one in theirs] == [(FILE.location, 5)] * 2
    assert theirs[0].lower_bounds == METRICS.lower_bounds
    assert theirs[0].nan_value_counts == METRICS.nan_counts
    assert theirs[0].partition[6] == "EU/ü"
    assert theirs[1].partition[6] is None


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_manifest_list_is_read_back(version: int) -> None:
    summaries = (FieldSummary(True, None, b"\x01", b"\x02"), FieldSummary(False, True, None, None))
    first_row_id = 9 if version == 3 else None
    manifests = [
        replace(MANIFEST, summaries=summaries, first_row_id=first_row_id),
        replace(MANIFEST, content=Content.DELETES),
    ]
    found = read_manifest_list("memory://snap.avro", write_manifest_list(version, manifests, {}))
    if version == 1:
        plain = {"content": Content.DATA, "sequence_number": 0, "min_sequence_number": 0}
        manifests = [replace(manifest, **plain) for manifest in manifests]
    assert list(found) == manifests


def test_what_an_entry_leaves_out_it_inherits_from_its_manifest() -> None:
    kept = Entry(Status.EXISTING, 11, 3, 2, FILE)
    gone = Entry(Status.DELETED, 12, 3, 2, FILE)
    entries = read_back(written(2, *added(FILE), kept, gone))
    assert [(e.snapshot_id, e.data_sequence_number, e.file_sequence_number) for e in entries] == [
        (42, 7, 7),
        (11, 3, 2),
        (12, 3, 2),
    ]
    assert [entry.file.data_sequence_number for entry in entries] == [7, 3, 3]
    inherited = read_back(written(2, Entry(Status.ADDED, None, None, None, FILE)))[0]
    assert inherited.snapshot_id == 42
    from_version_1 = replace(MANIFEST, sequence_number=0)
    assert [e.data_sequence_number for e in read_back(written(1, *added(FILE), kept), from_version_1)] == [0, 0]


def test_row_ids_go_on_through_the_live_files_of_a_manifest_that_have_none() -> None:
    own = replace(FILE, first_row_id=1_000)
    gone = Entry(Status.DELETED, 42, 7, 7, FILE)
    entries = [*added(FILE), gone, *added(own), Entry(Status.EXISTING, 42, 7, 7, FILE)]
    raw = written(3, *entries)
    assert [e.file.first_row_id for e in read_back(raw, replace(MANIFEST, first_row_id=50))] == [50, None, 1_000, 55]
    assert [e.file.first_row_id for e in read_back(raw)] == [None, None, 1_000, None]


def test_counts_that_a_version_1_writer_left_out_are_unknown_and_never_become_zero() -> None:
    bare = replace(MANIFEST, **dict.fromkeys(("added_files", "existing_files", "deleted_files"), None))
    found = read_manifest_list("memory://snap.avro", write_manifest_list(1, [bare], {}))[0]
    assert found.added_files is None
    assert found.may_have_live_files
    for version in (2, 3):
        with pytest.raises(Unsupported, match=r"m\.avro was written without counts"):
            write_manifest_list(version, [found], {})


@pytest.mark.parametrize(
    ("added_files", "existing_files", "may_have"), [(0, 0, False), (1, 0, True), (0, 1, True), (None, 0, True)]
)
def test_a_manifest_of_deleted_entries_has_no_live_files(
    added_files: int | None, existing_files: int, may_have: bool
) -> None:
    assert replace(MANIFEST, added_files=added_files, existing_files=existing_files).may_have_live_files is may_have


@pytest.mark.parametrize("cut", [0, 3, 10, 200, -40, -1])
def test_a_cut_manifest_is_refused_by_its_name(cut: int) -> None:
    content = written(2, *added(FILE))
    with pytest.raises(CorruptTable, match=r"manifest memory://m\.avro is damaged"):
        read_back(content[:cut])
    listed = write_manifest_list(2, [MANIFEST], {})
    with pytest.raises(CorruptTable, match=r"manifest list memory://snap\.avro is damaged"):
        read_manifest_list("memory://snap.avro", listed[:cut])


@pytest.mark.parametrize("count", [1, 40])
def test_a_manifest_with_a_path_that_is_no_text_is_refused(count: int) -> None:
    records: Any = list(fastavro.reader(io.BytesIO(raw := written(2, *added(*[FILE] * count)))))
    sink = io.BytesIO()
    fastavro.writer(sink, fastavro.parse_schema(json.loads(json.dumps(read_avro(raw).schema))), records, codec="null")
    with pytest.raises(CorruptTable, match=r"manifest memory://m\.avro is damaged"):
        read_back(sink.getvalue().replace("ü.parquet".encode(), b"\xff\xff.parquet"))


@pytest.mark.parametrize("count", [1, 40])
def test_a_manifest_with_a_number_that_does_not_end_is_refused(count: int) -> None:
    records: Any = list(fastavro.reader(io.BytesIO(raw := written(2, *added(*[FILE] * count)))))
    sink = io.BytesIO()
    fastavro.writer(sink, fastavro.parse_schema(json.loads(json.dumps(read_avro(raw).schema))), records, codec="null")
    number = bytes([0x80] * 8 + [0x80, 0x01])  # how Avro writes 2**62
    assert number in sink.getvalue()
    with pytest.raises(CorruptTable, match=r"manifest memory://m\.avro is damaged"):
        read_back(sink.getvalue().replace(number, number[:-1] + b"\x98"))


@pytest.mark.parametrize("missing", ["record_count", "file_size_in_bytes"])
@pytest.mark.parametrize("count", [1, 40])
def test_a_manifest_that_does_not_say_what_it_has_to_is_refused(missing: str, count: int) -> None:
    """A file of no rows would be passed over."""
    raw = written(2, *added(*[FILE] * count))
    avro = read_avro(raw)
    schema = json.loads(json.dumps(avro.schema))
    optional = next(member for member in member_schema(schema, 2)["fields"] if member["name"] == missing)
    optional["type"] = ["null", optional["type"]]
    records: list[Any] = list(fastavro.reader(io.BytesIO(raw)))
    for record in records:
        record["data_file"][missing] = None
    with pytest.raises(CorruptTable, match=r"m\.avro is damaged: entries lack the field with id 10[34]"):
        read_back(write_avro(schema, records, {}))


def test_a_manifest_whose_spec_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(CorruptTable, match="names partition spec 9, table t has specs 0"):
        list(read_manifest(replace(MANIFEST, spec_id=9), written(2), {0: SPEC}, "t"))


def test_an_encrypted_manifest_is_refused_by_its_name() -> None:
    record: Mapping[str, Any] = {
        "manifest_path": "m",
        "manifest_length": 1,
        "partition_spec_id": 0,
        "added_snapshot_id": 1,
        "key_metadata": b"k",
    }
    with pytest.raises(Unsupported, match="manifest m is encrypted"):
        read_manifest_list("list", write_avro(manifest_list_schema(1), [record], {}))


@pytest.mark.parametrize(
    ("name", "spelled"),
    [("region", "region"), ("a b", "a_x20b"), ("1a", "_1a"), ("ü", "_xFC"), ("x/y.z", "x_x2Fy_x2Ez"), ("_", "_")],
)
def test_avro_names_are_those_of_the_java_library(name: str, spelled: str) -> None:
    assert avro_name(name) == spelled


def test_a_summary_tells_null_nan_and_bounds_apart() -> None:
    schema = schema_of("x double, s string")
    spec = spec_of(schema, "x identity", "s identity")
    zero = b"\x00" * 8
    minus_zero = b"\x00" * 7 + b"\x80"
    cases: list[tuple[list[tuple[Value | None, ...]], tuple[FieldSummary, FieldSummary]]] = [
        (
            [(0.0, "b"), (0.0, "a")],
            (FieldSummary(False, False, minus_zero, zero), FieldSummary(False, False, b"a", b"b")),
        ),
        ([(math.nan, None)], (FieldSummary(False, True, None, None), FieldSummary(True, False, None, None))),
        (
            [(math.nan, "a"), (None, None), (0.0, "a")],
            (FieldSummary(True, True, minus_zero, zero), FieldSummary(True, False, b"a", b"a")),
        ),
        ([], (FieldSummary(False, False, None, None), FieldSummary(False, False, None, None))),
    ]
    for keys, expected in cases:
        assert summarise(spec, schema, keys) == expected
