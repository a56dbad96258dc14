"""Failover: send one request to deployments in turn until one answers, before the client gets any byte.

Deployments that failed recently are tried last for a while.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

import structlog

from proxy.clock import Clock
from proxy.errors import ProxyError, Unauthorized
from proxy.process.threads import shielded
from proxy.telemetry.metrics import FAILOVERS, UPSTREAM_ERRORS, UPSTREAM_SECONDS
from proxy.upstream.base import ClientGaveUp, Target, UpstreamRequest, UpstreamResponse, WholeResponse
from proxy.upstream.headers import find

_log = structlog.get_logger(__name__)

# The deployment failed; and: its key or its list of models did, so that another deployment may still answer.
_TRANSIENT = frozenset({408, 429})
_ELSEWHERE = frozenset({401, 403, 404})
_OF_ACCOUNT = _ELSEWHERE | {429}

# Texts of providers' errors for a request that exceeds the context window.
_OVERFLOW = (b"context_length_exceeded", b"maximum context length", b"context window", b"prompt is too long")
_MAX_OVERFLOW_BYTES = 64 * 1024
_MAX_PAUSE_S = 30.0

Make = Callable[[Target], Awaitable[UpstreamRequest]]

_MINUTE_S = 60.0
_MAX_COOLDOWN_S = 600.0
_MAX_PLACES = 4096


@dataclass(frozen=True, slots=True)
class Attempt:
    """Record of one try.

    Args:
        target: Target of the try.
        start_s: Start, by ``time.perf_counter``.
        end_s: Arrival of the reply's head, or failure of the try.
        status: Status of the reply; 0 without one.
        error: Code of the ProxyError if there was no reply.
    """

    target: Target
    start_s: float
    end_s: float
    status: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Try:
    """One step of a plan: a target, and the pause before it in seconds."""

    target: Target
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Targets of a request, in order.

    Args:
        tries: Tries in order, at least one.
        wider: Further tries if the request exceeds the model's context window.
    """

    tries: tuple[Try, ...]
    wider: tuple[Try, ...] = ()

    @property
    def first(self) -> Target:
        """The target that is tried first."""
        return self.tries[0].target


@dataclass(slots=True)
class _Record:
    failures: deque[float] = field(default_factory=deque)
    until: float = 0.0


class Health:
    """Failures by place; a place is a deployment, or one account at it if the client's own key is sent there.

    Args:
        clock: Clock of the failures.
        allowed_fails: Failures within a minute that a place may have before its cooldown.
        cooldown_s: Length of the cooldown; 0: none.
    """

    def __init__(self, clock: Clock, *, allowed_fails: int = 0, cooldown_s: float = 5.0) -> None:
        self._clock = clock
        self._allowed_fails = allowed_fails
        self._cooldown_s = cooldown_s
        self._records: dict[str, _Record] = {}

    def fail(self, place: str, *, retry_after_s: float = 0.0) -> None:
        """Note a failure; ``Retry-After`` extends the cooldown, up to ten minutes."""
        now = self._clock.monotonic()
        if place not in self._records and len(self._records) >= _MAX_PLACES:
            self._forget(now)
        record = self._records.setdefault(place, _Record())
        record.failures.append(now)
        while record.failures[0] <= now - _MINUTE_S:
            record.failures.popleft()
        if len(record.failures) > self._allowed_fails and self._cooldown_s > 0:
            record.failures.clear()
            record.until = now + max(self._cooldown_s, min(retry_after_s, _MAX_COOLDOWN_S))

    def is_cooling(self, place: str) -> bool:
        """Return whether a place is in its cooldown."""
        record = self._records.get(place)
        return record is not None and self._clock.monotonic() < record.until

    def _forget(self, now: float) -> None:
        """Drop expired records; if too many remain, drop all: this only changes the order of tries."""
        kept = {
            place: record
            for place, record in self._records.items()
            if now < record.until or (record.failures and record.failures[-1] > now - _MINUTE_S)
        }
        self._records = kept if len(kept) < _MAX_PLACES else {}


