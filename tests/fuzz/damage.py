"""How can bytes be damaged? Flipped, cut, doubled, swapped, and numbers replaced by extreme ones; drawn from a seed."""

import random
from collections.abc import Callable

EXTREMES = (b"\xff" * 9 + b"\x01", b"\xfe" * 9 + b"\x01", b"\x80" * 10, b"\xff" * 16, b"\x00" * 8, b"\x7f\xff\xff\xff")


def damaged(raw: bytes, draw: random.Random) -> bytes:
    """Other bytes than those given, mostly."""
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        raw = draw.choice(_KINDS)(raw, draw)
    return raw


def _bit(raw: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(raw) or 1)
    return raw[:place] + bytes(byte ^ 1 << draw.randrange(8) for byte in raw[place : place + 1]) + raw[place + 1 :]


def _byte(raw: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(raw) or 1)
    return raw[:place] + bytes([draw.choice([0, 1, 2, 0x7F, 0x80, 0xFF, draw.randrange(256)])]) + raw[place + 1 :]


def _cut(raw: bytes, draw: random.Random) -> bytes:
    return raw[: draw.randrange(len(raw) or 1)]


def _hole(raw: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(raw) or 1)
    return raw[:place] + raw[place + draw.choice([1, 2, 8, 100]) :]


def _doubled(raw: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(raw) or 1)
    end = place + draw.choice([1, 2, 8, 100])
    return raw[:end] + raw[place:]


def _swapped(raw: bytes, draw: random.Random) -> bytes:
    """Two neighbours change places."""
    first, second, third = sorted(draw.randrange(len(raw) or 1) for _ in range(3))
    return raw[:first] + raw[second:third] + raw[first:second] + raw[third:]


def _extreme(raw: bytes, draw: random.Random) -> bytes:
    place, number = draw.randrange(len(raw) or 1), draw.choice(EXTREMES)
    return raw[:place] + number + raw[place + draw.choice([0, 1, len(number)]) :]


_KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _bit,
    _bit,
    _byte,
    _cut,
    _hole,
    _doubled,
    _swapped,
    _extreme,
)
