"""Durations of a request's steps, and spans as plain values, made after a request or job has ended.

This module does not use OpenTelemetry.
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
    """One run of a step: its name, its start by ``time.perf_counter`` and its duration."""

    name: str
    start_s: float
    seconds: float

    @property
    def end_s(self) -> float:
        """End of the step, by the same clock."""
        return self.start_s + self.seconds


class Timings:
    """Durations of a request's steps, in the order in which they ended."""

    __slots__ = ("ms", "steps")

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self.steps: list[Step] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a block; repeated runs of a step are added up."""
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
    """A timed operation with its nested operations.

    Args:
        name: Name from a small set.
        start_s: Start by ``time.perf_counter``.
        end_s: End by the same clock.
        kind: Side of the operation, as in OpenTelemetry.
        attributes: Attributes without user texts, keys or names of users.
        error: Kind of the failure; "" for none.
        children: Nested operations.
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
    """A model call, for the GenAI metrics.

    Args:
        seconds: Time from the request to the end of the reply.
        first_s: Time to the first event of a stream; None without a stream or an event.
        input_tokens: Count by the provider; None if it gave none.
        output_tokens: As ``input_tokens``.
        attributes: Attributes of the GenAI conventions, with few distinct values.
    """

    seconds: float
    first_s: float | None
    input_tokens: int | None
    output_tokens: int | None
    attributes: Mapping[str, Value]


class WallClock:
    """Converter from ``time.perf_counter`` to nanoseconds since 1970."""

    def __init__(self) -> None:
        self._offset_ns = time.time_ns() - time.perf_counter_ns()

    def ns(self, reading_s: float) -> int:
        """Return the time of a reading."""
        return self._offset_ns + int(reading_s * 1e9)


def nested(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in order of time, with contained spans as children."""
    done: list[Span] = []
    pending = sorted(spans, key=lambda one: (one.start_s, -one.end_s))
    while pending:
        first, *rest = pending
        inner = [one for one in rest if one.end_s <= first.end_s]
        pending = [one for one in rest if one.end_s > first.end_s]
        done.append(replace(first, children=(*first.children, *nested(inner))))
    return tuple(done)
