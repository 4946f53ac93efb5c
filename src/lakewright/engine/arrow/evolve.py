"""How does a column of a file become the column that the table has now? By field id, at every level."""

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from lakewright.engine.arrow.conform import conform, constant
from lakewright.engine.arrow.nesting import list_of, map_of, plain, struct_of
from lakewright.engine.arrow.types import FIELD_ID_KEY, arrow_field, arrow_type
from lakewright.errors import Unsupported
from lakewright.model.scan import MappedName
from lakewright.model.types import Field, ListType, MapType, Primitive, StructType

_VARIANT_PARTS = {"metadata", "value"}


def field_id_of(arrow: pa.Field) -> int | None:
    """The id that a Parquet file gives a column."""
    raw = (arrow.metadata or {}).get(FIELD_ID_KEY)
    return None if raw is None else int(raw)


def evolved(array: pa.Array, source: pa.Field, target: Field) -> pa.Array:
    """A column of a file in the table's type: members matched by id, promoted where the schema was."""
    match target.type:
        case StructType(fields):
            return _evolved_struct(array, source.type, fields, target.name)
        case ListType(element):
            inner = partial(evolved, source=source.type.value_field, target=element)
            return list_of(array, inner, arrow_type(target.type))
        case MapType(key, value):
            keys = partial(evolved, source=source.type.key_field, target=key)
            items = partial(evolved, source=source.type.item_field, target=value)
            return map_of(array, keys, items, arrow_type(target.type))
        case Primitive.VARIANT:
            return _variant(array, target.name)
        case _:
            return conform(plain(array), target.type, target.name)


def with_ids(schema: pa.Schema, mapping: tuple[MappedName, ...] | None) -> pa.Schema:
    """The schema of a file as it would be if its writer had known the table's ids.

    A file without any ids takes them from the table's name mapping; without a mapping its columns count from 1, as they
    did when the table was made of such files.
    """
    fields = list(schema)
    if not fields or any(field_id_of(each) is not None for each in fields):
        return schema
    if mapping is not None:
        return pa.schema([_mapped(each, mapping) for each in fields])
    return pa.schema([_with_id(each, number) for number, each in enumerate(fields, start=1)])


def is_whole_variant(kind: pa.DataType) -> bool:
    """Whether a file holds a variant's values by themselves, and has shredded none of them into typed columns."""
    storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return pa.types.is_struct(storage) and {storage.field(i).name for i in range(storage.num_fields)} == _VARIANT_PARTS


def _variant(array: pa.Array, name: str) -> pa.Array:
    if not is_whole_variant(array.type):
        raise Unsupported(f"column {name} is a shredded variant, which is not read")
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    wanted = list(arrow_type(Primitive.VARIANT))
    members = [pc.struct_field(storage, part.name).cast(pa.binary()).fill_null(b"") for part in wanted]
    return struct_of(storage, members, wanted)


def _evolved_struct(array: pa.Array, source: pa.StructType, fields: tuple[Field, ...], name: str) -> pa.Array:
    """A member that is not there has its default; where no member has an id, which one is there is not known."""
    positions = {field_id_of(source.field(index)): index for index in range(source.num_fields)}
    if set(positions) == {None}:
        raise Unsupported(f"the members of column {name} have no field ids, and no name mapping says which they are")
    members = [
        evolved(pc.struct_field(array, [positions[child.id]]), source.field(positions[child.id]), child)
        if child.id in positions
        else constant(child.type, child.initial_default, len(array))
        for child in fields
    ]
    return struct_of(array, members, [arrow_field(child) for child in fields])


def _mapped(arrow: pa.Field, mapping: tuple[MappedName, ...]) -> pa.Field:
    """A field that the mapping does not name is none of the table's columns."""
    found = next((each for each in mapping if arrow.name in each.names), None)
    if found is None:
        return arrow
    kind, members = arrow.type, found.members
    if pa.types.is_struct(kind):
        kind = pa.struct([_mapped(kind.field(index), members) for index in range(kind.num_fields)])
    elif pa.types.is_map(kind):
        kind = pa.map_(_mapped_as("key", kind.key_field, members), _mapped_as("value", kind.item_field, members))
    elif pa.types.is_list(kind):
        kind = pa.list_(_mapped_as("element", kind.value_field, members))
    changed = arrow.with_type(kind)
    return changed if found.field_id is None else _with_id(changed, found.field_id)


def _mapped_as(name: str, arrow: pa.Field, mapping: tuple[MappedName, ...]) -> pa.Field:
    """Writers call what is inside a list or map differently; the mapping always calls it the same."""
    return _mapped(arrow.with_name(name), mapping).with_name(arrow.name)


def _with_id(arrow: pa.Field, field_id: int) -> pa.Field:
    return arrow.with_metadata({FIELD_ID_KEY: str(field_id).encode()})