def tries_of(targets: Sequence[Target], *, num_retries: int, retry_after_s: float) -> Iterator[Try]:
    """Yield every target once, then again in turn until there are enough retries.

    Args:
        targets: Deployments of one model, best first.
        num_retries: Minimum number of tries after the first.
        retry_after_s: Pause before a deployment is tried again; doubles each time, up to 30 s.
    """
    yield from (Try(target) for target in targets)
    again = max(0, num_retries - len(targets) + 1) if targets else 0
    for number, target in enumerate(islice(cycle(targets), again)):
        yield Try(target, min(retry_after_s * 2 ** (number // len(targets)), _MAX_PAUSE_S))


async def send(
    plan: Plan, make: Make, health: Health, log: list[Attempt] | None = None
) -> tuple[Target, UpstreamResponse]:
    """Send the request; return the target that answered, and its reply once the head has arrived.

    If further tries are left, the reply's first byte has arrived as well. If all fail, the result is the last error
    reply of a provider, unchanged.

    Args:
        plan: Targets in order.
        make: Builds the request for a target.
        health: Record of failures.
        log: Receives every attempt.

    Raises:
        ProxyError: If no provider replied at all; the last failure.
    """
    attempts = _Attempts(health, make, [] if log is None else log)
    try:
        await attempts.run(plan.tries)
        if plan.wider and await attempts.has_overflowed():
            await attempts.run(plan.wider)
        return attempts.outcome()
    except BaseException:
        await attempts.drop()
        raise


class _Attempts:
    """Attempts of one request; at most one reply is open at a time."""

    def __init__(self, health: Health, make: Make, log: list[Attempt]) -> None:
        self._health = health
        self._make = make
        self._log = log
        self._held: tuple[Target, UpstreamResponse] | None = None
        self._error: ProxyError | None = None

    async def run(self, tries: Sequence[Try]) -> None:
        """Try one target after the other until one answers."""
        for number, step in enumerate(tries, 1):
            if step.pause_s:
                await asyncio.sleep(step.pause_s)
            others = {later.target.deployment for later in tries[number:]} - {step.target.deployment}
            if await self._serves(step.target, is_last=number == len(tries), has_others=bool(others)):
                return

    async def has_overflowed(self) -> bool:
        """Return whether the reply says that the request exceeds the context window; afterwards it is a whole one."""
        if self._held is None or self._held[1].status not in (400, 413):
            return False
        target, response = self._held
        body = b"".join([chunk async for chunk in response.chunks()])
        await self.drop()
        self._held = (target, WholeResponse(response.status, response.headers, body))
        return any(sign in body[:_MAX_OVERFLOW_BYTES].lower() for sign in _OVERFLOW)

    def outcome(self) -> tuple[Target, UpstreamResponse]:
        """Return the reply to relay; raise the last error if there is none."""
        if self._held is None:
            assert self._error is not None
            raise self._error
        return self._held

    async def drop(self) -> None:
        """Close the open reply."""
        held, self._held = self._held, None
        if held is not None:
            await shielded(held[1].aclose(), "close reply")

    async def _serves(self, target: Target, *, is_last: bool, has_others: bool) -> bool:
        try:
            response = await self._timed(target)
            if not is_last and response.status < 400:
                response = await _begun(response)
        except ClientGaveUp:
            raise
        except ProxyError as error:
            if error.status < 500 and not isinstance(error, Unauthorized):
                raise
            self._error = error
            self._note(target, error.status, error.headers.get("retry-after"), is_last=is_last)
            return False
        await self.drop()
        self._held = (target, response)
        if not _has_failed(response.status, has_others=has_others):
            return True
        self._note(target, response.status, find(response.headers, "retry-after"), is_last=is_last)
        return False

    async def _timed(self, target: Target) -> UpstreamResponse:
        request = await self._make(target)
        start, status, code = time.perf_counter(), 0, "cancelled"
        try:
            response = await target.upstream.send(request, target)
            status, code = response.status, ""
        except ProxyError as error:
            code = error.code or type(error).__name__
            raise
        finally:
            end = time.perf_counter()
            self._log.append(Attempt(target, start, end, status, code))
            UPSTREAM_SECONDS.labels(target.provider).observe(end - start)
            if status >= 400 or code not in ("", "cancelled"):
                UPSTREAM_ERRORS.labels(target.provider, str(status) if status else code).inc()
        return response

    def _note(self, target: Target, status: int, retry_after: str | None, *, is_last: bool) -> None:
        place = target.account if status in _OF_ACCOUNT else target.deployment
        self._health.fail(place, retry_after_s=_seconds(retry_after))
        if not is_last:
            FAILOVERS.labels(target.provider, str(status)).inc()
            _log.warning("a deployment failed, trying on", provider=target.provider, status=status)


def _has_failed(status: int, *, has_others: bool) -> bool:
    return status >= 500 or status in _TRANSIENT or (has_others and status in _ELSEWHERE)


def _seconds(text: str | None) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0


@dataclass(slots=True)
class _Begun:
    """A reply whose first chunk has arrived."""

    response: UpstreamResponse
    first: bytes
    rest: AsyncIterator[bytes]

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def headers(self) -> list[tuple[str, str]]:
        return self.response.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        if self.first:
            yield self.first
        async for chunk in self.rest:
            yield chunk

    async def aclose(self) -> None:
        await self.response.aclose()


async def _begun(response: UpstreamResponse) -> UpstreamResponse:
    """Wait for the first chunk: if a reply breaks off before it, another target can still answer."""
    rest = response.chunks()
    try:
        first = await anext(rest, b"")
    except BaseException:
        await shielded(response.aclose(), "close reply")
        raise
    return _Begun(response, first, rest)
