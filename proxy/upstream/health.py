"""Recent failures of deployments, and their cooldown."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from proxy.clock import Clock

_MINUTE_S = 60.0
_MAX_S = 600.0
_MAX_PLACES = 4096


@dataclass(slots=True)
class _Record:
    failures: deque[float] = field(default_factory=deque)
    until: float = 0.0


class Health:
    """Failures by place; a place is a deployment, or one account at it where the client's own key goes there.

    Args:
        clock: Tells the time.
        allowed_fails: Failures within a minute that a place may have before it is left alone.
        cooldown_s: For how long; 0: never.
    """

    def __init__(self, clock: Clock, *, allowed_fails: int = 0, cooldown_s: float = 5.0) -> None:
        self._clock = clock
        self._allowed_fails = allowed_fails
        self._cooldown_s = cooldown_s
        self._records: dict[str, _Record] = {}

    def fail(self, place: str, *, retry_after_s: float = 0.0) -> None:
        """Note a failure; a provider that says when to come back is left alone until then, ten minutes at most."""
        now = self._clock.monotonic()
        if place not in self._records and len(self._records) >= _MAX_PLACES:
            self._forget(now)
        record = self._records.setdefault(place, _Record())
        record.failures.append(now)
        while record.failures[0] <= now - _MINUTE_S:
            record.failures.popleft()
        if len(record.failures) > self._allowed_fails and self._cooldown_s > 0:
            record.failures.clear()
            record.until = now + max(self._cooldown_s, min(retry_after_s, _MAX_S))

    def is_cooling(self, place: str) -> bool:
        """Whether a place is left alone now."""
        record = self._records.get(place)
        return record is not None and self._clock.monotonic() < record.until

    def _forget(self, now: float) -> None:
        """Drop what no longer matters; of too many that do, all: they are only tried in another order."""
        kept = {
            place: record
            for place, record in self._records.items()
            if now < record.until or (record.failures and record.failures[-1] > now - _MINUTE_S)
        }
        self._records = kept if len(kept) < _MAX_PLACES else {}
