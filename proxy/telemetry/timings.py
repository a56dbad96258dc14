"""Durations of the steps of one request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from proxy.telemetry.metrics import STEP_SECONDS


class Step(NamedTuple):
    """One run of a step: its name, when it began by ``time.perf_counter``, and how long it took."""

    name: str
    start_s: float
    seconds: float

    @property
    def end_s(self) -> float:
        """When it ended, by the same clock."""
        return self.start_s + self.seconds


class Timings:
    """Durations of the steps of one request, in the order in which they ended."""

    __slots__ = ("ms", "steps")

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self.steps: list[Step] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a block; a step that runs twice adds up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self.ms[name] = self.ms.get(name, 0.0) + seconds * 1000
            self.steps.append(Step(name, start, seconds))
            STEP_SECONDS.labels(name).observe(seconds)

    def header(self) -> str:
        """Return the value of a ``Server-Timing`` header."""
        return ", ".join(f"{name};dur={ms:.2f}" for name, ms in self.ms.items())
