"""What is left of an append when storage or the catalog fails at any of its calls, in any way?"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lakewright.errors import CommitUnknown, LakewrightError
from lakewright.testing.faults import CRASHES, Failure, FaultPlan, SimulatedCrash
from tests.simulation.ground import GROUNDS_APART, Ground, rows

BEFORE, ADDED, AFTER = [1, 2], [3, 4], [5]
FOR_EVER = 10_000
PROPERTIES = {"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}
"""Cleaning up calls storage, too."""


@dataclass
class Ending:
    """One append that met a fault, and what there was before it."""

    name: str
    plan: FaultPlan
    error: BaseException | None
    versions: list[int]
    objects: frozenset[str]

    def __str__(self) -> str:
        call = min(self.plan.failures, default=0)
        where = self.plan.calls[call] if call < len(self.plan.calls) else "no call"
        return f"{self.plan.failures.get(call)} at call {call}, {where}; the append ended with {self.error!r}"


def append_with(ground: Ground, name: str, plan: FaultPlan) -> Ending:
    ground.writer().create(name, PROPERTIES)
    ground.writer().table(name).append(rows(BEFORE))
    versions, objects, error = ground.writer().history_of(name), ground.objects(name), None
    try:
        ground.writer(plan).table(name).append(rows(ADDED))
    except (LakewrightError, OSError, SimulatedCrash) as raised:
        error = raised
    return Ending(name, plan, error, versions, objects)


def every_ending(ground: Ground, failure: Failure, times: int = 1) -> Iterator[Ending]:
    """An append for each call that a faultless one makes, on a table of its own."""
    faultless = append_with(ground, "sales.faultless", FaultPlan())
    assert faultless.error is None
    assert len(faultless.plan.calls) >= 12
    for call in range(len(faultless.plan.calls)):
        yield append_with(ground, f"sales.orders{call}", FaultPlan.at(call, failure, times=times))


def check_rows(ground: Ground, ending: Ending) -> bool:
    """All of the append is there, once, or nothing of it; tells which."""
    reader = ground.writer()
    found, versions = reader.ids_in(ending.name), reader.history_of(ending.name)
    is_there = len(versions) > len(ending.versions)
    assert found == (BEFORE + ADDED if is_there else BEFORE), ending
    assert len(versions) == len(ending.versions) + is_there, ending
    return is_there


def check_next_append(ground: Ground, ending: Ending, is_there: bool) -> None:
    ground.writer().table(ending.name).append(rows(AFTER))
    assert ground.writer().ids_in(ending.name) == (BEFORE + ADDED if is_there else BEFORE) + AFTER, ending


@pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)
@pytest.mark.parametrize("failure", [each for each in Failure if each not in CRASHES], ids=lambda each: each.name)
def test_after_one_failure_an_append_has_happened_or_has_left_no_trace(ground: Ground, failure: Failure) -> None:
    for ending in every_ending(ground, failure):
        assert not isinstance(ending.error, CommitUnknown), f"looking would have settled it: {ending}"
        is_there = check_rows(ground, ending)
        assert is_there == (ending.error is None), ending
        if ending.error is None:
            assert ground.unreferenced(ending.name) <= ending.objects, ending
            check_next_append(ground, ending, is_there)
        else:
            assert ground.objects(ending.name) == ending.objects, ending


@pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)
@pytest.mark.parametrize("failure", sorted(CRASHES, key=lambda each: each.name), ids=lambda each: each.name)
def test_a_crash_leaves_orphans_at_worst(ground: Ground, failure: Failure) -> None:
    for ending in every_ending(ground, failure):
        assert isinstance(ending.error, SimulatedCrash), ending
        check_next_append(ground, ending, check_rows(ground, ending))


@pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)
@pytest.mark.parametrize("failure", [Failure.BEFORE, Failure.LOST_ANSWER, Failure.UNKNOWN], ids=lambda each: each.name)
def test_while_storage_stays_away_an_append_says_what_it_knows(ground: Ground, failure: Failure) -> None:
    """Nothing can be removed any more, so there may be orphans; nothing that a version needs is removed."""
    unknown = 0
    for ending in every_ending(ground, failure, FOR_EVER):
        is_there = check_rows(ground, ending)
        if isinstance(ending.error, CommitUnknown):
            unknown += 1
            assert not any(call.startswith(("delete", "abandon")) for call in ending.plan.calls), ending
        else:
            assert is_there == (ending.error is None), ending
        check_next_append(ground, ending, is_there)
    assert unknown >= 1
