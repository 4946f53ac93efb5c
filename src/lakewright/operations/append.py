"""APPEND: add rows; what is there stays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakewright.errors import InvalidRequest, Unsupported
from lakewright.model.changes import AppendFiles, Head, PendingCommit
from lakewright.model.files import DataFile
from lakewright.model.layout import WriteLayout
from lakewright.model.partitioning import UnknownTransform
from lakewright.model.refs import MAIN
from lakewright.model.snapshot import Snapshot
from lakewright.model.types import Primitive
from lakewright.planning.assign import assign_by_name
from lakewright.protocols import Engine, TableFormat

if TYPE_CHECKING:
    from lakewright.protocols import Rows


@dataclass(frozen=True)
class Append:
    """Rows with columns named as the table's; `summary` is recorded with the new version."""

    rows: "Rows"
    summary: Mapping[str, str] = field(default_factory=dict)
    branch: str = MAIN


@dataclass(frozen=True)
class PreparedAppend:
    """`pending` is None when there are no rows, and no summary to record without them."""

    pending: PendingCommit | None
    files: tuple[DataFile, ...]
    layout: WriteLayout


def prepare(
    request: Append, head: Head, snapshot: Snapshot, table: TableFormat, engine: Engine, write_id: str
) -> PreparedAppend:
    """Write the rows into files that no version of the table has yet."""
    _check_summary(request.summary)
    refuse_variants(snapshot)
    refuse_unknown_transforms(snapshot)
    layout = table.layout(snapshot, write_id)
    columns = assign_by_name(
        engine.columns_of(request.rows), snapshot.schema, case_sensitive=engine.is_case_sensitive()
    )
    files = engine.write(request.rows, columns, layout)
    if not files and not request.summary:
        return PreparedAppend(None, files, layout)
    changes = AppendFiles(files, snapshot.schema.schema_id, request.summary, request.branch)
    return PreparedAppend(PendingCommit(head, changes, tuple(file.location for file in files)), files, layout)


def _check_summary(summary: Mapping[str, object]) -> None:
    if "operation" in summary:
        raise InvalidRequest("the summary of a version names its operation already; use another key")
    for key, value in summary.items():
        if not isinstance(value, str):
            raise InvalidRequest(f"summary entry {key} is {value!r}; the values of a summary are texts")


def refuse_variants(snapshot: Snapshot) -> None:
    for field_id, child in snapshot.schema.by_id.items():
        if child.type == Primitive.VARIANT:
            raise Unsupported(
                f"column {snapshot.schema.names_by_id[field_id]} of {snapshot.location} is a variant, which is read and not "
                "written yet"
            )


def refuse_unknown_transforms(snapshot: Snapshot) -> None:
    """Rows cannot be put into a partition, or an order, that we cannot compute."""
    partitioning = [part.transform for part in snapshot.default_spec.fields]
    for transform in [*partitioning, *(part.transform for part in snapshot.sort_order.fields)]:
        if isinstance(transform, UnknownTransform):
            raise Unsupported(
                f"table {snapshot.location} is partitioned or sorted by {transform}, a transform that is not known here; "
                "it can be read, not written"
            )
