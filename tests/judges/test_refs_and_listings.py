"""Do others see the branches and tags that we make, do we see theirs, and do we list of a table what they list?"""

import itertools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.table import StaticTable
from pyiceberg.transforms import IdentityTransform

import lakewright as lw
from tests.foreign import arrow_rows
from tests.judges.asking import difference
from tests.judges.conftest import SharedLake

# pyiceberg commits no table of version 3; it reads one.
versions = pytest.mark.parametrize("version", [1, 2, 3], ids="v{}".format)
_numbers = itertools.count(1)


@pytest.fixture
def name() -> str:
    return f"refs.t{next(_numbers)}"


def rows(*ids: int, region: str = "EU") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "region": [region] * len(ids)})


def made(lake: SharedLake, name: str, version: int) -> lw.Table:
    """Two versions on main, a branch that goes on from the first, and a tag of it."""
    table = lake.ours.create_table(name, "id BIGINT, region STRING", partitioned_by=["region"], format_version=version)
    table.append(rows(1))
    table.create_branch("audit", max_ref_age_ms=1_000, max_snapshot_age_ms=2_000, min_snapshots_to_keep=3)
    table.create_tag("as-sold", max_ref_age_ms=4_000)
    table.append(rows(2, 3, region="US"))
    table.at(ref="audit").append(rows(9))
    return table


@versions
def test_pyiceberg_and_duckdb_read_the_rows_of_our_refs(
    shared_lake: SharedLake, name: str, version: int, duckdb_judge: Any
) -> None:
    table = made(shared_lake, name, version)
    theirs = StaticTable.from_metadata(table.metadata_location)
    found = {each.name: (each.kind.value, each.version, *vars(each.retention).values()) for each in table.refs()}
    assert found == {
        ref: (
            each.snapshot_ref_type.value,
            each.snapshot_id,
            each.max_ref_age_ms,
            each.max_snapshot_age_ms,
            each.min_snapshots_to_keep,
        )
        for ref, each in theirs.refs().items()
    }
    expected = {"main": rows(1), "audit": pa.concat_tables([rows(1), rows(9)]), "as-sold": rows(1)}
    expected["main"] = pa.concat_tables([rows(1), rows(2, 3, region="US")])
    for ref in table.refs():
        ours = arrow_rows.rows_of(table.metadata_location, {}, ref=ref.name)
        assert not difference(ours, expected[ref.name])
        assert not difference(theirs.scan(snapshot_id=ref.version).to_arrow(), expected[ref.name])
        scan = f"iceberg_scan('{table.metadata_location}', snapshot_from_id => {ref.version})"
        assert not difference(duckdb_judge.execute(f"SELECT * FROM {scan}").to_arrow_table(), expected[ref.name])


@pytest.mark.parametrize("version", [1, 2], ids="v{}".format)
def test_pyiceberg_and_we_take_turns_on_each_others_branches(shared_lake: SharedLake, name: str, version: int) -> None:
    table = made(shared_lake, name, version)
    theirs = shared_lake.theirs.load_table(name)
    theirs.append(rows(10), branch="audit")
    theirs.manage_snapshots().create_tag(theirs.refs()["audit"].snapshot_id, "theirs").commit()
    theirs.manage_snapshots().create_branch(theirs.refs()["main"].snapshot_id, "their-branch").commit()
    table.at(ref="audit").append(rows(11))
    table.at(ref="their-branch").append(rows(12))
    table.drop_tag("as-sold")
    table.replace_tag("theirs", ref="audit")
    theirs = theirs.refresh()
    shown = {ref: ids(theirs.scan(snapshot_id=each.snapshot_id).to_arrow()) for ref, each in theirs.refs().items()}
    assert shown == {
        "main": [1, 2, 3],
        "audit": [1, 9, 10, 11],
        "their-branch": [1, 2, 3, 12],
        "theirs": [1, 9, 10, 11],
    }
    assert shown == {
        ref.name: ids(arrow_rows.rows_of(table.metadata_location, {}, ref=ref.name)) for ref in table.refs()
    }


@pytest.mark.parametrize("ref", ["main", "audit"])
@pytest.mark.parametrize("version", [1, 2], ids="v{}".format)
def test_we_list_of_a_table_what_pyiceberg_lists(shared_lake: SharedLake, name: str, version: int, ref: str) -> None:
    table = made(shared_lake, name, version)
    evolved(shared_lake.theirs, name)
    table.append(rows(4, 5))
    theirs = StaticTable.from_metadata(table.metadata_location)
    snapshot_id = theirs.refs()[ref].snapshot_id
    listings: dict[str, Callable[[], pa.Table]] = {
        "files": lambda: theirs.inspect.files(snapshot_id),
        "delete_files": lambda: theirs.inspect.delete_files(snapshot_id),
        "entries": lambda: theirs.inspect.entries(snapshot_id),
        "partitions": lambda: theirs.inspect.partitions(snapshot_id),
        "snapshots": theirs.inspect.snapshots,
        "refs": theirs.inspect.refs,
    }
    if ref == "main":
        listings["manifests"] = theirs.inspect.manifests
    for what, list_theirs in listings.items():
        found = arrow_rows.listed(table.metadata_location, {}, what, ref).to_pylist()
        expected = list_theirs().to_pylist()
        assert len(found) == len(expected), what
        assert comparable(found, expected) == comparable(expected, found), what


def evolved(catalog: Catalog, name: str) -> None:
    """Rows that follow are under another spec, with a field more."""
    with catalog.load_table(name).update_spec() as spec:
        spec.add_field("id", IdentityTransform(), "id")


def ids(table: pa.Table) -> list[int]:
    return sorted(table["id"].to_pylist())


def comparable(found: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[str]:
    """What both list; values that one of them has as pairs, as a mapping, or not at all where it is empty."""
    both = set(found[0]) & set(other[0]) if found and other else set()
    return sorted(repr({key: _plain(row[key]) for key in sorted(both)}) for row in found)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            kept = {key: _plain(each) for key, each in value.items() if key not in MADE_DIFFERENTLY}
            return {key: kept[key] for key in sorted(kept, key=str) if kept[key]}
        case list() | tuple() if value and all(isinstance(each, tuple) for each in value):
            return _plain(dict(value))
        case list() | tuple():
            return [_plain(each) for each in value]
        case _ if hasattr(value, "timestamp"):
            return value.replace(tzinfo=None)
        case _:
            return value or None


MADE_DIFFERENTLY = frozenset({"key_metadata", "readable_metrics", "spec_id"})
"""Inside the files of entries, where one of both leaves them out."""
