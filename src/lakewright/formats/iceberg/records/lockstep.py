"""How are all records of an Avro file decoded at once, field by field for all of them?

Avro's records have no index: where one begins is known once the one before is decoded. But every record of a manifest
names a file, and the paths begin alike. Wherever that beginning occurs, a record is supposed; all supposed ones are decoded
side by side, from their path to the path of the next. Then the chain is followed from the first byte on: a record counts
only if the one before ended where it begins, so what merely looks like one is left out, and a chain that breaks gives None.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakewright.formats.iceberg.records.columns import Column, Fields, Ints, Items, Numbers, Texts, joined

_ITEMS_MAX = 4096
_VARINT_BYTES_MAX = 10
_PADDING = 16
_NOWHERE = 1 << 40
"""Added to the position of a row that cannot be right: it stays behind the end whatever is added to it."""
_FLOATS = {"float": (4, "<f4"), "double": (8, "<f8")}


def decoded_at_once(
    content: bytes, count: int, schema: Mapping[str, Any], inner: str, anchor: str, prefix: bytes
) -> Fields | None:
    """The records of `content`, whose member record `inner` has a text `anchor` that begins with `prefix` in each.

    None when they cannot be told apart by it.
    """
    before, after = _split(schema, inner, anchor)
    decoder = _Decoder(content)
    anchors = decoder.anchors(prefix)
    try:
        bodies, body_ends = decoder.record(after, anchors.starts + anchors.lengths)
        heads, head_ends = decoder.record(before, np.concatenate(([0], body_ends)))
    except _NotDecodedAtOnce:
        return None
    lengths, text_starts = decoder.varints(head_ends)
    chain = _followed(text_starts, lengths, anchors, body_ends, count, len(content))
    if chain is None:
        return None
    head_rows, body_rows = chain
    head, body = _taken(heads, head_rows), _taken(bodies, body_rows)
    known = np.ones(count, np.bool_)
    texts = Texts(content, anchors.starts[body_rows], anchors.lengths[body_rows], known, is_text=True)
    member = {**_member(head, inner), anchor: texts, **_member(body, inner)}
    return Fields({**head, **body, inner: Fields(member)})


class _NotDecodedAtOnce(Exception):
    """The schema has a type that no manifest is known to have."""


@dataclass(frozen=True)
class _Anchors:
    """Where the texts begin, and how long they say they are."""

    starts: Ints
    lengths: Ints


class _Decoder:
    """Positions go in, columns and the positions behind them come out; a wrong position gives NULLs and ends nowhere."""

    def __init__(self, content: bytes) -> None:
        self._raw = content
        self._bytes = np.frombuffer(content + bytes(_PADDING), np.uint8)
        self._end = len(content)

    def anchors(self, prefix: bytes) -> _Anchors:
        """The length of a text lies before it; all bytes of a number but its last have the high bit."""
        found = [match.start() for match in re.finditer(re.escape(prefix), self._raw)]
        starts = np.array(found, np.int64)
        length_starts = starts - 1
        for _ in range(_VARINT_BYTES_MAX):
            goes_on = (length_starts > 0) & (self._bytes[length_starts - 1] >= 0x80)
            if not goes_on.any():
                break
            length_starts = length_starts - goes_on
        lengths, behind = self.varints(length_starts)
        fits = (behind == starts) & (lengths >= len(prefix)) & (lengths <= self._end)
        return _Anchors(starts[fits], lengths[fits])

    def record(self, fields: Sequence[Mapping[str, Any]], at: Ints) -> tuple[Fields, Ints]:
        columns: dict[str, Column] = {}
        for field in fields:
            columns[field["name"]], at = self._value(field["type"], at)
        return Fields(columns), at

    def varints(self, at: Ints) -> tuple[Ints, Ints]:
        """Zigzag numbers of up to ten bytes; a longer one is none."""
        first = self._gathered(at)
        value = (first & 0x7F).astype(np.uint64)
        behind = at + 1
        rows = np.flatnonzero(first >= 0x80)
        shift = 7
        while len(rows) and shift < 7 * _VARINT_BYTES_MAX:
            byte = self._gathered(behind[rows])
            value[rows] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
            behind[rows] += 1
            rows = rows[byte >= 0x80]
            shift += 7
        behind[rows] += _NOWHERE
        numbers = (value >> np.uint64(1)).astype(np.int64) ^ -(value & np.uint64(1)).astype(np.int64)
        return numbers, behind

    def _value(self, node: Any, at: Ints) -> tuple[Column, Ints]:
        if isinstance(node, list):
            return self._optional(node, at)
        kind = node["type"] if isinstance(node, dict) else node
        known = np.ones(len(at), np.bool_)
        match kind:
            case "record":
                return self.record(node["fields"], at)
            case "array":
                return self._array(node["items"], at)
            case "int" | "long":
                values, behind = self.varints(at)
                return Numbers(values, known), behind
            case "boolean":
                return Numbers(self._gathered(at) != 0, known), at + 1
            case "float" | "double":
                size, layout = _FLOATS[kind]
                return Numbers(self._fixed(at, size).view(layout).ravel().astype(np.float64), known), at + size
            case "bytes" | "string":
                lengths, starts = self.varints(at)
                return self._piece(starts, lengths, is_text=kind == "string")
            case "fixed":
                return self._piece(at, np.full(len(at), node["size"], np.int64), is_text=False)
            case _:
                raise _NotDecodedAtOnce(f"Avro type {kind}")

    def _optional(self, options: list[Any], at: Ints) -> tuple[Column, Ints]:
        """A null and one other type, in either order."""
        branches, behind = self.varints(at)
        other = next(index for index, option in enumerate(options) if option != "null")
        present = np.flatnonzero(branches == other)
        behind = np.where((branches >= 0) & (branches < len(options)), behind, behind + _NOWHERE)
        if len(present) == len(at):
            return self._value(options[other], behind)
        column, ends = self._value(options[other], behind[present])
        behind[present] = ends
        return column.spread(present, len(at)), behind

    def _array(self, node: Any, at: Ints) -> tuple[Column, Ints]:
        """Blocks of items, until a block of none; a negative count is followed by the size of the block."""
        behind, rows = at.copy(), np.arange(len(at))
        row_parts: list[Ints] = [rows[:0]]
        item_parts = [self._value(node, at[:0])[0]]
        while len(rows):
            counts, starts = self.varints(behind[rows])
            sized = np.flatnonzero(counts < 0)
            if len(sized):
                _, starts[sized] = self.varints(starts[sized])
                counts[sized] = -counts[sized]
            behind[rows] = np.where((counts >= 0) & (counts <= _ITEMS_MAX), starts, starts + _NOWHERE)
            active = (counts > 0) & (behind[rows] <= self._end)
            rows, counts = rows[active], counts[active]
            for number in range(int(counts.max(initial=0))):
                here = rows if (counts > number).all() else rows[counts > number]
                here = here[behind[here] <= self._end]
                items, behind[here] = self._value(node, behind[here])
                row_parts.append(here)
                item_parts.append(items)
        return Items(len(at), np.concatenate(row_parts), joined(item_parts)), behind

    def _piece(self, starts: Ints, lengths: Ints, *, is_text: bool) -> tuple[Texts, Ints]:
        fits = (lengths >= 0) & (starts + np.clip(lengths, 0, self._end) <= self._end)
        lengths = np.where(fits, lengths, 0)
        behind = starts + lengths + np.where(fits, 0, _NOWHERE)
        return Texts(self._raw, np.minimum(starts, self._end), lengths, np.ones(len(starts), np.bool_), is_text), behind

    def _gathered(self, at: Ints) -> NDArray[np.uint8]:
        return self._bytes[np.minimum(at, self._end)]

    def _fixed(self, at: Ints, size: int) -> NDArray[np.uint8]:
        return self._bytes[np.minimum(at, self._end)[:, None] + np.arange(size)]


def _split(schema: Mapping[str, Any], inner: str, anchor: str) -> tuple[list[Any], list[Any]]:
    """The fields before the anchor and behind it, the member record cut in two."""
    outer = schema["fields"]
    place = next(index for index, field in enumerate(outer) if field["name"] == inner)
    members = outer[place]["type"]["fields"]
    cut = next(index for index, member in enumerate(members) if member["name"] == anchor)

    def part(fields: list[Any]) -> dict[str, Any]:
        return {"name": inner, "type": {"type": "record", "fields": fields}}

    return [*outer[:place], part(members[:cut])], [part(members[cut + 1 :]), *outer[place + 1 :]]


def _taken(fields: Fields, rows: Ints) -> Mapping[str, Column]:
    """In most manifests nothing but entries looks like one; the last head, which is behind all entries, always goes."""
    return fields.first(len(rows)).columns if np.array_equal(rows, np.arange(len(rows))) else fields.take(rows).columns


def _member(columns: Mapping[str, Column], inner: str) -> Mapping[str, Column]:
    member = columns[inner]
    assert isinstance(member, Fields)
    return member.columns


def _followed(
    text_starts: Ints, lengths: Ints, anchors: _Anchors, body_ends: Ints, count: int, end: int
) -> tuple[Ints, Ints] | None:
    """The rows of the records' heads and bodies, in the order of the records; heads follow the body of their number."""
    places = np.searchsorted(anchors.starts, text_starts)
    inside = places < len(anchors.starts)
    nearest = np.where(inside, places, 0)
    fits = inside & (len(anchors.starts) > 0)
    if len(anchors.starts):
        fits = inside & (anchors.starts[nearest] == text_starts) & (anchors.lengths[nearest] == lengths)
    next_body = np.where(fits, nearest, -1).tolist()
    heads, bodies, head = [], [], 0
    for _ in range(count):
        body = next_body[head]
        if body < 0:
            return None
        heads.append(head)
        bodies.append(body)
        head = body + 1
    is_whole = bool(bodies) and int(body_ends[bodies[-1]]) == end
    return (np.array(heads, np.int64), np.array(bodies, np.int64)) if is_whole else None


def prefix_of(text: bytes) -> bytes:
    """What the paths of a table's files have in common, as far as one of them tells: scheme and first folder."""
    scheme = text.find(b"://")
    start = scheme + 3 if scheme >= 0 else 0
    slash = text.find(b"/", start + 1)
    return text[: slash + 1] if slash > 0 else text[:8]
