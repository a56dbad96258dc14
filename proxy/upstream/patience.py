"""Timeout of a silent provider: as long as the client waits, and no longer than the operator allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.headers import find

# The silence that openai-python bears (its HTTP client's read timeout), and what openai-node waits for a reply's head.
_SILENCE_HEADER = "x-stainless-read-timeout"
_HEAD_HEADER = "x-stainless-timeout"


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds in seconds; None: none.

    Args:
        silence_s: Between two pieces of a reply, and before its head.
        head_s: From the sending of the request to the head of the reply.
        is_clients: The client itself set the tighter bound: when it is over, nobody waits any more.
    """

    silence_s: float | None
    head_s: float | None
    is_clients: bool


def patience(request: UpstreamRequest, target: Target) -> Patience:
    """Return how long to wait for this reply."""
    own = target.stream_timeout_s if request.stream and target.stream_timeout_s else target.timeout_s
    asked, head = _seconds(request.headers, _SILENCE_HEADER), _seconds(request.headers, _HEAD_HEADER)
    silence = min((one for one in (own, asked) if one is not None), default=None)
    asked_least = min((one for one in (asked, head) if one is not None), default=None)
    return Patience(silence, head, asked_least is not None and (own is None or asked_least <= own))


def _seconds(headers: Sequence[tuple[str, str]], name: str) -> float | None:
    text = find(headers, name)
    try:
        seconds = float(text) if text is not None else 0.0
    except ValueError:
        return None
    return seconds if 0 < seconds < math.inf else None
