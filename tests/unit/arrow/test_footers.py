"""May a file be read by the names of its columns? Whatever was asked about it before."""

import io
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakewright.engine.arrow.footers import Footers
from lakewright.errors import CorruptTable
from lakewright.model.files import DataFile
from lakewright.model.partitioning import PartitionKey
from lakewright.model.scan import MappedName, TableColumns
from lakewright.testing.memory import MemoryStore
from tests.described import schema_of

SCHEMA = schema_of("a long, b long")
PLACE = "memory://t/data/1.parquet"


def mapping(*names: str) -> tuple[MappedName, ...]:
    return tuple(MappedName(frozenset({name}), number) for number, name in enumerate(names, start=1))


def columns(names: tuple[MappedName, ...] | None) -> TableColumns:
    return TableColumns("t", SCHEMA.fields, {}, SCHEMA.by_id, names)


def stored(store: MemoryStore, names: list[str]) -> DataFile:
    sink = io.BytesIO()
    pq.write_table(pa.table([[1, 2], [3, 4]], names=names), sink)
    store.write(PLACE, sink.getvalue())
    return DataFile(PLACE, PartitionKey(0), 2, len(sink.getvalue()))


def test_the_ids_of_a_file_without_any_are_those_that_the_table_gives_it_now() -> None:
    store = MemoryStore()
    file, footers = stored(store, ["a", "b"]), Footers(store)
    answers = [footers.read_by_name([file], columns(names)) for names in (mapping("a", "b"), mapping("b", "a"), None)]
    assert answers == [True, False, True]


def test_each_table_that_lists_a_file_is_held_to_its_rows() -> None:
    store = MemoryStore()
    file, footers = stored(store, ["a", "b"]), Footers(store)
    assert footers.read_by_name([file], columns(None))
    with pytest.raises(CorruptTable, match="holds 2 rows, the table's records say 3"):
        footers.read_by_name([replace(file, record_count=3)], columns(None))


def test_another_file_under_the_same_name_is_looked_at() -> None:
    store = MemoryStore()
    footers = Footers(store)
    assert footers.read_by_name([stored(store, ["a", "b"])], columns(None))
    assert not footers.read_by_name([stored(store, ["column_b", "a"])], columns(None))
