"""What are the real time and the real unique names? The one place that asks the machine for them."""

import random
import time
import uuid
from dataclasses import dataclass


@dataclass(frozen=True)
class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def seconds(self) -> float:
        return time.perf_counter()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True)
class RandomIds:
    def version(self) -> int:
        return uuid.uuid4().int >> 65 | 1

    def unique(self) -> str:
        return str(uuid.uuid4())

    def fraction(self) -> float:
        return random.random()
