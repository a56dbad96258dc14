"""The built-in model ``demo``: an offline answerer in a provider's shape, labelled as such."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.clock import Clock
from proxy.errors import InvalidRequest, ModelNotFound, NotFound, ProxyError
from proxy.upstream.base import Target, UpstreamRequest, UpstreamResponse, WholeResponse, whole_body
from proxy.upstream.demo_responses import DemoReply, messages_of
from proxy.upstream.extract import answer
from proxy.upstream.headers import client_key
from proxy.upstream.kept import KeptReplies
from proxy.upstream.responses_shape import new_id

MODEL = "demo"
FINGERPRINT = "throughline-demo"
_WORDS_PER_CHUNK = 4
JSON = [("content-type", "application/json")]
EVENTS = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")]


class DemoUpstream:
    """Answers chat completions and responses from what the request holds; calls nobody."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._kept = KeptReplies(self._clock)

    async def send(self, request: UpstreamRequest, target: Target) -> UpstreamResponse:
        """Answer ``POST /chat/completions``, ``POST /responses`` and ``GET /models``; anything else is a 404."""
        del target
        try:
            if request.method == "POST" and request.path == "/chat/completions":
                return await self._chat(request)
            if request.method == "POST" and request.path == "/responses":
                return await self._respond(request)
            if request.method == "GET" and request.path in ("/models", f"/models/{MODEL}"):
                return WholeResponse(200, _headers(JSON), orjson.dumps(_models(request.path)))
            raise NotFound(f"The built-in model {MODEL!r} does not serve {request.path!r}. Configure a provider.")
        except ProxyError as error:
            return WholeResponse(error.status, _headers(JSON), orjson.dumps(error.body()))

    async def aclose(self) -> None:
        """Nothing to let go of."""

    async def _chat(self, request: UpstreamRequest) -> UpstreamResponse:
        body = _parse(await whole_body(request))
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(one, dict) for one in messages):
            raise InvalidRequest("'messages' must be a list of at least one message.", param="messages")
        text = answer(messages)
        reply = ChatReply(
            id="chatcmpl-demo-" + secrets.token_hex(12),
            created=int(self._clock.now().timestamp()),
            text=text,
            usage=_usage(messages, text),
        )
        if not body.get("stream"):
            return WholeResponse(200, _headers(JSON), orjson.dumps(reply.completion()))
        options = body.get("stream_options")
        wants_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        return EventResponse(reply.events(include_usage=wants_usage), _headers(EVENTS))

    async def _respond(self, request: UpstreamRequest) -> UpstreamResponse:
        body = _parse(await whole_body(request))
        key = client_key(request.headers) or ""
        asked = self._kept.asked(key, body)
        messages = messages_of(asked.items)
        created = int(self._clock.now().timestamp())
        reply = DemoReply(new_id(), created, MODEL, answer(messages), body, len(orjson.dumps(messages)))
        if body.get("store") is not False:
            self._kept.keep(key, reply.id, asked, reply.output)
        if not body.get("stream"):
            return WholeResponse(200, _headers(JSON), reply.whole())
        return EventResponse(reply.events(), _headers(EVENTS))


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One reply in the shape of OpenAI's."""

    id: str
    created: int
    text: str
    usage: dict[str, int]
    model: str = MODEL
    fingerprint: str | None = FINGERPRINT

    def completion(self) -> dict[str, Any]:
        """Return the body of a whole reply."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text, "refusal": None, "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage}

    def events(self, *, include_usage: bool) -> list[bytes]:
        """Return the events of a stream."""
        words = self.text.split(" ")
        pieces = [words[i : i + _WORDS_PER_CHUNK] for i in range(0, len(words), _WORDS_PER_CHUNK)]
        texts = [" ".join(piece) + (" " if i < len(pieces) - 1 else "") for i, piece in enumerate(pieces)]
        deltas: list[tuple[dict[str, Any], str | None]] = [
            ({"role": "assistant", "content": "", "refusal": None}, None),
            *(({"content": text}, None) for text in texts),
            ({}, "stop"),
        ]
        head = self._head("chat.completion.chunk")
        none_yet = {"usage": None} if include_usage else {}
        chunks = [
            {
                **head,
                "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
                **none_yet,
            }
            for delta, finish in deltas
        ]
        if include_usage:
            chunks.append({**head, "choices": [], "usage": self.usage})
        return [b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"]

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": self.fingerprint,
        }


class EventResponse:
    """A stream of events that are there already."""

    def __init__(self, events: list[bytes], headers: list[tuple[str, str]]) -> None:
        self._events = events
        self.status = 200
        self.headers = headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield them."""
        for event in self._events:
            yield event

    async def aclose(self) -> None:
        """Nothing to let go of."""


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise InvalidRequest("The body must be a JSON object.")
    if body.get("model") not in (None, MODEL):
        raise ModelNotFound(f"The model {body['model']!r} is not served here, only {MODEL!r}.", param="model")
    return dict(body)


def _usage(messages: list[dict[str, Any]], text: str) -> dict[str, int]:
    # Nobody is billed: four characters count as a token.
    prompt, completion = len(orjson.dumps(messages)) // 4 + 1, len(text) // 4 + 1
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _models(path: str) -> dict[str, Any]:
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "throughline"}
    return {"object": "list", "data": [model]} if path == "/models" else model


def _headers(kind: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*kind, ("x-request-id", "req_demo_" + secrets.token_hex(8))]
