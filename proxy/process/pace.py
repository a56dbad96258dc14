"""Pauses and leases of background work; tests use a faster pace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Pauses between steps of work, in seconds, and number of attempts.

    Attributes:
        lease_s: Lifetime of a lease without renewal, after which another worker takes over (``worker.lease_s``).
        retry_s: First pause before a retry; it doubles with each attempt.
        max_attempts: Attempts of a turn or a file before it is given up.
        gather_s: Pause before indexing new turns, so that a burst becomes one write.
        poll_s: Interval of polls for other processes' work.
        learn_s: Pause between indexing a turn and learning from it.
        judge_s: Pause in the chat before the judge is called (``memory.model_debounce_s``).
        busy_s: Maximum delay of learning in a busy chat.
    """

    lease_s: float = 30.0
    retry_s: float = 1.0
    max_attempts: int = 6  # with pauses of 1, 2, 4 … s, half a minute in total
    gather_s: float = 0.05
    poll_s: float = 0.5
    learn_s: float = 0.1
    judge_s: float = 4.0
    busy_s: float = 30.0
