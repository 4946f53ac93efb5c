"""Are the rows of a file that another writer left read as what they are, or refused with the file's name?"""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakewright.engine.arrow.read import RowReader
from lakewright.errors import CorruptTable, Unsupported
from lakewright.model.files import DataFile
from lakewright.model.partitioning import PartitionKey
from lakewright.model.scan import Candidate, MappedName, TableColumns
from lakewright.testing.memory import MemoryStore
from tests.described import schema_of

PLACE = "memory://t/data/1.parquet"
WITHOUT_IDS = pa.table({"id": [1, 2], "p": [{"a": 5}, None], "v": [[1], []]})


def read(rows: pa.Table, columns: str, mapping: tuple[MappedName, ...] | None = None) -> list[object]:
    store, sink, schema = MemoryStore(), io.BytesIO(), schema_of(columns)
    pq.write_table(rows, sink)
    store.write(PLACE, sink.getvalue())
    file = DataFile(PLACE, PartitionKey(0), rows.num_rows, len(sink.getvalue()))
    reader = RowReader.of(TableColumns("t", schema.fields, {}, schema.by_id, mapping), store)
    found: list[object] = pa.Table.from_batches(reader.batches(Candidate(file))).to_pylist()
    return found


def mapped(name: str, field_id: int, *members: MappedName) -> MappedName:
    return MappedName(frozenset({name}), field_id, members)


def test_columns_without_ids_count_from_1() -> None:
    assert read(WITHOUT_IDS.select(["id"]), "x long") == [{"x": 1}, {"x": 2}]


def test_members_without_ids_are_refused_as_long_as_nothing_names_them() -> None:
    columns = "id long, p struct<a: long>"
    with pytest.raises(Unsupported, match=f"file {PLACE} of table t: the members of column p have no field ids"):
        read(WITHOUT_IDS.select(["id", "p"]), columns)
    mapping = (mapped("id", 1), mapped("p", 2, mapped("a", 3)))
    assert read(WITHOUT_IDS.select(["id", "p"]), columns, mapping) == [{"id": 1, "p": {"a": 5}}, {"id": 2, "p": None}]


def test_a_value_that_its_column_cannot_hold_is_a_damage_of_the_file() -> None:
    with pytest.raises(CorruptTable, match=f"file {PLACE} of table t: a value of column x does not fit its type int"):
        read(pa.table({"x": [2**40]}), "x int")
