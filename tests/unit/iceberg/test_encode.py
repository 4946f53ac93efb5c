"""What does a commit add to a table's records, and what does it leave as it was?"""

import json
from dataclasses import replace

import pytest

from lakewright.errors import InvalidRequest, Unsupported
from lakewright.formats.iceberg.encode import (
    apply_updates,
    encode_upgrade,
    metadata_folder,
    new_document,
    with_metadata_log,
    with_row_ids,
)
from lakewright.formats.iceberg.records.entries import read_manifest
from lakewright.formats.iceberg.records.manifests import Content
from lakewright.formats.iceberg.records.metadata import Metadata, parse_metadata, render_metadata
from lakewright.model.creation import NewTable
from lakewright.model.partitioning import PartitionSpec
from lakewright.model.sorting import SortOrder
from tests.described import spec_of
from tests.unit.iceberg.tables import ORDER, PLACE, SCHEMA, SPEC, appended, data_file, new_metadata


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_new_table_is_valid_and_empty(version: int) -> None:
    made = new_metadata(version)
    metadata = parse_metadata(made.location, render_metadata(made.document, compressed=False))
    assert (metadata.schema, metadata.specs, metadata.sort_order) == (SCHEMA, {0: SPEC}, ORDER)
    assert (metadata.current_snapshot_id, metadata.snapshots) == (None, {})
    assert metadata.document["last-column-id"] == 5
    assert metadata.document["last-partition-id"] == 1001
    assert [order["order-id"] for order in metadata.document["sort-orders"]] == [0, 1]
    assert ("last-sequence-number" in made.document, "next-row-id" in made.document) == (version > 1, version > 2)
    assert ("schema" in made.document, "partition-spec" in made.document) == (version == 1, version == 1)


def test_an_unpartitioned_table_has_no_partition_field_yet() -> None:
    table = NewTable(SCHEMA, PartitionSpec(0), SortOrder(), 2)
    document = new_document(table, PLACE, "u", 0)
    assert (document["last-partition-id"], document["sort-orders"]) == (999, [{"order-id": 0, "fields": []}])


@pytest.mark.parametrize("version", [1, 2, 3])
def test_appends_go_on_from_their_parent(version: int) -> None:
    metadata, manifests, _ = appended(
        new_metadata(version), (), data_file("a", 3, "EU", None), data_file("b", 4, "US", None)
    )
    metadata, manifests, encoded = appended(metadata, manifests, data_file("c", 5, "EU", None), summary={"job": "7"})
    first, second = metadata.snapshots.values()
    assert metadata.current_snapshot_id == second["snapshot-id"] == 22
    assert ("parent-snapshot-id" in first, second["parent-snapshot-id"]) == (False, 11)
    assert (
        second["summary"].items()
        >= {
            "operation": "append",
            "job": "7",
            "added-data-files": "1",
            "added-records": "5",
            "added-files-size": "500",
            "changed-partition-count": "1",
            "total-data-files": "3",
            "total-records": "12",
            "total-files-size": "1200",
            "total-delete-files": "0",
        }.items()
    )
    assert [node.get("sequence-number") for node in (first, second)] == ([None, None] if version == 1 else [1, 2])
    assert metadata.last_sequence_number == (0 if version == 1 else 2)
    assert [logged["snapshot-id"] for logged in metadata.document["snapshot-log"]] == [11, 22]
    assert metadata.document["refs"] == {"main": {"type": "branch", "snapshot-id": 22}}
    assert [(manifest.added_snapshot_id, manifest.added_files, manifest.added_rows) for manifest in manifests] == [
        (22, 1, 5),
        (11, 2, 7),
    ]
    assert [location for location, _ in encoded.objects] == [
        f"{PLACE}/metadata/u2-m0.avro",
        f"{PLACE}/metadata/snap-22-1-u2.avro",
    ]
    found = [entry.file.location for entry in read_manifest(manifests[0], encoded.objects[0][1], metadata.specs, "t")]
    assert found == [f"{PLACE}/data/c"]


