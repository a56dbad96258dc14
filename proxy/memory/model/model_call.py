"""Binds the extractor's call to a model to LiteLLM, with the operator's own access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.memory.model.extraction import Complete, Completion, ModelAccess
from proxy.upstream import litellm


class _Call:
    def __init__(self, access: ModelAccess) -> None:
        self._access = access

    async def __call__(
        self, *, model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], timeout_s: float
    ) -> Completion:
        access = self._access
        reply = await litellm.complete(
            model=model,
            messages=messages,
            schema=schema,
            api_key=access.api_key,
            base_url=access.base_url,
            timeout_s=timeout_s,
        )
        usage = reply.usage or {}
        return Completion(
            reply.text,
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            reply.cost_usd,
        )


def connect(access: ModelAccess) -> Complete:
    """Return the call that extracts with ``access``."""
    return _Call(access)
