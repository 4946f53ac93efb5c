"""How are the rows of a data file read as columns of the table? By field id, at every level, whatever the file calls them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakewright.engine.arrow.conform import conform, constant
from lakewright.engine.arrow.nesting import list_of, map_of, struct_of
from lakewright.engine.arrow.types import arrow_field, arrow_schema, arrow_type, field_id_of
from lakewright.errors import CorruptTable, Unsupported
from lakewright.model.files import DataFile
from lakewright.model.partitioning import Identity, PartitionSpec
from lakewright.model.types import Field, ListType, MapType, StructType, Value
from lakewright.protocols import ObjectStore

_BATCH_ROWS = 65_536


@dataclass(frozen=True)
class FileReader:
    """Reads some columns of data files; a value that workers are sent."""

    fields: tuple[Field, ...]
    specs: dict[int, PartitionSpec]
    table: str

    def batches(self, file: DataFile, store: ObjectStore) -> Iterator[pa.RecordBatch]:
        """The rows in the table's columns; never fewer than the table says there are."""
        parquet = self._opened(file, store)
        columns = self._columns(file, parquet.schema_arrow)
        wanted = [column for column in columns if column is not None]
        schema = arrow_schema(self.fields)
        rows_read = 0
        for batch in self._read(file, parquet, [name for name, _ in wanted]):
            rows_read += batch.num_rows
            yield self._conformed(file, batch, columns, schema)
        if rows_read != file.record_count:
            raise CorruptTable(
                f"file {file.location} of table {self.table} holds {rows_read:,} rows, the table's records say "
                f"{file.record_count:,}"
            )

    def _opened(self, file: DataFile, store: ObjectStore) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(store.open(file.location))
        except FileNotFoundError as error:
            raise CorruptTable(f"file {file.location} of table {self.table} is missing") from error
        except (OSError, pa.ArrowException) as error:
            raise CorruptTable(
                f"file {file.location} of table {self.table} is not a readable Parquet file: {error}"
            ) from error

    def _read(self, file: DataFile, parquet: pq.ParquetFile, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Arrow's errors do not say which file they met."""
        try:
            yield from parquet.iter_batches(_BATCH_ROWS, columns=names)
        except (OSError, pa.ArrowException) as error:
            raise CorruptTable(f"file {file.location} of table {self.table} cannot be read: {error}") from error

    def _columns(self, file: DataFile, schema: pa.Schema) -> list[tuple[str, pa.Field] | None]:
        """Where each wanted column lies in the file; None where the file does not have it."""
        by_id = {field_id_of(schema.field(index)): schema.field(index) for index in range(len(schema))}
        if len(schema) and set(by_id) == {None}:
            raise Unsupported(
                f"file {file.location} of table {self.table} has no field ids; reading by name mapping is not supported yet"
            )
        found = [by_id.get(child.id) for child in self.fields]
        return [None if arrow is None else (arrow.name, arrow) for arrow in found]

    def _conformed(
        self, file: DataFile, batch: pa.RecordBatch, columns: list[tuple[str, pa.Field] | None], schema: pa.Schema
    ) -> pa.RecordBatch:
        arrays = []
        for child, column in zip(self.fields, columns, strict=True):
            if column is None:
                arrays.append(constant(child.type, self._value_outside(file, child), batch.num_rows))
            else:
                arrays.append(evolved(batch.column(column[0]), column[1], child))
        if not arrays:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _value_outside(self, file: DataFile, child: Field) -> Value | None:
        """A column that a file lacks: its identity partition value if there is one, else the initial default."""
        spec = self.specs.get(file.partition.spec_id)
        for part, value in zip(spec.fields if spec else (), file.partition.values, strict=False):
            if part.source_id == child.id and isinstance(part.transform, Identity):
                return value
        return child.initial_default


def evolved(array: pa.Array, source: pa.Field, target: Field) -> pa.Array:
    """A column of a file in the table's type: members matched by id, promoted where the schema was."""
    match target.type:
        case StructType(fields):
            return _evolved_struct(array, source.type, fields)
        case ListType(element):
            inner = partial(evolved, source=source.type.value_field, target=element)
            return list_of(array, inner, arrow_type(target.type))
        case MapType(key, value):
            keys = partial(evolved, source=source.type.key_field, target=key)
            items = partial(evolved, source=source.type.item_field, target=value)
            return map_of(array, keys, items, arrow_type(target.type))
        case _:
            return conform(array, target.type, target.name)


def _evolved_struct(array: pa.Array, source: pa.StructType, fields: tuple[Field, ...]) -> pa.Array:
    positions = {field_id_of(source.field(index)): index for index in range(source.num_fields)}
    members = [
        evolved(pc.struct_field(array, [positions[child.id]]), source.field(positions[child.id]), child)
        if child.id in positions
        else constant(child.type, child.initial_default, len(array))
        for child in fields
    ]
    return struct_of(array, members, [arrow_field(child) for child in fields])
