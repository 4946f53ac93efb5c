"""Does a format adapter keep the promises of `TableFormat` and `TableSource`? One suite, run for each of them.

A test class of an adapter inherits `FormatConformance` and gives a pytest fixture named `ground`.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lakewright.errors import InvalidRequest, LakewrightError
from lakewright.model.changes import AppendFiles, Committed, DropRef, Head, SetRef, StagedCommit, Taken, UpgradeFormat
from lakewright.model.files import DataFile
from lakewright.model.layout import WriteLayout
from lakewright.model.refs import AS_PROPERTIES_SAY, MAIN, Ref, RefKind, Retention
from lakewright.model.snapshot import Snapshot
from lakewright.protocols import ObjectStore, TableFormat, TableSource
from lakewright.testing.tables import TableBuilder, listed_files


@dataclass(frozen=True)
class Ground:
    """What the suite works on. What a format does not have is None, and its tests pass."""

    source: TableSource
    store: ObjectStore
    name: str
    """A name for a table that does not exist yet."""
    format_version: int
    newest_version: int
    opened_read_only: Callable[[TableFormat], TableFormat] | None = None
    """Opens a table in a way in which it cannot be changed."""
    plant: Callable[[TableFormat], None] | None = None
    """Writes into the newest records of a table what no version of the format's specification knows."""
    planted: Callable[[TableFormat], bool] | None = None
    """Whether all that was planted is in the newest records."""
    builder: TableBuilder = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "builder", TableBuilder(self.source))

    def table(self) -> TableFormat:
        return self.builder.create(self.name, format_version=self.format_version)

    def files(self, table: TableFormat, version: int | None = None) -> dict[str, int]:
        """The live files of a version with their counts of rows."""
        found = self.listed(table, version)
        assert len({file.location for file in found}) == len(found), "a file is listed twice"
        return {file.location: file.record_count for file in found}

    def listed(self, table: TableFormat, version: int | None = None) -> list[DataFile]:
        return listed_files(table.snapshot(table.head(), version), table, self.store)

    def objects(self, table: TableFormat) -> dict[str, bytes]:
        root = table.snapshot(table.head()).location
        return {stored.location: self.store.read(stored.location) for stored in self.store.list(root)}

    def shown(self, table: TableFormat, ref: str) -> list[int]:
        """The rows of each file that a ref shows."""
        snapshot = table.snapshot(table.head(), ref=ref)
        return sorted(file.record_count for file in listed_files(snapshot, table, self.store))

    def change(self, table: TableFormat, changes: SetRef | DropRef) -> None:
        staged = table.stage(table.head(), changes)
        assert staged is not None
        assert table.publish(staged) == Committed()

    def staged(self, table: TableFormat, head: Head, *files: DataFile) -> StagedCommit:
        staged = table.stage(head, AppendFiles(files, table.snapshot(head).schema.schema_id))
        assert staged is not None
        return staged


