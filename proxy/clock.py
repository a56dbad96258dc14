"""Clocks and times; only this module reads the system clock, so that tests can set it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

PRESENT = timedelta(days=1)  # a turn learned within this delay counts as present; an older one is a replay of the past
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_FIRST_MS = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND
_LAST_MS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND


class Clock:
    """Wall clock in UTC, and a monotonic clock for durations."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()


class ManualClock(Clock):
    """Test double of ``Clock`` that moves only by ``advance``."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed_s = 0.0

    def now(self) -> datetime:
        """Return the time to which the clock was set or advanced."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds by which the clock was advanced."""
        return self._elapsed_s

    def advance(self, delta: timedelta) -> None:
        """Move both clocks forward."""
        self._now += delta
        self._elapsed_s += delta.total_seconds()


def to_ms(moment: datetime) -> int:
    """Return whole milliseconds since the epoch, truncated as in ``iso``; the stored form of a time."""
    return (moment - _EPOCH) // _MILLISECOND


@lru_cache(maxsize=4096)  # the several times of a row are mostly equal
def from_ms(ms: int) -> datetime:
    """Return the aware UTC time of stored milliseconds, clamped to the range of ``datetime``."""
    return _EPOCH + timedelta(milliseconds=min(max(ms, _FIRST_MS), _LAST_MS))


def is_storable(ms: float) -> bool:
    """Return whether a number of milliseconds since the epoch is in the range of ``datetime``."""
    return _FIRST_MS <= ms <= _LAST_MS


def in_utc(moment: datetime) -> datetime:
    """Return an aware time in UTC; every time from outside is checked by it.

    Raises:
        ValueError: If the UTC time is out of the range of ``datetime``, such as 9999-12-31T23:59:59-05:00.
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("in UTC it is before the year 1 or after 9999; name a time in between") from error


def shifted(moment: datetime, by: timedelta) -> datetime:
    """Return ``moment + by``, clamped to the range of ``datetime``.

    >>> shifted(datetime(9999, 12, 31, tzinfo=UTC), timedelta(days=2)).year
    9999
    """
    try:
        return moment + by
    except OverflowError:
        is_later, zone = by > timedelta(), moment.tzinfo
        return datetime.max.replace(tzinfo=zone) if is_later else datetime.min.replace(tzinfo=zone)


def came_before(moment: datetime, said: datetime, now: datetime) -> bool:
    """Return whether ``moment`` precedes a message of the time ``said``; both are known by ``now``.

    A future ``moment`` comes from a clock that ran ahead, so it precedes every message of the present (``PRESENT``).
    A message of the past, as in a replay, follows only moments up to its own time.
    """
    return moment <= said or (moment > now and timedelta() <= now - said <= PRESENT)


def iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC with ``Z``, the form of times in responses; storing a time does not change it.

    >>> iso(datetime(2026, 3, 1, 9, 30, 0, 999, UTC)), iso(datetime(2026, 3, 1, 9, 30, 0, 1000, UTC))
    ('2026-03-01T09:30:00Z', '2026-03-01T09:30:00.001Z')
    """
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds" if moment.microsecond >= 1000 else "seconds")
    return text.replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    """Return the aware UTC time of an ISO 8601 string or of seconds since the epoch.

    Raises:
        ValueError: If ``text`` is neither.
    """
    return parse_local_time(text).astimezone(UTC)


def parse_local_time(text: str) -> datetime:
    """Return the aware time of an ISO 8601 string at its own offset, UTC by default.

    Raises:
        ValueError: If ``text`` is neither ISO 8601 nor seconds since the epoch.
    """
    stripped = text.strip()
    try:
        return datetime.fromtimestamp(float(stripped), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromisoformat(stripped)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    in_utc(moment)
    return moment
