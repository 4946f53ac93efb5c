"""What do we ask of the outside world? Every seam, on one page.

`table.py` and the operations know these protocols only; `lake.py` picks what stands behind them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias

from lakewright.model.assignment import ColumnAssignment
from lakewright.model.changes import Changes, Head, PublishOutcome, RetrySettings, StagedCommit
from lakewright.model.columns import FileColumns
from lakewright.model.creation import NewTable
from lakewright.model.files import DataFile, DeleteFile
from lakewright.model.layout import WriteLayout
from lakewright.model.listing import Listing
from lakewright.model.scan import Candidate, Planned, Scan, TableColumns
from lakewright.model.session import SqlSettings
from lakewright.model.snapshot import HistoryEntry, PlanningTask, Snapshot
from lakewright.model.types import StructType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    Rows: TypeAlias = DataFrame | pa.Table | pd.DataFrame

JsonObject: TypeAlias = Mapping[str, object]


class Clock(Protocol):
    """Time, and waiting."""

    def now_ms(self) -> int: ...
    def seconds(self) -> float:
        """A clock for durations only."""
        ...

    def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    """Everything that must differ from all that was before."""

    def version(self) -> int:
        """A positive 63-bit number."""
        ...

    def unique(self) -> str:
        """A text that is safe in a file name."""
        ...

    def fraction(self) -> float:
        """A number from 0 to 1, for waits that must not coincide."""
        ...


@dataclass(frozen=True)
class StoredObject:
    location: str
    size_bytes: int


class ObjectStore(Protocol):
    """Immutable objects by location. A missing object is a FileNotFoundError, any other failure an OSError.

    An object appears whole or not at all. A store is a value that workers can be sent.
    """

    def read(self, location: str) -> bytes: ...
    def open(self, location: str) -> BinaryIO:
        """For reading parts; seekable."""
        ...

    def create(self, location: str) -> BinaryIO:
        """For writing; the object exists once this is closed, unless it is left by an exception."""
        ...

    def write(self, location: str, content: bytes) -> None: ...
    def put_if_absent(self, location: str, content: bytes) -> bool:
        """False, and no change, when the object exists."""
        ...

    def exists(self, location: str) -> bool: ...
    def actual(self, location: str) -> str:
        """Where the bytes of a recorded location lie: elsewhere, if the table was moved."""
        ...

    def list(self, prefix: str) -> Iterable[StoredObject]:
        """All objects below a folder, however deep, in the order of their locations; none when there is no folder."""
        ...

    def delete(self, location: str) -> None:
        """No error when there is no such object."""
        ...


@dataclass(frozen=True)
class Credentials:
    """What a catalog hands out for the objects below a prefix; the empty prefix covers all that no other does."""

    prefix: str
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    expires_at_ms: int | None = None


class CredentialSource(Protocol):
    """Asks for credentials anew; a value that workers can be sent."""

    def __call__(self) -> tuple[Credentials, ...]: ...


class VendingStore(Protocol):
    """Makes the store of one table from what its catalog handed out."""

    def __call__(self, credentials: tuple[Credentials, ...], source: CredentialSource) -> ObjectStore: ...


@dataclass(frozen=True)
class NewestMetadata:
    """What a catalog says of a table."""

    location: str
    """Where the metadata lies or, when the catalog keeps that to itself, another name that no other version has."""
    document: JsonObject
    store: ObjectStore
    """Reaches the table's objects, with the credentials that the catalog gave for them."""


@dataclass(frozen=True)
class MetadataCommit:
    """One attempt at a table's next metadata, in each form in which a catalog may want it.

    A catalog that writes metadata itself is sent `requirements` and `updates`, as the specification of REST catalogs has
    them. One that keeps files is given the whole document, which is made only if somebody asks for it.
    """

    base: str | None
    """The location of the metadata that this one follows; None for a table that is yet to be made."""
    unique: str
    """A text that no other attempt has."""
    requirements: tuple[JsonObject, ...]
    updates: tuple[JsonObject, ...]
    describe: Callable[[], JsonObject]
    obsolete: tuple[str, ...] = ()
    """Metadata files that the table's settings let go of with this commit."""

    @cached_property
    def document(self) -> JsonObject:
        return self.describe()


class Catalog(Protocol):
    """Names, and the atomic step from one version of a table's metadata to the next."""

    @property
    def read_only_because(self) -> str | None:
        """Why nothing can be committed here; None when it can."""
        ...

    def tables(self) -> tuple[str, ...]: ...
    def load(self, name: str) -> NewestMetadata:
        """Refused with the nearest names when there is no such table."""
        ...

    def location_for(self, name: str) -> str | None:
        """Where a new table of this name goes; None when the catalog decides that as it makes the table."""
        ...

    def swap(self, name: str, commit: MetadataCommit) -> PublishOutcome:
        """Make a commit the newest metadata if its base still is. Doing it twice is the same as once.

        A LakewrightError says that nothing was done.
        """
        ...

    def includes(self, commit: MetadataCommit, newest: NewestMetadata) -> bool:
        """Whether a commit that adds no snapshot, by which it could be found, is part of this version."""
        ...

    def abandon(self, commit: MetadataCommit) -> None:
        """After a swap that was certainly not done: remove what we wrote for it, and nobody else's."""
        ...

    def clean_up(self, commit: MetadataCommit) -> None:
        """After a swap that was done: remove the metadata files that it made obsolete, if they are ours to remove."""
        ...

    def drop(self, name: str) -> None: ...


