"""Every provider that does not speak OpenAI's wire, through LiteLLM; its only importer, and lazily."""

from __future__ import annotations

from proxy.errors import NotFound
from proxy.upstream.base import Target, UpstreamRequest, UpstreamResponse


class LiteLLMUpstream:
    """Translates chat completions by LiteLLM."""

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Send a chat completion; other paths are a 404."""
        raise NotFound(f"{target.provider} does not serve {request.path!r} here yet.")

    async def aclose(self) -> None:
        """Nothing to let go of."""
