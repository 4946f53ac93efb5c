"""CREATE TABLE: columns, partitioning, order and properties become a table without rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from lakewright.errors import InvalidRequest
from lakewright.model.creation import NewTable
from lakewright.model.partitioning import (
    TIME_TRANSFORMS,
    Bucket,
    Hour,
    Identity,
    PartitionField,
    PartitionSpec,
    Transform,
    Truncate,
    UnknownTransform,
)
from lakewright.model.schema import Schema
from lakewright.model.sorting import SortField, SortOrder
from lakewright.model.types import (
    FLOATING,
    INTEGRAL,
    TIMESTAMPS,
    ColumnType,
    DecimalType,
    Field,
    ListType,
    MapType,
    Primitive,
    StructType,
    is_nested,
    walk,
)
from lakewright.planning.ddl import SortText, TransformText, parse_sort_key, parse_transform

FORMAT_VERSIONS = (1, 2, 3)
_FIRST_PARTITION_FIELD_ID = 1000
_FROM_VERSION_3 = frozenset({Primitive.TIMESTAMP_NS, Primitive.TIMESTAMPTZ_NS, Primitive.VARIANT, Primitive.UNKNOWN})
_NOT_WRITABLE = frozenset({Primitive.VARIANT, Primitive.UNKNOWN})


@dataclass(frozen=True)
class CreateTable:
    """Columns without ids, and the texts of partition fields and sort keys."""

    columns: tuple[Field, ...]
    partitioned_by: Sequence[str] = ()
    sorted_by: Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    format_version: int = 2
    location: str | None = None


def prepare(request: CreateTable, *, case_sensitive: bool) -> NewTable:
    """Check the request and assign ids; nothing is written."""
    if request.format_version not in FORMAT_VERSIONS:
        known = ", ".join(map(str, FORMAT_VERSIONS))
        raise InvalidRequest(f"there is no format version {request.format_version}; there are {known}")
    schema = Schema(with_fresh_ids(request.columns))
    _check_columns(schema, request.format_version)
    order_fields = tuple(_sort_field(parse_sort_key(text), schema, case_sensitive) for text in request.sorted_by)
    return NewTable(
        schema=schema,
        spec=_spec([parse_transform(text) for text in request.partitioned_by], schema, case_sensitive),
        sort_order=SortOrder(1, order_fields) if order_fields else SortOrder(),
        format_version=request.format_version,
        properties=_checked_properties(request.properties),
        location=request.location,
    )


def with_fresh_ids(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Ids from 1, all columns before any of their members, as other writers count them."""
    ids = count(1)
    return _numbered(fields, ids)


def check_transform(transform: Transform, source: ColumnType, shown: str) -> None:
    """A transform is defined for some types only."""
    match transform:
        case _ if isinstance(transform, TIME_TRANSFORMS):
            dates = source == Primitive.DATE and not isinstance(transform, Hour)
            fits = source in TIMESTAMPS or dates
        case Truncate():
            fits = (
                source in INTEGRAL or source in (Primitive.STRING, Primitive.BINARY) or isinstance(source, DecimalType)
            )
        case Bucket():
            fits = not is_nested(source) and source not in FLOATING and source != Primitive.BOOLEAN
        case Identity():
            fits = not is_nested(source) and source != Primitive.VARIANT
        case UnknownTransform():
            fits = False
        case _:
            fits = True
    if not fits:
        raise InvalidRequest(f"{shown}: the transform {transform} is not defined for a column of type {source}")


def _numbered(fields: tuple[Field, ...], ids: "count[int]") -> tuple[Field, ...]:
    with_ids = [replace(child, id=next(ids)) for child in fields]
    return tuple(replace(child, type=_numbered_type(child.type, ids)) for child in with_ids)


def _numbered_type(column_type: ColumnType, ids: "count[int]") -> ColumnType:
    match column_type:
        case StructType(fields):
            return StructType(_numbered(fields, ids))
        case ListType(element):
            return ListType(_numbered((element,), ids)[0])
        case MapType(key, value):
            return MapType(*_numbered((key, value), ids))
        case _:
            return column_type


def _check_columns(schema: Schema, format_version: int) -> None:
    if not schema.fields:
        raise InvalidRequest("a table needs at least one column")
    seen: set[tuple[str, ...]] = set()
    for path, child in walk(schema.fields):
        shown = ".".join(path)
        if path in seen:
            raise InvalidRequest(f"column {shown} is there twice")
        if not child.name:
            raise InvalidRequest("a column has no name")
        seen.add(path)
        if child.type in _NOT_WRITABLE:
            raise InvalidRequest(f"column {shown} has type {child.type}, which cannot be written yet")
        if child.type in _FROM_VERSION_3 and format_version < 3:
            raise InvalidRequest(f"column {shown} has type {child.type}, which needs format_version=3")


def _spec(texts: list[TransformText], schema: Schema, case_sensitive: bool) -> PartitionSpec:
    fields = tuple(
        _partition_field(text, schema, case_sensitive, _FIRST_PARTITION_FIELD_ID + index)
        for index, text in enumerate(texts)
    )
    names = [part.name for part in fields]
    for part in fields:
        if names.count(part.name) > 1:
            raise InvalidRequest(f"partition field {part.name} is there twice")
        clashing = next((child for child in schema.fields if child.name == part.name), None)
        if clashing is not None and not (clashing.id == part.source_id and isinstance(part.transform, Identity)):
            raise InvalidRequest(f"the partition field {part.name} would have the name of a column of the table")
    return PartitionSpec(0, fields)


def _partition_field(text: TransformText, schema: Schema, case_sensitive: bool, field_id: int) -> PartitionField:
    source = _source(text, schema, case_sensitive)
    return PartitionField(
        source.id, field_id, partition_name(text.transform, schema.names_by_id[source.id]), text.transform
    )


def partition_name(transform: Transform, source: str) -> str:
    """The name that a partition field gets by itself."""
    match transform:
        case Identity():
            return source
        case Truncate():
            return f"{source}_trunc"
        case Bucket():
            return f"{source}_bucket"
        case _:
            return f"{source}_{transform}"


def _sort_field(text: SortText, schema: Schema, case_sensitive: bool) -> SortField:
    source = _source(text.key, schema, case_sensitive)
    return SortField(source.id, text.key.transform, text.descending, text.nulls_first)


def _source(text: TransformText, schema: Schema, case_sensitive: bool) -> Field:
    source = schema.resolve(text.path, case_sensitive=case_sensitive)
    check_transform(text.transform, source.type, f"{text.transform} of {schema.names_by_id[source.id]}")
    return source


def _checked_properties(properties: Mapping[str, str]) -> dict[str, str]:
    for name, value in properties.items():
        if not isinstance(value, str):
            raise InvalidRequest(f"table property {name} is {value!r}; properties are texts")
    if "format-version" in properties:
        raise InvalidRequest("the format version is not a property here; pass format_version=")
    return dict(properties)
