"""How is a prepared change published against writers who do the same? Load, judge, stage, publish, until it is settled."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from lakewright.commit.conflicts import conflict_of, judged_branch
from lakewright.errors import CommitUnknown, LakewrightError, RetriesExhausted
from lakewright.model.changes import (
    CommitResult,
    Committed,
    PendingCommit,
    PublishOutcome,
    RetrySettings,
    StagedCommit,
    Taken,
    Unknown,
)
from lakewright.protocols import Clock, Ids, TableFormat

_LOOKS_MAX = 4
_LOOK_WAIT_SECONDS = 0.2


def publish_until_settled(
    table: TableFormat, pending: PendingCommit, clock: Clock, ids: Ids, *, discard: Callable[[Iterable[str]], None]
) -> CommitResult:
    """Publish a pending commit; data files are never written again, only the metadata of each attempt.

    Raises CommitConflict or RetriesExhausted when it is certain that nothing was committed, CommitUnknown when it is not.
    Whatever ends the loop, the files of the pending commit are discarded only if no version can refer to them.
    """
    unreferenced = True
    try:
        head = table.head()
        settings = table.retry_settings(head)
        deadline = clock.seconds() + settings.total_ms / 1000
        for attempt in range(1, settings.retries_max + 2):
            newest = table.snapshot(head, ref=judged_branch(pending.changes, head))
            conflict = conflict_of(pending.changes, pending.base, head, newest)
            if conflict is not None:
                raise conflict
            staged = table.stage(head, pending.changes)
            if staged is None:
                discard(pending.written)
                return CommitResult(None, attempt)
            unreferenced = False
            try:
                outcome = _published(table, staged, clock)
            except LakewrightError:
                unreferenced = True
                _abandon(table, staged)
                raise
            match outcome:
                case Committed():
                    with suppress(OSError, LakewrightError):
                        table.clean_up(staged)
                    return CommitResult(staged.version, attempt)
                case Unknown(reason):
                    raise _unknown(table, staged, reason)
                case Taken():
                    unreferenced = True
                    _abandon(table, staged)
            if clock.seconds() >= deadline:
                break
            clock.sleep(_wait_seconds(settings, attempt, ids.fraction()))
            head = table.head()
        raise _exhausted(table, attempt)
    except BaseException:
        if unreferenced:
            discard(pending.written)
        raise


def _published(table: TableFormat, staged: StagedCommit, clock: Clock) -> PublishOutcome:
    """An error that was raised on purpose says that nothing was published; after any other, nobody knows."""
    try:
        outcome = table.publish(staged)
    except LakewrightError:
        raise
    except Exception as error:  # noqa: BLE001 -- whatever an adapter lets through, the answer is lost
        outcome = Unknown(f"{type(error).__name__}: {error}")
    for look in range(_LOOKS_MAX):
        if not isinstance(outcome, Unknown):
            break
        clock.sleep(_LOOK_WAIT_SECONDS * 2**look)
        outcome = _looked_up(table, staged)
    return outcome


def _looked_up(table: TableFormat, staged: StagedCommit) -> PublishOutcome:
    """While the base is still the newest version the same commit is published again: it happens now, or has happened."""
    try:
        head = table.head()
        is_still_open = (head.token, head.identity) == (staged.base.token, staged.base.identity)
        if is_still_open:
            outcome = table.publish(staged)
            if not isinstance(outcome, Taken):
                return outcome
            head = table.head()
        return Committed() if table.includes(head, staged) else Taken()
    except Exception as error:  # noqa: BLE001 -- a look that fails settles nothing, whatever it meets
        return Unknown(f"{type(error).__name__}: {error}")


def _abandon(table: TableFormat, staged: StagedCommit) -> None:
    with suppress(OSError, LakewrightError):
        table.abandon(staged)


def _unknown(table: TableFormat, staged: StagedCommit, reason: str) -> CommitUnknown:
    version = f"version {staged.version}" if staged.version is not None else "the change"
    return CommitUnknown(
        f"whether {version} of table {table.place} was committed is not known: {reason}. Nothing was deleted; look for it "
        "in history() before you retry"
    )


def _exhausted(table: TableFormat, attempts: int) -> RetriesExhausted:
    return RetriesExhausted(
        f"table {table.place} was changed by other writers before each of {attempts} attempts to commit; nothing was "
        "committed, try again when it is quieter or raise commit.retry.num-retries"
    )


def _wait_seconds(settings: RetrySettings, attempt: int, fraction: float) -> float:
    """Twice as long each time, up to the longest wait, and never in step with another writer."""
    full: int = min(settings.wait_max_ms, settings.wait_min_ms << min(attempt - 1, 30))
    return full * (0.5 + fraction / 2) / 1000
