"""What did an operation do? The value that every operation returns, and how it prints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True)
class Report:
    """True counts, as the user understands them. `version` is None when nothing was committed."""

    operation: str
    table: str
    version: int | None
    rows_inserted: int = 0
    files_added: int = 0
    bytes_added: int = 0
    attempts: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time by phase, in the order of the phases."""
    notes: tuple[str, ...] = ()
    """What a user should know: settings that were not honoured, why nothing was committed."""

    def __str__(self) -> str:
        return "\n".join(f"{label:<9} {text}" for label, text in self._lines())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in self._lines())
        return f"<table>{rows}</table>"

    def _lines(self) -> Iterator[tuple[str, str]]:
        outcome = "nothing committed" if self.version is None else f"version {self.version}"
        attempts = f", {counted(self.attempts, 'attempt')}" if self.attempts > 1 else ""
        yield self.operation, f"{self.table}: {outcome}{attempts}"
        if self.rows_inserted:
            yield "rows", f"{self.rows_inserted:,} inserted"
        if self.files_added:
            yield "files", f"{self.files_added:,} added, {readable_bytes(self.bytes_added)}"
        if self.seconds:
            phases = ", ".join(f"{phase} {seconds:.3f}" for phase, seconds in self.seconds.items())
            yield "seconds", phases
        for note in self.notes:
            yield "note", note


def readable_bytes(size: int) -> str:
    """A size in the unit that suits it."""
    amount = float(size)
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            break
        amount /= 1024
    return f"{size:,} B" if unit == "B" else f"{amount:,.1f} {unit}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
