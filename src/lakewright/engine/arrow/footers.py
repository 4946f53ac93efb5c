"""May a file be read by column names, as Spark does, or only by field ids? What its own footer says decides.

Table metadata cannot tell: writers record statistics of columns that they left out of their files, and columns were
renamed, swapped, dropped and added again while files stayed as they are.
"""

from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq

from lakewright.engine.arrow.damage import check_rows, named
from lakewright.engine.arrow.evolve import field_id_of, is_whole_variant, with_ids
from lakewright.engine.arrow.types import arrow_type
from lakewright.model.files import DataFile
from lakewright.model.partitioning import Identity
from lakewright.model.scan import TableColumns
from lakewright.model.types import Field, ListType, MapType, Primitive, StructType
from lakewright.protocols import ObjectStore

_KEPT_MAX = 20_000
_THREADS = 8


@dataclass(frozen=True)
class _Footer:
    """What a file says itself, whichever table lists it."""

    schema: pa.Schema
    rows: int


@dataclass
class Footers:
    """The footers of files that were looked at last; files never change, what tables say about them may."""

    store: ObjectStore
    _kept: OrderedDict[tuple[str, int], _Footer] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def read_by_name(self, files: Iterable[DataFile], columns: TableColumns) -> bool:
        """Whether each wanted column has, in each of the files, the name that the table gives it, or is NULL there."""
        wanted = list(files)
        with self._lock:
            unseen = [file for file in wanted if _key(file) not in self._kept]
        if len(unseen) > 1:
            with ThreadPoolExecutor(_THREADS) as pool:
                list(pool.map(lambda file: self._footer(file, columns.table), unseen))
        return all(_reads_by_name(self._schema(file, columns), file, columns) for file in wanted)

    def _schema(self, file: DataFile, columns: TableColumns) -> pa.Schema:
        footer = self._footer(file, columns.table)
        check_rows(file, columns.table, footer.rows)
        return with_ids(footer.schema, columns.name_mapping)

    def _footer(self, file: DataFile, table: str) -> _Footer:
        key = _key(file)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with named(f"file {file.location} of table {table}"), self.store.open(file.location) as source:
            parquet = pq.ParquetFile(source)
            footer = _Footer(parquet.schema_arrow, parquet.metadata.num_rows)
        with self._lock:
            self._kept[key] = footer
            if len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)
        return footer


def _key(file: DataFile) -> tuple[str, int]:
    return file.location, file.size_bytes


def _reads_by_name(schema: pa.Schema, file: DataFile, columns: TableColumns) -> bool:
    spec = columns.specs.get(file.partition.spec_id)
    from_partition = {part.source_id for part in spec.fields if isinstance(part.transform, Identity)} if spec else set()
    names = [name.lower() for name in schema.names]
    by_id = {field_id_of(arrow): arrow for arrow in schema}
    return all(
        names.count(child.name.lower()) <= 1 and _is_as_named(child, by_id.get(child.id), names, from_partition)
        for child in columns.fields
    )


def _is_as_named(child: Field, arrow: pa.Field | None, names: list[str], from_partition: set[int]) -> bool:
    """A column that a file lacks is NULL, if nothing else has its name and nothing else says what it is."""
    if arrow is None:
        known_otherwise = child.initial_default is not None or child.id in from_partition
        return child.name.lower() not in names and not known_otherwise
    return arrow.name == child.name and _has_shape(arrow.type, child)


def _has_shape(kind: pa.DataType, child: Field) -> bool:
    match child.type:
        case StructType(fields):
            if not pa.types.is_struct(kind):
                return False
            members = [kind.field(index) for index in range(kind.num_fields)]
            names = [member.name.lower() for member in members]
            by_id = {field_id_of(member): member for member in members}
            unique = len(set(names)) == len(names)
            return unique and all(_is_as_named(each, by_id.get(each.id), names, set()) for each in fields)
        case ListType(element):
            return pa.types.is_list(kind) and _is_inside(kind.value_field, element)
        case MapType(key, value):
            return pa.types.is_map(kind) and _is_inside(kind.key_field, key) and _is_inside(kind.item_field, value)
        case Primitive.VARIANT:
            return is_whole_variant(kind)
        case _:
            return bool(kind == arrow_type(child.type))


def _is_inside(arrow: pa.Field, child: Field) -> bool:
    """Nobody goes by the names of what is inside a list or map."""
    return field_id_of(arrow) == child.id and _has_shape(arrow.type, child)
