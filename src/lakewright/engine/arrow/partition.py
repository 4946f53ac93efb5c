"""Into which partitions do the rows of an Arrow table fall?"""

from collections.abc import Iterator
from math import isnan, nan
from typing import Any

import mmh3
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakewright.errors import Unsupported
from lakewright.model.partitioning import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    PartitionField,
    PartitionKey,
    PartitionSpec,
    Transform,
    Truncate,
    UnknownTransform,
    Void,
    Year,
    result_type,
)
from lakewright.model.schema import Schema
from lakewright.model.transforms import apply_transform, hashed_bytes, units_per_day
from lakewright.model.types import FLOATING, TIMESTAMPS, ColumnType, DecimalType, Primitive, Value
from lakewright.model.values import scaled, unscaled

_CODES_MAX = 1 << 62
_LOW_BITS = np.uint32(0x7FFFFFFF)
_WIDE_DIGITS = 76


def split_by_partition(rows: pa.Table, schema: Schema, spec: PartitionSpec) -> Iterator[tuple[PartitionKey, pa.Table]]:
    """The rows of each partition, in their order."""
    if spec.is_unpartitioned or rows.num_rows == 0:
        yield PartitionKey(spec.spec_id, tuple(None for _ in spec.fields)), rows
        return
    columns = [_encoded(rows, schema, part) for part in spec.fields]
    codes, codes_max = np.zeros(rows.num_rows, dtype=np.int64), 1
    for indices, values in columns:
        if codes_max * len(values) > _CODES_MAX:
            known, codes = np.unique(codes, return_inverse=True)
            codes_max = len(known)
        codes = codes * len(values) + indices
        codes_max *= len(values)
    distinct, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
    keys = [
        PartitionKey(spec.spec_id, tuple(values[indices[first]] for indices, values in columns)) for first in firsts
    ]
    if len(distinct) == 1:
        yield keys[0], rows
        return
    order = np.argsort(inverse, kind="stable")
    sorted_rows = rows.take(pa.array(order))
    ends = np.cumsum(np.bincount(inverse, minlength=len(distinct)))
    start = 0
    for key, end in zip(keys, ends, strict=True):
        yield key, sorted_rows.slice(start, int(end) - start)
        start = int(end)


def _encoded(rows: pa.Table, schema: Schema, part: PartitionField) -> tuple[np.ndarray[Any, Any], list[Value | None]]:
    """For each row the index of its partition value; NULL is a value like any other."""
    source = schema.by_id[part.source_id]
    column = _source_column(rows, schema, part.source_id)
    transformed = transformed_array(part.transform, source.type, column)
    encoded = pc.dictionary_encode(transformed, null_encoding="encode")
    values = _stored_values(encoded.dictionary, result_type(part.transform, source.type))
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), values


def _source_column(rows: pa.Table, schema: Schema, source_id: int) -> pa.Array:
    """The source of a partition field may be a member of structs; NULL above is NULL below."""
    top, *members = schema.paths_by_id[source_id]
    chunked = rows.column(top)
    column = chunked.combine_chunks() if chunked.num_chunks != 1 else chunked.chunk(0)
    for name in members:
        column = pc.struct_field(column, name)
    return column


def transformed_array(transform: Transform, source: ColumnType, column: pa.Array) -> pa.Array:
    """The partition values of a column: as stored, or as the integers that the transform makes."""
    match transform:
        case Void():
            return pa.nulls(len(column), pa.int32())
        case Identity():
            return _as_stored(column)
        case Year() | Month() | Day() | Hour():
            return _time_array(transform, source, column)
        case Bucket(count) if source in TIMESTAMPS or source in (
            Primitive.INT,
            Primitive.LONG,
            Primitive.DATE,
            Primitive.TIME,
        ):
            return _bucket_of_numbers(_as_stored(column), source, count)
        case Truncate(width) if source in (Primitive.INT, Primitive.LONG):
            numbers = (
                column.to_numpy(zero_copy_only=False) if column.null_count == 0 else column.fill_null(0).to_numpy()
            )
            return pa.array(numbers - numbers % width, column.type, mask=_null_mask(column))
        case Truncate(width) if source == Primitive.STRING:
            return pc.utf8_slice_codeunits(column, 0, width)
        case Bucket() | Truncate():
            return _by_distinct_value(transform, source, column)
        case UnknownTransform(text):
            raise Unsupported(f"partition transform {text} is not known here, so no rows can be written under it")


