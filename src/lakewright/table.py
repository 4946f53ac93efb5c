"""What can a user do with one table? The handle, with a short method for each operation."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from lakewright.commit.loop import publish_until_settled
from lakewright.errors import InvalidRequest, Unsupported
from lakewright.model.changes import Head, PendingCommit
from lakewright.model.refs import MAIN, Ref, RefKind, Retention, existing_ref
from lakewright.model.report import Report, counted, readable_bytes
from lakewright.model.snapshot import HistoryEntry, Snapshot
from lakewright.operations import append, inspect, read, refs, upgrade
from lakewright.protocols import Clock, Engine, Ids, TableFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakewright.protocols import Rows

_LOG = logging.getLogger("lakewright")


@dataclass(frozen=True)
class Table:
    """A table, one of its branches or tags, or one version of it.

    Every call looks at the newest version, unless the table was asked for another.
    """

    name: str
    _format: TableFormat = field(repr=False)
    _engine: Engine = field(repr=False)
    _clock: Clock = field(repr=False)
    _ids: Ids = field(repr=False)
    version: int | None = None
    """The version that this handle stays at; None for the newest."""
    ref: str | None = None
    """The branch or tag that this handle is about; None for the table itself."""

    def to_df(self, *, columns: Sequence[str] | None = None, where: str | None = None) -> "DataFrame":
        """The rows as a lazy Spark DataFrame, of this version for ever.

        `where` is a condition in Spark's SQL: files that cannot hold a match are not opened, and the rows are exactly
        those for which it is TRUE. Raises InvalidRequest for a name that is not a column, Unsupported for a table with
        features that are not read yet, CorruptTable when its records are damaged or missing.
        """
        head = self._format.head()
        return read.frame(read.Read(columns, where), self._snapshot(head), self._format, self._engine_for(head))

    def append(self, rows: "Rows", *, summary: Mapping[str, str] | None = None) -> Report:
        """Add rows: a Spark DataFrame, an Arrow table or a pandas DataFrame, with columns matched by name.

        Columns that are missing become NULL or their default. No rows commit nothing, unless there is a `summary` to
        record.
        On a branch, `at(ref=…)`, the rows are added to the branch alone.
        Raises InvalidRequest, before anything is visible, for columns or values that do not fit.
        """
        phases = _Phases(self._clock)
        head, snapshot = self._head_to_change()
        phases.end("open")
        request = append.Append(rows, summary or {}, self.ref or MAIN)
        prepared = append.prepare(request, head, snapshot, self._format, self._engine_for(head), self._ids.unique())
        phases.end("write")
        notes = [f"table property {name} is not honoured" for name in prepared.layout.ignored_properties]
        if prepared.pending is None:
            return self._told(Report("append", self.name, None, seconds=phases.seconds, notes=("no rows", *notes)))
        files = prepared.files
        report = Report(
            "append",
            self.name,
            None,
            rows_inserted=sum(file.record_count for file in files),
            files_added=len(files),
            bytes_added=sum(file.size_bytes for file in files),
            notes=tuple(notes),
        )
        return self._committed(prepared.pending, report, phases)

    def upgrade(self, *, format_version: int) -> Report:
        """Move the table to a newer version of its format, for good; the version that it has already changes nothing."""
        phases = _Phases(self._clock)
        if self.ref is not None:
            raise InvalidRequest(
                f"this is {self.ref} of {self.name}; an upgrade is of the whole table, use the table itself"
            )
        head, _ = self._head_to_change()
        phases.end("open")
        pending = upgrade.prepare(upgrade.Upgrade(format_version), head)
        return self._committed(pending, Report("upgrade", self.name, None), phases)

    def at(
        self,
        *,
        version: int | None = None,
        timestamp: "datetime | str | int | None" = None,
        ref: str | None = None,
    ) -> "Table":
        """The table as it was: by a version, at a time (a datetime, ISO text, or milliseconds), or as a branch or tag has it.

        A version never changes. A branch or tag is followed by its name, and a branch can be appended to.
        """
        if [version, timestamp, ref].count(None) != 2:
            raise InvalidRequest("at() takes one of version, timestamp and ref")
        head = self._format.head()
        if ref is not None:
            self._format.snapshot(head, ref=ref)
            return replace(self, version=None, ref=ref)
        version = self._version_meant(head, version, timestamp, None)
        return replace(self, version=version, ref=None)

    def history(self) -> tuple[HistoryEntry, ...]:
        """The versions that the table went through, oldest first; of a branch or tag, those that it is made of."""
        return self._format.history(self._format.head(), self.ref)

    def refs(self) -> tuple[Ref, ...]:
        """The branches and tags, with the versions that they stand for; `main` is the table itself."""
        return self._format.head().refs

    def inspect(self, what: str) -> "DataFrame":
        """A metadata table of this version: files, delete_files, entries, manifests, partitions, snapshots, refs, or
        position_deletes. The columns are those of Iceberg's Spark."""
        head = self._format.head()
        snapshot, engine = self._snapshot(head), self._engine_for(head)
        return inspect.frame(inspect.Inspect(what), head, snapshot, self._format, engine)

    def create_branch(
        self,
        name: str,
        *,
        version: int | None = None,
        timestamp: "datetime | str | int | None" = None,
        ref: str | None = None,
        max_ref_age_ms: int | None = None,
        max_snapshot_age_ms: int | None = None,
        min_snapshots_to_keep: int | None = None,
    ) -> Report:
        """Begin a branch at a version, at what was current then, or where another ref is; else where this handle is.

        Refused when a branch or tag has the name. The ages and the number say what maintenance may expire.
        """
        retention = Retention(max_ref_age_ms, max_snapshot_age_ms, min_snapshots_to_keep)
        return self._created(name, RefKind.BRANCH, (version, timestamp, ref), retention)

    def create_tag(
        self,
        name: str,
        *,
        version: int | None = None,
        timestamp: "datetime | str | int | None" = None,
        ref: str | None = None,
        max_ref_age_ms: int | None = None,
    ) -> Report:
        """Give a name to a version, to what was current then, or to what another ref is at; else to what this handle is at."""
        return self._created(name, RefKind.TAG, (version, timestamp, ref), Retention(max_ref_age_ms))

    def replace_branch(
        self,
        name: str,
        *,
        version: int | None = None,
        timestamp: "datetime | str | int | None" = None,
        ref: str | None = None,
        max_ref_age_ms: int | None = None,
        max_snapshot_age_ms: int | None = None,
        min_snapshots_to_keep: int | None = None,
    ) -> Report:
        """Move a branch to a version, whatever was committed to it, or change how long it is kept; the rest stays."""
        retention = Retention(max_ref_age_ms, max_snapshot_age_ms, min_snapshots_to_keep)
        return self._replaced(name, RefKind.BRANCH, (version, timestamp, ref), retention)

    def replace_tag(
        self,
        name: str,
        *,
        version: int | None = None,
        timestamp: "datetime | str | int | None" = None,
        ref: str | None = None,
        max_ref_age_ms: int | None = None,
    ) -> Report:
        """Give a tag to another version, or change how long it is kept; the rest stays."""
        return self._replaced(name, RefKind.TAG, (version, timestamp, ref), Retention(max_ref_age_ms))

    def drop_branch(self, name: str) -> Report:
        """Take the name away; versions that no other ref keeps go when the table's old versions are expired."""
        return self._changed_refs(
            "drop branch", lambda head: refs.drop(refs.Drop(name, RefKind.BRANCH), head, self.name)
        )

    def drop_tag(self, name: str) -> Report:
        """Take the name away; the version stays as long as others do that no ref keeps."""
        return self._changed_refs("drop tag", lambda head: refs.drop(refs.Drop(name, RefKind.TAG), head, self.name))

    def fast_forward(self, name: str, *, to: str) -> Report:
        """Bring a branch up to another ref that goes on from it, such as `main` to an audited branch."""

        def prepared(head: Head) -> PendingCommit:
            target = existing_ref(head.refs, to, self.name)
            line = frozenset(entry.version for entry in self._format.history(head, to))
            return refs.fast_forward(refs.FastForward(name, to, target.version, line), head, self.name)

        return self._changed_refs("fast forward", prepared)

    @property
    def schema(self) -> str:
        """The columns as text, one a line."""
        fields = self._snapshot(self._format.head()).schema.fields
        return "\n".join(f"{child.name}: {child.type}{' required' if child.required else ''}" for child in fields)

    @property
    def metadata_location(self) -> str:
        """Where the newest version's records begin: what other engines open the table by."""
        return self._format.head().token

    def __repr__(self) -> str:
        head = self._format.head()
        snapshot = self._snapshot(head)
        current = "empty" if snapshot.version is None else f"version {snapshot.version}"
        current = current if self.ref is None else f"{self.ref}, {current}"
        totals = [
            counted(snapshot.totals["rows"], "row") if "rows" in snapshot.totals else "rows not counted",
            counted(snapshot.totals["files"], "file") if "files" in snapshot.totals else "files not counted",
            readable_bytes(snapshot.totals["bytes"]) if "bytes" in snapshot.totals else "bytes not counted",
        ]
        return f"{self.name} ({snapshot.format_label})\n{current}: {', '.join(totals)}\n{snapshot.location}"

    def _snapshot(self, head: Head) -> Snapshot:
        return self._format.snapshot(head, self.version, ref=self.ref)

    def _engine_for(self, head: Head) -> Engine:
        return self._engine.reaching(self._format.store(head))

    def _head_to_change(self) -> tuple[Head, Snapshot]:
        self._refuse_read_only()
        if self.version is not None:
            raise InvalidRequest(
                f"this is version {self.version} of {self.name}, which never changes; use the table itself"
            )
        head = self._format.head()
        if self.ref not in (None, MAIN) and existing_ref(head.refs, self.ref, self.name).kind is RefKind.TAG:
            raise InvalidRequest(
                f"this is tag {self.ref} of {self.name}, which stays as it is; use the table itself, or a branch"
            )
        return head, self._snapshot(head)

    def _refuse_read_only(self) -> None:
        reason = self._format.capabilities.read_only_because
        if reason is not None:
            raise Unsupported(reason)

    def _created(self, name: str, kind: RefKind, meant: "_Meant", retention: Retention) -> Report:
        def prepared(head: Head) -> PendingCommit:
            version = self._version_meant(head, *meant)
            version = self._snapshot(head).version if version is None else version
            if version is None:
                raise InvalidRequest(
                    f"table {self.name} has no versions yet, and a {kind} is a name for one; append first"
                )
            return refs.create(refs.Create(Ref(name, kind, version, retention)), head, self.name)

        return self._changed_refs(f"create {kind}", prepared)

    def _replaced(self, name: str, kind: RefKind, meant: "_Meant", retention: Retention) -> Report:
        def prepared(head: Head) -> PendingCommit:
            version = self._version_meant(head, *meant)
            return refs.replace_ref(refs.Replace(name, kind, version, retention), head, self.name)

        return self._changed_refs(f"replace {kind}", prepared)

    def _changed_refs(self, operation: str, prepared: Callable[[Head], PendingCommit]) -> Report:
        phases = _Phases(self._clock)
        self._refuse_read_only()
        pending = prepared(self._format.head())
        phases.end("open")
        return self._committed(pending, Report(operation, self.name, None), phases)

    def _version_meant(
        self, head: Head, version: int | None, timestamp: "datetime | str | int | None", ref: str | None
    ) -> int | None:
        """The version that is named in one of three ways, if it is in any; refused when it is not there."""
        if [version, timestamp, ref].count(None) < 2:
            raise InvalidRequest("a version is named in one way: pass one of version, timestamp and ref")
        if ref is not None:
            return existing_ref(head.refs, ref, self.name).version
        if timestamp is not None:
            version = _version_at(self._format.history(head, self.ref), milliseconds(timestamp), self.name)
        if version is not None:
            self._format.snapshot(head, version)
        return version

    def _committed(self, pending: PendingCommit, report: Report, phases: "_Phases") -> Report:
        discard = self._engine_for(pending.base).discard
        result = publish_until_settled(self._format, pending, self._clock, self._ids, discard=discard)
        phases.end("commit")
        return self._told(replace(report, version=result.version, attempts=result.attempts, seconds=phases.seconds))

    def _told(self, report: Report) -> Report:
        _LOG.info("%s", report)
        return report


