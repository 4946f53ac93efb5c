"""Which old metadata files does a commit remove? Those that the table lets go of, of its own, and never the newest."""

import json

import pytest

from lakewright.errors import InvalidRequest
from lakewright.formats.iceberg.adapter import IcebergHead
from lakewright.model.changes import AppendFiles, Committed
from tests.simulation.ground import GROUNDS_APART, Ground, rows

NAME = "sales.orders"
KEPT = "write.metadata.previous-versions-max"
DELETES = "write.metadata.delete-after-commit.enabled"

pytestmark = pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)


def metadata_files(ground: Ground) -> set[str]:
    return {each for each in ground.objects(NAME) if each.endswith(".metadata.json")}


def head_of(ground: Ground) -> IcebergHead:
    return ground.writer().format(NAME).head()


def logged(ground: Ground) -> list[str]:
    return [item["metadata-file"] for item in head_of(ground).metadata.document["metadata-log"]]


@pytest.mark.parametrize(("kept", "left"), [("0", 1), ("1", 1), ("2", 2), ("3", 3), ("100", 5)])
def test_as_many_as_the_table_says_are_kept(ground: Ground, kept: str, left: int) -> None:
    ground.writer().create(NAME, {KEPT: kept, DELETES: "true"})
    for number in range(5):
        ground.writer().table(NAME).append(rows([number]))
        assert head_of(ground).token in metadata_files(ground)
    assert len(logged(ground)) == left
    assert metadata_files(ground) == {head_of(ground).token, *logged(ground)}
    assert ground.writer().ids_in(NAME) == [0, 1, 2, 3, 4]
    assert len(ground.writer().history_of(NAME)) == 5


@pytest.mark.parametrize("properties", [{KEPT: "1"}, {KEPT: "1", DELETES: "false"}, {DELETES: "true"}], ids=str)
def test_nothing_is_removed_unless_the_table_says_both(ground: Ground, properties: dict[str, str]) -> None:
    ground.writer().create(NAME, properties)
    for number in range(4):
        ground.writer().table(NAME).append(rows([number]))
    assert len(metadata_files(ground)) == 5
    assert len(logged(ground)) == (1 if KEPT in properties else 4)


def test_what_a_log_names_elsewhere_is_left_alone(ground: Ground) -> None:
    """A table's records are not trusted with what lies outside of it, however they spell it."""
    ground.writer().create(NAME, {KEPT: "1", DELETES: "true"}).append(rows([1]))
    head = head_of(ground)
    root = head.metadata.table_location
    victims = [
        f"{root}-copy/metadata/00000-x.metadata.json",
        f"{root.rpartition('/')[0]}/another/metadata/v1.metadata.json",
        f"{root}/../another/metadata/v2.metadata.json",
        f"{root}/metadata/../../another/metadata/v3.metadata.json",
        f"{root}/a table in a table/metadata/v1.metadata.json",
    ]
    document = {**head.metadata.document}
    document["metadata-log"] = [{"metadata-file": each, "timestamp-ms": 1} for each in victims]
    ground.store.write(head.token, json.dumps(document).encode())
    for victim in victims:
        ground.store.write(victim, b"of somebody else")
    for number in (2, 3):
        ground.writer().table(NAME).append(rows([number]))
    assert all(ground.store.exists(victim) for victim in victims)


def test_what_a_log_names_beside_the_metadata_is_left_alone(ground: Ground) -> None:
    """Only metadata files are removed, and not the newest, though the log says so."""
    ground.writer().create(NAME, {KEPT: "1", DELETES: "true"}).append(rows([1]))
    head = head_of(ground)
    data_file = next(each for each in ground.objects(NAME) if each.endswith(".parquet"))
    folder = head.token.rpartition("/")[0]
    next_token = f"{folder}/v3.metadata.json"
    document = {**head.metadata.document}
    document["metadata-log"] = [
        {"metadata-file": each, "timestamp-ms": 1} for each in (data_file, head.token, next_token)
    ]
    ground.store.write(head.token, json.dumps(document).encode())
    ground.writer().table(NAME).append(rows([2]))
    assert ground.writer().ids_in(NAME) == [1, 2]


def test_a_lost_attempt_removes_nothing_that_the_winner_needs(ground: Ground) -> None:
    ground.writer().create(NAME, {KEPT: "1", DELETES: "true"}).append(rows([1]))
    slow = ground.writer().format(NAME)
    base = slow.head()
    for number in (2, 3, 4):
        ground.writer().table(NAME).append(rows([number]))
    staged = slow.stage(base, AppendFiles((), 0, {"batch": "late"}))
    assert staged is not None
    assert slow.publish(staged) != Committed()
    assert not slow.includes(slow.head(), staged)
    assert head_of(ground).token in metadata_files(ground)
    assert ground.writer().ids_in(NAME) == [1, 2, 3, 4]


def test_a_name_is_taken_though_the_first_metadata_is_long_gone(ground: Ground) -> None:
    ground.writer().create(NAME, {KEPT: "1", DELETES: "true"})
    for number in (1, 2, 3):
        ground.writer().table(NAME).append(rows([number]))
    before = ground.objects(NAME)
    with pytest.raises(InvalidRequest, match=f"{NAME} exists already"):
        ground.writer().create(NAME)
    assert ground.objects(NAME) == before
    assert ground.writer().ids_in(NAME) == [1, 2, 3]