def _time_array(transform: Transform, source: ColumnType, column: pa.Array) -> pa.Array:
    """Whole units since 1970, downwards also before it."""
    stored = _as_stored(column).cast(pa.int64())
    numbers = stored.fill_null(0).to_numpy()
    if isinstance(transform, Hour):
        result = numbers // (units_per_day(source) // 24)
    else:
        days = numbers // units_per_day(source)
        unit = {Year: "Y", Month: "M", Day: "D"}[type(transform)]
        result = days.astype("datetime64[D]").astype(f"datetime64[{unit}]").astype(np.int64)
    return pa.array(result.astype(np.int32), pa.int32(), mask=_null_mask(column))


def _bucket_of_numbers(stored: pa.Array, source: ColumnType, count: int) -> pa.Array:
    numbers = stored.cast(pa.int64()).fill_null(0).to_numpy()
    if source in (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS):
        numbers = numbers // 1000
    buckets = (_murmur3_of_longs(numbers) & _LOW_BITS) % np.uint32(count)
    return pa.array(buckets.astype(np.int32), pa.int32(), mask=_null_mask(stored))


def _murmur3_of_longs(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The 32-bit murmur3 hash with seed 0 of 8-byte little-endian integers, for a whole array at once."""
    words = numbers.astype("<i8").view("<u4").reshape(-1, 2)
    hashed = np.zeros(len(numbers), dtype=np.uint32)
    with np.errstate(over="ignore"):
        for position in (0, 1):
            mixed = words[:, position] * np.uint32(0xCC9E2D51)
            mixed = (mixed << np.uint32(15)) | (mixed >> np.uint32(17))
            hashed ^= mixed * np.uint32(0x1B873593)
            hashed = (hashed << np.uint32(13)) | (hashed >> np.uint32(19))
            hashed = hashed * np.uint32(5) + np.uint32(0xE6546B64)
        hashed ^= np.uint32(8)
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            hashed ^= hashed >> np.uint32(shift)
            hashed = hashed * np.uint32(factor)
        return hashed ^ (hashed >> np.uint32(16))


def _by_distinct_value(transform: Bucket | Truncate, source: ColumnType, column: pa.Array) -> pa.Array:
    """Texts, bytes and decimals are transformed once for each distinct value."""
    encoded = (
        column.storage.dictionary_encode() if isinstance(column, pa.ExtensionArray) else column.dictionary_encode()
    )
    values = _stored_values(encoded.dictionary, source)
    if isinstance(transform, Bucket):
        hashes = [
            None if value is None else (mmh3.hash(hashed_bytes(source, value)) & 0x7FFFFFFF) % transform.count
            for value in values
        ]
        return pa.array(hashes, pa.int32()).take(encoded.indices)
    truncated = [apply_transform(transform, source, value) for value in values]
    return pa.array(truncated, _truncated_type(encoded.dictionary.type)).take(encoded.indices)


def _truncated_type(source: pa.DataType) -> pa.DataType:
    """Truncation goes downwards, so the least decimals of a type need a digit more."""
    return pa.decimal256(_WIDE_DIGITS, source.scale) if pa.types.is_decimal(source) else source


def _as_stored(column: pa.Array) -> pa.Array:
    """Dates and times as their counts, uuids as their bytes."""
    if isinstance(column, pa.ExtensionArray):
        return column.storage
    if pa.types.is_date32(column.type):
        return column.view(pa.int32())
    if pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type):
        return column.view(pa.int64())
    return column


def _stored_values(array: pa.Array, column_type: ColumnType) -> list[Value | None]:
    values: list[Value | None] = _as_stored(array).to_pylist()
    if column_type in FLOATING:
        return [nan if isinstance(value, float) and isnan(value) else value for value in values]  # one object, one key
    if isinstance(column_type, DecimalType):
        scale = column_type.scale
        return [None if value is None else scaled(unscaled(value, scale), scale) for value in values]  # type: ignore[arg-type]  # -- decimals
    return values


def _null_mask(column: pa.Array) -> np.ndarray[Any, Any] | None:
    return None if column.null_count == 0 else column.is_null().to_numpy(zero_copy_only=False)
