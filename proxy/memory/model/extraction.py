"""One structured-output call to the operator's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's whole reply.

    Args:
        text: Its content; empty or None where it has none.
        prompt_tokens: As the provider counted them.
        completion_tokens: As the provider counted them.
        cost_usd: By the model map; None or 0 where the model is not in it.
        finish_reason: ``stop``, ``length``, ``content_filter`` …
        refusal: The provider's refusal text, where it has a field for it.
    """

    text: str | None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    finish_reason: str | None = "stop"
    refusal: str | None = None


class Complete(Protocol):
    """One structured-output call to a chat model."""

    async def __call__(
        self, *, model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], timeout_s: float
    ) -> Completion:
        """Return the model's reply to ``messages``.

        Args:
            model: As LiteLLM names it.
            messages: ``role`` and ``content``; roles are system, user and assistant.
            schema: JSON Schema of the reply, fit for strict structured output.
            timeout_s: Most seconds to wait.

        Raises:
            ProxyError: If the provider cannot be reached or answers with an error.
        """


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """With what the extraction model is called: the operator's own, never a client's.

    Args:
        model: As LiteLLM names it.
        api_key: None where the server needs none or the host's own credentials serve.
        base_url: None: the provider's own.
        timeout_s: Most seconds one call may take.
    """

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_s: float = 60.0


class ScriptedComplete:
    """The test double of ``Complete``: gives prepared replies in order and keeps what it was asked."""

    def __init__(self, *replies: Completion | Exception | str) -> None:
        self._replies = list(replies)
        self.asked: list[list[dict[str, str]]] = []
        self.schemas: list[Mapping[str, Any]] = []

    async def __call__(
        self, *, model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], timeout_s: float
    ) -> Completion:
        """Return the next reply, or raise it.

        Raises:
            AssertionError: If no reply is left.
        """
        del model, timeout_s
        self.asked.append([dict(message) for message in messages])
        self.schemas.append(schema)
        if not self._replies:
            raise AssertionError("asked more often than scripted")
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply) if isinstance(reply, str) else reply
