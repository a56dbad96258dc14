"""Requests close to and far from those that the wires and the memory API accept."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

SAID = st.sampled_from(
    ["I use Shram and Magnet", "I don't use Magnet anymore", "What do I use?", "Меня зовут Аня", "我住在里斯本", "", " ",
     "<memory>x</memory>", "\ud83d", "\x00", "{{x}}", "a" * 3000, "forget everything", "👩\u200d👩 é \u202e"]
)  # fmt: skip
TEXT = st.one_of(SAID, st.text(max_size=60))
NUMBERS = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.just(10**40), st.just(-(2**63) - 1)
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)

_KEYS = ("sk-fuzz-a", "sk-fuzz-b", "EMPTY", "Ключ", "")
_HEADER_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40)
_OURS = {
    "x-memory-user": st.one_of(st.sampled_from(["ann", "bob"]), _HEADER_TEXT),
    "x-memory-session": _HEADER_TEXT,
    "x-memory-agent": _HEADER_TEXT,
    "x-memory-mode": st.one_of(
        st.sampled_from(["full", "read", "write", "observe", "ephemeral", "off", "OFF"]), _HEADER_TEXT
    ),
    "x-memory-budget": st.one_of(st.integers(-5, 10**20).map(str), _HEADER_TEXT),
    "x-memory-time": st.one_of(
        st.sampled_from(["2024-02-30", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1"]), _HEADER_TEXT
    ),
    "x-memory-tools": _HEADER_TEXT,
    "x-openwebui-user-id": _HEADER_TEXT,
    "x-openwebui-chat-id": _HEADER_TEXT,
}
_THEIRS = {
    "content-type": st.one_of(st.sampled_from(["application/json", "text/plain", "multipart/form-data"]), _HEADER_TEXT),
    "accept-encoding": st.sampled_from(["gzip", "br;q=0", "*", ""]),
    "x-stainless-read-timeout": st.sampled_from(["600", "nan", "-1", "1e999", "x"]),
    "idempotency-key": _HEADER_TEXT,
    "origin": st.one_of(st.sampled_from(["null", "http://localhost", "https://a.example"]), _HEADER_TEXT),
    "connection": st.sampled_from(["close", "keep-alive, authorization", "x-memory-mode"]),
}
_HEADERS = {**_OURS, **_THEIRS}


@dataclass(frozen=True)
class Request:
    """One request; its repr can be used to send it again."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def packed(value: Any) -> bytes:
    """Return JSON that may contain any text, lone surrogates and huge numbers."""
    return json.dumps(value).encode()


def _sometimes(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(usual, usual, usual, JSON)


def _rarely_not(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*[usual] * 9, JSON)


_PART = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "input_text", "output_text"]), "text": _sometimes(TEXT)}),
    st.fixed_dictionaries({"type": st.sampled_from(["image_url", "input_image", "image"]), "image_url": _sometimes(
        st.fixed_dictionaries({"url": st.sampled_from(["data:image/png;base64,AA==", "data:,", "http://x/", ""])}))}),
    st.fixed_dictionaries({"type": st.sampled_from(["tool_result", "tool_use", "thinking", "file", "refusal"]), "content": JSON}),
    st.dictionaries(st.sampled_from(["type", "text", "x"]), JSON),
)  # fmt: skip
_CONTENT = st.one_of(TEXT, TEXT, st.none(), st.lists(_sometimes(_PART), max_size=3), JSON)
_MESSAGE = st.fixed_dictionaries(
    {"role": _rarely_not(st.sampled_from(["user", "user", "assistant", "system", "developer", "tool"])), "content": _CONTENT},
    optional={"name": JSON, "tool_calls": JSON, "tool_call_id": JSON, "type": JSON, "id": JSON, "refusal": JSON},
)  # fmt: skip
_MESSAGES = _rarely_not(st.lists(_rarely_not(_MESSAGE), max_size=5))
_MODEL = _rarely_not(st.sampled_from([*["gpt-4o"] * 12, "demo", "", "a/b", "x" * 300]))
_MORE = {
    "stream": _sometimes(st.booleans()),
    "user": JSON,
    "metadata": JSON,
    "safety_identifier": JSON,
    "prompt_cache_key": JSON,
    "stream_options": JSON,
    "tools": JSON,
    "response_format": JSON,
    "max_tokens": JSON,
    "n": JSON,
    "x": JSON,
}
_CHAT = st.fixed_dictionaries({"model": _MODEL, "messages": _MESSAGES}, optional=_MORE)
_RESPONSE = st.fixed_dictionaries(
    {"model": _MODEL, "input": st.one_of(TEXT, _MESSAGES)},
    optional={**_MORE, "previous_response_id": JSON, "conversation": JSON, "instructions": JSON, "store": JSON},
)
_ANTHROPIC = st.fixed_dictionaries(
    {"model": _MODEL, "messages": _MESSAGES, "max_tokens": _sometimes(st.just(9))},
    optional={
        **{name: one for name, one in _MORE.items() if name != "max_tokens"},
        "system": st.one_of(TEXT, st.lists(_PART, max_size=2), JSON),
        "thinking": JSON,
    },
)
_MEMORY = st.dictionaries(
    st.sampled_from(
        ["text", "query", "kind", "pinned", "expires_at", "limit", "sources", "as_of", "dry_run", "subject", "relation",
         "object_value", "status", "priority", "valid_from"]
    ),
    st.one_of(TEXT, JSON, st.sampled_from(["fact", "2024-01-01T00:00:00Z", "0000-00-00"])),
    max_size=5,
)  # fmt: skip

