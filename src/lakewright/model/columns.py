"""What is known of many files at once? One column for each fact, so that planning judges files by the thousand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.types import Value

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

UNKNOWN = -1
"""Stands for a count that a writer left out."""


@dataclass(frozen=True)
class Pieces:
    """Byte strings that lie in one content; a negative length says that there is none."""

    content: bytes
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, values: Sequence[bytes | None]) -> "Pieces":
        lengths = np.array([UNKNOWN if value is None else len(value) for value in values], np.int64)
        sizes = np.maximum(lengths, 0)
        return cls(b"".join(value or b"" for value in values), np.cumsum(sizes) - sizes, lengths)

    @cached_property
    def known(self) -> Bools:
        return self.lengths >= 0

    def at(self, row: int) -> bytes | None:
        start, length = int(self.starts[row]), int(self.lengths[row])
        return self.content[start : start + length] if length >= 0 else None


@dataclass(frozen=True)
class _ById:
    """Something for some of the fields of some of the files, in any order."""

    files: Ints
    ids: Ints

    def places(self, row: int) -> Ints:
        """Where the values of one file are."""
        files = self._ordered_files
        if not len(files) or row > files[-1]:
            return self._order[:0]
        number = files.dtype.type(row)  # for a number of another type all of them would be copied
        first, last = (np.searchsorted(files, number, side) for side in ("left", "right"))
        places: Ints = self._order[first:last]
        return places

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.files, kind="stable")

    @cached_property
    def _ordered_files(self) -> Ints:
        return self.files[self._order]


@dataclass(frozen=True)
class CountsById(_ById):
    """A count for each."""

    values: Ints

    @classmethod
    def of(cls, mappings: Sequence[Mapping[int, int]]) -> "CountsById":
        triples = [(row, key, value) for row, mapping in enumerate(mappings) for key, value in mapping.items()]
        files, ids, values = np.array(triples, np.int64).reshape(-1, 3).T
        return cls(files, ids, values)

    def of_field(self, field_id: int, count: int) -> Ints:
        """For each of so many files."""
        found = np.flatnonzero(self.ids == field_id)
        counts = np.full(count, UNKNOWN, np.int64)
        counts[self.files[found]] = self.values[found]
        return counts

    def moved(self, places: Ints) -> "CountsById":
        files = places[self.files]
        kept = np.flatnonzero(files >= 0)
        return CountsById(files[kept], self.ids[kept], self.values[kept])

    def of_file(self, row: int) -> dict[int, int]:
        places = self.places(row)
        return dict(zip(self.ids[places].tolist(), self.values[places].tolist(), strict=True))


@dataclass(frozen=True)
class BoundsById(_ById):
    """A bound for each, as it is encoded."""

    values: Pieces

    @classmethod
    def of(cls, mappings: Sequence[Mapping[int, bytes]]) -> "BoundsById":
        triples = [(row, key, value) for row, mapping in enumerate(mappings) for key, value in mapping.items()]
        files, ids = (np.array([triple[place] for triple in triples], np.int64) for place in (0, 1))
        return cls(files, ids, Pieces.of([triple[2] for triple in triples]))

    def of_field(self, field_id: int, count: int) -> Pieces:
        found = np.flatnonzero(self.ids == field_id)
        starts, lengths = np.zeros(count, np.int64), np.full(count, UNKNOWN, np.int64)
        starts[self.files[found]] = self.values.starts[found]
        lengths[self.files[found]] = self.values.lengths[found]
        return Pieces(self.values.content, starts, lengths)

    def moved(self, places: Ints) -> "BoundsById":
        files = places[self.files]
        kept = np.flatnonzero(files >= 0)
        pieces = self.values
        return BoundsById(
            files[kept], self.ids[kept], Pieces(pieces.content, pieces.starts[kept], pieces.lengths[kept])
        )

    def of_file(self, row: int) -> dict[int, bytes]:
        places = self.places(row)
        pieces = [self.values.at(place) for place in places.tolist()]
        known = zip(self.ids[places].tolist(), pieces, strict=True)
        return {field_id: piece for field_id, piece in known if piece is not None}


@dataclass(frozen=True)
class MetricColumns:
    """`FileMetrics` of many files."""

    column_sizes: CountsById
    value_counts: CountsById
    null_counts: CountsById
    nan_counts: CountsById
    lower_bounds: BoundsById
    upper_bounds: BoundsById

    def moved(self, places: Ints) -> "MetricColumns":
        """With the files where they are now; -1 for those that are left out."""
        return MetricColumns(
            self.column_sizes.moved(places),
            self.value_counts.moved(places),
            self.null_counts.moved(places),
            self.nan_counts.moved(places),
            self.lower_bounds.moved(places),
            self.upper_bounds.moved(places),
        )

    def of_file(self, row: int) -> FileMetrics:
        return FileMetrics(
            self.column_sizes.of_file(row),
            self.value_counts.of_file(row),
            self.null_counts.of_file(row),
            self.nan_counts.of_file(row),
            self.lower_bounds.of_file(row),
            self.upper_bounds.of_file(row),
        )


@dataclass(frozen=True)
class FileColumns:
    """The facts about some files of one partition spec by which they are judged."""

    spec_id: int
    record_counts: Ints
    partitions: tuple[Sequence[Value | None], ...]
    """For each field of the spec the values of all files."""
    metrics: MetricColumns = field(repr=False)

    @classmethod
    def of(cls, files: Sequence[DataFile]) -> "FileColumns":
        """Of files that are under one spec; at least one."""
        all_metrics = [file.metrics for file in files]
        return cls(
            spec_id=files[0].partition.spec_id,
            record_counts=np.array([file.record_count for file in files], np.int64),
            partitions=tuple(zip(*(file.partition.values for file in files), strict=True)),
            metrics=MetricColumns(
                CountsById.of([metrics.column_sizes for metrics in all_metrics]),
                CountsById.of([metrics.value_counts for metrics in all_metrics]),
                CountsById.of([metrics.null_counts for metrics in all_metrics]),
                CountsById.of([metrics.nan_counts for metrics in all_metrics]),
                BoundsById.of([metrics.lower_bounds for metrics in all_metrics]),
                BoundsById.of([metrics.upper_bounds for metrics in all_metrics]),
            ),
        )

    def __len__(self) -> int:
        return len(self.record_counts)

    def take(self, rows: Sequence[int]) -> "FileColumns":
        """Some of the files, numbered anew."""
        places = np.full(len(self), UNKNOWN, np.int64)
        places[list(rows)] = np.arange(len(rows))
        return FileColumns(
            self.spec_id,
            self.record_counts[list(rows)],
            tuple([values[row] for row in rows] for values in self.partitions),
            self.metrics.moved(places),
        )


def rows_where(mask: Bools) -> list[int]:
    """The numbers of the files for which it is true."""
    rows: list[int] = np.flatnonzero(mask).tolist()
    return rows
