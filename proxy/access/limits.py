"""Limits of one key: requests and tokens a minute, streams at a time.

Each process counts separately: with ``--workers N`` each grants the N-th part of the rates, and at least one request
and one stream.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field

from proxy.clock import Clock
from proxy.dialects.usage import UsageMeter
from proxy.errors import RateLimited
from proxy.telemetry.metrics import LIMITED
from proxy.types import Allowance

_MINUTE_S = 60.0
_MAX_HOLDERS = 10_000
_STREAM_RETRY_S = 1.0
_ROUNDING = 1e-6


class Bucket:
    """A token bucket (Turner, IEEE Communications 1986): its capacity at once, and the same again within a minute.

    Taking more than the level leaves a debt, which is paid off before anything else is granted.

    Args:
        capacity: Per minute, positive.
        now: Monotonic seconds.
    """

    __slots__ = ("_at", "_level", "capacity")

    def __init__(self, capacity: float, now: float) -> None:
        self.capacity = capacity
        self._level = capacity
        self._at = now

    def level(self, now: float) -> float:
        """Return the level; a negative level is a debt."""
        self._level = min(self.capacity, self._level + (now - self._at) * self.capacity / _MINUTE_S)
        self._at = now
        return self._level

    def wait_s(self, amount: float, now: float) -> float:
        """Return the seconds until ``amount`` is available; for more than the capacity, until the bucket is full."""
        missing = min(amount, self.capacity) - self.level(now)
        return missing * _MINUTE_S / self.capacity if missing > _ROUNDING else 0.0

    def take(self, amount: float) -> None:
        """Take an amount; a negative amount gives some back."""
        self._level = min(self.capacity, self._level - amount)


@dataclass(slots=True)
class _Account:
    requests: Bucket | None = None
    tokens: Bucket | None = None
    streams: int = 0

    def is_idle(self, now: float) -> bool:
        """Return whether the account equals a fresh one."""
        buckets = [bucket for bucket in (self.requests, self.tokens) if bucket is not None]
        return not self.streams and all(bucket.level(now) >= bucket.capacity for bucket in buckets)


class Limits:
    """Usage by holder of an allowance.

    Args:
        clock: Time source.
        processes: Number of processes that share the allowances.
    """

    def __init__(self, clock: Clock, *, processes: int = 1) -> None:
        self._clock = clock
        self._processes = processes
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def admit(self, holder: str, allowance: Allowance) -> Ticket:
        """Count a request.

        Raises:
            RateLimited: If the holder has no requests left for now; nothing is counted then.
        """
        if not allowance.is_limited:
            return UNLIMITED
        now = self._clock.monotonic()
        account = self._account(holder, now)
        account.requests = self._bucket(account.requests, allowance.requests_per_minute, now)
        account.tokens = self._bucket(account.tokens, allowance.tokens_per_minute, now)
        ticket = Ticket(self._clock, account, allowance, self._part(allowance.concurrent_streams))
        if account.requests is not None:
            if wait_s := account.requests.wait_s(1, now):
                raise ticket.refusal("requests", f"{allowance.requests_per_minute} requests a minute", wait_s)
            account.requests.take(1)
        return ticket

    def _account(self, holder: str, now: float) -> _Account:
        account = self._accounts.get(holder)
        if account is None:
            if len(self._accounts) >= _MAX_HOLDERS:
                self._forget(now)
            account = self._accounts[holder] = _Account()
        self._accounts.move_to_end(holder)
        return account

    def _forget(self, now: float) -> None:
        """Drop the idle holders; if none is idle, the least recently used one."""
        idle = [holder for holder, account in self._accounts.items() if account.is_idle(now)]
        for holder in idle or [next(iter(self._accounts))]:
            del self._accounts[holder]

    def _bucket(self, bucket: Bucket | None, per_minute: int | None, now: float) -> Bucket | None:
        capacity = self._part(per_minute)
        if capacity is None:
            return None
        return bucket if bucket is not None and bucket.capacity == capacity else Bucket(capacity, now)

    def _part(self, amount: int | None) -> float | None:
        return None if amount is None else max(1.0, amount / self._processes)


@dataclass(slots=True, eq=False)
class Ticket:
    """One admitted request; close it when its reply ends, however it ends."""

    _clock: Clock
    _account: _Account
    allowance: Allowance
    _most_streams: float | None
    _meter: UsageMeter | None = None
    _reserved: int = 0
    _holds_stream: bool = False
    _has_failed: bool = False
    _is_closed: bool = field(default=False)

    @property
    def counts_tokens(self) -> bool:
        """Return whether the reply has to be parsed for its token count."""
        return self._account.tokens is not None

    def reserve(self, *, tokens: int, is_stream: bool) -> None:
        """Reserve the expected tokens and stream of the request.

        Args:
            tokens: An estimate; the provider's count replaces it when the reply ends.
            is_stream: Whether the reply will be a stream.

        Raises:
            RateLimited: If the holder has no tokens or no stream left for now.
        """
        streams, bucket, allowance = self._account.streams, self._account.tokens, self.allowance
        if is_stream and self._most_streams is not None and streams >= self._most_streams:
            raise self.refusal("streams", f"{allowance.concurrent_streams} streams at a time", _STREAM_RETRY_S)
        if bucket is not None:
            if wait_s := bucket.wait_s(max(tokens, 1), self._clock.monotonic()):
                raise self.refusal("tokens", f"{allowance.tokens_per_minute} tokens a minute", wait_s)
            bucket.take(tokens)
            self._reserved = tokens
            self._meter = UsageMeter()
        if is_stream and self._most_streams is not None:
            self._account.streams += 1
            self._holds_stream = True

    def begin(self, status: int, coding: str = "") -> None:
        """Record status and content coding of the reply: an error costs no tokens."""
        self._has_failed = status >= 400
        if self._meter is not None:
            self._meter.decode(coding)

    def feed(self, chunk: bytes) -> None:
        """Meter a piece of the reply."""
        if self._meter is not None:
            self._meter.feed(chunk)

    def close(self) -> None:
        """Release the stream and settle the tokens; idempotent."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._holds_stream:
            self._account.streams -= 1
        if self._account.tokens is not None and self._meter is not None:
            used = 0 if self._has_failed else self._meter.tokens()
            if used is None:
                used = self._reserved + self._meter.events
            self._account.tokens.take(used - self._reserved)

    def headers(self) -> list[tuple[str, str]]:
        """Return the remaining limits, under OpenAI's header names."""
        now = self._clock.monotonic()
        found: list[tuple[str, str]] = []
        for kind, bucket in (("requests", self._account.requests), ("tokens", self._account.tokens)):
            if bucket is not None:
                left = bucket.level(now)
                found += [
                    (f"x-ratelimit-limit-{kind}", f"{bucket.capacity:.0f}"),
                    (f"x-ratelimit-remaining-{kind}", str(max(0, math.floor(left + _ROUNDING)))),
                    (f"x-ratelimit-reset-{kind}", f"{round(bucket.wait_s(bucket.capacity, now), 3):g}s"),
                ]
        return found

    def refusal(self, kind: str, limit: str, wait_s: float) -> RateLimited:
        """Return the error for a reached limit, with the time until the next try."""
        LIMITED.labels(kind).inc()
        told = {
            "retry-after": str(max(1, math.ceil(wait_s))),
            "retry-after-ms": str(math.ceil(wait_s * 1000)),
            **dict(self.headers()),
        }
        return RateLimited(
            f"Rate limit reached: this key may use {limit}. Try again in {math.ceil(wait_s * 10) / 10:g} s.",
            headers=told,
        )


class _Unlimited(Ticket):
    """A ticket without limits."""

    def reserve(self, *, tokens: int, is_stream: bool) -> None:
        del tokens, is_stream

    def close(self) -> None:
        pass


UNLIMITED: Ticket = _Unlimited(Clock(), _Account(), Allowance(), None)