class FormatConformance:
    """Inherit, and give the fixture `ground`."""

    def test_a_new_table_is_empty_and_can_be_opened_by_its_name(self, ground: Ground) -> None:
        ground.table()
        table = ground.source.open(ground.name)
        snapshot = table.snapshot(table.head())
        assert snapshot.version is None
        assert snapshot.tasks == ()
        assert [child.name for child in snapshot.schema.fields] == ["id", "region"]
        assert table.history(table.head()) == ()

    def test_a_name_that_is_taken_is_refused_and_its_table_left_alone(self, ground: Ground) -> None:
        table = ground.table()
        ground.builder.append_rows(table, 3)
        before = ground.objects(table)
        assert isinstance(_error_of(ground.table), InvalidRequest)
        assert ground.objects(table) == before
        assert list(ground.files(table).values()) == [3]

    def test_a_name_that_is_taken_by_an_empty_table_is_refused_too(self, ground: Ground) -> None:
        table = ground.table()
        before = ground.objects(table)
        assert isinstance(_error_of(ground.table), InvalidRequest)
        assert ground.objects(table) == before

    def test_a_table_that_is_not_there_is_refused(self, ground: Ground) -> None:
        assert isinstance(_error_of(lambda: ground.source.open(ground.name).head()), InvalidRequest)

    def test_a_dropped_table_is_gone_and_its_name_is_free(self, ground: Ground) -> None:
        ground.table()
        ground.source.drop(ground.name)
        assert isinstance(_error_of(lambda: ground.source.open(ground.name).head()), InvalidRequest)
        assert ground.table().history(ground.source.open(ground.name).head()) == ()

    def test_a_table_made_again_under_the_same_name_has_another_identity(self, ground: Ground) -> None:
        before = ground.table().head().identity
        ground.source.drop(ground.name)
        assert ground.table().head().identity != before

    def test_dropping_a_table_that_is_not_there_is_refused(self, ground: Ground) -> None:
        assert isinstance(_error_of(lambda: ground.source.drop(ground.name)), InvalidRequest)

    def test_a_table_is_listed_from_its_making_to_its_dropping(self, ground: Ground) -> None:
        before = ground.source.tables()
        assert ground.name not in before
        ground.table()
        assert ground.source.tables() == tuple(sorted((*before, ground.name)))
        ground.source.drop(ground.name)
        assert ground.source.tables() == before

    def test_a_table_goes_by_its_name(self, ground: Ground) -> None:
        assert ground.table().place == ground.name

    def test_every_version_has_a_token_of_its_own_and_one_identity(self, ground: Ground) -> None:
        table = ground.table()
        heads = [table.head()]
        for count in (1, 2):
            ground.builder.append_rows(table, count)
            heads.append(table.head())
        assert len({head.token for head in heads}) == 3
        assert len({head.identity for head in heads}) == 1

    def test_a_head_that_is_held_shows_what_it_showed(self, ground: Ground) -> None:
        table = ground.table()
        version = ground.builder.append_rows(table, 1)
        held = table.head()
        ground.builder.append_rows(table, 2)
        snapshot = table.snapshot(held)
        read = [file.record_count for file in listed_files(snapshot, table, ground.store)]
        assert (snapshot.version, read) == (version, [1])
        assert [entry.version for entry in table.history(held)] == [version]

    def test_two_attempts_share_no_object(self, ground: Ground) -> None:
        table = ground.table()
        head, file = table.head(), ground.builder.file(table, 1)
        first, second = ground.staged(table, head, file), ground.staged(table, head, file)
        assert first.locations
        assert set(first.locations).isdisjoint(second.locations)
        assert first.version != second.version

    def test_a_reader_that_was_sent_reads_the_same(self, ground: Ground) -> None:
        table = ground.table()
        ground.builder.append_rows(table, 1, 2)
        snapshot = table.snapshot(table.head())
        sent = pickle.loads(pickle.dumps(table.reader(snapshot)))  # noqa: S301 -- pickled a moment ago
        tasks = pickle.loads(pickle.dumps(snapshot.tasks))  # noqa: S301 -- pickled a moment ago
        batches = [sent.files(task, ground.store) for task in tasks]
        read = [files.candidate(row).file for files in batches for row in range(len(files.columns))]
        assert sorted(file.record_count for file in read) == [1, 2]

    def test_publishing_is_tried_again_for_a_while_unless_a_table_says_otherwise(self, ground: Ground) -> None:
        table = ground.table()
        settings = table.retry_settings(table.head())
        assert settings.retries_max > 0
        assert 0 < settings.wait_min_ms <= settings.wait_max_ms <= settings.total_ms

    def test_appended_files_are_there_with_those_from_before(self, ground: Ground) -> None:
        table = ground.table()
        ground.builder.append_rows(table, 1, 2)
        ground.builder.append_rows(table, 3)
        assert sorted(ground.files(table).values()) == [1, 2, 3]

    def test_another_handle_sees_what_was_committed(self, ground: Ground) -> None:
        ground.builder.append_rows(ground.table(), 4)
        assert list(ground.files(ground.source.open(ground.name)).values()) == [4]

    def test_the_totals_are_those_of_all_files(self, ground: Ground) -> None:
        table = ground.table()
        ground.builder.append_rows(table, 1, 2)
        ground.builder.append_rows(table, 3)
        totals = table.snapshot(table.head()).totals
        assert (totals["files"], totals["rows"]) == (3, 6)

    def test_every_version_is_in_the_history_and_keeps_its_files(self, ground: Ground) -> None:
        table = ground.table()
        versions = [ground.builder.append_rows(table, count) for count in (1, 2, 3)]
        assert [entry.version for entry in table.history(table.head())] == versions
        assert sorted(ground.files(table, versions[1]).values()) == [1, 2]

    def test_times_in_the_history_rise(self, ground: Ground) -> None:
        table = ground.table()
        for count in (1, 2, 3):
            ground.builder.append_rows(table, count)
        times = [entry.timestamp_ms for entry in table.history(table.head())]
        assert times == sorted(set(times))

    def test_a_version_that_is_not_known_is_refused(self, ground: Ground) -> None:
        table = ground.table()
        known = ground.builder.append_rows(table, 1)
        assert isinstance(_error_of(lambda: table.snapshot(table.head(), known + 10**9)), InvalidRequest)

    def test_the_summary_of_a_version_is_kept(self, ground: Ground) -> None:
        table = ground.table()
        ground.builder.append(table, summary={"batch": "17"})
        assert table.history(table.head())[-1].summary["batch"] == "17"

    def test_a_table_with_a_version_has_a_main_branch_for_it(self, ground: Ground) -> None:
        table = ground.table()
        assert table.head().refs == ()
        version = ground.builder.append_rows(table, 1)
        assert table.head().refs == (Ref(MAIN, RefKind.BRANCH, version),)
        assert table.snapshot(table.head(), ref=MAIN) == table.snapshot(table.head())

    def test_a_branch_that_is_appended_to_moves_on_alone(self, ground: Ground) -> None:
        table = ground.table()
        shared = ground.builder.append_rows(table, 1)
        ground.change(table, SetRef(_branch(shared)))
        ours = ground.builder.append_rows(table, 2, branch="audit")
        theirs = ground.builder.append_rows(table, 4)
        last = ground.builder.append_rows(table, 8, branch="audit")
        assert (ground.shown(table, "audit"), ground.shown(table, MAIN)) == ([1, 2, 8], [1, 4])
        head = table.head()
        assert [entry.version for entry in table.history(head, "audit")] == [shared, ours, last]
        assert [entry.version for entry in table.history(head)] == [shared, theirs]
        assert table.snapshot(head, ref="audit").totals["rows"] == 11
        assert {ref.name: ref.version for ref in head.refs} == {MAIN: theirs, "audit": last}

    def test_a_tag_stays_while_its_table_moves_on(self, ground: Ground) -> None:
        table = ground.table()
        version = ground.builder.append_rows(table, 1)
        ground.change(table, SetRef(Ref("as-sold", RefKind.TAG, version)))
        ground.builder.append_rows(table, 2)
        assert ground.shown(table, "as-sold") == [1]

    def test_a_ref_keeps_its_retention_when_it_moves(self, ground: Ground) -> None:
        table = ground.table()
        kept = Retention(max_ref_age_ms=7, max_snapshot_age_ms=8, min_snapshots_to_keep=9)
        ground.change(table, SetRef(_branch(ground.builder.append_rows(table, 1), kept)))
        version = ground.builder.append_rows(table, 2, branch="audit")
        assert table.head().refs[1] == _branch(version, kept)

    def test_a_dropped_ref_is_gone_and_its_version_stays(self, ground: Ground) -> None:
        table = ground.table()
        ground.change(table, SetRef(_branch(ground.builder.append_rows(table, 1))))
        version = ground.builder.append_rows(table, 2, branch="audit")
        ground.change(table, DropRef("audit"))
        assert [ref.name for ref in table.head().refs] == [MAIN]
        assert sorted(ground.files(table, version).values()) == [1, 2]
        assert isinstance(_error_of(lambda: table.snapshot(table.head(), ref="audit")), InvalidRequest)

    def test_a_main_branch_that_is_moved_is_the_table(self, ground: Ground) -> None:
        table = ground.table()
        versions = [ground.builder.append_rows(table, count) for count in (1, 2)]
        ground.change(table, SetRef(Ref(MAIN, RefKind.BRANCH, versions[0])))
        assert list(ground.files(table).values()) == [1]
        ground.builder.append_rows(table, 4)
        assert sorted(ground.files(table).values()) == [1, 4]

    def test_a_ref_that_is_as_it_should_be_is_no_change(self, ground: Ground) -> None:
        table = ground.table()
        ref = _branch(ground.builder.append_rows(table, 1))
        ground.change(table, SetRef(ref))
        assert table.stage(table.head(), SetRef(ref)) is None
        assert table.stage(table.head(), DropRef("nothing")) is None

    def test_a_ref_of_a_version_that_is_not_there_is_refused(self, ground: Ground) -> None:
        table = ground.table()
        version = ground.builder.append_rows(table, 1)
        assert _error_of(lambda: table.stage(table.head(), SetRef(_branch(version + 10**9)))) is not None

    def test_the_second_of_two_changes_of_refs_on_one_base_is_taken(self, ground: Ground) -> None:
        table = ground.table()
        version = ground.builder.append_rows(table, 1)
        head = table.head()
        first = table.stage(head, SetRef(_branch(version)))
        second = table.stage(head, SetRef(Ref("other", RefKind.TAG, version)))
        assert first is not None
        assert second is not None
        assert not table.includes(head, first)
        assert (table.publish(first), table.publish(first)) == (Committed(), Committed())
        assert table.includes(table.head(), first)
        ground.builder.append_rows(table, 2)
        assert table.publish(second) == Taken()
        assert not table.includes(table.head(), second)
        assert [ref.name for ref in table.head().refs] == [MAIN, "audit"]

    def test_refs_survive_an_upgrade(self, ground: Ground) -> None:
        table = ground.table()
        ground.change(table, SetRef(_branch(ground.builder.append_rows(table, 1))))
        ground.builder.append_rows(table, 2, branch="audit")
        staged = table.stage(table.head(), UpgradeFormat(ground.newest_version))
        assert staged is None or table.publish(staged) == Committed()
        ground.builder.append_rows(table, 4, branch="audit")
        assert (ground.shown(table, "audit"), ground.shown(table, MAIN)) == ([1, 2, 4], [1])

    def test_staging_shows_nothing(self, ground: Ground) -> None:
        table = ground.table()
        head = table.head()
        ground.staged(table, head, ground.builder.file(table, 5))
        assert table.head().token == head.token
        assert ground.files(table) == {}

    def test_publishing_twice_is_publishing_once(self, ground: Ground) -> None:
        table = ground.table()
        staged = ground.staged(table, table.head(), ground.builder.file(table, 5))
        assert [table.publish(staged), table.publish(staged)] == [Committed(), Committed()]
        assert list(ground.files(table).values()) == [5]

    def test_the_second_of_two_attempts_on_one_base_is_taken(self, ground: Ground) -> None:
        table = ground.table()
        head = table.head()
        first = ground.staged(table, head, ground.builder.file(table, 1))
        second = ground.staged(table, head, ground.builder.file(table, 2))
        assert table.publish(first) == Committed()
        assert table.publish(second) == Taken()
        assert list(ground.files(table).values()) == [1]

    def test_an_attempt_is_found_in_the_version_that_it_made_and_in_later_ones(self, ground: Ground) -> None:
        table = ground.table()
        head = table.head()
        staged = ground.staged(table, head, ground.builder.file(table, 1))
        assert not table.includes(head, staged)
        table.publish(staged)
        assert table.includes(table.head(), staged)
        ground.builder.append_rows(table, 2)
        assert table.includes(table.head(), staged)

    def test_an_attempt_that_lost_is_found_in_no_version(self, ground: Ground) -> None:
        table = ground.table()
        lost = ground.staged(table, table.head(), ground.builder.file(table, 1))
        ground.builder.append_rows(table, 2)
        assert not table.includes(table.head(), lost)
        table.publish(lost)
        assert not table.includes(table.head(), lost)

    def test_an_upgrade_that_lost_is_found_in_no_version(self, ground: Ground) -> None:
        table = ground.table()
        lost = table.stage(table.head(), UpgradeFormat(ground.newest_version))
        if lost is not None:
            ground.builder.append_rows(table, 2)
            assert not table.includes(table.head(), lost)
            assert table.publish(lost) == Taken()

    def test_an_upgrade_is_found_in_the_version_that_it_made_and_in_later_ones(self, ground: Ground) -> None:
        table = ground.table()
        staged = table.stage(table.head(), UpgradeFormat(ground.newest_version))
        if staged is not None:
            assert not table.includes(table.head(), staged)
            assert table.publish(staged) == Committed()
            assert table.includes(table.head(), staged)
            ground.builder.append_rows(table, 2)
            assert table.includes(table.head(), staged)

    def test_an_abandoned_attempt_leaves_exactly_what_was_there(self, ground: Ground) -> None:
        table = ground.table()
        head = table.head()
        before_staging = ground.objects(table)
        staged = ground.staged(table, head, ground.builder.file(table, 1))
        table.abandon(staged)
        assert ground.objects(table) == before_staging

    def test_an_attempt_abandoned_after_it_lost_leaves_the_winner_whole(self, ground: Ground) -> None:
        table = ground.table()
        head = table.head()
        ground.builder.append_rows(table, 1)
        after_the_winner = ground.objects(table)
        lost = ground.staged(table, head, ground.builder.file(table, 2))
        assert table.publish(lost) == Taken()
        table.abandon(lost)
        assert ground.objects(table) == after_the_winner

    def test_cleaning_up_after_a_commit_removes_nothing_unless_the_table_says_so(self, ground: Ground) -> None:
        table = ground.table()
        staged = ground.staged(table, table.head(), ground.builder.file(table, 1))
        table.publish(staged)
        before = ground.objects(table)
        table.clean_up(staged)
        assert ground.objects(table) == before

    def test_an_upgraded_table_keeps_its_files_and_history(self, ground: Ground) -> None:
        table = ground.table()
        version = ground.builder.append_rows(table, 1, 2)
        staged = table.stage(table.head(), UpgradeFormat(ground.newest_version))
        assert staged is None or table.publish(staged) == Committed()
        ground.builder.append_rows(table, 3)
        assert sorted(ground.files(table).values()) == [1, 2, 3]
        assert sorted(ground.files(table, version).values()) == [1, 2]

    def test_upgrading_to_the_version_that_a_table_has_changes_nothing(self, ground: Ground) -> None:
        table = ground.table()
        assert table.stage(table.head(), UpgradeFormat(ground.format_version)) is None

    def test_a_format_version_that_does_not_exist_is_refused(self, ground: Ground) -> None:
        table = ground.table()
        before = ground.objects(table)
        for version in (ground.format_version - 1, ground.newest_version + 1):
            error = _error_of(lambda version=version: table.stage(table.head(), UpgradeFormat(version)))  # type: ignore[misc]  # mypy cannot infer a lambda's default
            assert isinstance(error, InvalidRequest)
        assert ground.objects(table) == before

    def test_what_no_specification_knows_survives_appends_and_upgrades(self, ground: Ground) -> None:
        if ground.plant is None or ground.planted is None:
            return
        table = ground.table()
        ground.builder.append_rows(table, 1)
        ground.plant(table)
        ground.builder.append_rows(table, 2)
        assert ground.planted(table)
        staged = table.stage(table.head(), UpgradeFormat(ground.newest_version))
        assert staged is None or table.publish(staged) == Committed()
        ground.builder.append_rows(table, 3)
        assert ground.planted(table)
        assert sorted(ground.files(table).values()) == [1, 2, 3]

    def test_a_table_opened_for_reading_says_why_and_takes_no_commit(self, ground: Ground) -> None:
        if ground.opened_read_only is None:
            return
        table = ground.table()
        ground.builder.append_rows(table, 1)
        fixed = ground.opened_read_only(table)
        assert fixed.capabilities.read_only_because
        before = ground.objects(table)
        assert isinstance(_error_of(lambda: ground.builder.append_rows(fixed, 2)), LakewrightError)
        assert ground.objects(table) == before
        assert list(ground.files(fixed).values()) == [1]

    def test_the_layout_is_of_the_newest_schema_and_its_files_lie_with_the_table(self, ground: Ground) -> None:
        table = ground.table()
        snapshot: Snapshot = table.snapshot(table.head())
        layout: WriteLayout = table.layout(snapshot, "a-write")
        assert layout.schema == snapshot.schema
        assert layout.location.root.startswith(snapshot.location)
        assert layout.write_id == "a-write"

    def test_records_of_a_file_come_back_as_they_were_written(self, ground: Ground) -> None:
        table = ground.table()
        file = replace(ground.builder.file(table, 7), split_offsets=(4, 2000), size_bytes=4711)
        ground.builder.append(table, file)
        shown = [replace(each, data_sequence_number=None, first_row_id=None) for each in ground.listed(table)]
        assert shown == [file]


def _branch(version: int, retention: Retention = AS_PROPERTIES_SAY) -> Ref:
    return Ref("audit", RefKind.BRANCH, version, retention)


def _error_of(action: Callable[[], object]) -> BaseException | None:
    try:
        action()
    except LakewrightError as error:
        return error
    return None
