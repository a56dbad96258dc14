"""Anthropic's Messages for any provider: Anthropic gets the bytes, other providers an equivalent chat completion.

The one server for everything gets the bytes as well. See ``deploy/decisions/0009-messages-over-chat.md``.
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

# Servers of OpenAI's wire format that accept a field beyond it, or reject one of its fields.
_OWN_SERVERS = frozenset({"hosted_vllm", "llamafile", "lm_studio", "ollama", "ollama_chat"})
_KNOW_TOP_K = _OWN_SERVERS | {"deepinfra", "fireworks_ai", "nebius", "openrouter", "together_ai"}
_COUNT_UNASKED = frozenset({"mistral", "codestral"})
_OF_BODY = frozenset({"content-type", "content-length", "content-encoding"})


def speaks_messages(path: str) -> bool:
    """Return whether a path is one of Anthropic's Messages API."""
    return path == PATH or path.startswith(f"{PATH}/")


def over_messages(target: Target, wire: Upstream) -> Target:
    """Return the target of an Anthropic-wire request, from its target for chat completions.

    Args:
        target: Any target except the one server for everything.
        wire: Upstream that relays bytes.
    """
    if target.provider != "anthropic":
        return replace(target, upstream=MessagesOverChat(target.upstream, is_wire=target.upstream is wire))
    model = target.model.removeprefix("anthropic/") if target.model is not None else None
    return replace(target, upstream=wire, model=model, base_url=native_base(target.base_url), key_header="x-api-key")


def native_base(base_url: str) -> str:
    """Return Anthropic's base URL up to and including ``/v1``, from any form of it."""
    stripped = (base_url or _OWN_URL).rstrip("/").removesuffix("/messages")
    return stripped if urlsplit(stripped).path.endswith("/v1") else f"{stripped}/v1"


class MessagesOverChat:
    """Upstream that sends Anthropic's Messages as chat completions, and translates the replies back.

    Args:
        chat: Upstream for chat completions.
        is_wire: ``chat`` sends the body unchanged; else it removes fields that its provider does not support.
    """

    def __init__(self, chat: Upstream, *, is_wire: bool) -> None:
        self._chat = chat
        self._is_wire = is_wire

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Send ``POST /messages``; return once the head of the reply has arrived. Other paths are a 404.

        Raises:
            InvalidRequest: If the request needs a feature that only Anthropic has.
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
    """Events of an Anthropic message, translated from a chat completion's stream."""

    def __init__(self, response: UpstreamResponse, writer: MessageWriter) -> None:
        self._response = response
        self._writer = writer
        self.status = response.status
        self.headers = _downward(response, _EVENTS)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the events as they are translated.

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
        """Disconnect from the provider, unless its reply has been read to its end."""
        await self._response.aclose()


async def _whole(response: UpstreamResponse, target: Target, *, thinks: bool) -> WholeResponse:
    """Read a reply and return it in Anthropic's shape, as a message or an error."""
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
    """Return the client's headers as a client of OpenAI's wire format would send them."""
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
    """Return the provider's headers for the translated body, with its request id also under Anthropic's name."""
    kept = [(name, value) for name, value in response.headers if name.lower() not in _OF_BODY]
    name = crossing.find(kept, "x-request-id")
    own = [("request-id", name)] if name and crossing.find(kept, "request-id") is None else []
    return [("content-type", content_type), *kept, *own]
