"""Durations of the steps of one request, and spans as plain values, made once a request or a job has ended.

OpenTelemetry is not involved yet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from proxy.telemetry.metrics import STEP_SECONDS

Value = str | int | float | bool | Sequence[str]
Kind = Literal["internal", "server", "client"]


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


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of time and what was done in it.

    Args:
        name: Of few.
        start_s: By ``time.perf_counter``.
        end_s: By the same clock.
        kind: Whose side it is.
        attributes: None of them holds content, a key or a user's own name.
        error: Kind of the failure; "" where there was none.
        children: What was done meanwhile, on its behalf.
    """

    name: str
    start_s: float
    end_s: float
    kind: Kind = "internal"
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str = ""
    children: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of a model, for the GenAI metrics.

    Args:
        seconds: From the request to the end of the reply.
        first_s: To the first event of a stream; None: no stream, or nothing came.
        input_tokens: As the provider counted; None: it did not say.
        output_tokens: Likewise.
        attributes: The conventions', of few values.
    """

    seconds: float
    first_s: float | None
    input_tokens: int | None
    output_tokens: int | None
    attributes: Mapping[str, Value]


class WallClock:
    """Turns readings of ``time.perf_counter`` into nanoseconds since 1970."""

    def __init__(self) -> None:
        self._offset_ns = time.time_ns() - time.perf_counter_ns()

    def ns(self, reading_s: float) -> int:
        """Return when a reading was taken."""
        return self._offset_ns + int(reading_s * 1e9)


def nested(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in order of time, each one that another one holds as its child."""
    done: list[Span] = []
    pending = sorted(spans, key=lambda one: (one.start_s, -one.end_s))
    while pending:
        first, *rest = pending
        inner = [one for one in rest if one.end_s <= first.end_s]
        pending = [one for one in rest if one.end_s > first.end_s]
        done.append(replace(first, children=(*first.children, *nested(inner))))
    return tuple(done)
