"""How is a single value written as bytes? Iceberg's single-value serialization, used for bounds and partition summaries."""

import struct
from decimal import Decimal, localcontext

from lakewright.model.types import TIMESTAMPS, ColumnType, DecimalType, FixedType, Primitive, Value

_DECIMAL_DIGITS_MAX = 80
_MICROS_PER_DAY = 86_400_000_000


def encode_value(column_type: ColumnType, value: Value) -> bytes:
    """The bytes of a value of a primitive type."""
    match column_type:
        case Primitive.BOOLEAN:
            return b"\x01" if value else b"\x00"
        case Primitive.INT | Primitive.DATE:
            return struct.pack("<i", value)
        case Primitive.FLOAT:
            return struct.pack("<f", value)
        case Primitive.DOUBLE:
            return struct.pack("<d", value)
        case Primitive.STRING:
            return str(value).encode()
        case DecimalType(_, scale):
            return signed_bytes(unscaled(Decimal(value), scale))  # type: ignore[arg-type]  # -- a decimal column holds decimals
        case Primitive.UUID | Primitive.BINARY | FixedType():
            return bytes(value)  # type: ignore[arg-type]  # -- these types hold bytes
        case _:
            return struct.pack("<q", value)


def decode_value(column_type: ColumnType, raw: bytes) -> Value | None:
    """The value that the bytes hold, read as a type that the column may have been promoted to; None if they do not fit."""
    if not raw and (column_type == Primitive.BOOLEAN or isinstance(column_type, DecimalType)):
        return None
    try:
        return _decoded(column_type, raw)
    except (struct.error, UnicodeDecodeError):
        return None


def _decoded(column_type: ColumnType, raw: bytes) -> Value | None:
    match column_type:
        case Primitive.BOOLEAN:
            return raw != b"\x00"
        case Primitive.INT | Primitive.DATE:
            return _integer("<i", raw)
        case Primitive.LONG:
            return _integer("<i" if len(raw) == 4 else "<q", raw)
        case Primitive.FLOAT:
            return _floating("<f", raw)
        case Primitive.DOUBLE:
            return _floating("<f" if len(raw) == 4 else "<d", raw)
        case Primitive.STRING:
            return raw.decode()
        case DecimalType(_, scale):
            return scaled(int.from_bytes(raw, "big", signed=True), scale)
        case Primitive.UUID | Primitive.BINARY | FixedType():
            return raw
        case Primitive.TIME:
            return _integer("<q", raw)
        case _ if column_type in TIMESTAMPS:
            return _timestamp(column_type, raw)
        case _:
            return None


def unscaled(value: Decimal, scale: int) -> int:
    """The integer that a decimal of this scale is stored as."""
    with localcontext(prec=_DECIMAL_DIGITS_MAX):
        return int(value.scaleb(scale))


def scaled(digits: int, scale: int) -> Decimal:
    with localcontext(prec=_DECIMAL_DIGITS_MAX):
        return Decimal(digits).scaleb(-scale)


def signed_bytes(number: int) -> bytes:
    """Two's complement, big endian, in as few bytes as hold it."""
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(length, "big", signed=True)


def _integer(layout: str, raw: bytes) -> int:
    (number,) = struct.unpack(layout, raw)
    return int(number)


def _floating(layout: str, raw: bytes) -> float:
    (number,) = struct.unpack(layout, raw)
    return float(number)


def _timestamp(column_type: ColumnType, raw: bytes) -> int:
    """A bound written before the column was promoted from date counts days in four bytes."""
    if len(raw) == 8:
        return _integer("<q", raw)
    nanos = column_type in (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS)
    return _integer("<i", raw) * _MICROS_PER_DAY * (1000 if nanos else 1)
