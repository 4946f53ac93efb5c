"""For which reasons is a change refused after others have won?"""

import re
from dataclasses import replace

import pytest

from lakewright.commit.conflicts import conflict_of, judged_branch
from lakewright.errors import CommitConflict
from lakewright.model.changes import AppendFiles, Changes, DropRef, Head, SetRef, UpgradeFormat
from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import PartitionKey, PartitionSpec
from lakewright.model.refs import Ref, RefKind, Retention
from lakewright.model.schema import Schema
from lakewright.model.snapshot import Snapshot
from lakewright.model.sorting import SortOrder
from lakewright.model.types import Field, ListType, Primitive, StructType

BASE, HEAD = Head("v1", "a table"), Head("v2", "a table")
ID, REGION = Field(1, "id", Primitive.LONG, required=True), Field(2, "region", Primitive.STRING)
WRITTEN = Schema((ID, REGION), schema_id=0)


def snapshot(*schemas: Schema, spec_ids: tuple[int, ...] = (0,)) -> Snapshot:
    """A version whose current schema is the last of those that the table knows."""
    return Snapshot(
        version=2,
        timestamp_ms=0,
        format_label="a format",
        location="s3://b/t",
        schema=schemas[-1],
        schemas=schemas,
        specs={spec_id: PartitionSpec(spec_id, ()) for spec_id in spec_ids},
        default_spec_id=spec_ids[-1],
        sort_order=SortOrder(),
        properties={},
        tasks=(),
        totals={},
    )


def appended(*spec_ids: int, schema_id: int = 0) -> AppendFiles:
    files = (DataFile(f"f{spec_id}", PartitionKey(spec_id, ()), 1, 1, FileMetrics()) for spec_id in spec_ids)
    return AppendFiles(tuple(files), schema_id)


def evolved(*fields: Field) -> Schema:
    return Schema(fields, schema_id=1)


REQUIRED_REGION = replace(REGION, required=True)
NEW = Field(3, "note", Primitive.STRING)
NESTED = Field(4, "of", StructType((Field(5, "inner", Primitive.LONG, required=True),)))
INNER_LIST = Field(6, "many", ListType(Field(7, "element", Primitive.LONG, required=True)))


@pytest.mark.parametrize(
    ("changes", "head", "theirs", "message"),
    [
        pytest.param(
            appended(0),
            Head("v2", "another"),
            snapshot(WRITTEN),
            "s3://b/t was dropped and made again",
            id="made again",
        ),
        pytest.param(
            UpgradeFormat(3), Head("v2", "another"), snapshot(WRITTEN), "is another table now", id="made again, upgrade"
        ),
        pytest.param(
            appended(0, 3, 2),
            HEAD,
            snapshot(WRITTEN, spec_ids=(0, 1)),
            "partition spec 2, under which",
            id="spec removed",
        ),
        pytest.param(
            appended(0), HEAD, snapshot(evolved(ID, REGION)), "schema 0, under which the new files", id="schema removed"
        ),
        pytest.param(
            appended(0),
            HEAD,
            snapshot(WRITTEN, evolved(ID, REQUIRED_REGION)),
            "column region of s3://b/t became required",
            id="became required",
        ),
        pytest.param(
            appended(0),
            HEAD,
            snapshot(WRITTEN, evolved(ID, REGION, replace(NEW, required=True))),
            "column note of s3://b/t became required",
            id="required column added",
        ),
        pytest.param(
            appended(0),
            HEAD,
            snapshot(WRITTEN, evolved(ID, REGION, replace(NESTED, required=True))),
            "column of of s3://b/t became required",
            id="required struct added",
        ),
        pytest.param(
            appended(0),
            HEAD,
            snapshot(
                Schema((ID, replace(NESTED, type=StructType(())))),
                evolved(ID, NESTED),
            ),
            "column of.inner of s3://b/t became required",
            id="required field added to a struct that was there",
        ),
    ],
)
def test_it_is_refused(changes: AppendFiles | UpgradeFormat, head: Head, theirs: Snapshot, message: str) -> None:
    conflict = conflict_of(changes, BASE, head, theirs)
    assert isinstance(conflict, CommitConflict)
    assert message in str(conflict)
    assert "again" in str(conflict)


