"""What is left when storage or the catalog fails at any call of making a table, in any way?"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lakewright.errors import CommitUnknown, InvalidRequest, LakewrightError
from lakewright.testing.faults import CRASHES, Failure, FaultPlan, SimulatedCrash
from tests.simulation.ground import GROUNDS_APART, Ground, rows

FOR_EVER = 10_000


@dataclass
class Ending:
    """One attempt to make a table that met a fault."""

    name: str
    plan: FaultPlan
    error: BaseException | None

    def __str__(self) -> str:
        call = min(self.plan.failures, default=0)
        where = self.plan.calls[call] if call < len(self.plan.calls) else "no call"
        return f"{self.plan.failures.get(call)} at call {call}, {where}; making the table ended with {self.error!r}"


def create_with(ground: Ground, name: str, plan: FaultPlan) -> Ending:
    try:
        ground.writer(plan).create(name)
    except (LakewrightError, OSError, SimulatedCrash) as raised:
        return Ending(name, plan, raised)
    return Ending(name, plan, None)


def every_ending(ground: Ground, failure: Failure, times: int = 1) -> Iterator[Ending]:
    faultless = create_with(ground, "sales.faultless", FaultPlan())
    assert faultless.error is None
    assert len(faultless.plan.calls) >= 3
    for call in range(len(faultless.plan.calls)):
        yield create_with(ground, f"sales.orders{call}", FaultPlan.at(call, failure, times=times))


def is_there(ground: Ground, name: str) -> bool:
    try:
        ground.writer().format(name).head()
    except InvalidRequest:
        return False
    return True


def check_use(ground: Ground, ending: Ending) -> None:
    """Whatever happened, the name can be used: as it is, or after making the table again."""
    if not is_there(ground, ending.name):
        ground.writer().create(ending.name)
    ground.writer().table(ending.name).append(rows([1, 2]))
    assert ground.writer().ids_in(ending.name) == [1, 2], ending


@pytest.mark.parametrize("failure", [each for each in Failure if each not in CRASHES], ids=lambda each: each.name)
def test_after_one_failure_a_table_has_been_made_or_has_left_no_trace(ground: Ground, failure: Failure) -> None:
    for ending in every_ending(ground, failure):
        assert not isinstance(ending.error, CommitUnknown), f"looking would have settled it: {ending}"
        assert is_there(ground, ending.name) == (ending.error is None), ending
        if ending.error is not None:
            assert ground.objects(ending.name) == frozenset(), ending
        check_use(ground, ending)


@pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)
@pytest.mark.parametrize("failure", sorted(CRASHES, key=lambda each: each.name), ids=lambda each: each.name)
def test_after_a_crash_the_table_is_whole_or_not_there(ground: Ground, failure: Failure) -> None:
    for ending in every_ending(ground, failure):
        check_use(ground, ending)


@pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)
@pytest.mark.parametrize("failure", [Failure.BEFORE, Failure.LOST_ANSWER, Failure.UNKNOWN], ids=lambda each: each.name)
def test_while_storage_stays_away_the_maker_says_what_it_knows(ground: Ground, failure: Failure) -> None:
    for ending in every_ending(ground, failure, FOR_EVER):
        if not isinstance(ending.error, CommitUnknown):
            assert is_there(ground, ending.name) == (ending.error is None), ending
        check_use(ground, ending)
