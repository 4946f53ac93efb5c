"""Which rows does our own Arrow reader find in a table? All of them, without Spark."""

import hashlib
from collections.abc import Mapping
from json.encoder import encode_basestring

import pyarrow as pa
import pyarrow.compute as pc

from lakewright.engine.arrow.local import plan_on_threads
from lakewright.engine.arrow.read import RowReader
from lakewright.engine.arrow.types import arrow_schema
from lakewright.formats.iceberg.adapter import IcebergSource, IcebergTable
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.predicates import EVERY_ROW
from lakewright.operations import inspect
from lakewright.operations.read import scan_of
from lakewright.planning.prune import Pruner
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds, SystemClock
from tests import canonical
from tests.in_process_engine import InProcessEngine

DIGITS_WITHOUT_EXPONENT = 6
TO_BE_ESCAPED = r'["\\\x00-\x1f]'
MICROSECONDS = (pa.timestamp("us"), pa.timestamp("us", "UTC"))


def rows_of(
    metadata_location: str, moved: Mapping[str, str], snapshot_id: int | None = None, ref: str | None = None
) -> pa.Table:
    """The rows of one snapshot or ref; the current ones when neither is given."""
    store = Storage.of({}, moved)
    table = _opened(metadata_location, store)
    snapshot = table.snapshot(table.head(), snapshot_id, ref=ref)
    planned = plan_on_threads(snapshot, table.reader(snapshot), Pruner.of(EVERY_ROW, snapshot), store)
    reader = RowReader.of(scan_of(snapshot.schema.fields, planned, snapshot).columns, store)
    batches = [batch for candidate in planned.candidates for batch in reader.batches(candidate)]
    return pa.Table.from_batches(batches, arrow_schema(snapshot.schema.fields))


def listed(metadata_location: str, moved: Mapping[str, str], what: str, ref: str | None = None) -> pa.Table:
    """A metadata table of the current version, or of a ref."""
    store = Storage.of({}, moved)
    table = _opened(metadata_location, store)
    head = table.head()
    listing: pa.Table = inspect.frame(
        inspect.Inspect(what), head, table.snapshot(head, ref=ref), table, InProcessEngine(store)
    )
    return listing


def _opened(metadata_location: str, store: Storage) -> IcebergTable:
    source = IcebergSource(FolderCatalog(store), store, SystemClock(), RandomIds())
    return source.open_location(metadata_location, guess=False)


def lines(table: pa.Table) -> list[str]:
    """As `canonical.lines`, made by Arrow where it can: some tables are large."""
    labelled = [
        pc.binary_join_element_wise(f"{encode_basestring(name)}:", _cells(table.column(name)), "")
        for name in sorted(table.column_names)
    ]
    rows = pc.binary_join_element_wise("{", pc.binary_join_element_wise(*labelled, ","), "}", "")
    return rows.take(pc.array_sort_indices(rows)).to_pylist()


def digest(sorted_lines: list[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in sorted_lines).encode()).hexdigest()


def _cells(column: pa.ChunkedArray) -> pa.Array:
    """The values of a column as JSON."""
    column, kind = column.combine_chunks(), column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        cells = column.cast(pa.string())
    elif pa.types.is_string(kind) and not pc.any(pc.match_substring_regex(column, TO_BE_ESCAPED)).as_py():
        cells = _quoted(column)
    elif pa.types.is_date(kind) or (pa.types.is_decimal(kind) and kind.scale <= DIGITS_WITHOUT_EXPONENT):
        cells = _quoted(column.cast(pa.string()))
    elif kind in MICROSECONDS:
        cells = _quoted(pc.replace_substring(column.cast(pa.string()), " ", "T"))
    else:
        cells = pa.array([canonical.text(canonical.plain(value, kind)) for value in column.to_pylist()], pa.string())
    return cells.fill_null("null")


def _quoted(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', texts, '"', "")