def test_files_of_two_specs_lie_in_two_manifests() -> None:
    other = spec_of(SCHEMA, "id bucket[4]", spec_id=1)
    metadata = new_metadata(2)
    nodes = [
        *metadata.document["partition-specs"],
        {"spec-id": 1, "fields": [{"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[4]"}]},
    ]
    metadata = Metadata(metadata.location, {**metadata.document, "partition-specs": nodes})
    files = (data_file("a", 1, 3, spec=other), data_file("b", 2, "EU", None), data_file("c", 3, 1, spec=other))
    _, manifests, encoded = appended(metadata, (), *files)
    assert [(manifest.spec_id, manifest.added_files, len(manifest.summaries or ())) for manifest in manifests] == [
        (0, 1, 2),
        (1, 2, 1),
    ]
    assert len(encoded.objects) == 3


def test_an_append_of_no_files_is_a_version_that_keeps_all() -> None:
    metadata, manifests, _ = appended(new_metadata(3), (), data_file("a", 3, "EU", None))
    after, listed, _ = appended(metadata, manifests)
    assert listed == manifests
    assert (after.next_row_id, after.snapshots[22]["added-rows"]) == (3, 0)


def test_a_branch_keeps_its_settings_and_other_branches_stay() -> None:
    metadata, manifests, _ = appended(new_metadata(2), (), data_file("a", 3, "EU", None))
    refs = {
        "main": {"type": "branch", "snapshot-id": 11, "max-ref-age-ms": 5},
        "audit": {"type": "tag", "snapshot-id": 11},
    }
    after, _, _ = appended(Metadata("m", {**metadata.document, "refs": refs}), manifests, data_file("b", 1, "EU", None))
    assert after.document["refs"] == {**refs, "main": {"type": "branch", "snapshot-id": 22, "max-ref-age-ms": 5}}


@pytest.mark.parametrize("total", [None, "many"])
def test_a_total_that_the_parent_did_not_count_stays_unknown(total: str | None) -> None:
    metadata, manifests, _ = appended(new_metadata(2), (), data_file("a", 3, "EU", None))
    document = json.loads(json.dumps(metadata.document))
    document["snapshots"][0]["summary"]["total-records"] = total
    after, _, _ = appended(Metadata("m", document), manifests, data_file("b", 1, "EU", None))
    summary = after.snapshots[22]["summary"]
    assert ("total-records" in summary, summary["total-data-files"]) == (False, "2")


def test_version_3_gives_every_row_an_id_of_its_own() -> None:
    """Each append takes the rows that it adds; the manifests from before keep the ids that they were given."""
    metadata, manifests, _ = appended(new_metadata(3), (), data_file("a", 3, "EU", None), data_file("b", 4, "US", None))
    metadata, manifests, _ = appended(metadata, manifests, data_file("c", 5, "EU", None))
    assert [(manifest.first_row_id, manifest.added_rows) for manifest in manifests] == [(7, 5), (0, 7)]
    assert [(node["first-row-id"], node["added-rows"]) for node in metadata.snapshots.values()] == [(0, 7), (7, 5)]
    assert metadata.next_row_id == 12


def test_rows_from_before_the_upgrade_get_ids_with_the_first_commit_after_it() -> None:
    metadata, manifests, _ = appended(new_metadata(1), (), data_file("a", 3, "EU", None))
    metadata, manifests, _ = appended(metadata, manifests, data_file("b", 4, "EU", None))
    for version in (2, 3):
        metadata = Metadata("m", apply_updates(metadata, encode_upgrade(metadata, version).updates, 5))
    assert metadata.next_row_id == 0
    metadata, manifests, _ = appended(metadata, manifests, data_file("c", 5, "EU", None))
    ranges = [(manifest.first_row_id or 0, manifest.added_rows or 0) for manifest in manifests]
    taken = [row for start, count in ranges for row in range(start, start + count)]
    assert sorted(taken) == list(range(12))
    node = metadata.snapshots[33]
    assert (node["first-row-id"], node["added-rows"], metadata.next_row_id) == (0, 12, 12)
    assert [manifest.sequence_number for manifest in manifests] == [1, 0, 0]
    metadata, manifests, _ = appended(metadata, manifests, data_file("d", 1, "EU", None))
    assert (manifests[0].first_row_id, metadata.next_row_id) == (12, 13)


