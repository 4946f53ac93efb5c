"""Which tables of other engines are there to be read, and which rows do they hold?

The tables lie outside the repository: where LAKEWRIGHT_TABLES points, else in `shared/tables` beside it. Their README
says how they are described.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Expected:
    """Rows of one snapshot, the current one when there is no id: their number, their digest, perhaps themselves.

    With a ref they are what the branch or tag shows.
    """

    snapshot_id: int | None
    row_count: int
    sha256: str
    file: Path | None = None
    ref: str | None = None

    @property
    def lines(self) -> list[str] | None:
        return None if self.file is None else self.file.read_text("utf-8").splitlines()


@dataclass(frozen=True)
class ForeignTable:
    """One table of the corpus; a damaged one has no expected rows."""

    name: str
    features: frozenset[str]
    metadata_location: str
    moved: Mapping[str, str]
    refs: Mapping[str, int]
    expected: tuple[Expected, ...]
    is_damaged: bool


def folder() -> Path:
    given = os.environ.get("LAKEWRIGHT_TABLES")
    return Path(given) if given else REPOSITORY.parent / "shared" / "tables"


@cache
def iceberg_tables() -> tuple[ForeignTable, ...]:
    """None when the corpus is not there."""
    index = folder() / "INDEX.json"
    if not index.is_file():
        return ()
    entries = json.loads(index.read_text("utf-8"))["tables"]
    return tuple(_table(entry) for entry in entries if entry["format"] == "iceberg")


def _table(entry: Mapping[str, object]) -> ForeignTable:
    root = folder() / entry["dir"]
    prefixes = entry["location_prefixes"]
    is_damaged = bool(entry.get("bad"))
    expected: tuple[Expected, ...] = ()
    if not is_damaged:
        expected = (_current(entry["expected"], root), *map(_older, entry.get("history", ())))
    return ForeignTable(
        name=entry["name"],
        features=frozenset(entry.get("features", ())),
        metadata_location=f"{entry.get('location', prefixes[0])}/{entry['metadata_file']}",
        moved={prefix: str(root) for prefix in prefixes},
        refs=_main(entry) | entry.get("refs", {}),
        expected=(*expected, *_of_refs(entry, expected)),
        is_damaged=is_damaged,
    )


def _current(node: Mapping[str, object], root: Path) -> Expected:
    return Expected(None, node["rows"], node["sha256"], root.parent / node["file"] if "file" in node else None)


def _older(node: Mapping[str, object]) -> Expected:
    return Expected(node["snapshot_id"], node["rows"], node["sha256"])


def _main(entry: Mapping[str, object]) -> dict[str, int]:
    """The branch that every table with a version has, although old writers do not record it."""
    current = entry.get("current_snapshot_id")
    return {} if current in (None, -1) else {"main": current}


def _of_refs(entry: Mapping[str, object], expected: tuple[Expected, ...]) -> Iterator[Expected]:
    """A ref shows the rows of its snapshot."""
    by_snapshot = {each.snapshot_id or entry["current_snapshot_id"]: each for each in expected}
    for name, snapshot_id in entry.get("refs", {}).items():
        yield replace(by_snapshot[snapshot_id], snapshot_id=None, ref=name)
