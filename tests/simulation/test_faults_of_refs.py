"""What is left of a change of branches and tags when storage or the catalog fails at any of its calls, in any way?"""

from collections.abc import Callable
from pathlib import Path

import pytest

from lakewright.errors import CommitUnknown, LakewrightError
from lakewright.table import Table
from lakewright.testing.faults import CRASHES, Failure, FaultPlan, SimulatedCrash
from lakewright.testing.memory import MemoryStore
from lakewright.testing.tables import listed_files
from tests.simulation.ground import Ground, folder_in_memory, rows

NAME = "sales.orders"
CHANGES: dict[str, Callable[[Table], object]] = {
    "create": lambda table: table.create_branch("new", min_snapshots_to_keep=2),
    "replace": lambda table: table.replace_tag("as-sold", ref="main"),
    "drop": lambda table: table.drop_branch("audit"),
    "fast forward": lambda table: table.fast_forward("audit", to="main"),
    "append": lambda table: table.at(ref="audit").append(rows([7, 8, 9])),
}


@pytest.mark.parametrize("failure", Failure, ids=lambda each: each.name)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_refs_has_happened_or_not_and_its_maker_knows(change: str, failure: Failure) -> None:
    store = MemoryStore()
    ground = Ground(store, folder_in_memory(Path()).open)
    table = ground.writer().create(NAME)
    table.append(rows([1]))
    table.create_branch("audit")
    table.create_tag("as-sold")
    table.append(rows([2]))
    before, objects, faultless = shown(ground), dict(store.objects), FaultPlan()
    assert attempt(ground, change, faultless) is None
    after = shown(ground)
    assert before != after
    for call, what in enumerate(faultless.calls):
        store.objects.clear()
        store.objects.update(objects)
        error = attempt(ground, change, FaultPlan.at(call, failure))
        where = f"{failure} at call {call}, {what}, ended with {error!r}"
        if failure in CRASHES:
            assert shown(ground) in (before, after), where
        else:
            assert not isinstance(error, CommitUnknown), where
            assert shown(ground) == (after if error is None else before), where


def attempt(ground: Ground, change: str, plan: FaultPlan) -> BaseException | None:
    try:
        CHANGES[change](ground.writer(plan).table(NAME))
    except (LakewrightError, OSError, SimulatedCrash) as error:
        return error
    return None


def shown(ground: Ground) -> dict[str, tuple[object, list[int]]]:
    """All refs, with the rows in each file that they show."""
    table = ground.writer().format(NAME)
    head = table.head()
    files = {ref.name: listed_files(table.snapshot(head, ref=ref.name), table, ground.store) for ref in head.refs}
    return {
        ref.name: ((ref.kind, ref.retention), sorted(file.record_count for file in files[ref.name]))
        for ref in head.refs
    }
