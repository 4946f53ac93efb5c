"""What does a commit change, and how does an attempt to publish it end?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lakewright.model.files import DataFile
from lakewright.model.refs import MAIN, Ref


@dataclass(frozen=True)
class AppendFiles:
    """New rows, nothing else: it relies on nothing that another writer could change but the schema."""

    files: tuple[DataFile, ...]
    schema_id: int
    summary: Mapping[str, str] = field(default_factory=dict)
    branch: str = MAIN


@dataclass(frozen=True)
class UpgradeFormat:
    """Move the table to a newer version of its format."""

    format_version: int


@dataclass(frozen=True)
class SetRef:
    """Make a name stand for a version: a new name, or one that stood for something else."""

    ref: Ref


@dataclass(frozen=True)
class DropRef:
    """Take away a name; what it stood for stays, as long as something else keeps it."""

    name: str


Changes: TypeAlias = AppendFiles | UpgradeFormat | SetRef | DropRef


@dataclass(frozen=True)
class Head:
    """The newest version of a table; `token` differs between any two versions."""

    token: str
    identity: str
    """Stays with the table for ever: a table that was dropped and made again under the same name has another."""
    refs: tuple[Ref, ...] = field(default=(), kw_only=True)
    """The names that versions have; `main` is among them once there is a version."""


@dataclass(frozen=True)
class StagedCommit:
    """One attempt: its metadata is written and not yet visible. `locations` belong to this attempt alone."""

    base: Head
    version: int | None
    locations: tuple[str, ...]


@dataclass(frozen=True)
class RetrySettings:
    """How long to keep trying when other writers win."""

    retries_max: int = 4
    wait_min_ms: int = 100
    wait_max_ms: int = 60_000
    total_ms: int = 1_800_000


@dataclass(frozen=True)
class Committed:
    """The change is visible."""


@dataclass(frozen=True)
class Taken:
    """Another writer published first; this attempt is certainly not visible and never will be."""


@dataclass(frozen=True)
class Unknown:
    """No answer came: the change may or may not be visible."""

    reason: str


PublishOutcome: TypeAlias = Committed | Taken | Unknown


@dataclass(frozen=True)
class PendingCommit:
    """All that is needed to commit later: `prepare` made it, `commit` publishes it."""

    base: Head
    changes: Changes
    written: tuple[str, ...] = ()
    """Files that exist for this commit alone and are garbage if it never happens."""


@dataclass(frozen=True)
class CommitResult:
    """`version` is None when there was nothing to change."""

    version: int | None
    attempts: int
