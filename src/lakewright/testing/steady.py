"""What gives the same times and names in every run?"""

from dataclasses import dataclass, field
from threading import Lock

_START_MS = 1_700_000_000_000


@dataclass
class FixedClock:
    """Time moves by sleeping only, and sleeping takes no time."""

    ms: int = _START_MS
    slept: float = 0.0

    def now_ms(self) -> int:
        return self.ms

    def seconds(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.ms += round(seconds * 1000)


@dataclass
class CountingIds:
    """Counts from where it was told to; two that are to differ are told to begin far apart."""

    last: int = 0
    share: float = 0.5
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def version(self) -> int:
        return self._next()

    def unique(self) -> str:
        """In the form of a UUID, which some formats ask for."""
        digits = f"{self._next():032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def fraction(self) -> float:
        return self.share

    def _next(self) -> int:
        with self._lock:
            self.last += 1
            return self.last
