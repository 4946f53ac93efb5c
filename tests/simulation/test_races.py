"""What becomes of a table when several writers change it at once, call by call, in any order?"""

from collections.abc import Callable

import pytest

from lakewright.errors import CommitConflict, CorruptTable, InvalidRequest
from lakewright.model.refs import RefKind
from lakewright.testing.faults import FaultPlan
from tests.simulation.ground import GROUNDS_APART, Ground, Writer, rows
from tests.simulation.turns import Turns, interleave, interrupt

NAME = "sales.orders"
SEEDS = range(6)

pytestmark = pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)


def actor(ground: Ground, act: Callable[[Writer], object]) -> tuple[Turns, Callable[[], object]]:
    turns = Turns()
    writer = ground.writer(turns)
    return turns, lambda: act(writer)


def appending(*ids: int) -> Callable[[Writer], object]:
    return lambda writer: writer.table(NAME).append(rows(ids))


@pytest.mark.parametrize("writers", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_all_rows_of_appends_that_race_are_there_once(ground: Ground, seed: int, writers: int) -> None:
    ground.writer().create(NAME, {"write.metadata.previous-versions-max": "2"})
    endings = interleave(
        seed, {f"{number}": actor(ground, appending(number, number + 10)) for number in range(writers)}
    )
    assert set(endings.values()) == {None}
    assert ground.writer().ids_in(NAME) == sorted([*range(writers), *range(10, 10 + writers)])
    assert len(ground.writer().history_of(NAME)) == writers
    left = {each for each in ground.unreferenced(NAME) if not each.endswith(".metadata.json")}
    assert left == set(), "an attempt that lost left something"


@pytest.mark.parametrize("seed", SEEDS)
def test_an_append_and_an_upgrade_that_race_both_happen(ground: Ground, seed: int) -> None:
    ground.writer().create(NAME).append(rows([1]))
    endings = interleave(
        seed,
        {
            "append": actor(ground, appending(2, 3)),
            "upgrade": actor(ground, lambda writer: writer.table(NAME).upgrade(format_version=3)),
        },
    )
    assert set(endings.values()) == {None}
    assert ground.writer().ids_in(NAME) == [1, 2, 3]
    assert repr(ground.writer().table(NAME)).startswith(f"{NAME} (Iceberg v3)")


@pytest.mark.parametrize("seed", SEEDS)
def test_appends_to_a_branch_and_to_its_table_that_race_all_happen_each_where_it_belongs(
    ground: Ground, seed: int
) -> None:
    ground.writer().create(NAME).append(rows([1]))
    ground.writer().table(NAME).create_branch("audit")
    on_branch = [actor(ground, appending_to("audit", number)) for number in (10, 11)]
    on_table = [actor(ground, appending(number)) for number in (20, 21)]
    endings = interleave(seed, {f"{number}": each for number, each in enumerate((*on_branch, *on_table))})
    assert set(endings.values()) == {None}
    assert ground.writer().ids_in(NAME) == [1, 20, 21]
    assert shown(ground, "audit") == [1, 10, 11]
    left = {each for each in ground.unreferenced(NAME) if not each.endswith(".metadata.json")}
    assert left == set(), "an attempt that lost left something"


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_of_one_name_that_race_happen_one_after_the_other_or_are_refused(ground: Ground, seed: int) -> None:
    ground.writer().create(NAME).append(rows([1]))
    ground.writer().table(NAME).create_branch("audit")
    ground.writer().table(NAME).append(rows([2]))
    endings = interleave(
        seed,
        {
            "append": actor(ground, appending_to("audit", 3)),
            "replace": actor(ground, lambda writer: writer.table(NAME).replace_branch("audit", ref="main")),
            "drop": actor(ground, lambda writer: writer.table(NAME).drop_branch("audit")),
            "create": actor(ground, lambda writer: writer.table(NAME).create_tag("audit")),
        },
    )
    assert all(isinstance(error, CommitConflict | InvalidRequest | None) for error in endings.values()), endings
    happened = {name for name, error in endings.items() if error is None}
    refs = {ref.name: ref.kind for ref in ground.writer().table(NAME).refs()}
    if "create" in happened:
        assert "drop" in happened, "a name was taken from a branch that nobody dropped"
        assert refs["audit"] is RefKind.TAG
        assert shown(ground, "audit") == [1, 2]
    elif "drop" in happened:
        assert "audit" not in refs
    else:
        serial = {(): [[1]], ("append",): [[1, 3]], ("replace",): [[1, 2]], ("append", "replace"): [[1, 2], [1, 2, 3]]}
        assert shown(ground, "audit") in serial[tuple(sorted(happened))]
    assert ground.writer().ids_in(NAME) == [1, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_only_one_of_those_who_make_the_same_table_succeeds(ground: Ground, seed: int) -> None:
    endings = interleave(seed, {f"{number}": actor(ground, lambda writer: writer.create(NAME)) for number in range(3)})
    assert sorted(type(error).__name__ for error in endings.values()) == ["InvalidRequest"] * 2 + ["NoneType"]
    assert ground.unreferenced(NAME) == set()
    ground.writer().table(NAME).append(rows([1]))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_append_to_a_table_that_is_made_again_reaches_neither_or_one_of_them(ground: Ground, seed: int) -> None:
    ground.writer().create(NAME).append(rows([1]))
    endings = interleave(seed, {"append": actor(ground, appending(2, 3)), "again": actor(ground, make_again)})
    assert isinstance(endings["append"], CommitConflict | InvalidRequest | CorruptTable | None)
    assert isinstance(endings["again"], InvalidRequest | None), "at worst the name is taken for a moment"
    if endings["again"] is None:
        assert ground.writer().ids_in(NAME) in ([7], [2, 3, 7])
    else:
        assert "exists already" in str(endings["again"])
        ground.writer().create(NAME)
        assert ground.writer().ids_in(NAME) == []
    if endings["append"] is not None:
        assert not any("/region=US/" in each for each in ground.objects(NAME)), "only this append writes there"


def test_making_a_table_again_at_any_moment_of_an_append_keeps_the_two_apart(ground: Ground) -> None:
    """The new table has as many versions as the old one had, so their names are the same."""
    conflicts = 0
    for call in calls_of_an_append(ground):
        name = f"sales.orders{call}"
        ground.writer().create(name).append(rows([1]))
        turns = Turns()
        writer = ground.writer(turns)
        error = interrupt(
            turns,
            lambda writer=writer, name=name: writer.table(name).append(rows([2, 3])),
            call,
            lambda name=name: make_again(ground.writer(), name),
        )
        assert isinstance(error, CommitConflict | None), f"made again before call {call}: {error!r}"
        found = ground.writer().ids_in(name)
        assert found in ([7], [2, 3, 7]), f"made again before {turns.calls[call]}"
        conflicts += error is not None
        conflicts += error is not None
        if error is not None:
            assert found == [7]
            assert "is another table now" in str(error)
            assert not any("/region=US/" in each for each in ground.objects(name)), f"left by call {call}"
    assert conflicts > 3


def test_another_append_at_any_moment_of_an_append_costs_an_attempt_and_no_row(ground: Ground) -> None:
    for call in calls_of_an_append(ground):
        name = f"sales.orders{call}"
        ground.writer().create(name).append(rows([1]))
        turns = Turns()
        writer = ground.writer(turns)
        error = interrupt(
            turns,
            lambda writer=writer, name=name: writer.table(name).append(rows([2, 3])),
            call,
            lambda name=name: ground.writer().table(name).append(rows([5])),
        )
        assert error is None
        assert ground.writer().ids_in(name) == [1, 2, 3, 5], f"interrupted before {turns.calls[call]}"
        assert sum(each.startswith("create ") for each in turns.calls) == 2, "data files are written once"


def appending_to(branch: str, *ids: int) -> Callable[[Writer], object]:
    return lambda writer: writer.table(NAME).at(ref=branch).append(rows(ids))


def shown(ground: Ground, ref: str) -> list[int]:
    return sorted(ground.writer().table(NAME).at(ref=ref).to_df().column("id").to_pylist())


def calls_of_an_append(ground: Ground) -> range:
    ground.writer().create("sales.counted").append(rows([1]))
    plan = FaultPlan()
    ground.writer(plan).table("sales.counted").append(rows([2, 3]))
    return range(len(plan.calls))


def make_again(writer: Writer, name: str = NAME) -> None:
    writer.source.drop(name)
    writer.create(name).append(rows([7]))
