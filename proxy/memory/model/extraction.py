"""What an extractor takes and gives, and how a model is called for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from proxy.types import Candidate, Episode, Memory, Turn


@dataclass(frozen=True, slots=True)
class Extraction:
    """What the turns of one pause state, not yet grounded.

    Args:
        candidates: By id of the turn; a turn that states nothing may be missing.
        cost_usd: Price of all calls, also of those whose reply could not be used.
        usage: ``prompt_tokens`` and ``completion_tokens`` of all calls.
        model: What extracted them: a model's name, or ``builtin``.
        note: What an operator should know, without any content: what was refused or dropped.
    """

    candidates: dict[str, list[Candidate]]
    cost_usd: float = 0.0
    usage: dict[str, int] = field(default_factory=lambda: {"prompt_tokens": 0, "completion_tokens": 0})
    model: str = ""
    note: str = ""


class Extractor(Protocol):
    """Finds what the user states in turns of one owner."""

    @property
    def batches(self) -> bool:
        """Whether all turns of a pause belong into one call; else each waits for what the one before taught."""

    async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
        """Return what ``turns`` state.

        Args:
            turns: Of one owner, oldest first.
            known: The owner's memories, so that what ends can be named; those that matter are picked out.
            heard: What was said before in the same conversations; it is never extracted from.

        Raises:
            ProxyError: If nothing could be extracted this time; trying later may help.
        """


class TurnExtractor(Protocol):
    """The built-in extractor: sync and pure."""

    def extract(self, turn: Turn, known: Sequence[Memory], heard: Sequence[Episode]) -> list[Candidate]:
        """Return what one turn states."""


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