@pytest.mark.parametrize(
    ("changes", "theirs"),
    [
        pytest.param(appended(0), snapshot(WRITTEN), id="nothing happened"),
        pytest.param(appended(), snapshot(WRITTEN), id="no files"),
        pytest.param(appended(0), snapshot(WRITTEN, spec_ids=(0, 1)), id="another spec is the default now"),
        pytest.param(appended(0), snapshot(WRITTEN, evolved(ID, REGION, NEW)), id="a column was added"),
        pytest.param(appended(0), snapshot(WRITTEN, evolved(ID)), id="a column was dropped"),
        pytest.param(
            appended(0), snapshot(WRITTEN, evolved(replace(ID, required=False), REGION)), id="a column became optional"
        ),
        pytest.param(
            appended(0), snapshot(WRITTEN, evolved(ID, replace(REGION, name="area"))), id="a column was renamed"
        ),
        pytest.param(
            appended(0),
            snapshot(WRITTEN, evolved(ID, REGION, replace(NEW, required=True, initial_default="none"))),
            id="a required column with a default was added",
        ),
        pytest.param(
            appended(0),
            snapshot(WRITTEN, evolved(ID, REGION, NESTED)),
            id="a required field of an optional struct was added",
        ),
        pytest.param(
            appended(0),
            snapshot(WRITTEN, evolved(ID, REGION, INNER_LIST)),
            id="an optional list of what is required was added",
        ),
        pytest.param(UpgradeFormat(3), snapshot(evolved(ID)), id="an upgrade and another schema"),
    ],
)
def test_it_is_let_through(changes: AppendFiles | UpgradeFormat, theirs: Snapshot) -> None:
    assert conflict_of(changes, BASE, HEAD, theirs) is None


def test_the_conflict_that_is_named_first_is_the_most_fundamental() -> None:
    theirs = snapshot(evolved(ID, REQUIRED_REGION), spec_ids=(7,))
    assert "another table now" in str(conflict_of(appended(0), BASE, Head("v2", "another"), theirs))
    assert "partition spec 0" in str(conflict_of(appended(0), BASE, HEAD, theirs))


AUDIT = Ref("audit", RefKind.BRANCH, 1)


@pytest.mark.parametrize(
    ("changes", "before", "now", "message"),
    [
        pytest.param(SetRef(AUDIT), (), (), None, id="made"),
        pytest.param(SetRef(AUDIT), (), (AUDIT,), "audit of .* became a branch for version 1", id="made by both"),
        pytest.param(SetRef(AUDIT), (AUDIT,), (replace(AUDIT, version=2),), "for version 2", id="moved by both"),
        pytest.param(SetRef(AUDIT), (AUDIT,), (), "audit of .* was dropped", id="moved and dropped"),
        pytest.param(DropRef("audit"), (AUDIT,), (AUDIT,), None, id="dropped"),
        pytest.param(DropRef("audit"), (AUDIT,), (replace(AUDIT, version=2),), "for version 2", id="dropped and moved"),
        pytest.param(DropRef("audit"), (AUDIT,), (), "was dropped", id="dropped by both"),
        pytest.param(
            DropRef("audit"), (AUDIT,), (replace(AUDIT, kind=RefKind.TAG),), "became a tag", id="dropped and made a tag"
        ),
        pytest.param(
            DropRef("audit"), (AUDIT,), (replace(AUDIT, retention=Retention(5)),), "became a branch", id="kept longer"
        ),
        pytest.param(SetRef(AUDIT), (), (replace(AUDIT, name="other"),), None, id="another name"),
        pytest.param(replace(appended(0), branch="audit"), (AUDIT,), (replace(AUDIT, version=2),), None, id="appended"),
        pytest.param(
            replace(appended(0), branch="audit"), (AUDIT,), (), "branch audit of .* was dropped", id="no branch"
        ),
        pytest.param(
            replace(appended(0), branch="audit"),
            (AUDIT,),
            (replace(AUDIT, kind=RefKind.TAG),),
            "branch audit of .* was dropped",
            id="a tag instead of a branch",
        ),
        pytest.param(UpgradeFormat(3), (AUDIT,), (), None, id="upgraded"),
    ],
)
def test_a_name_is_changed_only_if_it_stands_for_what_it_stood_for(
    changes: Changes, before: tuple[Ref, ...], now: tuple[Ref, ...], message: str | None
) -> None:
    conflict = conflict_of(changes, replace(BASE, refs=before), replace(HEAD, refs=now), snapshot(WRITTEN))
    assert (conflict is None) == (message is None)
    if message is not None:
        assert isinstance(conflict, CommitConflict)
        assert re.search(message, str(conflict))


def test_a_change_is_judged_by_its_branch_as_long_as_there_is_one() -> None:
    there, gone = replace(HEAD, refs=(AUDIT,)), HEAD
    branch = replace(appended(0), branch="audit")
    assert [judged_branch(branch, there), judged_branch(branch, gone), judged_branch(SetRef(AUDIT), there)] == [
        "audit",
        "main",
        "main",
    ]
