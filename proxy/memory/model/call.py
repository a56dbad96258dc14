"""Protocol of one call to the operator's model, its reply, its access, and a scripted double for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's whole reply.

    Attributes:
        text: Content; empty or None where the reply has none.
        prompt_tokens, completion_tokens: As the provider counted them.
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
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        timeout_s: float,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> Completion:
        """Return the model's reply to ``messages``.

        Args:
            model: As LiteLLM names it.
            messages: ``role`` and ``content``; roles are system, user and assistant.
            schema: JSON Schema of the reply, fit for strict structured output. A server that refuses
                schemas is asked without one, so the reply may not keep to it.
            timeout_s: Limit of the whole call.
            max_tokens: Limit of the reply; None leaves it to the server.
            temperature: 0 makes replies repeatable.

        Raises:
            ProxyError: If the provider cannot be reached or answers with an error.
        """


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Model, key and address of background calls: the operator's own, never a client's.

    Attributes:
        model: As LiteLLM names it.
        api_key: None where the server needs none or the host's own credentials serve.
        base_url: None for the provider's own.
        timeout_s: Limit of one call.
    """

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_s: float = 60.0


class ScriptedComplete:
    """Test double of ``Complete``: returns prepared replies in order and records each request.

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
