"""Replies of the fake provider: building blocks and the default echo, in OpenAI's, Anthropic's and Gemini's shape."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

JSON_HEADERS = (("Content-Type", "application/json"), ("x-request-id", "req_fake"))
SSE_HEADERS = (("Content-Type", "text/event-stream; charset=utf-8"), ("x-request-id", "req_fake"))
DONE = b"data: [DONE]\n\n"


class Gate:
    """A point in a reply that blocks until a test opens it, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        with self._lock:
            self._is_open = True
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    async def passed(self) -> None:
        """Wait until the test opens the gate (the fake's side)."""
        event = asyncio.Event()
        with self._lock:
            if self._is_open:
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        await event.wait()


@dataclass(frozen=True)
class Reply:
    """An HTTP reply.

    Args:
        chunks: Written one by one; a ``Gate`` between them waits for the test.
        framing: ``auto``: by length if there is one chunk, else chunked; ``close``: ends with the connection;
            ``given``: as the headers say.
        cut: The connection closes without the end of the body.
    """

    chunks: Sequence[bytes | Gate] = ()
    status: int = 200
    headers: Sequence[tuple[str, str]] = JSON_HEADERS
    reason: str = "OK"
    framing: str = "auto"
    cut: bool = False


@dataclass(frozen=True)
class Raw:
    """Raw bytes on the socket, head included, then the connection closes (``abort``: with a reset)."""

    pieces: Sequence[bytes | Gate] = ()
    abort: bool = False


@dataclass(frozen=True)
class Hang:
    """A reply that never comes."""


@dataclass(frozen=True)
class Text:
    """Content and form of a reply: options of the OpenAI-shaped replies below."""

    text: str = "Hello there, nice to meet you."
    model: str = "fake-model"
    pieces: int = 4
    usage: dict[str, int] = field(
        default_factory=lambda: {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    )


def json_reply(body: Any, status: int = 200, headers: Sequence[tuple[str, str]] = JSON_HEADERS) -> Reply:
    return Reply([orjson.dumps(body)], status, headers)


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Reply:
    """Return an error in OpenAI's shape; keyword ``retry_after="2"`` becomes the header ``retry-after``."""
    body = {"error": {"message": message, "type": "fake_error", "param": None, "code": code}}
    extra = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return json_reply(body, status, (*JSON_HEADERS, *extra))


def html(status: int = 502) -> Reply:
    page = b"<html><head><title>Bad Gateway</title></head><body><h1>nginx</h1></body></html>"
    return Reply([page], status, (("Content-Type", "text/html"),), "Bad Gateway")


def completion(said: str | Text = Text()) -> dict[str, Any]:
    said = Text(said) if isinstance(said, str) else said
    message = {"role": "assistant", "content": said.text, "refusal": None, "annotations": []}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": said.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": said.usage,
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    }