_SEGMENT = st.one_of(st.sampled_from(["mem_1", "..", "%2e%2e", "%00", "%ff", "search", "a%2Fb", "x" * 500]),
                     st.text(max_size=12).map(lambda text: quote(text.encode("utf-8", "replace"), safe="")))  # fmt: skip
_NOUNS = st.sampled_from(
    ["memories", "sessions", "receipts", "state", "memories/search", "memories/forget", "export", "import", "erase",
     "documents", "images", "reviews", "tasks", "agents", "files"]
)  # fmt: skip
_QUERY = st.dictionaries(
    st.sampled_from(["query", "kind", "status", "as_of", "limit", "after", "verify", "x"]), TEXT, max_size=3
).map(lambda given: "&".join(f"{name}={quote(text.encode('utf-8', 'replace'))}" for name, text in given.items()))
_VERBS = st.sampled_from(["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"])


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Draw any request: to the three wires, the memory API or other paths, sometimes with a broken body."""
    kind = draw(st.sampled_from(["chat", "chat", "chat", "responses", "messages", "memory", "memory", "other"]))
    method, target, body = draw(_KINDS[kind])
    named = {name: draw(_HEADERS[name]) for name in draw(st.lists(st.sampled_from(list(_HEADERS)), max_size=2))}
    key = draw(st.sampled_from(_KEYS))
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json", **named}
    if draw(st.sampled_from(range(15))) == 7:  # an integer strategy would draw 0 too often
        body = draw(_broken(body))
    if draw(st.sampled_from(range(20))) == 7:
        headers["content-encoding"] = draw(st.sampled_from(["gzip", "deflate", "br", "gzip, gzip", ""]))
        body = gzip.compress(body) if draw(st.booleans()) else body
    return Request(method, target, tuple(headers.items()), body)


def _broken(body: bytes) -> st.SearchStrategy[bytes]:
    cut = st.integers(0, len(body)).map(lambda at: body[:at])
    spliced = st.tuples(st.integers(0, len(body)), st.binary(max_size=6)).map(
        lambda pair: body[: pair[0]] + pair[1] + body[pair[0] + 1 :]
    )
    return st.one_of(cut, spliced, st.binary(max_size=80), st.just(b"[" * 5000), st.just(b'{"a":' * 3000))


def _posted(path: str, body: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, str, bytes]]:
    return body.map(lambda value: ("POST", path, packed(value)))


def _with_query(path: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(path, st.tuples(path, _QUERY).map(lambda pair: f"{pair[0]}?{pair[1]}"))


_KINDS = {
    "chat": _posted("/v1/chat/completions", _CHAT),
    "responses": _posted("/v1/responses", _RESPONSE),
    "messages": st.one_of(
        _posted("/v1/messages", _ANTHROPIC), _posted("/v1/messages/count_tokens", _ANTHROPIC)
    ),
    "memory": st.tuples(
        _VERBS,
        _with_query(st.one_of(
            _NOUNS.map(lambda noun: f"/v1/{noun}"),
            st.tuples(_NOUNS, _SEGMENT).map(lambda pair: f"/v1/{pair[0]}/{pair[1]}"),
            st.tuples(_NOUNS, _SEGMENT, _SEGMENT).map(lambda parts: "/v1/" + "/".join(parts)),
        )),
        st.one_of(_MEMORY, JSON).map(packed),
    ),
    "other": st.tuples(
        _VERBS,
        _with_query(st.lists(_SEGMENT, max_size=4).map(lambda parts: "/" + "/".join(parts))),
        JSON.map(packed),
    ),
}  # fmt: skip
