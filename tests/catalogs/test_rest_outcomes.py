"""How do commits through a REST catalog end, when answers are lost, late, doubled or refusals?"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import Endpoints

from lakewright.errors import CommitUnknown, InvalidRequest, RetriesExhausted, Unsupported
from lakewright.model.changes import AppendFiles, Committed, StagedCommit, Taken, UpgradeFormat
from lakewright.protocols import TableFormat
from lakewright.testing.tables import TableBuilder
from tests.catalogs.rest_server import Fault, RestServer
from tests.catalogs.writers import NAME, Writer, files_below, rows

SETTLED_BY_LOOKING = [
    Fault.LOST_ANSWER,
    Fault.LATE_ANSWER,
    Fault.ERROR_AFTER,
    Fault.ERROR_BEFORE,
    Fault.BROKEN_BEFORE,
    Fault.SENT_TWICE,
    Fault.CONFLICT,
]
REFUSALS = {Fault.FORBIDDEN: InvalidRequest, Fault.TOO_MANY: RetriesExhausted, Fault.NOT_DONE: Unsupported}
QUICKLY = {"rest.client.socket-timeout-ms": "200"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestServer]:
    with RestServer(f"file://{tmp_path}/warehouse") as running:
        yield running


@pytest.mark.parametrize("format_version", [1, 2, 3])
@pytest.mark.parametrize("fault", SETTLED_BY_LOOKING, ids=lambda fault: fault.name.lower())
def test_an_append_happens_once_whatever_becomes_of_the_answer(
    server: RestServer, fault: Fault, format_version: int
) -> None:
    writer = Writer(server, **QUICKLY)
    table = writer.create(format_version=format_version)
    table.append(rows(1, 2))
    server.faults.append(fault)
    report = table.append(rows(3, 4))
    assert [entry.version for entry in table.history()][-1] == report.version
    assert len(table.history()) == 2
    assert writer.ids_in() == [1, 2, 3, 4]
    assert server.metadata(NAME).get("next-row-id") == (4 if format_version == 3 else None)


@pytest.mark.parametrize("fault", SETTLED_BY_LOOKING, ids=lambda fault: fault.name.lower())
def test_an_upgrade_happens_once_whatever_becomes_of_the_answer(server: RestServer, fault: Fault) -> None:
    table = Writer(server, **QUICKLY).create(format_version=1)
    server.faults.append(fault)
    table.upgrade(format_version=3)
    assert server.metadata(NAME)["format-version"] == 3


@pytest.mark.parametrize("fault", REFUSALS, ids=lambda fault: fault.name.lower())
def test_a_refusal_says_what_the_server_said_and_leaves_nothing_behind(server: RestServer, fault: Fault) -> None:
    writer = Writer(server)
    table = writer.create()
    table.append(rows(1))
    before = files_below([server.warehouse])
    server.faults.append(fault)
    with pytest.raises(REFUSALS[fault], match=rf"sales\.orders: {fault.value} \w+: as the test wants it"):
        table.append(rows(2))
    assert files_below([server.warehouse]) == before
    assert writer.ids_in() == [1]


def test_while_nobody_answers_nothing_is_deleted_and_the_user_is_told_to_look(server: RestServer) -> None:
    writer = Writer(server)
    table = writer.create()
    table.append(rows(1))
    before = files_below([server.warehouse])
    server.faults.append(Fault.LOST_ANSWER)
    server.is_silent_after_a_fault = True
    with pytest.raises(CommitUnknown, match="was committed is not known"):
        table.append(rows(2))
    server.reads_that_fail = 0
    assert before < files_below([server.warehouse])
    assert writer.ids_in() == [1, 2]


def test_a_conflict_that_may_be_one_with_ourselves_deletes_nothing_where_looking_is_forbidden(
    server: RestServer,
) -> None:
    writer = Writer(server)
    table = writer.create()
    table.append(rows(1))
    server.faults.append(Fault.SENT_TWICE)
    server.is_silent_after_a_fault = server.reads_are_forbidden = True
    with pytest.raises(CommitUnknown, match="was committed is not known"):
        table.append(rows(2))
    server.reads_that_fail = 0
    assert writer.ids_in() == [1, 2]


def test_reading_is_asked_again_and_given_up_in_the_end(server: RestServer) -> None:
    writer = Writer(server)
    table = writer.create()
    table.append(rows(1))
    server.reads_that_fail = 2
    assert writer.ids_in() == [1]
    server.reads_that_fail = 3
    with pytest.raises(RetriesExhausted, match="503 ServiceUnavailableException: try later"):
        table.history()


@pytest.mark.parametrize("fault", [each for each in SETTLED_BY_LOOKING if each is not Fault.CONFLICT])
def test_a_table_is_made_once_whatever_becomes_of_the_answer(server: RestServer, fault: Fault) -> None:
    writer = Writer(server, **QUICKLY)
    server.namespaces[("sales",)] = {}
    server.faults.append(fault)
    writer.create().append(rows(1))
    assert writer.ids_in() == [1]


def test_a_table_of_somebody_else_is_not_taken_for_the_one_whose_making_had_no_answer(server: RestServer) -> None:
    writer = Writer(server)
    writer.create()
    for fault in (Fault.ERROR_BEFORE, Fault.LOST_ANSWER, Fault.SENT_TWICE):
        server.faults.append(fault)
        with pytest.raises(InvalidRequest, match="exists already"):
            writer.create()
    server.faults.append(Fault.ERROR_BEFORE)
    server.is_silent_after_a_fault = True
    with pytest.raises(CommitUnknown, match=r"whether table sales\.orders was created is not known: .*503"):
        writer.create()


def test_a_table_is_dropped_though_the_answer_is_lost(server: RestServer) -> None:
    writer = Writer(server)
    writer.create()
    server.faults.append(Fault.LOST_ANSWER)
    writer.source.drop(NAME)
    assert server.tables == {}
    writer.create()
    server.faults.append(Fault.ERROR_BEFORE)
    with pytest.raises(RetriesExhausted, match="still has it: 503"):
        writer.source.drop(NAME)
    assert len(server.tables) == 1


def new_table(writer: Writer, format_version: int = 2) -> TableFormat:
    return TableBuilder(writer.source).create(NAME, format_version=format_version)


def staged(writer: Writer, table: TableFormat) -> StagedCommit:
    """An append of one file, which nobody will read."""
    attempt = table.stage(table.head(), AppendFiles((TableBuilder(writer.source).file(table, 5),), 0))
    assert attempt is not None
    return attempt


def test_what_a_server_finds_wrong_because_the_base_is_old_is_a_lost_race(server: RestServer) -> None:
    """Nothing that can be required of the base changes with the format version, but the snapshot is no longer valid."""
    writer = Writer(server)
    table = new_table(writer, format_version=2)
    late = staged(writer, table)
    Writer(server).table().upgrade(format_version=3)
    assert table.publish(late) == Taken()
    assert server.metadata(NAME)["snapshots"] == []


def test_a_change_of_the_schema_alone_makes_an_attempt_a_lost_race(server: RestServer) -> None:
    writer = Writer(server)
    table = new_table(writer)
    late = staged(writer, table)
    schema = server.metadata(NAME)["schemas"][0]
    evolved = {**schema, "fields": [*schema["fields"], {"id": 3, "name": "note", "type": "string", "required": False}]}
    updates = ({"action": "add-schema", "schema": evolved}, {"action": "set-current-schema", "schema-id": -1})
    url = writer.catalog.session.table_url(Endpoints.update_table, ("sales",), "orders")
    writer.catalog.session.send("POST", url, {"requirements": (), "updates": updates})
    assert table.publish(late) == Taken()
    assert table.publish(staged(writer, table)) == Committed()


def test_a_table_that_was_dropped_under_a_commit_is_named(server: RestServer) -> None:
    writer = Writer(server)
    table = new_table(writer)
    late = staged(writer, table)
    writer.source.drop(NAME)
    with pytest.raises(InvalidRequest, match=r"commit to table sales\.orders: 404 NoSuchTable"):
        table.publish(late)


def test_a_table_made_again_while_an_answer_was_lost_does_not_include_the_upgrade(server: RestServer) -> None:
    writer = Writer(server)
    table = new_table(writer)
    upgrade = table.stage(table.head(), UpgradeFormat(3))
    writer.source.drop(NAME)
    new_table(writer, format_version=3)
    assert upgrade is not None
    assert not table.includes(table.head(), upgrade)


def test_the_server_alone_writes_and_removes_metadata_files(server: RestServer) -> None:
    properties = {"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}
    writer = Writer(server)
    table = writer.create(properties=properties)
    for number in range(4):
        table.append(rows(number))
    files = {each for each in files_below([server.warehouse]) if each.endswith(".metadata.json")}
    assert files == {
        *(each["metadata-file"] for each in server.metadata(NAME)["metadata-log"]),
        *server.tables.values(),
    }


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_a_server_may_keep_to_itself_where_metadata_lies(server: RestServer, format_version: int) -> None:
    server.tells_location = False
    writer = Writer(server)
    table = writer.create(format_version=format_version)
    places = [table.metadata_location]
    for number in (1, 2):
        server.faults.append(Fault.LOST_ANSWER)
        table.append(rows(number))
        places.append(table.metadata_location)
    assert writer.ids_in() == [1, 2]
    assert len(set(places)) == 3
    assert all(place.startswith(server.uri) for place in places)
