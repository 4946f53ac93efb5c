"""Which rows of a data file are gone, according to its delete files?"""

import struct
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyroaring import BitMap64

from lakewright.engine.arrow.damage import named
from lakewright.engine.arrow.evolve import evolved, field_id_of
from lakewright.errors import CorruptTable, Unsupported
from lakewright.model.files import DeleteFile, DeleteKind
from lakewright.model.scan import Candidate
from lakewright.model.types import Field, children, walk
from lakewright.protocols import ObjectStore

_FILE_PATH_ID, _POS_ID = 2147483546, 2147483545
_VECTOR_MAGIC = b"\xd1\xd3\x39\x64"
_VECTOR_FRAME_BYTES = 12
_ROWS_KEPT_MAX = 20_000_000
"""Deletes are kept for the next file of a task up to so many rows."""
_NO_POSITIONS = np.zeros(0, np.int64)


@dataclass
class DeleteReader:
    """Reads delete files for the files of one task; what several of them share is read once."""

    table: str
    known: Mapping[int, Field]
    store: ObjectStore
    _positions: dict[str, dict[str, NDArray[np.int64]]] = field(default_factory=dict)
    _keys: dict[str, pa.Table] = field(default_factory=dict)
    _rows_kept: int = 0

    def positions(self, candidate: Candidate) -> NDArray[np.int64]:
        """The numbers of the rows that are gone, ascending; all of them are rows of the file."""
        if not candidate.deletes:
            return _NO_POSITIONS
        parts = [self._positions_in(delete, candidate.file.location) for delete in candidate.deletes]
        known = [part for part in parts if len(part)]
        if not known:
            return _NO_POSITIONS
        positions = np.unique(np.concatenate(known))
        if positions[0] < 0 or positions[-1] >= candidate.file.record_count:
            raise CorruptTable(
                f"deletes of file {candidate.file.location} of table {self.table} name row {positions[-1]:,}, it has "
                f"{candidate.file.record_count:,} rows"
            )
        return positions

    def marks(self, delete: DeleteFile) -> dict[str, NDArray[np.int64]]:
        """The rows that one delete file names, by data file, as often as it names them."""
        match delete.kind:
            case DeleteKind.VECTOR:
                return {str(delete.referenced_data_file): self._vector(delete)}
            case DeleteKind.POSITIONS:
                return self._positions_by_path(delete)
            case DeleteKind.EQUALITY:
                return {}

    def equality(self, candidate: Candidate) -> tuple["EqualityDeletes", ...]:
        """The values whose rows are gone, those of the same columns together."""
        by_ids: dict[tuple[int, ...], list[pa.Table]] = {}
        for delete in candidate.deletes:
            if delete.kind is DeleteKind.EQUALITY:
                by_ids.setdefault(delete.equality_ids, []).append(self._keys_of(delete))
        return tuple(
            EqualityDeletes.of(self._fields(ids, candidate.deletes), pa.concat_tables(keys))
            for ids, keys in by_ids.items()
        )

    def equality_fields(self, candidate: Candidate) -> tuple[Field, ...]:
        """The columns that a file has to be read with to apply its equality deletes."""
        ids = tuple({each: None for delete in candidate.deletes for each in delete.equality_ids})
        return self._fields(ids, candidate.deletes) if ids else ()

    def _fields(self, ids: tuple[int, ...], deletes: tuple[DeleteFile, ...]) -> tuple[Field, ...]:
        missing = [each for each in ids if each not in self.known]
        if missing or not ids:
            names = ", ".join(delete.location for delete in deletes if delete.kind is DeleteKind.EQUALITY)
            what = f"column {missing[0]}, which no schema of the table has" if missing else "no columns"
            raise CorruptTable(f"equality deletes {names} of table {self.table} are by {what}")
        inner = self._inner_ids.intersection(ids)
        if inner:
            raise Unsupported(
                f"equality deletes of table {self.table} are by {self.known[min(inner)].name}, a member of another column, "
                "which is not supported"
            )
        return tuple(self.known[each] for each in ids)

    @cached_property
    def _inner_ids(self) -> frozenset[int]:
        return frozenset(member.id for column in self.known.values() for _, member in walk(children(column.type)))

    def _positions_in(self, delete: DeleteFile, path: str) -> NDArray[np.int64]:
        match delete.kind:
            case DeleteKind.VECTOR:
                return self._vector(delete)
            case DeleteKind.POSITIONS:
                kept = self._positions.get(delete.location)
                if kept is None:
                    kept = self._positions_by_path(delete)
                    if self._may_keep(delete):
                        self._positions[delete.location] = kept
                return kept.get(path, _NO_POSITIONS)
            case DeleteKind.EQUALITY:
                return _NO_POSITIONS

    def _vector(self, delete: DeleteFile) -> NDArray[np.int64]:
        where = f"deletion vector at {delete.content_offset} in {delete.location} of table {self.table}"
        if delete.content_offset < 0 or not _VECTOR_FRAME_BYTES <= delete.content_size <= delete.size_bytes:
            raise CorruptTable(f"{where} is {delete.content_size} bytes long, its file {delete.size_bytes}")
        try:
            with self.store.open(delete.location) as source:
                source.seek(delete.content_offset)
                blob = source.read(delete.content_size)
        except FileNotFoundError as error:
            raise CorruptTable(f"{where} is missing") from error
        if len(blob) != delete.content_size:
            raise CorruptTable(f"{where} is cut: {len(blob)} of its {delete.content_size} bytes are there")
        return vector_positions(bytes(blob), delete.record_count, where)

    def _positions_by_path(self, delete: DeleteFile) -> dict[str, NDArray[np.int64]]:
        rows = self._read(delete, {_FILE_PATH_ID: "file_path", _POS_ID: "pos"})
        if rows.column(0).null_count or rows.column(1).null_count:
            raise CorruptTable(
                f"delete file {delete.location} of table {self.table} has rows without a path or a position"
            )
        paths = rows.column(0).dictionary_encode().unify_dictionaries().combine_chunks()
        codes = paths.indices.to_numpy(zero_copy_only=False)
        positions = rows.column(1).combine_chunks().cast(pa.int64()).to_numpy(zero_copy_only=False)
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(paths.dictionary)))
        parts = np.split(positions[order], ends[:-1]) if len(ends) else []
        try:
            return dict(zip(paths.dictionary.cast(pa.string()).to_pylist(), parts, strict=True))
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise CorruptTable(f"delete file {delete.location} of table {self.table} is damaged: {error}") from error

    def _keys_of(self, delete: DeleteFile) -> pa.Table:
        kept = self._keys.get(delete.location)
        if kept is not None:
            return kept
        fields = self._fields(delete.equality_ids, (delete,))
        stored = self._read(delete, {child.id: child.name for child in fields})
        arrays = [
            evolved(stored.column(index).combine_chunks(), stored.schema.field(index), child)
            for index, child in enumerate(fields)
        ]
        keys = pa.table([comparable_array(array) for array in arrays], names=[str(child.id) for child in fields])
        if self._may_keep(delete):
            self._keys[delete.location] = keys
        return keys

    def _may_keep(self, delete: DeleteFile) -> bool:
        self._rows_kept += delete.record_count
        return self._rows_kept <= _ROWS_KEPT_MAX

    def _read(self, delete: DeleteFile, wanted: Mapping[int, str]) -> pa.Table:
        """Columns by id; by name in a file without any ids. Paths take much room, and repeat: each is held once."""
        if delete.file_format != "parquet":
            raise Unsupported(
                f"delete file {delete.location} of table {self.table} is {delete.file_format.upper()}; only Parquet and "
                "deletion vectors are read"
            )
        what = f"delete file {delete.location} of table {self.table}"
        with named(what), self.store.open(delete.location) as source:
            parquet = pq.ParquetFile(source)
            schema = parquet.schema_arrow
            by_id = {field_id_of(child): child.name for child in schema}
            has_ids = set(by_id) != {None}
            names = [by_id.get(each) if has_ids else name for each, name in wanted.items()]
            for name, asked in zip(names, wanted.values(), strict=True):
                if name not in schema.names:
                    raise CorruptTable(f"delete file {delete.location} of table {self.table} has no column {asked}")
            paths = [name for name, each in zip(names, wanted, strict=True) if each == _FILE_PATH_ID]
            compact = pq.ParquetFile(
                source, metadata=parquet.metadata, read_dictionary=paths, page_checksum_verification=True
            )
            rows = compact.read(columns=names).select(names)
        if rows.num_rows < delete.record_count:
            raise CorruptTable(
                f"delete file {delete.location} of table {self.table} holds {rows.num_rows:,} deletes, the table's records "
                f"say {delete.record_count:,}"
            )
        return rows


