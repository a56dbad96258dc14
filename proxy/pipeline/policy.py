"""The one blind except: memory may fail, the chat goes on and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from proxy.pipeline.exchange import Exchange
from proxy.telemetry import DEGRADED

_log = structlog.get_logger(__name__)


@contextmanager
def best_effort(exchange: Exchange, reason: str, *, deadline_reason: str = "deadline") -> Iterator[None]:
    """Run a block whose failure leaves the exchange without it, noted under ``reason``.

    Cancellation (the client hung up) goes through; a passed deadline is noted as ``deadline_reason``.
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
