"""Are other engines' tables read as they were written, or refused for something that the table really has?"""

from collections import Counter

import pytest

import lakewright as lw
from lakewright.errors import CorruptTable, LakewrightError, Unsupported
from lakewright.formats.iceberg.records.avro import names_by_field_id, read_avro
from tests import canonical
from tests.decoded_columns import at_once, one_by_one, plain
from tests.foreign import corpus
from tests.foreign.arrow_rows import digest, lines, listed, rows_of
from tests.foreign.tally import RIGHT

# Why a sound table may be refused: words of the error, and the features of which the table must have one.
REASONS = {
    "only Parquet data files": {"avro-data", "orc-data"},
}
LISTINGS = ("files", "delete_files", "entries", "manifests", "partitions", "snapshots", "refs", "position_deletes")
TABLES = corpus.iceberg_tables()
SOUND = [table for table in TABLES if not table.is_damaged]
DAMAGED = [table for table in TABLES if table.is_damaged]

pytestmark = pytest.mark.skipif(not TABLES, reason=f"there are no tables of other engines at {corpus.folder()}")


@pytest.mark.parametrize("table", SOUND, ids=lambda table: table.name)
def test_every_snapshot_is_read_right_or_refused_for_a_feature_of_the_table(
    table: corpus.ForeignTable, tally: Counter[str]
) -> None:
    lake = lw.connect(catalog={"name": "foreign", "type": "folder", "warehouse": "unused"}, moved=table.moved)
    opened = lake.open(table.metadata_location)
    assert opened.metadata_location == table.metadata_location
    assert {ref.name: ref.version for ref in opened.refs()} == table.refs
    for expected in table.expected:
        try:
            found = lines(rows_of(table.metadata_location, table.moved, expected.snapshot_id, expected.ref))
        except Unsupported as error:
            tally[_reason(error, table)] += 1
            continue
        assert len(found) == expected.row_count, expected
        if expected.lines is not None:
            assert not canonical.difference(found, expected.lines), expected
        assert digest(found) == expected.sha256, expected
        tally[RIGHT] += 1


@pytest.mark.parametrize("table", SOUND, ids=lambda table: table.name)
def test_what_a_table_lists_of_itself_agrees_with_itself(table: corpus.ForeignTable) -> None:
    listings = {what: listed(table.metadata_location, table.moved, what) for what in LISTINGS}
    for listing in listings.values():
        listing.validate(full=True)
    files = listings["files"].to_pylist()
    deletes = [file for file in files if file["content"] > 0]
    assert deletes == listings["delete_files"].to_pylist()
    live = [entry["data_file"] for entry in listings["entries"].to_pylist() if entry["status"] < 2]
    assert sorted(live, key=repr) == sorted(files, key=repr)
    counts = listings["partitions"].to_pydict()
    assert sum(counts["record_count"]) == sum(file["record_count"] for file in files if file["content"] == 0)
    assert sum(counts["file_count"]) == len(files) - len(deletes)
    positions = [delete for delete in deletes if delete["content"] == 1]
    marks = listings["position_deletes"]
    assert marks.num_rows == sum(delete["record_count"] for delete in positions)
    assert set(marks["delete_file_path"].to_pylist()) <= {delete["file_path"] for delete in positions}
    assert {ref["name"]: ref["snapshot_id"] for ref in listings["refs"].to_pylist()} == table.refs
    assert set(table.refs.values()) <= set(listings["snapshots"]["snapshot_id"].to_pylist())


@pytest.mark.parametrize("table", DAMAGED, ids=lambda table: table.name)
def test_a_damaged_table_is_refused_by_name(table: corpus.ForeignTable) -> None:
    with pytest.raises(LakewrightError) as refused:
        rows_of(table.metadata_location, table.moved)
    assert isinstance(refused.value, CorruptTable | Unsupported)
    assert next(iter(table.moved)) in str(refused.value)


def test_both_decoders_find_the_same_in_every_manifest() -> None:
    """Whoever wrote it: all entries at once, and one by one."""
    tried = 0
    for location in sorted(corpus.folder().rglob("*.avro")):
        avro = read_avro(location.read_bytes())
        if 2 in names_by_field_id(avro.schema) and avro.count:
            found = at_once(avro)
            assert found is not None, location
            assert plain(found, avro.count) == plain(one_by_one(avro), avro.count), location
            tried += 1
    assert tried > len(SOUND)


def test_every_reason_to_refuse_is_still_given(tally: Counter[str], request: pytest.FixtureRequest) -> None:
    """A reason that is no longer given has become a feature: strike it from the list."""
    ran = {item.name for item in request.session.items}
    if sum(name.startswith("test_every_snapshot") for name in ran) < len(SOUND):
        pytest.skip("only some of the tables were read")
    assert set(REASONS) <= set(tally)


def _reason(error: Unsupported, table: corpus.ForeignTable) -> str:
    for reason, features in REASONS.items():
        if reason in str(error) and features & table.features:
            return reason
    raise AssertionError(f"{table.name} has only {', '.join(sorted(table.features))} and was refused: {error}")