def chunks(said: str | Text = Text(), *, include_usage: bool = False) -> list[dict[str, Any]]:
    said = Text(said) if isinstance(said, str) else said
    head = {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": said.model,
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    }
    size = max(1, -(-len(said.text) // said.pieces))
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": "", "refusal": None}, None)]
    deltas += [({"content": said.text[at : at + size]}, None) for at in range(0, len(said.text), size)]
    deltas.append(({}, "stop"))
    none_yet = {"usage": None} if include_usage else {}
    made = [
        {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], **none_yet}
        for delta, finish in deltas
    ]
    return made + ([{**head, "choices": [], "usage": said.usage}] if include_usage else [])


def event(body: Any) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"


def stream(said: str | Text = Text(), *, include_usage: bool = False) -> Reply:
    events = [event(chunk) for chunk in chunks(said, include_usage=include_usage)]
    return Reply([*events, DONE], headers=SSE_HEADERS)


def gated(reply: Reply, gate: Gate, after: int) -> Reply:
    """Return the same reply with a gate after ``after`` chunks."""
    return Reply(
        [*reply.chunks[:after], gate, *reply.chunks[after:]], reply.status, reply.headers, reply.reason, "chunked"
    )


def chat(text: str, body: dict[str, Any]) -> Reply:
    """Return the reply to a chat request with ``text``, streamed if requested."""
    said = Text(text, model=str(body.get("model", "")))
    if not body.get("stream"):
        return json_reply(completion(said))
    options = body.get("stream_options") or {}
    return stream(said, include_usage=bool(options.get("include_usage")))


def default(method: str, path: str, query: str, raw: bytes) -> Reply:
    """Reply as a provider would, echoing the last user message."""
    if path.endswith("/models") and method == "GET":
        return json_reply({"object": "list", "data": [{"id": "fake-model", "object": "model", "owned_by": "fake"}]})
    if method != "POST":
        return json_reply({"method": method, "path": path, "query": query})
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return json_reply({"method": method, "path": path, "query": query, "bytes": len(raw)})
    if path.endswith("/chat/completions"):
        return _default_chat(body)
    if path.endswith("/responses"):
        return _default_response(body)
    if path.endswith("/embeddings"):
        return _embeddings(body)
    if path.endswith("/messages"):
        return anthropic(f"echo: {_last_text(body.get('messages'))}", stream_asked=bool(body.get("stream")))
    if "enerateContent" in path:
        return gemini(f"echo: {_last_gemini_text(body)}", stream_asked="stream" in path)
    return json_reply({"method": method, "path": path, "query": query, "body": body})


def _default_chat(body: dict[str, Any]) -> Reply:
    if not body.get("model"):
        return error(400, "you must provide a model parameter", "missing_required_parameter")
    if not body.get("messages"):
        return error(400, "Invalid 'messages': empty array.", "empty_array")
    return chat(f"echo: {_last_text(body['messages'])}", body)


def _default_response(body: dict[str, Any]) -> Reply:
    from tests.fakes.responses import echo  # it imports this module

    return echo(body)


def _embeddings(body: dict[str, Any]) -> Reply:
    given = body.get("input")
    texts = given if isinstance(given, list) else [given]
    data = [
        {"object": "embedding", "index": i, "embedding": [float(len(str(text))), 1.0]} for i, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return json_reply({"object": "list", "data": data, "model": body.get("model"), "usage": usage})


def anthropic(text: str, *, stream_asked: bool, stop_reason: str = "end_turn") -> Reply:
    """Return a reply of Anthropic's Messages API."""
    usage = {"input_tokens": 11, "output_tokens": 5}
    message = {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": "claude-fake",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }
    if not stream_asked:
        return json_reply(message)
    words = text.split(" ")
    said = [word if i == 0 else f" {word}" for i, word in enumerate(words)]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}} for one in said),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return Reply([anthropic_event(one) for one in events], headers=SSE_HEADERS)


def anthropic_event(body: dict[str, Any]) -> bytes:
    return b"event: " + body["type"].encode() + b"\ndata: " + orjson.dumps(body) + b"\n\n"


def gemini(text: str, *, stream_asked: bool) -> Reply:
    """Return a reply of Gemini's generateContent or streamGenerateContent (``alt=sse``)."""
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}

    def part(said: str, finish: str | None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": said}]}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-fake", "responseId": "r1"}

    if not stream_asked:
        return json_reply(part(text, "STOP"))
    middle = len(text) // 2
    return Reply([event(part(text[:middle], None)), event(part(text[middle:], "STOP"))], headers=SSE_HEADERS)


def _last_text(messages: Any) -> str:
    users = [one for one in messages or [] if isinstance(one, dict) and one.get("role") == "user"]
    content = users[-1].get("content") if users else ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content or [] if isinstance(part, dict))


def _last_gemini_text(body: dict[str, Any]) -> str:
    contents = body.get("contents") or [{}]
    return " ".join(str(part.get("text", "")) for part in contents[-1].get("parts", []))
