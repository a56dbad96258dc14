"""The built-in model ``demo``: an offline answerer in a provider's shape, labelled as such."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.clock import Clock
from proxy.errors import InvalidRequest, ModelNotFound, NotFound, ProxyError
from proxy.text import lexical
from proxy.upstream.base import Target, UpstreamRequest, UpstreamResponse, WholeResponse, whole_body
from proxy.upstream.headers import client_key
from proxy.upstream.kept import KeptReplies
from proxy.upstream.responses_shape import DemoReply, messages_of, new_id

MODEL = "demo"
FINGERPRINT = "throughline-demo"
_WORDS_PER_CHUNK = 4
JSON = [("content-type", "application/json")]
EVENTS = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")]

LABEL = "[demo, no model] "
_NOTED = LABEL + "Noted."
_UNKNOWN = (
    LABEL + "Nothing in this conversation or in memory answers that. I only look things up; for real answers "
    "configure a provider: set OPENAI_API_KEY (or another provider's key) in the environment, or start with "
    "--upstream URL."
)
_KNOWN = LABEL + "From what I was sent:\n"
_MAX_LINES = 8

_BLOCK = re.compile(  # stops at the next opening tag: many unclosed blocks stay linear
    r"<((?=\w*memor)\w++)[^>]*+>((?:(?!<\w*memor).)*?)</\1\s*+>", re.IGNORECASE | re.DOTALL
)
_TAG_ONLY = re.compile(r"\A\s*+</?[^>]*+>\s*+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*|\n+")
_QUESTION = re.compile(
    r"\A\s*+(?:what|which|who|whom|whose|where|when|why|how|do|does|did|is|are|am|was|were|can|could|will|would|should"
    r"|have|has|tell me|list|name|show|remind|summari[sz]e|was|welche[rsn]?|wer|wo|wann|wie|warum|qu[eé]|cu[aá]l(?:es)?"
    r"|qui[eé]n|d[oó]nde|cu[aá]ndo|c[oó]mo|что|как\w*|кто|где|когда|почему|сколько)\b",
    re.IGNORECASE,
)
_CJK_QUESTION = re.compile(r"什么|哪|谁|吗|怎|几|多少")
_ABOUT_ME = re.compile(
    r"\b(?:know|remember|learned)\b(?:(?!\b(?:know|remember|learned)\b).)*?\b(?:me|my)\b", re.IGNORECASE
)
_ENDED = re.compile(
    r"\b(?:(?:do(?:es)?n['’]?t|do(?:es)? not|no longer|not|never)\s+\w+|stopped\s+\w+|quit|gave up|switched from"
    r"|forget(?: about| that)?)\s+(?P<what>[^.!?,;\n]+)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\A\s*+(?:[-*•]|\d++[.)]|user:)\s++", re.IGNORECASE)


class DemoUpstream:
    """Upstream that answers chat completions and responses from the request's own text, without any network."""

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
    """One chat completion in OpenAI's shape."""

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
    """A stream of prepared events."""

    def __init__(self, events: list[bytes], headers: list[tuple[str, str]]) -> None:
        self._events = events
        self.status = 200
        self.headers = headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the events."""
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
    # These tokens are not billed: four characters count as a token.
    prompt, completion = len(orjson.dumps(messages)) // 4 + 1, len(text) // 4 + 1
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _models(path: str) -> dict[str, Any]:
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "throughline"}
    return {"object": "list", "data": [model]} if path == "/models" else model


def _headers(kind: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*kind, ("x-request-id", "req_demo_" + secrets.token_hex(8))]


def answer(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the reply to the last user message.

    Args:
        messages: Messages of the client; any of them may contain injected blocks ``<memory …>…</memory>``.
    """
    texts = [(str(message.get("role", "")), _text(message.get("content"))) for message in messages]
    said = [_BLOCK.sub(" ", text) for role, text in texts if role == "user"]
    if not said or not _is_question(said[-1]):
        return _NOTED
    *earlier, last = said
    ended = {word for text in said for match in _ENDED.finditer(text) for word in _words(match["what"])}
    shown = [line for _, text in texts for line in _block_lines(text)]
    remembered = [line for line in shown if LABEL not in line and not _is_question(line)] or shown
    spoken = [sentence for text in earlier for sentence in _sentences(text) if not _is_question(sentence)]
    question = _words(" ".join(sentence for sentence in _sentences(last) if _is_question(sentence)))
    if _ABOUT_ME.search(last):
        found = _unended(remembered or spoken, ended)
    else:
        found = _matching(question, _unended(remembered, ended)) or _matching(question, _unended(spoken, ended))
    lines = list(dict.fromkeys(found))[:_MAX_LINES]
    return _KNOWN + "\n".join(f"- {line}" for line in lines) if lines else _UNKNOWN


def _matching(question: set[str], lines: Sequence[str]) -> list[str]:
    """Return, in order, the lines that share the most words with the question, or one word fewer."""
    scores = [len(question & _words(line)) for line in lines]
    enough = max(1, max(scores, default=0) - 1)
    return [line for line, score in zip(lines, scores, strict=True) if score >= enough]


def _unended(lines: Iterable[str], ended: set[str]) -> list[str]:
    return [line for line in lines if not _ENDED.search(line) and not (ended & _words(line))]


def _is_question(text: str) -> bool:
    sentences = [sentence for sentence in _sentences(text) if sentence.strip()]
    return any(
        sentence.rstrip().endswith(("?", "？"))
        or _QUESTION.match(sentence.lstrip("¿ "))
        or _CJK_QUESTION.search(sentence)
        for sentence in sentences
    )


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece and piece.strip()]


def _block_lines(text: str) -> list[str]:
    lines: list[str] = []
    for match in _BLOCK.finditer(text):
        inner = [line for line in match[2].splitlines() if line.strip() and not _TAG_ONLY.fullmatch(line)]
        # If there are bullets or quoted users, the other lines are headings and framing.
        entries = [line for line in inner if _ENTRY.match(line)]
        lines += [_ENTRY.sub("", line, count=1).strip() for line in entries or inner]
    return lines


def _words(text: str) -> set[str]:
    return set(lexical.content(text))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("text"))