@dataclass
class KnownMarks:
    """The rows that are gone of the files that were asked for last: neither files nor their deletes ever change."""

    _kept: OrderedDict[tuple[object, ...], NDArray[np.int64]] = field(default_factory=OrderedDict)
    _rows: int = 0
    _lock: Lock = field(default_factory=Lock)

    def of(self, candidate: Candidate, reader: DeleteReader) -> NDArray[np.int64]:
        key = (candidate.file.location, candidate.file.size_bytes, *map(_identity, candidate.deletes))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        positions = reader.positions(candidate)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = positions
                self._rows += len(positions)
            while self._rows > _ROWS_KEPT_MAX:
                self._rows -= len(self._kept.popitem(last=False)[1])
        return positions


@dataclass(frozen=True)
class EqualityDeletes:
    """Values of some columns; a row that has them is gone. NULL is a value here, equal to itself, and so is NaN."""

    fields: tuple[Field, ...]
    steps: tuple["_Step", ...]

    @classmethod
    def of(cls, fields: tuple[Field, ...], keys: pa.Table) -> "EqualityDeletes":
        steps: list[_Step] = []
        numbers = np.zeros(keys.num_rows, np.int64)
        for column in keys.columns:
            array = column.combine_chunks()
            step = _Step(pc.unique(array), _NO_POSITIONS)
            step = _Step(step.values, np.unique(step.pairs_of(numbers, array)))
            numbers = step.numbers(numbers, array)
            steps.append(step)
        return cls(fields, tuple(steps))

    def hit(self, columns: list[pa.Array]) -> NDArray[np.bool_]:
        """For each row of a batch, whether it is gone; the columns are those of `fields`."""
        numbers = np.zeros(len(columns[0]), np.int64)
        for step, column in zip(self.steps, columns, strict=True):
            numbers = step.numbers(numbers, comparable_array(column))
        return numbers >= 0


