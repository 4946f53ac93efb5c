"""May our change still be published, now that others have won? Pure: two versions and a change in, an error or None out."""

from lakewright.errors import CommitConflict, LakewrightError
from lakewright.model.changes import AppendFiles, Changes, DropRef, Head, SetRef, UpgradeFormat
from lakewright.model.refs import MAIN, Ref, RefKind, named
from lakewright.model.snapshot import Snapshot


def conflict_of(changes: Changes, base: Head, head: Head, snapshot: Snapshot) -> LakewrightError | None:
    """The reason to refuse, or None. `snapshot` is the newest of the branch that `judged_branch` names."""
    if base.identity != head.identity:
        return CommitConflict(
            f"table {snapshot.location} was dropped and made again while this operation ran; it is another table now, run "
            "the operation again"
        )
    match changes:
        case AppendFiles():
            return _branch_conflict(changes.branch, head, snapshot) or _append_conflict(changes, snapshot)
        case SetRef(Ref(name=name)) | DropRef(name):
            return _ref_conflict(name, base, head, snapshot)
        case UpgradeFormat():
            return None


def judged_branch(changes: Changes, head: Head) -> str:
    """The branch whose newest version decides about a change, as long as there is one."""
    branch = changes.branch if isinstance(changes, AppendFiles) else MAIN
    return branch if named(head.refs, branch) else MAIN


def _branch_conflict(branch: str, head: Head, snapshot: Snapshot) -> LakewrightError | None:
    found = named(head.refs, branch)
    if branch == MAIN or (found is not None and found.kind is RefKind.BRANCH):
        return None
    return CommitConflict(
        f"branch {branch} of {snapshot.location} was dropped while this operation ran; run it again on a branch that is there"
    )


def _ref_conflict(name: str, base: Head, head: Head, snapshot: Snapshot) -> LakewrightError | None:
    """Whoever moves, makes or drops a name relies on what it stood for when they looked."""
    before, now = named(base.refs, name), named(head.refs, name)
    if before == now:
        return None
    became = "was dropped" if now is None else f"became a {now.kind} for version {now.version}"
    return CommitConflict(
        f"{name} of {snapshot.location} {became} while this operation ran; look at refs() and run it again"
    )


def _append_conflict(changes: AppendFiles, snapshot: Snapshot) -> LakewrightError | None:
    """Other writers' rows never conflict with new rows; what they did to the shape of the table may."""
    known = {file.partition.spec_id for file in changes.files} - set(snapshot.specs)
    if known:
        return CommitConflict(
            f"partition spec {min(known)}, under which the new files were written, was removed from {snapshot.location} "
            "while this operation ran; run it again"
        )
    if changes.schema_id == snapshot.schema.schema_id:
        return None
    written = next((schema for schema in snapshot.schemas if schema.schema_id == changes.schema_id), None)
    if written is None:
        return CommitConflict(
            f"schema {changes.schema_id}, under which the new files were written, was removed from {snapshot.location} "
            "while this operation ran; run it again"
        )
    paths = snapshot.schema.paths_by_id
    ids = {path: field_id for field_id, path in paths.items()}
    for field_id, child in snapshot.schema.by_id.items():
        before = written.by_id.get(field_id)
        parent = ids.get(paths[field_id][:-1])
        is_below_new = parent is not None and parent not in written.by_id
        lacks_values = before is None and child.initial_default is None and not is_below_new
        if child.required and (lacks_values or (before is not None and not before.required)):
            return CommitConflict(
                f"column {snapshot.schema.names_by_id[field_id]} of {snapshot.location} became required while this operation "
                "ran, and the new files may lack it; run it again"
            )
    return None
