"""REFS: make, move and drop the branches and tags of a table; no row is touched."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from lakewright.errors import InvalidRequest
from lakewright.model.changes import DropRef, Head, PendingCommit, SetRef
from lakewright.model.refs import AS_PROPERTIES_SAY, MAIN, Ref, RefKind, Retention, existing_ref, named


@dataclass(frozen=True)
class Create:
    """A name that nothing has yet, for a version."""

    ref: Ref


@dataclass(frozen=True)
class Replace:
    """What a name stands for, how long it is kept, or both: what is None stays as it is."""

    name: str
    kind: RefKind
    version: int | None = None
    retention: Retention = AS_PROPERTIES_SAY


@dataclass(frozen=True)
class Drop:
    name: str
    kind: RefKind


@dataclass(frozen=True)
class FastForward:
    """Bring a branch up to a version that follows its own; `line` is what that version is made of."""

    name: str
    to: str
    version: int
    line: Collection[int]


def create(request: Create, head: Head, table: str) -> PendingCommit:
    ref = request.ref
    if not ref.name:
        raise InvalidRequest(f"a {ref.kind} needs a name, found an empty text")
    existing = named(head.refs, ref.name)
    if existing is not None:
        raise InvalidRequest(
            f"table {table} has a {existing} already, for version {existing.version}; replace_{existing.kind}() makes it "
            "stand for another"
        )
    _check_retention(ref.name, ref.kind, ref.retention)
    return PendingCommit(head, SetRef(ref))


def replace_ref(request: Replace, head: Head, table: str) -> PendingCommit:
    existing = _of_kind(request.kind, head, request.name, table)
    if request.version is None and request.retention == AS_PROPERTIES_SAY:
        raise InvalidRequest(
            f"say what is to become of {existing}: pass a version, a timestamp, another ref, or how long it is kept"
        )
    _check_retention(request.name, request.kind, request.retention)
    version = existing.version if request.version is None else request.version
    retention = _overridden(existing.retention, request.retention)
    return PendingCommit(head, SetRef(replace(existing, version=version, retention=retention)))


def drop(request: Drop, head: Head, table: str) -> PendingCommit:
    if request.name == MAIN:
        raise InvalidRequest(f"branch main cannot be dropped: it is table {table} itself")
    _of_kind(request.kind, head, request.name, table)
    return PendingCommit(head, DropRef(request.name))


def fast_forward(request: FastForward, head: Head, table: str) -> PendingCommit:
    """Refused when something was committed to the branch that the other ref does not have."""
    branch = _of_kind(RefKind.BRANCH, head, request.name, table)
    if branch.version not in request.line:
        raise InvalidRequest(
            f"branch {branch.name} of {table} cannot be brought up to {request.to}: {request.to} is not made of version "
            f"{branch.version}, at which {branch.name} is. See history() of both; replace_branch() moves it all the same"
        )
    return PendingCommit(head, SetRef(replace(branch, version=request.version)))


def _of_kind(kind: RefKind, head: Head, name: str, table: str) -> Ref:
    """Looked for among the refs of its kind, unless one of the other kind has the name."""
    same = [ref for ref in head.refs if ref.kind is kind or ref.name == name]
    found = existing_ref(same, name, table)
    if found.kind is not kind:
        raise InvalidRequest(f"{name} of table {table} is a {found.kind}, not a {kind}")
    return found


def _overridden(before: Retention, given: Retention) -> Retention:
    return replace(before, **{name: value for name, value in vars(given).items() if value is not None})


def _check_retention(name: str, kind: RefKind, retention: Retention) -> None:
    given = {option: value for option, value in vars(retention).items() if value is not None}
    for option, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InvalidRequest(f"{option} is a whole number above 0, found {value!r}")
    if kind is RefKind.TAG and given.keys() - {"max_ref_age_ms"}:
        raise InvalidRequest(f"tag {name} keeps one version: only max_ref_age_ms says something of a tag")
    if name == MAIN and "max_ref_age_ms" in given:
        raise InvalidRequest("branch main is kept for ever: max_ref_age_ms does not hold for it")
