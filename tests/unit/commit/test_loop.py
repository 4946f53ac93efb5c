"""How does the loop get from a prepared change to a settled one, however publishing ends?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from lakewright.commit.loop import publish_until_settled
from lakewright.errors import CommitConflict, CommitUnknown, InvalidRequest, RetriesExhausted, Unsupported
from lakewright.formats.iceberg.adapter import IcebergSource, IcebergTable
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.changes import (
    AppendFiles,
    CommitResult,
    PendingCommit,
    PublishOutcome,
    Taken,
    Unknown,
    UpgradeFormat,
)
from lakewright.protocols import MetadataCommit, NewestMetadata
from lakewright.testing.memory import MemoryStore
from lakewright.testing.steady import CountingIds, FixedClock
from lakewright.testing.tables import TableBuilder, listed_files

NAME = "sales.orders"


@dataclass(frozen=True)
class ScriptedCatalog(FolderCatalog):
    """Publishes as it is told to, in turn, and truly when it is told nothing any more."""

    script: list[Callable[[Callable[[], PublishOutcome]], PublishOutcome]] = field(default_factory=list)

    loads_that_fail: list[None] = field(default_factory=list)

    def load(self, name: str) -> NewestMetadata:
        if self.loads_that_fail:
            self.loads_that_fail.pop()
            raise ConnectionError("fog")
        return super().load(name)

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        def truly() -> PublishOutcome:
            return super(ScriptedCatalog, self).swap(name, commit)

        return self.script.pop(0)(truly) if self.script else truly()


@dataclass
class Bench:
    """One table with a version, and a prepared append of one file to it."""

    properties: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store, self.clock, self.ids = MemoryStore(), FixedClock(), CountingIds()
        self.catalog = ScriptedCatalog(self.store, "memory://w")
        self.source = IcebergSource(self.catalog, self.store, self.clock, self.ids)
        self.builder = TableBuilder(self.source)
        self.table: IcebergTable = self.source.open(NAME)
        self.builder.create(NAME, properties=self.properties)
        self.builder.append_rows(self.table, 1)
        file = replace(self.builder.file(self.table, 7), location="memory://w/ours.parquet")
        self.store.write(file.location, b"rows")
        self.pending = PendingCommit(self.table.head(), AppendFiles((file,), 0), (file.location,))
        self.before = set(self.store.objects)

    def publish(self, *script: Callable[[Callable[[], PublishOutcome]], PublishOutcome]) -> CommitResult:
        self.catalog.script.extend(script)
        return publish_until_settled(self.table, self.pending, self.clock, self.ids, discard=self.discard)

    def discard(self, locations: Iterable[str]) -> None:
        for location in locations:
            self.store.delete(location)

    def win(self, truly: Callable[[], PublishOutcome]) -> PublishOutcome:
        """Another writer is faster."""
        rest, self.catalog.script[:] = list(self.catalog.script), []
        other = IcebergSource(
            FolderCatalog(self.store, "memory://w"), self.store, self.clock, CountingIds(10**9 + self.ids.version())
        )
        TableBuilder(other).append_rows(other.open(NAME), 2)
        self.catalog.script.extend(rest)
        return truly()

    def counts(self) -> list[int]:
        snapshot = self.table.snapshot(self.table.head())
        return sorted(file.record_count for file in listed_files(snapshot, self.table, self.store))

    @property
    def is_kept(self) -> bool:
        return "memory://w/ours.parquet" in self.store.objects


def lose_answer(truly: Callable[[], PublishOutcome]) -> PublishOutcome:
    truly()
    return Unknown("the line went dead")


def lose_request(_: Callable[[], PublishOutcome]) -> PublishOutcome:
    return Unknown("the line was dead")


def break_down(_: Callable[[], PublishOutcome]) -> PublishOutcome:
    raise ConnectionError("broken")


def take(_: Callable[[], PublishOutcome]) -> PublishOutcome:
    return Taken()


def refuse(_: Callable[[], PublishOutcome]) -> PublishOutcome:
    raise Unsupported("not here")


def stop(_: Callable[[], PublishOutcome]) -> PublishOutcome:
    raise KeyboardInterrupt


def test_a_change_that_nobody_disputes_takes_one_attempt_and_no_wait() -> None:
    bench = Bench()
    result = bench.publish()
    assert (result.attempts, bench.clock.slept, bench.counts()) == (1, 0.0, [1, 7])
    assert result.version == bench.table.snapshot(bench.table.head()).version


@pytest.mark.parametrize("losses", [1, 2, 4])
def test_a_lost_race_costs_an_attempt_and_leaves_nothing(losses: int) -> None:
    bench = Bench()
    result = bench.publish(*[bench.win] * losses)
    assert result.attempts == losses + 1
    assert bench.counts() == sorted([1, 7, *[2] * losses])
    manifests = [location for location in bench.store.objects if location.endswith(".avro")]
    assert len(manifests) == 2 * (2 + losses), "those of attempts that lost are gone"


def test_waits_double_up_to_the_longest_and_are_shortened_by_chance() -> None:
    bench = Bench({"commit.retry.min-wait-ms": "1000", "commit.retry.max-wait-ms": "3000"})
    waits: list[float] = []

    def note(truly: Callable[[], PublishOutcome]) -> PublishOutcome:
        waits.append(bench.clock.slept)
        return bench.win(truly)

    bench.ids.share = 1.0
    bench.publish(note, note, note, note)
    assert [after - before for before, after in pairwise(waits)] == [1.0, 2.0, 3.0]
    assert bench.clock.slept - waits[-1] == 3.0
    least = Bench({"commit.retry.min-wait-ms": "1000"})
    least.ids.share = 0.0
    least.publish(least.win)
    assert least.clock.slept == 0.5


@pytest.mark.parametrize(("retries", "attempts"), [("0", 1), ("2", 3), (None, 5)])
def test_after_the_allowed_retries_nothing_is_left_of_the_change(retries: str | None, attempts: int) -> None:
    bench = Bench({} if retries is None else {"commit.retry.num-retries": retries})
    with pytest.raises(RetriesExhausted, match=f"before each of {attempts} attempts.*raise commit.retry.num-retries"):
        bench.publish(*[bench.win] * 9)
    assert len(bench.catalog.script) == 9 - attempts
    assert bench.counts() == sorted([1, *[2] * attempts])
    assert not bench.is_kept


def test_after_the_allowed_time_there_is_no_further_attempt() -> None:
    bench = Bench(
        {"commit.retry.total-timeout-ms": "1500", "commit.retry.min-wait-ms": "1000", "commit.retry.num-retries": "99"}
    )
    with pytest.raises(RetriesExhausted, match="before each of 3 attempts"):
        bench.publish(*[bench.win] * 9)
    assert not bench.is_kept


@pytest.mark.parametrize("loss", [lose_answer, lose_request, break_down], ids=lambda each: each.__name__)
def test_one_lost_answer_is_settled_by_looking(loss: Callable[..., PublishOutcome]) -> None:
    bench = Bench()
    result = bench.publish(loss)
    assert result.attempts == 1
    assert bench.counts() == [1, 7]


@pytest.mark.parametrize("loss", [lose_answer, lose_request], ids=lambda each: each.__name__)
def test_a_lost_answer_is_settled_though_another_writer_came_after_it(loss: Callable[..., PublishOutcome]) -> None:
    bench = Bench()

    def lose_and_lose(truly: Callable[[], PublishOutcome]) -> PublishOutcome:
        outcome = loss(truly)
        bench.win(lambda: Taken())
        return outcome

    result = bench.publish(lose_and_lose)
    assert bench.counts() == [1, 2, 7]
    assert result.attempts == (1 if loss is lose_answer else 2)


@pytest.mark.parametrize("loss", [lose_answer, lose_request], ids=lambda each: each.__name__)
def test_what_looking_cannot_settle_is_unknown_and_nothing_is_deleted(loss: Callable[..., PublishOutcome]) -> None:
    bench = Bench()

    def lose_sight(truly: Callable[[], PublishOutcome]) -> PublishOutcome:
        bench.catalog.loads_that_fail.extend([None] * 4)
        return loss(truly)

    with pytest.raises(
        CommitUnknown, match=r"whether version \d+ of table sales.orders was committed is not known: .*fog"
    ):
        bench.publish(lose_sight)
    assert bench.catalog.loads_that_fail == []
    assert bench.clock.slept == pytest.approx(0.2 + 0.4 + 0.8 + 1.6)
    assert bench.before < set(bench.store.objects)
    assert bench.counts() == ([1, 7] if loss is lose_answer else [1])


def test_a_refusal_leaves_nothing() -> None:
    bench = Bench()
    with pytest.raises(Unsupported, match="not here"):
        bench.publish(refuse)
    assert set(bench.store.objects) == bench.before - {"memory://w/ours.parquet"}


def test_a_conflict_leaves_nothing() -> None:
    bench = Bench()
    bench.source.drop(NAME)
    bench.builder.create(NAME)
    before = set(bench.store.objects)
    with pytest.raises(CommitConflict, match="dropped and made again"):
        bench.publish()
    assert set(bench.store.objects) == before - {"memory://w/ours.parquet"}


def test_a_table_that_is_gone_leaves_nothing() -> None:
    bench = Bench()
    bench.source.drop(NAME)
    with pytest.raises(InvalidRequest, match="there is no table"):
        bench.publish()
    assert not bench.is_kept


def test_stopped_while_it_publishes_nothing_is_deleted() -> None:
    bench = Bench()
    with pytest.raises(KeyboardInterrupt):
        bench.publish(stop)
    assert bench.is_kept


def test_stopped_while_it_waits_nothing_is_left() -> None:
    class Impatient(FixedClock):
        def sleep(self, seconds: float) -> None:
            raise KeyboardInterrupt

    waiting = Bench()
    waiting.clock = Impatient()
    with pytest.raises(KeyboardInterrupt):
        waiting.publish(waiting.win)
    assert not waiting.is_kept
    assert waiting.counts() == [1, 2]


def test_a_change_that_changes_nothing_is_settled_without_a_version() -> None:
    bench = Bench()
    bench.pending = replace(bench.pending, changes=UpgradeFormat(2))
    result = bench.publish()
    assert result == CommitResult(None, 1)
    assert not bench.is_kept


def test_a_clean_up_that_fails_does_not_undo_a_commit() -> None:
    """Old metadata stays, that is all."""

    @dataclass(frozen=True)
    class Stubborn(MemoryStore):
        def delete(self, location: str) -> None:
            raise OSError("may not delete")

    bench = Bench({"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"})
    stubborn = Stubborn(bench.store.objects)
    bench.table = replace(bench.table, catalog=replace(bench.catalog, store=stubborn))
    assert bench.publish().attempts == 1
    assert bench.counts() == [1, 7]
