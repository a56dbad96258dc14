"""Pauses and leases of the background half. Only the lease is an operator's to choose; tests put a faster pace in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Pauses between steps of work, in seconds.

    Attributes:
        lease_s: The setting: after so long without a sign of life a dead worker's user is taken over.
        retry_s: First pause before another try; doubles each time.
        gather_s: Pause before new turns are indexed, so that a burst is one write.
        poll_s: Between looks for work that other processes left.
        learn_s: Pause before an indexed turn is learned from.
        judge_s: Pause in the chat before the model is asked: one call for several turns.
        busy_s: Longest that a busy chat may put off learning.
    """

    lease_s: float = 30.0
    retry_s: float = 1.0
    gather_s: float = 0.05
    poll_s: float = 0.5
    learn_s: float = 0.1
    judge_s: float = 4.0
    busy_s: float = 30.0
