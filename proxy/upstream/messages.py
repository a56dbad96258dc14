"""Anthropic's Messages to any provider: Anthropic gets the bytes, the others a chat completion that asks the same.

A server that gets everything gets these bytes as well. See ``deploy/decisions/0009-messages-over-chat.md``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import orjson

from proxy.errors import InvalidRequest, NotFound, UpstreamUnreachable
from proxy.upstream import headers as crossing
from proxy.upstream.base import Target, Upstream, UpstreamRequest, UpstreamResponse, WholeResponse, whole_body
from proxy.upstream.messages_reply import MessageWriter, error_of, message_of, parsed
from proxy.upstream.messages_request import Side, asks_to_think, completion_of

PATH = "/messages"
_OWN_URL = "https://api.anthropic.com"
_EVENTS, _JSON = "text/event-stream; charset=utf-8", "application/json"

# Servers of OpenAI's wire that are known to take a field beyond it, or not to take one of it.
_OWN_SERVERS = frozenset({"hosted_vllm", "llamafile", "lm_studio", "ollama", "ollama_chat"})
_KNOW_TOP_K = _OWN_SERVERS | {"deepinfra", "fireworks_ai", "nebius", "openrouter", "together_ai"}
_COUNT_UNASKED = frozenset({"mistral", "codestral"})
_OF_BODY = frozenset({"content-type", "content-length", "content-encoding"})


def speaks_messages(path: str) -> bool:
    """Return whether a path is one of Anthropic's Messages API."""
    return path == PATH or path.startswith(f"{PATH}/")


def over_messages(target: Target, wire: Upstream) -> Target:
    """Return where a request of Anthropic's wire goes that would go to ``target`` as a chat completion.

    Args:
        target: Any but the one server that gets everything.
        wire: Relays bytes.
    """
    if target.provider != "anthropic":
        return replace(target, upstream=MessagesOverChat(target.upstream, is_wire=target.upstream is wire))
    model = target.model.removeprefix("anthropic/") if target.model is not None else None
    return replace(target, upstream=wire, model=model, base_url=native_base(target.base_url), key_header="x-api-key")


def native_base(base_url: str) -> str:
    """Return Anthropic's base URL up to and with ``/v1``, from whichever form of it was given."""
    stripped = (base_url or _OWN_URL).rstrip("/").removesuffix("/messages")
    return stripped if urlsplit(stripped).path.endswith("/v1") else f"{stripped}/v1"


class MessagesOverChat:
    """Asks as a chat completion what came as a message, and answers in Anthropic's shape.

    Args:
        chat: What serves chat completions.
        is_wire: It sends the body as it is; else it leaves out what its provider does not know.
    """

    def __init__(self, chat: Upstream, *, is_wire: bool) -> None:
        self._chat = chat
        self._is_wire = is_wire

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Send ``POST /messages`` and return when the head of the reply is there; other paths are a 404.

        Raises:
            InvalidRequest: If the request asks for what only Anthropic has.
        """
        if request.method != "POST" or request.path != PATH:
            raise NotFound(f"{target.provider!r} does not serve /v1{request.path} here; only Anthropic does.")
        body = parsed(await whole_body(request))
        if not isinstance(body, dict):
            raise InvalidRequest("The body must be a JSON object.")
        asked = completion_of(body, _side(body, target, is_wire=self._is_wire))
        sent = replace(
            request,
            path="/chat/completions",
            query="",
            headers=_upward(request, target),
            body=orjson.dumps(asked),
            readable=True,
        )
        response = await self._chat.send(sent, target)
        thinks = asks_to_think(body)
        if response.status < 400 and crossing.is_event_stream(response.headers):
            return _Stream(response, MessageWriter(thinks=thinks))
        return await _whole(response, target, thinks=thinks)

    async def aclose(self) -> None:
        """Close nothing: the sending upstream belongs to its owner."""


class _Stream:
    """A chat completion's stream as the events of a message."""

    def __init__(self, response: UpstreamResponse, writer: MessageWriter) -> None:
        self._response = response
        self._writer = writer
        self.status = response.status
        self.headers = _downward(response, _EVENTS)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the events as they become known.

        Raises:
            UpstreamCut: If the stream breaks off.
        """
        async for chunk in self._response.chunks():
            events = self._writer.feed(chunk)
            if events:
                yield events
        rest = self._writer.close()
        if rest:
            yield rest

    async def aclose(self) -> None:
        """Hang up on the provider unless its reply has been read to its end."""
        await self._response.aclose()


async def _whole(response: UpstreamResponse, target: Target, *, thinks: bool) -> WholeResponse:
    """Read a reply and return it, a message or an error, in Anthropic's shape."""
    try:
        body = b"".join([chunk async for chunk in response.chunks()])
    finally:
        await response.aclose()
    headers = _downward(response, _JSON)
    if response.status >= 400:
        name = crossing.find(headers, "request-id")
        return WholeResponse(response.status, headers, error_of(response.status, body, name))
    completion = parsed(body)
    if not isinstance(completion, dict) or not completion.get("choices"):
        raise UpstreamUnreachable(f"{target.provider!r} answered with something that is no chat completion.")
    return WholeResponse(response.status, headers, orjson.dumps(message_of(completion, thinks=thinks)))


def _side(body: dict[str, object], target: Target, *, is_wire: bool) -> Side:
    model = target.model or str(body.get("model") or "")
    knows_claude = "claude" in model.lower() and (not is_wire or target.provider == "openrouter")
    is_openai = target.provider == "openai" and (urlsplit(target.base_url).hostname or "").endswith("openai.com")
    return Side(
        model=model,
        knows_claude=knows_claude,
        top_k=not is_wire or target.provider in _KNOW_TOP_K,
        new_limit=is_openai,
        counts_streams=target.provider not in _COUNT_UNASKED,
        reasons=not is_wire,
    )


def _upward(request: UpstreamRequest, target: Target) -> list[tuple[str, str]]:
    """Return the client's headers as a client of OpenAI's wire would send them."""
    left_out = crossing.KEY_HEADERS | {"accept-encoding", "content-length"}
    kept = [
        (name, value)
        for name, value in request.headers
        if name.lower() not in left_out and not name.lower().startswith("anthropic-")
    ]
    key = crossing.client_key(request.headers)
    if key is not None and target.api_key is None:
        kept.append(("Authorization", f"Bearer {key}"))
    return [*kept, ("Accept-Encoding", "identity")]


def _downward(response: UpstreamResponse, content_type: str) -> list[tuple[str, str]]:
    """Return the provider's headers for the body that we make, its request id under Anthropic's name as well."""
    kept = [(name, value) for name, value in response.headers if name.lower() not in _OF_BODY]
    name = crossing.find(kept, "x-request-id")
    own = [("request-id", name)] if name and crossing.find(kept, "request-id") is None else []
    return [("content-type", content_type), *kept, *own]
