"""What does a table say about itself, as Arrow tables?"""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakewright.engine.arrow.listings import listing_table, mark_fields, marked_rows
from lakewright.errors import CorruptTable
from lakewright.model.files import DeleteFile, DeleteKind
from lakewright.model.listing import Listing
from lakewright.model.partitioning import Identity, PartitionField, PartitionKey, PartitionSpec
from lakewright.model.scan import PARTITION_ID, TableColumns
from lakewright.model.types import DecimalType, Field, ListType, MapType, Primitive, StructType
from lakewright.testing.memory import MemoryStore

PARTITION = StructType(
    (
        Field(1000, "day", Primitive.DATE),
        Field(1001, "price", DecimalType(9, 2)),
        Field(1002, "key", Primitive.UUID),
        Field(1003, "at", Primitive.TIMESTAMPTZ),
    )
)
SUMMARY = StructType((Field(1, "contains_null", Primitive.BOOLEAN), Field(2, "lower_bound", Primitive.STRING)))
FIELDS = (
    Field(102, "partition", PARTITION),
    Field(2, "counts", MapType(Field(0, "key", Primitive.INT, required=True), Field(0, "value", Primitive.LONG))),
    Field(3, "summaries", ListType(Field(9, "element", SUMMARY))),
    Field(4, "offsets", ListType(Field(9, "element", Primitive.LONG))),
)


def test_values_are_shown_in_their_types_and_what_is_not_there_is_null() -> None:
    rows = (
        ((0, Decimal("1.50"), bytes(16), 1_000_000), {7: 8}, ((True, "a"), (False, None)), (4, 5)),
        ((None, None, None, None), None, None, None),
        (None, {}, (), ()),
    )
    table = listing_table(Listing(FIELDS, rows))
    table.validate(full=True)
    moment = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["partition"]["day"], first["partition"]["price"]) == (date(1970, 1, 1), Decimal("1.50"))
    assert (first["partition"]["key"].int, first["partition"]["at"]) == (0, moment)
    assert (first["counts"], first["offsets"]) == ([(7, 8)], [4, 5])
    assert first["summaries"] == [
        {"contains_null": True, "lower_bound": "a"},
        {"contains_null": False, "lower_bound": None},
    ]
    assert table.slice(1).to_pylist() == [
        {"partition": dict.fromkeys(("day", "price", "key", "at")), "counts": None, "summaries": None, "offsets": None},
        {"partition": None, "counts": [], "summaries": [], "offsets": []},
    ]


def test_a_listing_without_rows_has_its_columns() -> None:
    assert listing_table(Listing(FIELDS, ())).schema.names == ["partition", "counts", "summaries", "offsets"]


COLUMNS = TableColumns(
    table="memory://t",
    fields=(Field(PARTITION_ID, "_partition", StructType((Field(-1000, "region", Primitive.STRING),))),),
    specs={0: PartitionSpec(0), 1: PartitionSpec(1, (PartitionField(2, 1000, "region", Identity()),))},
    known={},
)


def test_each_row_that_a_delete_file_names_is_listed_as_often_as_it_is_named() -> None:
    store = MemoryStore()
    delete = positions_in(store, [("a", 3), ("b", 0), ("a", 3)], PartitionKey(1, ("EU",)))
    table = pa.Table.from_batches(marked_rows(delete, COLUMNS, store))
    assert table.schema.names == [child.name for child in mark_fields(COLUMNS)]
    shown = [(row["file_path"], row["pos"], row["partition"], row["spec_id"]) for row in table.to_pylist()]
    assert sorted(shown, key=repr) == [("a", 3, {"region": "EU"}, 1)] * 2 + [("b", 0, {"region": "EU"}, 1)]
    assert set(table["delete_file_path"].to_pylist()) == {delete.location}


def test_a_table_that_never_was_partitioned_has_no_column_for_that() -> None:
    store = MemoryStore()
    plain = TableColumns("memory://t", (), {0: PartitionSpec(0)}, {})
    delete = positions_in(store, [("a", 1)], PartitionKey(0))
    assert "partition" not in next(marked_rows(delete, plain, store)).schema.names


def test_a_delete_file_that_is_missing_is_named() -> None:
    delete = positions_in(MemoryStore(), [("a", 1)], PartitionKey(0))
    with pytest.raises(CorruptTable, match=r"delete file memory://t/d\.parquet of table memory://t is missing"):
        list(marked_rows(delete, COLUMNS, MemoryStore()))


def positions_in(store: MemoryStore, marks: list[tuple[str, int]], partition: PartitionKey) -> DeleteFile:
    paths, positions = zip(*marks, strict=True)
    with store.create("memory://t/d.parquet") as sink:
        pq.write_table(pa.table({"file_path": paths, "pos": positions}), sink)
    return DeleteFile("memory://t/d.parquet", DeleteKind.POSITIONS, partition, len(marks), 1, data_sequence_number=1)