@dataclass(frozen=True)
class Capabilities:
    """What a table of a format can do; asked instead of a format's name."""

    can_mark_rows: bool
    read_only_because: str | None = None
    """A sentence for the user, when the way in which the table was opened does not allow changes."""


class ListedFiles(Protocol):
    """The live data files of one planning task: columns to judge them by, and values for those that are kept."""

    @property
    def columns(self) -> FileColumns: ...
    def candidate(self, row: int) -> Candidate:
        """Without the file's statistics, which were for judging it."""
        ...


class TaskReader(Protocol):
    """Reads the planning tasks of one snapshot; a value that workers can be sent."""

    def deletes(self, task: PlanningTask, store: ObjectStore) -> tuple[DeleteFile, ...]:
        """What one of the snapshot's delete tasks lists."""
        ...

    def with_deletes(self, deletes: Iterable[DeleteFile]) -> "TaskReader":
        """One that gives each file its deletes, by the rules of the format."""
        ...

    def files(self, task: PlanningTask, store: ObjectStore) -> ListedFiles: ...


class FilePruner(Protocol):
    """Decides what planning passes over; a value that workers can be sent."""

    def keeps_task(self, task: PlanningTask) -> bool: ...
    def keeps(self, files: FileColumns) -> "NDArray[np.bool_]":
        """For each file, whether it may matter."""
        ...


class TableFormat(Protocol):
    """One table of some format: its versions, and how a change becomes the next one."""

    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def place(self) -> str:
        """What to call the table in messages."""
        ...

    def head(self) -> Head:
        """The newest version, asked of whoever decides which that is."""
        ...

    def snapshot(self, head: Head, version: int | None = None, *, ref: str | None = None) -> Snapshot:
        """The newest version, one that the table still knows, or what a branch or tag stands for.

        The newest version and branches have the table's columns; a version and a tag those that they were written with.
        """
        ...

    def store(self, head: Head) -> ObjectStore:
        """Reaches the objects of the table, as of the time at which the head was asked for."""
        ...

    def reader(self, snapshot: Snapshot) -> TaskReader: ...
    def history(self, head: Head, ref: str | None = None) -> tuple[HistoryEntry, ...]:
        """What was the newest version when; of a ref, the versions that it is made of. The oldest first."""
        ...

    def listing(self, head: Head, snapshot: Snapshot, name: str) -> Listing:
        """What the table's records say of a version; refused with the nearest names when there is no such listing."""
        ...

    def layout(self, snapshot: Snapshot, write_id: str) -> WriteLayout: ...
    def stage(self, head: Head, changes: Changes) -> StagedCommit | None:
        """Write the metadata of one attempt, and remove it again if that fails; None if there is nothing to change."""
        ...

    def publish(self, staged: StagedCommit) -> PublishOutcome:
        """Make a staged commit the newest version. Doing it twice is the same as once."""
        ...

    def includes(self, head: Head, staged: StagedCommit) -> bool:
        """Whether a staged commit is part of this version of the table."""
        ...

    def abandon(self, staged: StagedCommit) -> None:
        """Remove what was written for an attempt that is certainly not visible and never will be."""
        ...

    def clean_up(self, staged: StagedCommit) -> None:
        """After a commit, remove the records that the table's own settings let go of."""
        ...

    def retry_settings(self, head: Head) -> RetrySettings: ...


class TableSource(Protocol):
    """Names and locations of tables of one format."""

    def open(self, name: str) -> TableFormat: ...
    def create(self, name: str, table: NewTable) -> TableFormat: ...
    def tables(self) -> tuple[str, ...]: ...
    def drop(self, name: str) -> None: ...


class Engine(Protocol):
    """Who reads and writes rows."""

    def reaching(self, store: ObjectStore) -> "Engine":
        """The same engine for a table whose objects are reached through this store."""
        ...

    def settings(self) -> SqlSettings:
        """Of the session, as it is now; the session is started for it."""
        ...

    def is_case_sensitive(self) -> bool:
        """As the session has it; false while there is none."""
        ...

    def values_of(self, query: str) -> str | None:
        """The values that a query gives now, as literals with commas between them; None if they are left to later."""
        ...

    def plan(self, snapshot: Snapshot, reader: TaskReader, pruner: FilePruner) -> Planned: ...
    def columns_of(self, rows: "Rows") -> StructType:
        """The columns of incoming rows, in our types; ids mean nothing."""
        ...

    def write(self, rows: "Rows", columns: tuple[ColumnAssignment, ...], layout: WriteLayout) -> tuple[DataFile, ...]:
        """Write rows into data files that nobody refers to yet; none are left behind if this fails."""
        ...

    def frame(self, scan: Scan, where: str | None, columns: tuple[str, ...]) -> "DataFrame":
        """A lazy DataFrame of the wanted columns of the rows for which the condition is TRUE."""
        ...

    def listed(self, listing: Listing) -> "DataFrame":
        """A DataFrame of what a table says about itself."""
        ...

    def marked(self, deletes: tuple[DeleteFile, ...], columns: TableColumns) -> "DataFrame":
        """A lazy DataFrame with a row for each row that delete files mark, whichever data files are still there."""
        ...

    def discard(self, locations: Iterable[str]) -> None:
        """Remove files that nobody refers to; one that resists stays, as an orphan."""
        ...
