"""How are the rows of a data file read as columns of the table? By field id at every level, without those that are gone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakewright.engine.arrow.conform import constant
from lakewright.engine.arrow.damage import check_rows, named
from lakewright.engine.arrow.deletes import DeleteReader, EqualityDeletes, rows_kept
from lakewright.engine.arrow.evolve import evolved, field_id_of, with_ids
from lakewright.engine.arrow.types import arrow_field, arrow_schema
from lakewright.errors import CorruptTable, InvalidRequest, Unsupported
from lakewright.model.files import DataFile
from lakewright.model.partitioning import Identity, PartitionKey, PartitionSpec
from lakewright.model.scan import (
    FILE_ID,
    METADATA_IDS,
    PARTITION_ID,
    POSITION_ID,
    ROW_ID_ID,
    SPEC_ID_ID,
    Candidate,
    MappedName,
    TableColumns,
)
from lakewright.model.types import Field, StructType, Value
from lakewright.protocols import ObjectStore

_BATCH_ROWS = 65_536


@dataclass(frozen=True)
class _Layout:
    """Where columns lie in the batches that are read of files with one schema."""

    names: list[str] | None
    """What is to be read; everything when names do not tell columns apart."""
    places: dict[int, tuple[int, pa.Field]]
    """By field id, the place in a batch."""


@dataclass
class _Layouts:
    """The layout that was found last: most files of a task have one schema."""

    schema: pa.Schema | None = None
    wanted: frozenset[int] = frozenset()
    layout: _Layout = _Layout(None, {})

    def of(self, schema: pa.Schema, wanted: frozenset[int], mapping: tuple[MappedName, ...] | None) -> _Layout:
        is_known = self.schema is not None and self.schema.equals(schema, check_metadata=True)
        if not is_known or self.wanted != wanted:
            self.schema, self.wanted, self.layout = schema, wanted, _layout(with_ids(schema, mapping), wanted)
        return self.layout


@dataclass(frozen=True)
class _Source:
    """One file, and where its columns are."""

    parquet: pq.ParquetFile
    layout: _Layout


@dataclass(frozen=True)
class RowReader:
    """Reads some columns of data files for one task; deletes that files share are read once."""

    columns: TableColumns
    store: ObjectStore
    deletes: DeleteReader
    _layouts: _Layouts = field(default_factory=_Layouts, repr=False, compare=False)

    @cached_property
    def _schema(self) -> pa.Schema:
        return arrow_schema(self.columns.fields)

    @classmethod
    def of(cls, columns: TableColumns, store: ObjectStore) -> "RowReader":
        return cls(columns, store, DeleteReader(columns.table, columns.known, store))

    def batches(self, candidate: Candidate) -> Iterator[pa.RecordBatch]:
        """The rows that are left, in the table's columns; never fewer than the table says there are."""
        file = candidate.file
        gone = self.deletes.positions(candidate)
        equality = self.deletes.equality(candidate)
        with named(f"file {file.location} of table {self.columns.table}"):
            source = self._opened(file, (*self.columns.fields, *self.deletes.equality_fields(candidate)))
            first = 0
            for batch in source.parquet.iter_batches(_BATCH_ROWS, columns=source.layout.names):
                kept = self._kept(file, batch, source, gone, equality, first)
                whole = self._conformed(file, batch, source, first)
                first += batch.num_rows
                yield whole if kept is None else whole.filter(kept)
        check_rows(file, self.columns.table, first)

    def _opened(self, file: DataFile, fields: tuple[Field, ...]) -> _Source:
        if file.file_format != "parquet":
            raise Unsupported(
                f"file {file.location} of table {self.columns.table} is {file.file_format.upper()}; only Parquet data files "
                "are read"
            )
        source = self.store.open(file.location)
        parquet = pq.ParquetFile(source, coerce_int96_timestamp_unit="us", page_checksum_verification=True)
        wanted = frozenset(child.id for child in fields)
        return _Source(parquet, self._layouts.of(parquet.schema_arrow, wanted, self.columns.name_mapping))

    def _kept(
        self,
        file: DataFile,
        batch: pa.RecordBatch,
        source: _Source,
        gone: NDArray[np.int64],
        equality: tuple[EqualityDeletes, ...],
        first: int,
    ) -> pa.Array | None:
        """None when all rows are left."""
        kept = rows_kept(gone, first, batch.num_rows)
        for deletes in equality:
            columns = [self._column(file, batch, source, child, first) for child in deletes.fields]
            hit = deletes.hit(columns)
            if hit.any():
                kept = pa.array(~hit if kept is None else ~hit & kept.to_numpy(zero_copy_only=False))
        return kept

    def _conformed(self, file: DataFile, batch: pa.RecordBatch, source: _Source, first: int) -> pa.RecordBatch:
        if not self.columns.fields:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
        arrays = [self._column(file, batch, source, child, first) for child in self.columns.fields]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _column(self, file: DataFile, batch: pa.RecordBatch, source: _Source, child: Field, first: int) -> pa.Array:
        found = source.layout.places.get(child.id)
        stored = None if found is None else self._evolved(file, batch.column(found[0]), found[1], child)
        if child.id in METADATA_IDS:
            return self._about(file, child, first, batch.num_rows, stored)
        if stored is None:
            return constant(child.type, self._value_outside(file, child), batch.num_rows)
        return stored

    def _evolved(self, file: DataFile, array: pa.Array, source: pa.Field, child: Field) -> pa.Array:
        try:
            return evolved(array, source, child)
        except Unsupported as error:
            raise Unsupported(f"file {file.location} of table {self.columns.table}: {error}") from error
        except InvalidRequest as error:
            raise CorruptTable(f"file {file.location} of table {self.columns.table}: {error}") from error

    def _about(self, file: DataFile, child: Field, first: int, count: int, stored: pa.Array | None) -> pa.Array:
        """What is known of rows beside their values; ids and sequence numbers that a file holds go before its own."""
        positions = np.arange(first, first + count)
        if child.id == FILE_ID:
            return constant(child.type, file.location, count)
        if child.id == POSITION_ID:
            return pa.array(positions, pa.int64())
        if child.id == SPEC_ID_ID:
            return constant(child.type, file.partition.spec_id, count)
        if child.id == PARTITION_ID:
            return partition_struct(file.partition, self.columns.specs, child, count)
        if file.first_row_id is None:
            return pa.nulls(count, pa.int64())
        inherited = constant(child.type, file.data_sequence_number, count)
        if child.id == ROW_ID_ID:
            inherited = pa.array(positions + file.first_row_id, pa.int64())
        return inherited if stored is None else pc.coalesce(stored, inherited)

    def _value_outside(self, file: DataFile, child: Field) -> Value | None:
        """A column that a file lacks: its identity partition value if there is one, else the initial default."""
        spec = self.columns.specs.get(file.partition.spec_id)
        for part, value in zip(spec.fields if spec else (), file.partition.values, strict=False):
            if part.source_id == child.id and isinstance(part.transform, Identity):
                return value
        return child.initial_default


def partition_struct(key: PartitionKey, specs: Mapping[int, PartitionSpec], child: Field, count: int) -> pa.Array:
    """One member for each field of any spec, numbered below zero; NULL where the key's spec does not have it."""
    assert isinstance(child.type, StructType)
    values = {-part.field_id: value for part, value in zip(specs[key.spec_id].fields, key.values, strict=True)}
    members = [constant(member.type, values.get(member.id), count) for member in child.type.fields]
    return pa.StructArray.from_arrays(members, fields=[arrow_field(member) for member in child.type.fields])


def _layout(schema: pa.Schema, wanted: frozenset[int]) -> _Layout:
    found = [index for index, arrow in enumerate(schema) if field_id_of(arrow) in wanted]
    names = [schema.field(index).name for index in found]
    if len(set(schema.names)) < len(schema) or any("." in name for name in schema.names):
        return _Layout(None, {_id_at(schema, index): (index, schema.field(index)) for index in found})
    return _Layout(names, {_id_at(schema, index): (place, schema.field(index)) for place, index in enumerate(found)})


def _id_at(schema: pa.Schema, index: int) -> int:
    field_id = field_id_of(schema.field(index))
    assert field_id is not None
    return field_id
