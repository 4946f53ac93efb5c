"""What can be asked of branches and tags, and what is refused with which words?"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.simulation.ground import Ground, folder_in_memory, rows
from tests.simulation.turns import Turns, interrupt

from lakewright.errors import CommitConflict, CorruptTable, InvalidRequest
from lakewright.model.refs import MAIN, Ref, RefKind, Retention
from lakewright.table import Table
from lakewright.testing.faults import FaultPlan

NAME = "sales.orders"


@pytest.fixture
def ground() -> Ground:
    return folder_in_memory(Path())


@pytest.fixture
def table(ground: Ground) -> Table:
    """Two versions; a branch that goes on from the first one, and a tag of it."""
    table = ground.writer().create(NAME)
    table.append(rows([1]))
    table.create_branch("audit", max_ref_age_ms=5)
    table.create_tag("as-sold")
    table.append(rows([2]))
    table.at(ref="audit").append(rows([3]))
    return table


def ids(table: Table) -> list[int]:
    return sorted(table.to_df().column("id").to_pylist())


def versions(table: Table) -> dict[str, int]:
    return {ref.name: ref.version for ref in table.refs()}


def test_each_ref_shows_its_own_rows(table: Table) -> None:
    assert {ref.name: ids(table.at(ref=ref.name)) for ref in table.refs()} == {
        MAIN: [1, 2],
        "as-sold": [1],
        "audit": [1, 3],
    }
    assert "audit, version" in repr(table.at(ref="audit"))


def test_a_handle_of_a_branch_follows_it_and_one_of_a_version_stays(table: Table) -> None:
    branch = table.at(ref="audit")
    version = table.at(version=versions(table)["audit"])
    branch.append(rows([5]))
    assert (ids(branch), ids(version), ids(table)) == ([1, 3, 5], [1, 3], [1, 2])


def test_the_history_of_a_branch_is_what_it_is_made_of(table: Table) -> None:
    first, second = (entry.version for entry in table.history())
    at = versions(table)
    assert [entry.version for entry in table.at(ref="audit").history()] == [first, at["audit"]]
    assert [entry.version for entry in table.at(ref="as-sold").history()] == [first]
    assert second == at[MAIN]


def test_a_time_on_a_branch_is_one_of_its_history(table: Table) -> None:
    branch = table.at(ref="audit")
    assert ids(branch.at(timestamp=branch.history()[-1].timestamp_ms)) == [1, 3]
    with pytest.raises(InvalidRequest, match="no version from 1970"):
        branch.at(timestamp=0)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, [1, 2]),
        ({"ref": "audit"}, [1, 3]),
        ({"timestamp": "2300-01-01T00:00:00+00:00"}, [1, 2]),
    ],
    ids=lambda value: str(value),
)
def test_a_ref_begins_where_it_is_told_to(table: Table, place: dict[str, str], expected: list[int]) -> None:
    table.create_branch("new", **place)
    table.create_tag("named", **place)
    assert ids(table.at(ref="new")) == ids(table.at(ref="named")) == expected


def test_a_ref_made_from_a_handle_begins_at_what_the_handle_shows(table: Table) -> None:
    table.at(ref="audit").create_tag("audited")
    table.at(version=table.history()[0].version).create_branch("again")
    assert ids(table.at(ref="audited")) == [1, 3]
    assert ids(table.at(ref="again")) == [1]


def test_what_is_not_replaced_stays(table: Table) -> None:
    table.replace_branch("audit", min_snapshots_to_keep=3)
    kept = Retention(max_ref_age_ms=5, min_snapshots_to_keep=3)
    assert table.refs()[2] == Ref("audit", RefKind.BRANCH, versions(table)["audit"], kept)
    table.replace_branch("audit", ref=MAIN)
    assert table.refs()[2] == Ref("audit", RefKind.BRANCH, versions(table)[MAIN], kept)
    table.replace_tag("as-sold", version=versions(table)[MAIN], max_ref_age_ms=9)
    assert table.refs()[1] == Ref("as-sold", RefKind.TAG, versions(table)[MAIN], Retention(9))


def test_main_goes_back_and_its_rows_are_those_of_then(table: Table) -> None:
    report = table.replace_branch(MAIN, ref="as-sold")
    assert (ids(table), report.version) == ([1], versions(table)["as-sold"])
    table.append(rows([7]))
    assert ids(table) == [1, 7]


def test_a_branch_is_brought_up_to_one_that_goes_on_from_it(table: Table) -> None:
    table.create_branch("staging")
    table.at(ref="staging").append(rows([4]))
    table.fast_forward(MAIN, to="staging")
    assert ids(table) == [1, 2, 4]
    assert table.fast_forward(MAIN, to="staging").version is None, "there is nothing left to do"


def test_dropped_names_are_gone(table: Table) -> None:
    at = versions(table)
    assert table.drop_branch("audit").version == at["audit"]
    assert table.drop_tag("as-sold").version == at["as-sold"]
    assert list(versions(table)) == [MAIN]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda t: t.at(ref="adit"), "no branch or tag adit; did you mean audit"),
        (lambda t: t.at(ref="audit", version=1), "one of version, timestamp and ref"),
        (lambda t: t.at(), "one of version, timestamp and ref"),
        (lambda t: t.create_branch("as-sold"), r"has a tag as-sold already.*replace_tag\(\)"),
        (lambda t: t.create_tag("audit"), r"has a branch audit already.*replace_branch\(\)"),
        (lambda t: t.create_tag(MAIN), "has a branch main already"),
        (lambda t: t.create_tag(""), "needs a name"),
        (lambda t: t.create_tag("new", version=404), "has no version 404"),
        (lambda t: t.create_tag("new", ref="as-sodl"), "did you mean as-sold"),
        (lambda t: t.create_tag("new", ref="audit", timestamp=0), "named in one way"),
        (lambda t: t.create_tag("new", max_ref_age_ms=0), "max_ref_age_ms is a whole number above 0, found 0"),
        (lambda t: t.create_branch("new", min_snapshots_to_keep=True), "min_snapshots_to_keep is a whole number"),
        (lambda t: t.replace_branch("audi", ref=MAIN), "did you mean audit"),
        (lambda t: t.replace_branch("as-sold", ref=MAIN), "as-sold of table sales.orders is a tag, not a branch"),
        (lambda t: t.replace_tag("audit", ref=MAIN), "is a branch, not a tag"),
        (lambda t: t.replace_tag("as-sold"), "say what is to become of tag as-sold"),
        (lambda t: t.replace_branch(MAIN, max_ref_age_ms=5), "branch main is kept for ever"),
        (lambda t: t.drop_branch(MAIN), "branch main cannot be dropped"),
        (lambda t: t.drop_branch("as-sold"), "is a tag, not a branch"),
        (lambda t: t.drop_tag("as-old"), "did you mean as-sold"),
        (lambda t: t.fast_forward(MAIN, to="audit"), "main of sales.orders cannot be brought up to audit"),
        (lambda t: t.fast_forward("as-sold", to=MAIN), "is a tag, not a branch"),
        (lambda t: t.at(ref="as-sold").append(rows([9])), "tag as-sold of sales.orders, which stays as it is"),
        (lambda t: t.at(ref="audit").upgrade(format_version=3), "an upgrade is of the whole table"),
        (lambda t: t.at(version=t.refs()[0].version).append(rows([9])), "which never changes"),
        (lambda t: t.inspect("file"), "no metadata table file; did you mean files"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    ground: Ground, table: Table, act: Callable[[Table], object], message: str
) -> None:
    before = ground.objects(NAME)
    with pytest.raises(InvalidRequest, match=message):
        act(table)
    assert ground.objects(NAME) == before


def test_a_table_without_a_version_has_nothing_to_name(ground: Ground) -> None:
    table = ground.writer().create(NAME)
    assert (table.refs(), table.at(ref=MAIN).history()) == ((), ())
    with pytest.raises(InvalidRequest, match="has no versions yet"):
        table.create_branch("audit")


def test_a_branch_has_the_tables_columns_and_a_tag_those_of_its_version(ground: Ground, table: Table) -> None:
    """As in Iceberg's Spark: a branch is what is written next, a tag is what was."""
    rewritten(ground, with_another_column)
    columns = {ref.name: table.at(ref=ref.name).to_df().column_names for ref in table.refs()}
    assert columns == {MAIN: ["id", "region", "note"], "audit": ["id", "region", "note"], "as-sold": ["id", "region"]}
    table.at(ref="audit").append(rows([6]).append_column("note", [["new"]]))
    assert sorted(table.at(ref="audit").to_df().column("note").to_pylist(), key=str) == [None, None, "new"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({"odd": {"type": "branch", "snapshot-id": 404}}, "branch odd of snapshot 404 and does not have that snapshot"),
        ({"odd": {"type": "twig", "snapshot-id": 1}}, "twig"),
        ({"odd": {"type": "tag"}}, "snapshot-id"),
        ({"main": {"type": "branch", "snapshot-id": "as-sold"}}, "names another current snapshot"),
    ],
)
def test_damaged_refs_are_refused_by_name(
    ground: Ground, table: Table, nodes: dict[str, dict[str, object]], message: str
) -> None:
    tagged = versions(table)["as-sold"]

    def damaged(document: dict[str, dict[str, object]]) -> None:
        for name, node in nodes.items():
            document["refs"][name] = {**node, "snapshot-id": tagged} if node.get("snapshot-id") == "as-sold" else node

    rewritten(ground, damaged)
    with pytest.raises(CorruptTable, match=message):
        table.refs()


