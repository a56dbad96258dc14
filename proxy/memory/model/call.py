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
