"""Rules for every step: the only blind ``except`` (memory fails open, and is noted as degraded), and large bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import structlog

from proxy.pipeline.exchange import Exchange
from proxy.process.threads import in_thread
from proxy.telemetry import DEGRADED

P = ParamSpec("P")
T = TypeVar("T")

_LARGE_BYTES = 500_000  # of a body; work on all of it would block the event loop for other requests

_log = structlog.get_logger(__name__)


async def beside_loop(body: bytes, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function whose time grows with the body; in a thread if the body is large."""
    if len(body) < _LARGE_BYTES:
        return function(*args, **kwargs)
    return await in_thread("cpu", function, *args, **kwargs)


@contextmanager
def best_effort(exchange: Exchange, reason: str, *, deadline_reason: str = "deadline") -> Iterator[None]:
    """Run a block that may fail; its failure is noted under ``reason``, and the request goes on.

    Cancellation (the client disconnected) passes through; a passed deadline is noted as ``deadline_reason``.
    """
    try:
        yield
    except TimeoutError:
        _note(exchange, deadline_reason, "TimeoutError")
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever breaks in memory must not break the chat
        _note(exchange, reason, type(error).__name__)


def _note(exchange: Exchange, reason: str, error: str) -> None:
    exchange.degrade(reason)
    DEGRADED.labels(reason).inc()
    _log.warning("memory step failed, the request goes on without it", reason=reason, error=error)
