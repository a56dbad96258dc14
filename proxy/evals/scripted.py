"""A scripted provider: answers with what it was told to, and keeps what really reached it."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

from aiohttp import web

REQUEST_ID = "x-client-request-id"  # every provider's clients may send it, so nothing gives the eval away
NEUTRAL_REPLY = "Okay."
_MAX_BODY = 256 * 2**20


class ScriptedUpstream:
    """An OpenAI-compatible server in this process; replies are looked up by the client's request id."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._replies: dict[str, str] = {}
        self._received: dict[str, list[dict[str, Any]]] = {}
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Base URL for ``throughline serve --upstream``."""
        return f"http://127.0.0.1:{self._port}/v1"

    def expect(self, request_id: str, reply: str) -> None:
        """Set the reply to a request that is about to come."""
        self._replies[request_id] = reply

    def take(self, request_id: str) -> list[dict[str, Any]] | None:
        """Return the messages that arrived for a request, once; ``None`` if it never came here."""
        return self._received.pop(request_id, None)

    async def __aenter__(self) -> Self:
        """Start listening."""
        app = web.Application(client_max_size=_MAX_BODY)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", _models)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        request_id = request.headers.get(REQUEST_ID, "")
        self._received[request_id] = body["messages"]
        reply = self._replies.pop(request_id, NEUTRAL_REPLY)
        return web.json_response(_completion(reply, body.get("model", "scripted")))


async def _models(_: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "eval"}]})


def _completion(reply: str, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply, "refusal": None}
    return {
        "id": "chatcmpl-eval",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
