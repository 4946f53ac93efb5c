"""In which order do several writers take their steps? One that a seed decides, one call at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from threading import Semaphore, Thread

from lakewright.testing.faults import Failure, FaultPlan

_STEP_SECONDS_MAX = 60


@dataclass
class Turns(FaultPlan):
    """A plan without faults: whoever calls waits for the turn to do so."""

    may_go: Semaphore = field(default_factory=lambda: Semaphore(0))
    has_stopped: Semaphore = field(default_factory=lambda: Semaphore(0))
    is_over: bool = False
    error: BaseException | None = None

    def next(self, name: str) -> Failure | None:
        self._wait()
        return super().next(name)

    def run_to_the_end(self, act: Callable[[], object]) -> None:
        try:
            self._wait()
            act()
        except BaseException as error:  # noqa: BLE001 -- kept for the test to judge
            self.error = error
        finally:
            self.is_over = True
            self.has_stopped.release()

    def step(self) -> None:
        """Let the writer make its next call, and run until it is about to make another."""
        self.may_go.release()
        assert self.has_stopped.acquire(timeout=_STEP_SECONDS_MAX), f"stuck after {self.calls}"

    def _wait(self) -> None:
        self.has_stopped.release()
        assert self.may_go.acquire(timeout=_STEP_SECONDS_MAX), "nobody gave the turn"


def interleave(seed: int, actors: dict[str, tuple[Turns, Callable[[], object]]]) -> dict[str, BaseException | None]:
    """Run all actors in an order that the seed decides; tells how each ended."""
    chance = Random(seed)
    threads = [Thread(target=turns.run_to_the_end, args=(act,), daemon=True) for turns, act in actors.values()]
    for thread, (turns, _) in zip(threads, actors.values(), strict=True):
        thread.start()
        assert turns.has_stopped.acquire(timeout=_STEP_SECONDS_MAX)
    running = [turns for turns, _ in actors.values()]
    while running:
        turns = chance.choice(running)
        for _ in range(chance.choice((1, 1, 2, 5))):
            if not turns.is_over:
                turns.step()
        running = [each for each in running if not each.is_over]
    for thread in threads:
        thread.join(_STEP_SECONDS_MAX)
    return {name: turns.error for name, (turns, _) in actors.items()}


def interrupt(turns: Turns, act: Callable[[], object], call: int, other: Callable[[], object]) -> BaseException | None:
    """Run one actor up to its call of this number, then all of the other, then the rest; tells how the actor ended."""
    thread = Thread(target=turns.run_to_the_end, args=(act,), daemon=True)
    thread.start()
    assert turns.has_stopped.acquire(timeout=_STEP_SECONDS_MAX)
    for _ in range(call + 1):
        turns.step()
    other()
    while not turns.is_over:
        turns.step()
    thread.join(_STEP_SECONDS_MAX)
    return turns.error