def test_rows_that_an_old_writer_did_not_count_get_no_ids_that_others_have() -> None:
    metadata, manifests, _ = appended(new_metadata(2), (), data_file("a", 3, "EU", None))
    bare = replace(manifests[0], added_rows=None, existing_rows=None)
    with pytest.raises(Unsupported, match="without counts"):
        appended(
            Metadata("m", apply_updates(metadata, encode_upgrade(metadata, 3).updates, 5)),
            (bare,),
            data_file("b", 1, "EU", None),
        )


def test_delete_manifests_have_no_row_ids() -> None:
    _, manifests, _ = appended(new_metadata(2), (), data_file("a", 3, "EU", None))
    deletes = replace(manifests[0], content=Content.DELETES)
    assert [manifest.first_row_id for manifest in with_row_ids((deletes, manifests[0]), 100)] == [None, 100]


@pytest.mark.parametrize("target", [2, 3])
def test_an_upgrade_fills_in_what_version_1_could_leave_out(target: int) -> None:
    schema = new_metadata(1).document["schema"]
    fields = [{"source-id": 2, "name": "region", "transform": "identity"}]
    old = {
        "format-version": 1,
        "location": PLACE,
        "schema": schema,
        "partition-spec": fields,
        "x": 1,
        "current-snapshot-id": -1,
    }
    metadata = Metadata("old", old)
    document = apply_updates(metadata, encode_upgrade(metadata, target).updates, 77)
    after = parse_metadata("new", render_metadata(document, compressed=True))
    assert (after.format_version, after.schema.fields, after.default_spec_id, document["x"]) == (
        target,
        SCHEMA.fields,
        0,
        1,
    )
    assert after.specs[0].fields[0].field_id == document["last-partition-id"] == 1000
    assert (document["last-updated-ms"], document["last-sequence-number"], document.get("next-row-id")) == (
        77,
        0,
        0 if target == 3 else None,
    )
    assert "schema" not in document
    assert "partition-spec" not in document
    assert after.current_snapshot_id is None


def test_an_upgrade_goes_forward_or_nowhere() -> None:
    metadata = new_metadata(2)
    assert encode_upgrade(metadata, 2).updates == ()
    for version in (1, 4):
        with pytest.raises(
            InvalidRequest, match=f"can be upgraded to versions up to 3 and never goes back, asked for {version}"
        ):
            encode_upgrade(metadata, version)


def test_an_update_that_is_not_known_is_refused() -> None:
    with pytest.raises(Unsupported, match="set-statistics"):
        apply_updates(new_metadata(2), [{"action": "set-statistics"}], 0)


def test_the_log_of_metadata_files_is_bounded_and_tells_what_falls_out() -> None:
    own = [f"{PLACE}/metadata/v{number}.metadata.json" for number in range(5)]
    log = [{"metadata-file": name, "timestamp-ms": number} for number, name in enumerate(own[:4])]
    first = Metadata(own[0], {"location": PLACE, "last-updated-ms": 0})
    document, dropped = with_metadata_log({"x": 1}, first, 3)
    assert (document, dropped) == ({"x": 1, "metadata-log": [{"metadata-file": own[0], "timestamp-ms": 0}]}, ())
    base = Metadata(own[4], {"location": PLACE, "metadata-log": log, "last-updated-ms": 4})
    document, dropped = with_metadata_log(dict(base.document), base, 3)
    assert ([item["metadata-file"] for item in document["metadata-log"]], dropped) == (own[2:], tuple(own[:2]))
    document, dropped = with_metadata_log(dict(base.document), base, 0)
    assert ([item["metadata-file"] for item in document["metadata-log"]], len(dropped)) == (own[4:], 4)


def test_metadata_lies_below_the_table_unless_a_property_says_where() -> None:
    metadata = new_metadata(2)
    assert metadata_folder(metadata) == f"{PLACE}/metadata"
    elsewhere = {**metadata.document, "properties": {"write.metadata.path": "s3://else/where/"}}
    assert metadata_folder(Metadata("m", elsewhere)) == "s3://else/where"