def test_a_table_whose_writer_kept_no_refs_keeps_its_main_branch(ground: Ground, table: Table) -> None:
    """Beside another branch, a main branch that is not written down would be taken for one that does not exist."""
    rewritten(ground, lambda document: document.pop("refs"))
    assert list(versions(table)) == [MAIN]
    table.create_tag("named")
    location = table.metadata_location
    assert sorted(json.loads(ground.store.read(location))["refs"]) == [MAIN, "named"]


def test_a_branch_that_is_dropped_while_rows_are_written_is_a_conflict_and_leaves_no_file(
    ground: Ground, table: Table
) -> None:
    before = {each for each in ground.objects(NAME) if each.endswith(".parquet")}
    turns = Turns()
    writer = ground.writer(turns)
    error = interrupt(
        turns,
        lambda: writer.table(NAME).at(ref="audit").append(rows([8])),
        next(number for number, call in enumerate(calls_of_an_append(ground)) if call.startswith("create ")) + 1,
        lambda: ground.writer().table(NAME).drop_branch("audit"),
    )
    assert isinstance(error, CommitConflict)
    assert "branch audit of memory://warehouse/sales/orders was dropped" in str(error)
    assert {each for each in ground.objects(NAME) if each.endswith(".parquet")} == before


def calls_of_an_append(ground: Ground) -> list[str]:
    ground.writer().create("sales.counted").append(rows([1]))
    ground.writer().table("sales.counted").create_branch("audit")
    plan = FaultPlan()
    ground.writer(plan).table("sales.counted").at(ref="audit").append(rows([8]))
    return plan.calls


def with_another_column(document: dict[str, list[dict[str, object]]]) -> None:
    newest = document["schemas"][-1]
    note = {"id": 3, "name": "note", "required": False, "type": "string"}
    document["schemas"].append({**newest, "schema-id": 1, "fields": [*newest["fields"], note]})
    document.update({"current-schema-id": 1, "last-column-id": 3})


def rewritten(ground: Ground, change: Callable[[dict], object]) -> None:
    location = ground.writer().table(NAME).metadata_location
    document = json.loads(ground.store.read(location))
    change(document)
    ground.store.write(location, json.dumps(document).encode())
