"""Call to the operator's model through LiteLLM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from proxy.errors import CallRefused
from proxy.memory.model.call import Complete, Completion, ModelAccess
from proxy.upstream import litellm

# Wordings of OpenAI, DeepSeek, Groq, LM Studio, vLLM and llama.cpp when they reject the schema of a call.
_SCHEMA_REFUSED = re.compile(
    r"response[_ ]?format|json[_ ]?schema|structured[_ ]output|guided[_ ](?:decoding|json)|grammar|invalid schema",
    re.IGNORECASE,
)

_log = structlog.get_logger(__name__)


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
    """Return the call that uses ``access``; temperature 0 unless the caller says otherwise."""
    return _Call(access)
