"""Pauses and leases of the background half; tests put a faster pace in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Pauses between steps of work, in seconds, and how often a step is tried.

    Attributes:
        lease_s: After so long without a sign of life a dead worker's user is taken over (``worker.lease_s``).
        retry_s: First pause before another try; doubles each time.
        max_attempts: Tries of a turn or a file before it is set aside.
        gather_s: Pause before new turns are indexed, so that a burst is one write.
        poll_s: Between looks for work that other processes left.
        learn_s: Pause before an indexed turn is learned from.
        judge_s: Pause in the chat before the model is asked (``memory.model_debounce_s``).
        busy_s: Longest that a busy chat may put off learning.
    """

    lease_s: float = 30.0
    retry_s: float = 1.0
    max_attempts: int = 6  # with pauses of 1, 2, 4 … s: half a minute
    gather_s: float = 0.05
    poll_s: float = 0.5
    learn_s: float = 0.1
    judge_s: float = 4.0
    busy_s: float = 30.0
