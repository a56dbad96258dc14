"""Fake model of background calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.memory.model.call import Completion


class ScriptedComplete:
    """``Complete`` that returns prepared replies in order and records each request.

    Attributes:
        asked: Messages of each call.
        schemas: Schema of each call.
        limits: ``max_tokens`` and ``temperature`` of each call.
    """

    def __init__(self, *replies: Completion | Exception | str) -> None:
        self._replies = list(replies)
        self.asked: list[list[dict[str, str]]] = []
        self.schemas: list[Mapping[str, Any]] = []
        self.limits: list[tuple[int | None, float]] = []

    async def __call__(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        timeout_s: float,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> Completion:
        """Return the next reply, or raise it.

        Raises:
            AssertionError: If no reply is left.
        """
        del model, timeout_s
        self.asked.append([dict(message) for message in messages])
        self.schemas.append(schema)
        self.limits.append((max_tokens, temperature))
        if not self._replies:
            raise AssertionError("asked more often than scripted")
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply) if isinstance(reply, str) else reply
