"""What becomes of damaged bytes? Run as a program of its own, which may crash, hang or take all memory it is allowed.

Prints, as JSON, for each kind of bytes how often they were refused, read and taken for other rows, and what went wrong.
"""

import json
import random
import resource
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from lakewright.engine.arrow.deletes import DeleteReader, vector_positions
from lakewright.errors import CorruptTable, Unsupported
from lakewright.formats.iceberg.records.avro import AvroFile, read_avro
from lakewright.formats.iceberg.records.columns import Column
from lakewright.formats.iceberg.records.entries import read_manifest
from lakewright.formats.iceberg.records.manifests import read_manifest_list
from lakewright.model.partitioning import PartitionKey
from lakewright.model.scan import Candidate
from lakewright.model.schema import Schema
from lakewright.testing.memory import MemoryStore
from tests.avro_container import avro_container
from tests.decoded_columns import at_once, one_by_one, plain
from tests.fuzz.damage import damaged
from tests.fuzz.samples import manifest_lists, manifests
from tests.histories.builder import TableWithPast, Written, vector_blob
from tests.histories.random_past import ID

MEMORY_BYTES_MAX = 6 << 30
CPU_SECONDS_MAX = 120
SECONDS_EACH_MAX = 2.0
ROWS = 5_000


class Wrong(Exception):
    """Damage that was neither refused nor harmless."""


Attack = Callable[[random.Random], str]
"""Damages something, and says what became of it."""


def manifest(draw: random.Random) -> str:
    """As it lies in storage, or inside its compression, where no checksum is in the way."""
    sample = draw.choice(manifests())
    raw = damaged(sample.raw, draw)
    if draw.random() < 0.7:
        avro = read_avro(sample.raw)
        raw = avro_container(avro.header, [(avro.count, damaged(avro.content, draw))])
    _same_by_both_decoders(raw)
    list(read_manifest(sample.manifest, raw, sample.specs, "t"))
    return "read"


def manifest_list(draw: random.Random) -> str:
    raw = draw.choice(manifest_lists())
    if draw.random() < 0.7:
        avro = read_avro(raw)
        read_manifest_list("list", avro_container(avro.header, [(avro.count, damaged(avro.content, draw))]))
    else:
        read_manifest_list("list", damaged(raw, draw))
    return "read"


def vector(draw: random.Random) -> str:
    """Its checksum tells every damage but that of one who computes it anew."""
    positions = _positions(draw)
    blob = vector_blob(positions)
    if draw.random() < 0.5:
        body = damaged(blob[8:-4], draw)
        body = blob[4:8] + body
        blob = struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))
        found = vector_positions(blob, len(positions), "here")
        if len(found) != len(positions) or (np.diff(found) <= 0).any():
            raise Wrong(f"{len(found)} positions, not ascending or not {len(positions)}")
        return "read with a new checksum"
    return _compared(vector_positions(damaged(blob, draw), len(positions), "here"), positions)


def puffin(draw: random.Random) -> str:
    table, written = _marked_table(3)
    positions = _positions(draw)
    (mark,) = table.vectors({written.file.location: positions})
    _damage(table.store, mark.file.location, draw)
    return _compared(_positions_read(table.store, Candidate(written.file, (mark.file,))), positions)


def position_deletes(draw: random.Random) -> str:
    table, written = _marked_table(2)
    positions = _positions(draw)
    mark = table.positions([(written, each) for each in positions])
    _damage(table.store, mark.file.location, draw)
    return _compared(_positions_read(table.store, Candidate(written.file, (mark.file,))), positions)


def _positions(draw: random.Random) -> list[int]:
    return sorted(draw.sample(range(ROWS), draw.choice([1, 3, 40, 900])))


def _marked_table(version: int) -> tuple[TableWithPast, Written]:
    table = TableWithPast(MemoryStore(), Schema((ID,)), format_version=version)
    written = table.file([{ID.id: 1}])
    file = replace(written.file, record_count=ROWS, partition=PartitionKey(0), data_sequence_number=0)
    table.commit([written])
    return table, replace(written, file=file)


def _damage(store: MemoryStore, location: str, draw: random.Random) -> None:
    store.write(location, damaged(store.read(location), draw))


def _positions_read(store: MemoryStore, candidate: Candidate) -> np.ndarray:
    return DeleteReader("t", {}, store).positions(candidate)


def _compared(found: np.ndarray, expected: list[int]) -> str:
    if found.tolist() != expected:
        raise Wrong(f"{len(found)} positions, expected {len(expected)}")
    return "read"


def _same_by_both_decoders(raw: bytes) -> None:
    """What one finds the other finds, or there is nothing to be found at once."""
    avro = _avro(raw)
    if avro is None or not avro.count:
        return
    expected, found = (_understood(decode, avro) for decode in (one_by_one, at_once))
    if found is not None and found != expected:
        raise Wrong("the decoders differ" if expected is not None else "one decoder refuses")


def _understood(decode: Callable[[AvroFile], Column | None], avro: AvroFile) -> object:
    """None when it is refused, or left to the other decoder."""
    try:
        column = decode(avro)
        return None if column is None else plain(column, avro.count)
    except Exception:  # noqa: BLE001 -- decoders raise whatever they do, callers of both make it one error
        return None


def _avro(raw: bytes) -> AvroFile | None:
    try:
        return read_avro(raw)
    except Exception:  # noqa: BLE001 -- see above
        return None


ATTACKS: dict[str, tuple[Attack, int]] = {
    "manifest": (manifest, 1500),
    "manifest list": (manifest_list, 800),
    "vector": (vector, 800),
    "puffin": (puffin, 300),
    "position deletes": (position_deletes, 500),
}


def outcomes(seeds: range) -> Iterator[tuple[str, str, str]]:
    for name, (attack, times) in ATTACKS.items():
        for number in range(times * seeds.start, times * seeds.stop):
            began = time.perf_counter()
            try:
                answer, why = attack(random.Random(f"{name} {number}")), ""
            except (CorruptTable, Unsupported) as error:
                answer, why = "refused", str(error)
            except Exception as error:  # noqa: BLE001 -- whatever is not a typed error is what is looked for
                answer, why = "wrong", f"{name} {number}: {error!r}"
            took = time.perf_counter() - began
            yield name, answer if took < SECONDS_EACH_MAX else "wrong", why or f"{name} {number} took {took:.1f} s"


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX))
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    manifests(), manifest_lists()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts: dict[str, Counter[str]] = {name: Counter() for name in ATTACKS}
    wrong = []
    for name, answer, why in outcomes(range(first, first + 1)):
        counts[name][answer] += 1
        wrong += [why] if answer == "wrong" else []
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    json.dump({"counts": counts, "wrong": wrong, "grown_kilobytes": grown}, sys.stdout)


if __name__ == "__main__":
    main()
