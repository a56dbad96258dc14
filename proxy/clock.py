"""The one place that reads the clock, so that tests can turn it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

PRESENT = timedelta(days=1)  # that a turn may wait to be learned, and still be of the present
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_FIRST_MS = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND
_LAST_MS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND


class Clock:
    """The wall clock in UTC and a monotonic one for durations."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()


class ManualClock(Clock):
    """A clock that moves only when told to; the test double of ``Clock``."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed_s = 0.0

    def now(self) -> datetime:
        """Return the time it was set or advanced to."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds it was advanced by."""
        return self._elapsed_s

    def advance(self, delta: timedelta) -> None:
        """Move both clocks forward."""
        self._now += delta
        self._elapsed_s += delta.total_seconds()


def to_ms(moment: datetime) -> int:
    """Return whole milliseconds since the epoch, cut off as ``iso`` does, the form in which times are stored."""
    return (moment - _EPOCH) // _MILLISECOND


@lru_cache(maxsize=4096)  # the times of a row are mostly one
def from_ms(ms: int) -> datetime:
    """Return the aware UTC time of a stored number of milliseconds; the nearest one that a ``datetime`` can hold."""
    return _EPOCH + timedelta(milliseconds=min(max(ms, _FIRST_MS), _LAST_MS))


def is_storable(ms: float) -> bool:
    """Return whether a number of milliseconds since the epoch is a time that a ``datetime`` can hold."""
    return _FIRST_MS <= ms <= _LAST_MS


def in_utc(moment: datetime) -> datetime:
    """Return an aware time in UTC; the check of every time that comes from outside.

    Raises:
        ValueError: If no ``datetime`` can hold it there, such as 9999-12-31T23:59:59-05:00.
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("in UTC it is before the year 1 or after 9999; name a time in between") from error


def shifted(moment: datetime, by: timedelta) -> datetime:
    """Return the sum; the nearest time that a ``datetime`` can hold.

    >>> shifted(datetime(9999, 12, 31, tzinfo=UTC), timedelta(days=2)).year
    9999
    """
    try:
        return moment + by
    except OverflowError:
        is_later, zone = by > timedelta(), moment.tzinfo
        return datetime.max.replace(tzinfo=zone) if is_later else datetime.min.replace(tzinfo=zone)


def came_before(moment: datetime, said: datetime, now: datetime) -> bool:
    """Return whether something of a time came before what was said at ``said``, where both are known by ``now``.

    A time that is still to come is a wrong one, of a clock that ran ahead: all that is said at present follows it.
    What is told of the past, as in a replay, follows only what its own time says.
    """
    return moment <= said or (moment > now and timedelta() <= now - said <= PRESENT)


def iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC with ``Z``, the form in which times are shown: alike before and after they are stored.

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
    """Return the aware time of an ISO 8601 string at its own offset; UTC where it names none.

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
