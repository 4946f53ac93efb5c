"""What is a new data file called, and in which folder is it put? Nobody reads anything from the name."""

from base64 import b64encode
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from urllib.parse import quote

import mmh3

from lakewright.model.layout import DataLocation
from lakewright.model.partitioning import Bucket, Hour, Month, PartitionKey, PartitionSpec, Transform, Void, Year
from lakewright.model.schema import Schema
from lakewright.model.types import TIMESTAMPS, ColumnType, Primitive, Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOLDER_CHARACTERS_MAX = 100
_HASH_BITS = 20
_HASH_FOLDERS = (slice(0, 4), slice(4, 8), slice(8, 12), slice(12, 20))


def file_location(location: DataLocation, schema: Schema, spec: PartitionSpec, key: PartitionKey, name: str) -> str:
    """Below the table's data folder, by partition; on object stores spread over prefixes."""
    folders = [location.root]
    if location.hashed:
        bits = f"{mmh3.hash(name) & (1 << _HASH_BITS) - 1:0{_HASH_BITS}b}"
        folders += [bits[part] for part in _HASH_FOLDERS]
    if location.partition_folders:
        folders += [
            f"{_folder_text(part.name)}={_folder_text(readable_value(part.transform, schema.by_id[part.source_id].type, value))}"
            for part, value in zip(spec.fields, key.values, strict=True)
            if not isinstance(part.transform, Void)
        ]
    return "/".join([*folders, name])


def readable_value(transform: Transform, source: ColumnType, value: Value | None) -> str:
    """A partition value as a person writes it."""
    if value is None:
        return "null"
    match transform:
        case Year():
            return str(1970 + int(value))
        case Month():
            return f"{1970 + int(value) // 12}-{int(value) % 12 + 1:02d}"
        case Hour():
            days, hour = divmod(int(value), 24)
            return f"{_readable_day(days)}-{hour:02d}"
        case Bucket():
            return str(value)
        case _ if source == Primitive.DATE or (source in TIMESTAMPS and str(transform) == "day"):
            return _readable_day(int(value))
        case _ if source in TIMESTAMPS:
            return _readable_moment(source, int(value))
        case _ if isinstance(value, bytes):
            return b64encode(value).decode()
        case _:
            return str(value).lower() if isinstance(value, bool) else str(value)


def _folder_text(text: str) -> str:
    """Escaped as in a URL, and short enough for any file system; cut between characters, so that it can be unescaped."""
    characters = [quote(character, safe="") for character in text[:_FOLDER_CHARACTERS_MAX]]
    ends = accumulate(map(len, characters))
    return "".join(escaped for escaped, end in zip(characters, ends, strict=True) if end <= _FOLDER_CHARACTERS_MAX)


def _readable_day(days: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
    except OverflowError:
        return str(days)


def _readable_moment(source: ColumnType, count: int) -> str:
    micros = count // 1000 if source in (Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS) else count
    try:
        moment = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return str(count)
    return (
        moment.isoformat()
        if source in (Primitive.TIMESTAMPTZ, Primitive.TIMESTAMPTZ_NS)
        else moment.replace(tzinfo=None).isoformat()
    )
