"""In which order are the rows of an Arrow table written, when the table has a sort order?"""

import pyarrow as pa
import pyarrow.compute as pc

from lakewright.engine.arrow.partition import transformed_array
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortField, SortOrder
from lakewright.model.types import FLOATING


def sorted_rows(rows: pa.Table, schema: Schema, order: SortOrder) -> pa.Table:
    """Stable; NaN is greater than every number, as in Spark, and NULL is where the order wants it."""
    if not order.fields or rows.num_rows < 2:
        return rows
    keys: dict[str, pa.Array] = {}
    sort_keys: list[tuple[str, str]] = []
    for position, part in enumerate(order.fields):
        for name, array, direction in _keys(rows, schema, part, position):
            keys[name] = array
            sort_keys.append((name, direction))
    row_number = "row"
    keys[row_number] = pa.array(range(rows.num_rows), pa.int64())
    indices = pc.sort_indices(pa.table(keys), sort_keys=[*sort_keys, (row_number, "ascending")])
    return rows.take(indices)


def _keys(rows: pa.Table, schema: Schema, part: SortField, position: int) -> list[tuple[str, pa.Array, str]]:
    """NULL and NaN are ranked by keys of their own, because Arrow puts both at one end."""
    source_type = schema.by_id[part.source_id].type
    top, *members = schema.paths_by_id[part.source_id]
    column = rows.column(top).combine_chunks()
    column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    for member in members:
        column = pc.struct_field(column, member)
    values = transformed_array(part.transform, source_type, column)
    direction = "descending" if part.descending else "ascending"
    keys = [(f"null{position}", pc.is_null(values).cast(pa.int8()), "descending" if part.nulls_first else "ascending")]
    if source_type in FLOATING:
        keys.append((f"nan{position}", pc.fill_null(pc.is_nan(values), False).cast(pa.int8()), direction))
    keys.append((f"value{position}", values, direction))
    return keys