_Meant: TypeAlias = "tuple[int | None, datetime | str | int | None, str | None]"
"""A version, a time, or a ref."""


@dataclass
class _Phases:
    """Splits the time of an operation."""

    clock: Clock
    seconds: dict[str, float] = field(default_factory=dict)
    _since: float = 0.0

    def __post_init__(self) -> None:
        self._since = self.clock.seconds()

    def end(self, phase: str) -> None:
        now = self.clock.seconds()
        self.seconds[phase] = now - self._since
        self._since = now


def milliseconds(timestamp: "datetime | str | int | None") -> int:
    """A moment as milliseconds since 1970; one without a zone is in the zone of this machine."""
    if isinstance(timestamp, int) and not isinstance(timestamp, bool):
        return timestamp
    parse: Callable[[str], datetime] = datetime.fromisoformat
    try:
        moment = parse(timestamp) if isinstance(timestamp, str) else timestamp
    except ValueError as error:
        raise InvalidRequest(f"{timestamp!r} is not a time such as 2024-05-01T12:00:00+00:00") from error
    if not isinstance(moment, datetime):
        raise InvalidRequest(f"{timestamp!r} is not a time: pass a datetime, ISO text or milliseconds since 1970")
    return int(moment.timestamp() * 1000)


def _version_at(history: tuple[HistoryEntry, ...], timestamp_ms: int, name: str) -> int:
    """What was current then."""
    before = [entry for entry in history if entry.timestamp_ms <= timestamp_ms]
    if before:
        return before[-1].version
    if not history:
        raise InvalidRequest(f"table {name} has no versions yet")
    raise InvalidRequest(
        f"table {name} has no version from {_moment(timestamp_ms)} or before; its oldest is from "
        f"{_moment(history[0].timestamp_ms)}"
    )


def _moment(timestamp_ms: int) -> str:
    """For people, and exactly what at() takes."""
    try:
        return datetime.fromtimestamp(timestamp_ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{timestamp_ms} ms"
