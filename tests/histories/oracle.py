"""Which rows does a version hold, by the letter of the specification? Row by row, delete by delete, without any index."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from lakewright.model.files import DeleteFile, DeleteKind
from lakewright.model.partitioning import PartitionKey, PartitionSpec, Void
from lakewright.model.scan import LAST_UPDATED_ID, ROW_ID_ID
from lakewright.model.schema import Schema
from tests.histories.builder import Mark, Version, Written
from tests.histories.values import Row, comparable, seen_member

Found = tuple[str, int]
"""A row is known by its file and its position."""


def rows_of(version: Version, schema: Schema, specs: Mapping[int, PartitionSpec]) -> dict[Found, Row]:
    """The rows that are left, with the columns of the schema; row ids and ages are under their reserved ids."""
    return {
        (written.file.location, position): {
            **{child.id: seen_member(row, child) for child in schema.fields},
            **_lineage(written, position),
        }
        for written in version.data
        for position, row in enumerate(written.rows)
        if not is_gone(written, position, version, specs)
    }


def is_gone(written: Written, position: int, version: Version, specs: Mapping[int, PartitionSpec]) -> bool:
    """Scan Planning: a vector of the file stands for all position deletes; equality deletes are about older files only."""
    if any(_equals(written, position, mark, version, specs) for mark in version.marks):
        return True
    place, sequence = (written.file.location, position), written.file.data_sequence_number
    marks = [mark for mark in version.marks if mark.file.data_sequence_number >= sequence]
    vectors = [
        mark
        for mark in marks
        if mark.file.kind is DeleteKind.VECTOR and mark.file.referenced_data_file == written.file.location
    ]
    if vectors:
        return any(place in mark.positions for mark in vectors)
    return any(
        place in mark.positions and same_partition(mark.file.partition, written.file.partition)
        for mark in marks
        if mark.file.kind is DeleteKind.POSITIONS
    )


def _equals(written: Written, position: int, mark: Mark, version: Version, specs: Mapping[int, PartitionSpec]) -> bool:
    delete = mark.file
    if delete.kind is not DeleteKind.EQUALITY or delete.data_sequence_number <= written.file.data_sequence_number:
        return False
    if not is_global(delete, specs) and not same_partition(delete.partition, written.file.partition):
        return False
    fields = [version.known[each] for each in delete.equality_ids]
    row = written.rows[position]
    found = [comparable(seen_member(row, child), child.type) for child in fields]
    return any(found == [comparable(seen_member(key, child), child.type) for child in fields] for key in mark.keys)


def is_global(delete: DeleteFile, specs: Mapping[int, PartitionSpec]) -> bool:
    """A spec of nothing but void fields is none, as in Iceberg's own library."""
    return all(part.transform == Void() for part in specs[delete.partition.spec_id].fields)


def same_partition(left: PartitionKey, right: PartitionKey) -> bool:
    def plain(key: PartitionKey) -> list[Any]:
        return ["NaN" if isinstance(value, float) and isnan(value) else value for value in key.values]

    return left.spec_id == right.spec_id and plain(left) == plain(right)


def _lineage(written: Written, position: int) -> Row:
    """A row keeps the id and the age that its file holds for it; others are numbered by their file."""
    file = written.file
    if file.first_row_id is None:
        return {ROW_ID_ID: None, LAST_UPDATED_ID: None}
    row_id, age = (None, None) if written.lineage is None else written.lineage[position]
    return {
        ROW_ID_ID: file.first_row_id + position if row_id is None else row_id,
        LAST_UPDATED_ID: file.data_sequence_number if age is None else age,
    }