@dataclass(frozen=True)
class _Step:
    """One column more: the keys so far, as numbers, each with a value of this column, as a number again."""

    values: pa.Array
    """The distinct ones of this column."""
    pairs: NDArray[np.int64]
    """The distinct pairs of a key so far and a value, ascending."""

    def numbers(self, before: NDArray[np.int64], column: pa.Array) -> NDArray[np.int64]:
        """The number of each row's key, -1 if there is no such key."""
        pairs = self.pairs_of(before, column)
        places = np.searchsorted(self.pairs, pairs)
        found = self.pairs[np.minimum(places, len(self.pairs) - 1)] == pairs if len(self.pairs) else pairs != pairs
        return np.where(found & (pairs >= 0), places, -1)

    def pairs_of(self, before: NDArray[np.int64], column: pa.Array) -> NDArray[np.int64]:
        places = pc.fill_null(pc.index_in(column, value_set=self.values), -1).to_numpy(zero_copy_only=False)
        return np.where((before >= 0) & (places >= 0), before * len(self.values) + places, -1)


def _identity(delete: DeleteFile) -> tuple[object, ...]:
    """What tells deletes apart, also those of a table that was made again in the place of another."""
    return delete.location, delete.content_offset, delete.size_bytes, delete.record_count


def vector_positions(blob: bytes, cardinality: int, where: str) -> NDArray[np.int64]:
    """The rows in a `deletion-vector-v1` blob: its length, a magic number, a bitmap and a checksum."""
    if len(blob) < _VECTOR_FRAME_BYTES:
        raise CorruptTable(f"{where} is cut: {len(blob)} bytes are left")
    (length,) = struct.unpack(">i", blob[:4])
    body, (checksum,) = blob[4:-4], struct.unpack(">I", blob[-4:])
    if length != len(body) or body[:4] != _VECTOR_MAGIC:
        raise CorruptTable(f"{where} does not begin as a deletion vector does")
    if zlib.crc32(body) != checksum:
        raise CorruptTable(f"{where} is damaged: its checksum is wrong")
    try:
        bitmap = BitMap64.deserialize(body[4:])
    except Exception as error:
        raise CorruptTable(f"{where} holds no bitmap: {error}") from error
    if len(bitmap) != cardinality:
        raise CorruptTable(f"{where} marks {len(bitmap):,} rows, the table's records say {cardinality:,}")
    return np.asarray(bitmap.to_array(), np.uint64).astype(np.int64)


def comparable_array(array: pa.Array) -> pa.Array:
    """As the bytes of an identifier, which Arrow can look up."""
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def rows_kept(positions: NDArray[np.int64], first: int, count: int) -> pa.Array | None:
    """Which of some consecutive rows are left; None when all are."""
    if not len(positions):
        return None
    low, high = np.searchsorted(positions, [first, first + count])
    if low == high:
        return None
    kept = np.ones(count, np.bool_)
    kept[positions[low:high] - first] = False
    return pa.array(kept)
