"""What a table says about itself, and the rows that its delete files mark: what are they as Arrow tables?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lakewright.engine.arrow.deletes import DeleteReader
from lakewright.engine.arrow.read import partition_struct
from lakewright.engine.arrow.types import arrow_field, arrow_schema, arrow_type
from lakewright.model.files import DeleteFile, DeleteKind
from lakewright.model.listing import Listing
from lakewright.model.scan import FILE_ID, PARTITION_ID, SPEC_ID_ID, TableColumns
from lakewright.model.types import ColumnType, Field, ListType, MapType, Primitive, StructType
from lakewright.protocols import ObjectStore

_BATCH_ROWS = 65_536
_FILE_PATH_ID, _POS_ID, _OFFSET_ID, _SIZE_ID = 2147483546, 2147483545, 144, 145


def listing_table(listing: Listing) -> pa.Table:
    columns = list(zip(*listing.rows, strict=True)) or [()] * len(listing.fields)
    arrays = [_array(child.type, values) for child, values in zip(listing.fields, columns, strict=True)]
    return pa.table(arrays, schema=arrow_schema(listing.fields))


def mark_fields(columns: TableColumns) -> tuple[Field, ...]:
    """What is listed of each marked row; `columns` has the partition if the table ever was partitioned."""
    partition = (Field(PARTITION_ID, "partition", child.type) for child in columns.fields if child.id == PARTITION_ID)
    return (
        Field(_FILE_PATH_ID, "file_path", Primitive.STRING),
        Field(_POS_ID, "pos", Primitive.LONG),
        *partition,
        Field(SPEC_ID_ID, "spec_id", Primitive.INT),
        Field(FILE_ID, "delete_file_path", Primitive.STRING),
        Field(_OFFSET_ID, "content_offset", Primitive.LONG),
        Field(_SIZE_ID, "content_size_in_bytes", Primitive.LONG),
    )


def marked_rows(delete: DeleteFile, columns: TableColumns, store: ObjectStore) -> Iterator[pa.RecordBatch]:
    """A row for each row that the delete file names, in batches."""
    marks = DeleteReader(columns.table, columns.known, store).marks(delete)
    fields = mark_fields(columns)
    for path, positions in marks.items():
        for first in range(0, len(positions), _BATCH_ROWS):
            part = positions[first : first + _BATCH_ROWS]
            arrays = [_of_mark(child, delete, path, part, columns) for child in fields]
            yield pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(fields))


def _of_mark(
    child: Field, delete: DeleteFile, path: str, positions: np.ndarray[Any, np.dtype[np.int64]], columns: TableColumns
) -> pa.Array:
    count, is_vector = len(positions), delete.kind is DeleteKind.VECTOR
    if child.id == _POS_ID:
        return pa.array(positions)
    if child.id == PARTITION_ID:
        return partition_struct(delete.partition, columns.specs, child, count)
    same: Mapping[int, object] = {
        _FILE_PATH_ID: path,
        SPEC_ID_ID: delete.partition.spec_id,
        FILE_ID: delete.location,
        _OFFSET_ID: delete.content_offset if is_vector else None,
        _SIZE_ID: delete.content_size if is_vector else None,
    }
    return pa.repeat(pa.scalar(same[child.id], arrow_type(child.type)), count)


def _array(column_type: ColumnType, values: Sequence[Any]) -> pa.Array:
    match column_type:
        case StructType(fields):
            members = [
                _array(child.type, [None if value is None else value[index] for value in values])
                for index, child in enumerate(fields)
            ]
            is_null = pa.array([value is None for value in values], pa.bool_())
            return pa.StructArray.from_arrays(members, fields=[arrow_field(child) for child in fields], mask=is_null)
        case ListType(element):
            items = _array(element.type, [item for value in values for item in value or ()])
            return pa.ListArray.from_arrays(_offsets(values), items).cast(arrow_type(column_type))
        case MapType():
            return pa.array(
                [None if value is None else list(value.items()) for value in values], arrow_type(column_type)
            )
        case _:
            return pa.array(values, arrow_type(column_type))


def _offsets(values: Sequence[Any]) -> pa.Array:
    """Where the items of each list begin; NULL for a list that is NULL."""
    ends = np.cumsum([0, *(len(value or ()) for value in values)])
    is_null = np.array([*(value is None for value in values), False])
    return pa.array(ends, pa.int32(), mask=is_null)
