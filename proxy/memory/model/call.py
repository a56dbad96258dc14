"""One call to the operator's model: its prompts, protocol, reply and access, and the call through LiteLLM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Protocol

import structlog

from proxy.errors import CallRefused
from proxy.upstream import litellm

# Error texts of OpenAI, DeepSeek, Groq, LM Studio, vLLM and llama.cpp when they reject the schema of a call.
_SCHEMA_REFUSED = re.compile(
    r"response[_ ]?format|json[_ ]?schema|structured[_ ]output|guided[_ ](?:decoding|json)|grammar|invalid schema",
    re.IGNORECASE,
)

_log = structlog.get_logger(__name__)
_FRONT = re.compile(r"\A---\n(?P<front>.*?)\n---\n", re.DOTALL)
_PART = re.compile(r"^# (?P<name>[a-z_]+)$", re.MULTILINE)
_PLACE = re.compile(r"\{\{(?P<name>[a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's whole reply.

    Attributes:
        text: Content; empty or None if the reply has none.
        prompt_tokens, completion_tokens: As the provider counted them.
        cost_usd: By the model map; None or 0 if it lacks the model.
        finish_reason: ``stop``, ``length``, ``content_filter`` …
        refusal: The provider's refusal text, if it has a field for it.
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
            schema: JSON Schema of the reply, fit for strict structured output. If a server refuses schemas, the call is
                repeated without it, so the reply may not match it.
            timeout_s: Limit of the whole call.
            max_tokens: Limit of the reply; None leaves it to the server.
            temperature: 0 makes replies repeatable.

        Raises:
            ProxyError: If the provider is unreachable or answers with an error.
        """


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Model, key and address of background calls: the operator's own, never a client's.

    Attributes:
        model: As LiteLLM names it.
        api_key: None if the server needs none or uses the host's own credentials.
        base_url: None for the provider's own.
        timeout_s: Limit of one call.
    """

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_s: float = 60.0


class _Call:
    def __init__(self, access: ModelAccess) -> None:
        self._access = access
        self._takes_schema = True

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
        limit = {} if max_tokens is None else {"max_tokens": max_tokens}
        params = {"temperature": temperature, **limit}
        if self._takes_schema:
            try:
                return await self._send(model, messages, schema, timeout_s, params)
            except CallRefused as error:
                if not _SCHEMA_REFUSED.search(str(error)):
                    raise
            _log.warning("model refused the JSON schema, asked without one from now on", model=model)
            self._takes_schema = False
        return await self._send(model, messages, None, timeout_s, params)

    async def _send(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any] | None,
        timeout_s: float,
        params: Mapping[str, Any],
    ) -> Completion:
        reply = await litellm.complete(
            model=model,
            messages=messages,
            schema=schema,
            api_key=self._access.api_key,
            base_url=self._access.base_url,
            timeout_s=timeout_s,
            params=params,
        )
        usage = reply.usage or {}
        return Completion(
            reply.text,
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            reply.cost_usd,
            reply.finish_reason,
            reply.refusal,
        )


def connect(access: ModelAccess) -> Complete:
    """Return the call that uses ``access``; temperature 0 unless the caller sets it."""
    return _Call(access)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file: its name and version, and the text under each ``# part`` heading."""

    name: str
    version: str
    parts: Mapping[str, str]

    def fill(self, part: str, values: Mapping[str, object] | None = None) -> str:
        """Return a part with each ``{{name}}`` replaced by its value; values are not expanded again.

        Raises:
            KeyError: If there is no such part, or a placeholder has no value.
        """
        given = values or {}
        return _PLACE.sub(lambda place: str(given[place["name"]]), self.parts[part])


@lru_cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt in ``prompts/<name>.md``.

    Raises:
        FileNotFoundError: If the package has no such prompt.
        ValueError: If the file has no front matter.
    """
    text = resources.files("proxy.memory.model").joinpath("prompts", f"{name}.md").read_text("utf-8")
    return parse_prompt(text)


def parse_prompt(text: str) -> Prompt:
    """Parse the text of a prompt file.

    Raises:
        ValueError: If front matter, its name or its version is missing.
    """
    front = _FRONT.match(text)
    if front is None:
        raise ValueError("a prompt file starts with front matter between two lines of ---")
    fields = dict(re.findall(r"^(\w++):[ \t]*+(\S++(?>(?:[ \t]++\S++)*))[ \t]*+$", front["front"], re.MULTILINE))
    if not {"name", "version"} <= fields.keys():
        raise ValueError("a prompt's front matter has a name and a version")
    pieces = _PART.split(text[front.end() :])
    parts = {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    return Prompt(fields["name"], fields["version"], parts)
