"""Is table metadata kept whole, and is a damaged file met with its name and the fact?"""

import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from lakewright.errors import CorruptTable, LakewrightError, Unsupported
from lakewright.formats.iceberg.encode import apply_updates, encode_upgrade
from lakewright.formats.iceberg.records.metadata import Metadata, parse_metadata, render_metadata
from lakewright.formats.iceberg.replay import history_of, manifest_list_location, snapshot_node, snapshot_of
from lakewright.model.partitioning import UnknownTransform
from tests.unit.iceberg.tables import ORDER, SCHEMA, SPEC, appended, data_file, new_metadata

HERE = "memory://t/metadata/v7.metadata.json"


def document(version: int = 2) -> dict[str, Any]:
    metadata, manifests, _ = appended(new_metadata(version), (), data_file("a", 3, "EU", None))
    metadata, _, _ = appended(metadata, manifests, data_file("b", 4, "US", None))
    return json.loads(json.dumps(metadata.document))


def parsed(content: object) -> Metadata:
    return parse_metadata(HERE, json.dumps(content).encode())


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_written_is_read_back_with_what_nobody_knows(version: int, compressed: bool) -> None:
    written = document(version) | {"from-the-future": {"deep": [1]}}
    written["snapshots"][0]["key-of-tomorrow"] = "x"
    metadata = parse_metadata(HERE, render_metadata(written, compressed=compressed))
    assert metadata.document == written
    assert (metadata.schema, metadata.specs, metadata.sort_order) == (SCHEMA, {0: SPEC}, ORDER)
    after = apply_updates(metadata, encode_upgrade(metadata, 3).updates, 9_000)
    assert after["from-the-future"] == {"deep": [1]}
    assert after["snapshots"] == written["snapshots"]


def test_compressed_metadata_is_the_same_bytes_every_time() -> None:
    assert render_metadata({"a": 1}, compressed=True) == render_metadata({"a": 1}, compressed=True)


def test_the_first_writers_of_version_1_left_almost_everything_out() -> None:
    schema = document(1)["schema"]
    del schema["schema-id"]
    fields = [
        {"source-id": 2, "name": "region", "transform": "identity"},
        {"source-id": 1, "name": "b", "transform": "x[4]"},
    ]
    metadata = parsed({"format-version": 1, "location": "s3://t/", "schema": schema, "partition-spec": fields})
    spec = metadata.specs[metadata.default_spec_id]
    assert [part.field_id for part in spec.fields] == [1000, 1001]
    assert spec.fields[1].transform == UnknownTransform("x[4]")
    assert (metadata.table_location, metadata.current_snapshot_id, metadata.last_sequence_number) == ("s3://t", None, 0)
    assert metadata.schema.fields == SCHEMA.fields


def damaged(**changes: object) -> bytes:
    return json.dumps(document() | {key.replace("_", "-"): value for key, value in changes.items()}).encode()


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (b"", CorruptTable, "not a readable metadata file"),
        (b"{", CorruptTable, "not a readable metadata file"),
        (b"[]", CorruptTable, "does not hold a JSON object"),
        (b"\xff\xfe\x00", CorruptTable, "not a readable metadata file"),
        (gzip.compress(b"{}" * 99, mtime=0)[:30], CorruptTable, "not a readable metadata file"),
        (gzip.compress(b"x" * 99, mtime=0)[:10] + b"\xff" * 30, CorruptTable, "not a readable metadata file"),
        (b"\x1f\x8b", CorruptTable, "not a readable metadata file"),
        (b"{}", CorruptTable, "has format-version None"),
        (damaged(format_version="2"), CorruptTable, "has format-version '2'"),
        (damaged(format_version=0), CorruptTable, "has format-version 0"),
        (damaged(format_version=4), Unsupported, "is Iceberg format version 4; versions 1 to 3 are understood"),
        (damaged(encryption_keys=[{}]), Unsupported, "has encryption-keys"),
        (damaged(last_sequence_number=None), CorruptTable, "has last-sequence-number None"),
        (damaged(format_version=3), CorruptTable, "has next-row-id None"),
        (damaged(current_schema_id=9), CorruptTable, "refers to schema 9, it has schemas 0"),
        (damaged(default_spec_id=9), CorruptTable, "names default partition spec 9, it has specs 0"),
        (damaged(default_spec_id="nine"), CorruptTable, "lacks or garbles a required part"),
        (damaged(current_snapshot_id=99), CorruptTable, "names current snapshot 99 and does not have it"),
        (damaged(default_sort_order_id=9), CorruptTable, "names sort order 9 as its default and does not have it"),
        (damaged(sort_orders=[{"order-id": 1}]), CorruptTable, "lacks or garbles a required part"),
        (damaged(schemas=[{}]), CorruptTable, "lacks or garbles a required part"),
        (damaged(location=None), CorruptTable, "lacks or garbles a required part"),
        (damaged(properties=["owner"]), CorruptTable, "lacks or garbles a required part"),
    ],
)  # every message begins with the file's name
def test_damage_and_the_future_are_refused_by_name(content: bytes, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as refused:
        parse_metadata(HERE, content)
    assert str(refused.value).startswith(HERE)
    assert said in str(refused.value)


REPLACEMENTS: tuple[object, ...] = (None, "x", -7, 1.5, [], {}, [[]], {"x": "y"})


@pytest.mark.parametrize("version", [1, 2, 3])
def test_whatever_is_lost_or_garbled_is_read_around_or_refused(version: int) -> None:
    whole = document(version)
    surprises = []
    for path in paths(whole):
        for replacement in REPLACEMENTS:
            content = changed(whole, path, replacement)
            try:
                touch(parsed(content))
            except LakewrightError:
                continue
            except Exception as error:  # noqa: BLE001 -- any other error is what this test looks for
                surprises.append(f"{path} = {replacement!r}: {error!r}")
    assert surprises == []


def paths(node: object, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*above, key)
        yield from paths(child, (*above, key))


def changed(whole: dict[str, Any], path: tuple[str | int, ...], replacement: object) -> dict[str, Any]:
    """None takes the part away."""
    content = copy.deepcopy(whole)
    node: Any = content
    for key in path[:-1]:
        node = node[key]
    if replacement is None:
        del node[path[-1]]
    else:
        node[path[-1]] = replacement
    return content


def touch(metadata: Metadata) -> None:
    """What opening a table looks at."""
    node = snapshot_node(metadata, None)
    if node is not None:
        manifest_list_location(metadata, node)
    snapshot_of(metadata, node, (), current=True)
    history_of(metadata)
