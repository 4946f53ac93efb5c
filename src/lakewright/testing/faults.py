"""How do storage and catalogs fail? Wrappers that fail at the call, and in the way, that a plan says.

A run without faults tells how many calls there are: run it once with an empty plan, then once for each call and each way.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import BinaryIO, Self, TypeVar, cast

from lakewright.model.changes import PublishOutcome, Unknown
from lakewright.protocols import Catalog, MetadataCommit, NewestMetadata, ObjectStore, StoredObject

Answer = TypeVar("Answer")


class Failure(Enum):
    """What becomes of a call, and what its caller learns of it."""

    BEFORE = "nothing was done, and the caller is told so"
    HALF_WAY = "a part was written, which nobody will ever see, and the caller is told so"
    LOST_ANSWER = "all was done, and the caller hears of an error"
    UNKNOWN = "nothing was done, and the caller is told that nobody knows"
    CRASH_BEFORE = "the process dies before the call"
    CRASH_AFTER = "the process dies after the call"


CRASHES = frozenset({Failure.CRASH_BEFORE, Failure.CRASH_AFTER})


class SimulatedCrash(BaseException):
    """The process is gone; whatever it still tries fails in the same way."""


@dataclass
class FaultPlan:
    """Counts the calls of all that share it, from 0, and says which of them fail."""

    failures: Mapping[int, Failure] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    """What was called, in order: a name for each number."""
    is_dead: bool = False

    @classmethod
    def at(cls, first: int, failure: Failure, *, times: int = 1) -> "FaultPlan":
        """Fails at one call, or at some in a row."""
        return cls(dict.fromkeys(range(first, first + times), failure))

    def next(self, name: str) -> Failure | None:
        if self.is_dead:
            raise SimulatedCrash(f"{name} after the process died")
        failure = self.failures.get(len(self.calls))
        self.calls.append(name)
        if failure is Failure.CRASH_BEFORE:
            self.die(name)
        return failure

    def die(self, name: str) -> None:
        self.is_dead = True
        raise SimulatedCrash(f"at {name}")

    def run(self, name: str, action: Callable[[], Answer]) -> Answer:
        """The action, which is done whole or not at all."""
        failure = self.next(name)
        if failure not in (None, Failure.LOST_ANSWER, Failure.CRASH_AFTER):
            raise OSError(f"{name} failed")
        answer = action()
        if failure is Failure.CRASH_AFTER:
            self.die(name)
        if failure is Failure.LOST_ANSWER:
            raise OSError(f"the answer to {name} was lost")
        return answer


@dataclass(frozen=True)
class FaultyStore:
    """A store that fails as planned."""

    inner: ObjectStore
    plan: FaultPlan

    def read(self, location: str) -> bytes:
        return self.plan.run(f"read {location}", lambda: self.inner.read(location))

    def open(self, location: str) -> BinaryIO:
        return self.plan.run(f"open {location}", lambda: self.inner.open(location))

    def create(self, location: str) -> BinaryIO:
        """Creating and closing are one call each; half-way, the first bytes are accepted and the next are not."""
        failure = self.plan.next(f"create {location}")
        if failure in (Failure.BEFORE, Failure.UNKNOWN):
            raise OSError(f"create {location} failed")
        return cast(BinaryIO, _FaultySink(self.inner.create(location), location, self.plan, failure))

    def write(self, location: str, content: bytes) -> None:
        self.plan.run(f"write {location}", lambda: self.inner.write(location, content))

    def put_if_absent(self, location: str, content: bytes) -> bool:
        return self.plan.run(f"put_if_absent {location}", lambda: self.inner.put_if_absent(location, content))

    def exists(self, location: str) -> bool:
        return self.plan.run(f"exists {location}", lambda: self.inner.exists(location))

    def actual(self, location: str) -> str:
        return self.inner.actual(location)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        return iter(self.plan.run(f"list {prefix}", lambda: tuple(self.inner.list(prefix))))

    def delete(self, location: str) -> None:
        self.plan.run(f"delete {location}", lambda: self.inner.delete(location))


class _FaultySink:
    """A sink whose writes or whose end fails."""

    def __init__(self, inner: BinaryIO, location: str, plan: FaultPlan, failure: Failure | None) -> None:
        self._inner = inner
        self._location = location
        self._plan = plan
        self._failure = failure

    def write(self, content: bytes) -> int:
        if self._failure is None:
            return self._inner.write(content)
        self._inner.write(bytes(content)[: len(content) // 2])
        if self._failure is Failure.CRASH_AFTER:
            self._plan.die(f"write to {self._location}")
        raise OSError(f"write to {self._location} failed half-way")

    def tell(self) -> int:
        return self._inner.tell()

    def flush(self) -> None:
        self._inner.flush()

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def closed(self) -> bool:
        return self._inner.closed

    def close(self) -> None:
        """Left to itself by an error, the object never appears."""
        if self._inner.closed:
            return
        try:
            self._plan.run(f"close {self._location}", self._inner.close)
        except BaseException as error:
            self._inner.__exit__(type(error), error, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._inner.__exit__(kind, error, trace)


@dataclass(frozen=True)
class FaultyCatalog:
    """A catalog that fails as planned."""

    inner: Catalog
    plan: FaultPlan

    @property
    def read_only_because(self) -> str | None:
        return self.inner.read_only_because

    def tables(self) -> tuple[str, ...]:
        return self.plan.run("tables", self.inner.tables)

    def load(self, name: str) -> NewestMetadata:
        return self.plan.run(f"load {name}", lambda: self.inner.load(name))

    def location_for(self, name: str) -> str | None:
        return self.plan.run(f"location_for {name}", lambda: self.inner.location_for(name))

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        """A swap whose answer is lost says that it does not know, unless it was not even tried."""
        failure = self.plan.next(f"swap {name}")
        match failure:
            case Failure.BEFORE | Failure.HALF_WAY:
                raise OSError(f"swap {name} failed")
            case Failure.UNKNOWN:
                return Unknown(f"swap {name} had no answer")
            case _:
                pass
        outcome = self.inner.swap(name, commit)
        if failure is Failure.CRASH_AFTER:
            self.plan.die(f"swap {name}")
        return Unknown(f"the answer to swap {name} was lost") if failure is Failure.LOST_ANSWER else outcome

    def includes(self, commit: MetadataCommit, newest: NewestMetadata) -> bool:
        return self.plan.run(f"includes {commit.unique}", lambda: self.inner.includes(commit, newest))

    def abandon(self, commit: MetadataCommit) -> None:
        self.plan.run(f"abandon {commit.unique}", lambda: self.inner.abandon(commit))

    def clean_up(self, commit: MetadataCommit) -> None:
        self.plan.run(f"clean_up {commit.unique}", lambda: self.inner.clean_up(commit))

    def drop(self, name: str) -> None:
        self.plan.run(f"drop {name}", lambda: self.inner.drop(name))
