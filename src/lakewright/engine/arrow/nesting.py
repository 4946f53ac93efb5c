"""What lies inside the lists and maps of an Arrow array, and how is one built again around other values?

Slices share the values of the array that they were cut from, and a NULL may lie over values: none of those are rows.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Converted = Callable[[pa.Array], pa.Array]


def list_of(array: pa.Array, elements: Converted, wanted: pa.ListType) -> pa.Array:
    """A list of whichever layout with its elements converted, as a list of the wanted type."""
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int64()).cast(pa.int32())
    return pa.ListArray.from_arrays(offsets, elements(array.flatten()), type=wanted, mask=array.is_null())


def map_of(array: pa.Array, keys: Converted, items: Converted, wanted: pa.MapType) -> pa.Array:
    trimmed = _trimmed(array)
    mask = trimmed.is_null()
    return pa.MapArray.from_arrays(trimmed.offsets, keys(trimmed.keys), items(trimmed.items), type=wanted, mask=mask)


def items_of(array: pa.Array) -> pa.Array:
    """The values of maps that rows hold, one after the other."""
    return _trimmed(array).items


def struct_of(array: pa.Array, members: list[pa.Array], fields: list[pa.Field]) -> pa.Array:
    """A struct with other members, NULL where the given one is."""
    if not fields:
        return pa.array([{} if valid else None for valid in array.is_valid().to_pylist()], pa.struct([]))
    if array.null_count:
        members = [_filled(member, field, array) for member, field in zip(members, fields, strict=True)]
    return pa.StructArray.from_arrays(members, fields=fields, mask=array.is_null())


def plain(array: pa.Array) -> pa.Array:
    """Without the encodings that only save memory."""
    if pa.types.is_dictionary(array.type):
        return plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(array.type):
        return plain(pc.run_end_decode(array))
    return array


def _filled(member: pa.Array, field: pa.Field, struct: pa.Array) -> pa.Array:
    """A required member has some value below a NULL struct, which nobody sees: files have no place for a NULL there."""
    if field.nullable or not member.null_count:
        return member
    unseen = pa.array([None], pa.struct([field])).field(0)
    rows = np.where(struct.is_valid().to_numpy(zero_copy_only=False), np.arange(len(member)), len(member))
    return pa.concat_arrays([member, unseen.cast(member.type)]).take(pa.array(rows))


def _trimmed(array: pa.MapArray) -> pa.MapArray:
    """The same maps in an array that begins at its own beginning and holds no value that no row has."""
    offsets = array.offsets
    is_whole = offsets[0].as_py() == 0 and offsets[-1].as_py() == len(array.keys)
    if array.offset == 0 and array.null_count == 0 and is_whole:
        return array
    return array.take(pa.array(np.arange(len(array))))
