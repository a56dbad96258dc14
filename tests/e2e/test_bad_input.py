"""Whatever is sent: the provider's answer or an error in OpenAI's shape, never a crash, never another's memory."""

from __future__ import annotations

import gzip
import json
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes import replies
from tests.fakes.provider import FakeProvider, Seen
from tests.running import WAIT_S, Running
from tests.serving import lasting_provider, server, upstream
from tests.talking import new_key, speaking
from tests.wire.rawhttp import Answer, send

__all__ = ["lasting_provider", "server", "upstream"]

KEY = "sk-test-hostile"
CHAT = "/v1/chat/completions"
HOSTILE = {
    "quote": "a'b\"c`d",
    "sql": "x' OR '1'='1'; DROP TABLE sessions; --",
    "lance": "id') OR true OR id IN ('",
    "like": "%_%",
    "comment": "/* */ -- #",
    "traversal": "../../../../etc/passwd",
    "windows": "..\\..\\windows",
    "slashes": "a//b/./c/",
    "url": "https://example.test/chat?id=1&b=2#top",
    "unicode": "Zoë 漢字 🙂 \u202ertl",
    "combining": "Zoe\u0308",
    "percent": "%00%2e%2e%2f",
    "json": '{"a": ["b"]}',
    "template": "${7*7}{{7*7}}<script>alert(1)</script>",
    "long": "x" * 10_000,
    "dots": "..",
    "number": "0",
    "null": "null",
    "end": "x/end",
}
IN_PATHS = {**HOSTILE, "nul": "a\x00b", "newline": "a\r\nX-Evil: 1", "surrogate": "\udcff", "id": "mem_" + "0" * 24}


def call(
    server: Running, method: str, path: str, body: Any = None, *, key: str = KEY, **headers: str
) -> tuple[Answer, Any]:
    """Send bytes, or JSON of anything else; return the answer and its JSON."""
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    answer = send(server.origin, method, path, named.items(), raw)
    return answer, orjson.loads(answer.body)


def chat(text: Any = "Hello", **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


def assert_refused(answer: Answer, parsed: Any, *statuses: int) -> None:
    assert answer.status in statuses, (answer.status, answer.body[:300])
    assert set(parsed) == {"error"}
    error = parsed["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["message"]
    assert len(error["message"]) < 2000
    assert answer.header("content-type") == "application/json"
    assert answer.header("x-request-id")


# --- bodies


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"}", b"[]", b"0", b'"a"', b"null", b"true", b"\x00", b"\xff\xfe{}", b"\xef\xbb\xbf", b"{'a': 1}",
     b'{"model": "m"} {"model": "m"}', b'{"model": NaN}', b"{" * 100_000, b"[" * 100_000,
     b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b'{"model": "m", "messages": [' + b"[" * 5000 + b"]" * 5000 + b"]}",
     b'{"x": 1' + b"0" * 5000 + b"}"],
    ids=lambda body: repr(body[:24]),
)  # fmt: skip
@pytest.mark.parametrize("path", [CHAT, "/v1/memories", "/v1/memories/search", "/v1/memories/forget"])
def test_malformed_bodies_are_400(server: Running, body: bytes, path: str) -> None:
    answer, parsed = call(server, "POST", path, body)
    assert_refused(answer, parsed, 400)


@pytest.mark.parametrize("depth", [10, 200, 260, 900, 990, 1010, 1030])
@pytest.mark.parametrize("kind", ["list", "object", "content", "part", "image", "metadata", "tools"])
def test_deep_bodies_pass_or_are_400(server: Running, upstream: FakeProvider, depth: int, kind: str) -> None:
    upstream.script(answer_anything)
    nested = b'{"a":' * depth + b"1" + b"}" * depth if kind != "list" else b"[" * depth + b"]" * depth
    message = {
        "content": b'{"role":"user","content":' + nested + b"}",
        "part": b'{"role":"user","content":[{"type":"x","x":' + nested + b"}]}",
        "image": b'{"role":"user","content":[{"type":"image_url","image_url":' + nested + b"}]}",
    }.get(kind, b'{"role":"user","content":"hi"}')
    more = {"metadata": b',"metadata":' + nested, "tools": b',"tools":[' + nested + b"]"}.get(kind, b',"x":' + nested)
    body = b'{"model":"m","messages":[' + message + b"]" + more + b"}"
    answer, parsed = call(server, "POST", CHAT, body)
    if answer.status != 200:
        assert_refused(answer, parsed, 400)
    else:
        assert upstream.last.body == body


@pytest.mark.parametrize(
    "body",
    [
        {"model": "m", "messages": "hello"},
        {"model": "m", "messages": {"role": "user"}},
        {"model": "m", "messages": [1, None, "x", [], True]},
        {"model": "m", "messages": [{}]},
        {"model": "m", "messages": [{"content": "no role"}]},
        {"model": "m", "messages": [{"role": 7, "content": 7}]},
        {"model": "m", "messages": [{"role": None, "content": None}]},
        {"model": "m", "messages": [{"role": "user", "content": 12.5}]},
        {"model": "m", "messages": [{"role": "user", "content": {"text": "x"}}]},
        {
            "model": "m",
            "messages": [{"role": "user", "content": [1, None, {"type": 3}, {"text": 4}, {"type": "text"}]}],
        },
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": {"a": 1}}]}]},
        {"model": "m", "messages": [{"role": "user", "content": ["a", "b"]}]},
        {"model": "m", "messages": [{"role": "assistant", "tool_calls": 4}, {"role": "tool"}]},
        {"model": "m", "messages": [{"role": "\ud800", "content": "\udfff \u0000"}]},
        chat(stream="yes", user=7, metadata=["a"], prompt_cache_key={}, safety_identifier=[]),
        chat(user="", metadata={"user_id": 7, "conversation_id": [1]}),
        chat("\x00\x01\x02 \u202e \ufffe"),
        chat("a" * 300_000),
        chat(" " * 300_000),
        chat("I use Shram. " * 20_000),
        chat("<memory>" * 1000 + "</memory>"),
    ],
    ids=range(21),
)
def test_wrong_types_are_the_providers_to_judge(server: Running, upstream: FakeProvider, body: dict[str, Any]) -> None:
    upstream.script(answer_anything)
    answer, parsed = call(server, "POST", CHAT, body)
    assert (answer.status, parsed["object"]) == (200, "chat.completion")
    assert orjson.loads(upstream.last.body.replace(b"\\ud", b"ud")).keys() == body.keys()
    wait_learned(server, KEY)


@pytest.mark.parametrize("packed", [gzip.compress(b"{"), gzip.compress(b"[]"), b"\x1f\x8b", b"x", b""])
def test_broken_gzip_is_400(server: Running, packed: bytes) -> None:
    answer, parsed = call(server, "POST", CHAT, packed, content_encoding="gzip")
    assert_refused(answer, parsed, 400)


def test_gzip_works(server: Running, upstream: FakeProvider) -> None:
    answer, _ = call(server, "POST", CHAT, gzip.compress(orjson.dumps(chat())), content_encoding="gzip")
    assert (answer.status, upstream.last.json) == (200, chat())


def test_oversized_is_413(server: Running) -> None:
    for path in (CHAT, "/v1/memories", "/v1/files"):
        answer, parsed = call(server, "POST", path, b" " * (64 * 2**20 + 1))
        assert_refused(answer, parsed, 413)


@pytest.mark.parametrize("model", ["gpt-nope", "", "demo2", "a" * 10_000, "../demo", "demo\x00", "groq/x", "漢"])
@pytest.mark.parametrize("path", [CHAT, "/v1/embeddings"])
def test_unknown_models_are_404_with_the_mend(bare: Running, model: str, path: str) -> None:
    answer, parsed = call(bare, "POST", path, {**chat(), "model": model, "input": "x"})
    if not model:
        assert_refused(answer, parsed, 400, 404)
        return
    assert_refused(answer, parsed, 404)
    assert (parsed["error"]["code"], parsed["error"]["param"]) == ("model_not_found", "model")
    assert "OPENAI_API_KEY" in parsed["error"]["message"]


# --- headers


@pytest.mark.parametrize("mode", ["on", "FULL ", "none", "0", "ful", "full,off", "ö", "x" * 9000])
def test_bad_modes(server: Running, mode: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), x_memory_mode=mode)
    if mode == "FULL ":
        assert answer.status == 200
        return
    assert_refused(answer, parsed, 400)
    assert (parsed["error"]["code"], parsed["error"]["param"]) == ("invalid_header", "X-Memory-Mode")


@pytest.mark.parametrize("budget", ["-1", "1.5", "many", "1e3", "٣", "9" * 30, "0x10", "²"])
def test_bad_budgets(server: Running, budget: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), x_memory_budget=budget)
    assert_refused(answer, parsed, 400)
    assert parsed["error"]["param"] == "X-Memory-Budget"


@pytest.mark.parametrize("budget", ["0", "1", "600", "4000", "999999999", ""])
def test_good_budgets(server: Running, budget: str) -> None:
    assert call(server, "POST", CHAT, chat(), x_memory_budget=budget)[0].status == 200


@pytest.mark.parametrize(
    "time", ["yesterday", "2026-13-01", "2026-02-30T00:00:00Z", "nan", "1e400", "9" * 40, "2026-01-01T00:00:00+99:00"]
)
def test_bad_times(server: Running, time: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), x_memory_time=time)
    assert_refused(answer, parsed, 400)
    assert parsed["error"]["param"] == "X-Memory-Time"


@pytest.mark.parametrize(
    "time",
    [
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "1969-12-31T23:59:59+14:00",
        "2026-03-01",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_extreme_times_work_or_are_400(server: Running, time: str) -> None:
    key = new_key()
    answer, parsed = call(server, "POST", CHAT, chat("I use Shram"), key=key, x_memory_time=time)
    if answer.status != 200:
        assert_refused(answer, parsed, 400)
        return
    wait_learned(server, key)
    for path in ("/v1/memories", "/v1/sessions", "/v1/state", f"/v1/receipts/{answer.header('x-memory-receipt')}"):
        assert call(server, "GET", path, key=key)[0].status == 200
    assert call(server, "POST", CHAT, chat("What do I use?"), key=key)[0].status == 200


@pytest.mark.parametrize("name", ["x-memory-user", "x-memory-session", "x-memory-agent"])
def test_ids_beyond_any_id_are_400(server: Running, name: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), **{name: "x" * 20_000})
    assert_refused(answer, parsed, 400)


# --- ids


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_hostile_user_session_and_agent_have_a_memory_of_their_own(
    server: Running, upstream: FakeProvider, hostile: str
) -> None:
    upstream.script(answer_anything)
    key = new_key()
    names = {"x_memory_user": hostile, "x_memory_session": hostile, "x_memory_agent": hostile}
    answer, _ = call(server, "POST", CHAT, chat("I use Shram"), key=key, **names)
    assert answer.status == 200
    wait_learned(server, key, **names)
    assert [one["object_value"] for one in call(server, "GET", "/v1/memories", key=key, **names)[1]["data"]] == [
        "Shram"
    ]
    by_name, found = call(server, "GET", f"/v1/sessions/{quote(hostile, safe='')}", key=key, **names)
    assert (by_name.status, found["name"], found["turns"]) == (200, hostile, 1)
    shown = answer.header("x-memory-session") or ""
    assert call(server, "GET", f"/v1/sessions/{quote(shown, safe='')}", key=key, **names)[1]["id"] == found["id"]
    for other in ({}, {"x_memory_user": hostile + "2"}, {"x_memory_user": "%"}):
        assert call(server, "GET", "/v1/memories", key=key, **other)[1]["data"] == []
        assert call(server, "GET", f"/v1/sessions/{quote(hostile, safe='')}", key=key, **other)[0].status == 404


@pytest.mark.parametrize("hostile", IN_PATHS.values(), ids=IN_PATHS)
def test_hostile_ids_in_paths_are_404(server: Running, upstream: FakeProvider, stranger: str, hostile: str) -> None:
    """Ids of nobody, and of somebody else: the same answer, and nothing reaches the provider."""
    upstream.script(answer_anything)
    id_ = quote(hostile.encode("utf-8", "surrogateescape"), safe="")
    for method, path in [
        ("GET", f"/v1/memories/{id_}"),
        ("PATCH", f"/v1/memories/{id_}"),
        ("DELETE", f"/v1/memories/{id_}"),
        ("GET", f"/v1/memories/{id_}/history"),
        ("POST", f"/v1/memories/{id_}/restore"),
        ("GET", f"/v1/receipts/{id_}"),
        ("GET", f"/v1/sessions/{id_}"),
        ("DELETE", f"/v1/sessions/{id_}"),
        ("POST", f"/v1/sessions/{id_}/end"),
        ("GET", f"/v1/memories?after={id_}"),
        ("GET", f"/v1/sessions?after={id_}"),
    ]:
        answer, parsed = call(server, method, path, {"text": "x"} if method == "PATCH" else None, key=stranger)
        assert_refused(answer, parsed, 404)
    assert not upstream.seen


def test_ids_of_another_scope_answer_like_ids_of_nobody(server: Running) -> None:
    owner, other = new_key(), new_key()
    with speaking(server, owner) as alice:
        response = alice.tell("I use Shram", x_memory_session="s1")
        ids = [("memories", alice.memories()[0]["id"]), ("receipts", response.headers["x-memory-receipt"]),
               ("sessions", alice.sessions()[0]["id"]), ("sessions", "s1")]  # fmt: skip
        for noun, id_ in ids:
            mine, _ = call(server, "GET", f"/v1/{noun}/{id_}", key=owner)
            foreign, parsed = call(server, "GET", f"/v1/{noun}/{id_}", key=other)
            nobody, missing = call(server, "GET", f"/v1/{noun}/{'0' * len(id_)}", key=other)
            assert (mine.status, foreign.status, nobody.status) == (200, 404, 404)
            assert parsed["error"]["message"].replace(id_, "") == missing["error"]["message"].replace(
                "0" * len(id_), ""
            )
        for noun, id_ in ids:
            if noun != "receipts":
                assert call(server, "DELETE", f"/v1/{noun}/{id_}", key=other)[0].status == 404
        assert [memory["status"] for memory in alice.memories()] == ["active"]


@pytest.mark.parametrize(
    "body",
    [
        {"text": ""}, {"text": 7}, {}, {"text": "x", "kind": "nope"}, {"text": "x", "confidence": 7},
        {"text": "x", "priority": 10**30}, {"text": "x", "expires_at": "soon"}, {"text": "x", "\ud800": 1},
        {"text": "x" * 20_001}, {"text": "x", "metadata": 5}, {"text": "x", "unknown": 1},
    ],
    ids=range(11),
)  # fmt: skip
def test_bad_memories_are_400(server: Running, body: dict[str, Any]) -> None:
    answer, parsed = call(server, "POST", "/v1/memories", body)
    assert_refused(answer, parsed, 400)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=99999", "kind=nope", "status=nope", "as_of=soon", "limit=1&limit=x"]
)
def test_bad_queries_are_400(server: Running, query: str) -> None:
    answer, parsed = call(server, "GET", f"/v1/memories?{query}")
    assert_refused(answer, parsed, 400)


@pytest.mark.parametrize(
    "text", [*HOSTILE.values(), "a\x00b", "\ud83d lone", "x" * 20_000], ids=[*HOSTILE, "nul", "surrogate", "longest"]
)
def test_hostile_texts_are_stored_found_and_forgotten(server: Running, text: str) -> None:
    key = new_key()
    answer, made = call(server, "POST", "/v1/memories", {"text": text, "metadata": {text[:50]: [text]}}, key=key)
    if answer.status == 400:
        assert_refused(answer, made, 400)
        return
    assert answer.status == 200
    for path, body in [
        ("/v1/memories/search", {"query": text}),
        ("/v1/memories/forget", {"text": text, "dry_run": True}),
    ]:
        assert call(server, "POST", path, body, key=key)[0].status == 200
    listed, page = call(
        server, "GET", f"/v1/memories?query={quote(text[:500].encode('utf-8', 'replace'), safe='')}", key=key
    )
    assert (listed.status, {one["id"] for one in page["data"]} <= {made["id"]}) == (200, True)
    assert call(server, "POST", CHAT, chat(f"What about {text[:200]}?"), key=key)[0].status == 200
    assert call(server, "DELETE", f"/v1/memories/{made['id']}", key=key)[0].status == 200


# --- anything

_texts = st.text(max_size=30) | st.sampled_from(
    ["", "user", "assistant", "tool", "text", "I use Shram", "\ud800", "\x00"]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)
_parts = st.fixed_dictionaries({}, optional={"type": _texts | _values, "text": _texts | _values, "image_url": _values})
_messages = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "system", "tool", "developer"]) | _values,
        "content": _texts | st.lists(_parts | _values, max_size=3) | _values,
        "name": _values,
        "tool_calls": st.lists(_values, max_size=2) | _values,
        "tool_call_id": _values,
    },
)
_bodies = st.fixed_dictionaries(
    {"model": st.just("m") | _texts | _values},
    optional={
        "messages": st.lists(_messages | _values, max_size=4) | _values,
        "stream": st.booleans() | _values,
        "user": _values,
        "metadata": _values,
        "prompt_cache_key": _values,
        "safety_identifier": _values,
        "tools": _values,
    },
)
_named = st.dictionaries(
    st.sampled_from(
        ["x-memory-mode", "x-memory-budget", "x-memory-time", "x-memory-user", "x-memory-session", "x-memory-agent"]
    ),
    st.sampled_from(["full", "read", "write", "observe", "ephemeral", "off", "600", "2026-01-01T00:00:00Z"])
    | st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), max_size=20),
    max_size=2,
)
_fuzzing = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@_fuzzing
@given(body=_bodies | _values, headers=_named)
def test_any_chat_body_is_answered_in_shape(
    server: Running, upstream: FakeProvider, body: Any, headers: dict[str, str]
) -> None:
    upstream.script(answer_anything)
    answer, parsed = call(server, "POST", CHAT, body, **headers)
    if answer.status == 200:
        assert parsed["object"] == "chat.completion"
        return
    assert_refused(answer, parsed, 400)


@_fuzzing
@given(
    path=st.sampled_from(["/v1/memories", "/v1/memories/search", "/v1/memories/forget"]),
    body=st.dictionaries(st.sampled_from(["text", "kind", "query", "sources", "metadata", "limit", "dry_run", "as_of", "object_value"]),
                         _texts | _values, max_size=5) | _values,
)  # fmt: skip
def test_any_body_of_the_memory_side_is_answered_in_shape(server: Running, fuzz_key: str, path: str, body: Any) -> None:
    answer, parsed = call(server, "POST", path, body, key=fuzz_key)
    if answer.status == 200:
        assert parsed["object"] in ("memory", "list")
        return
    assert_refused(answer, parsed, 400)


def wait_learned(server: Running, key: str, **headers: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while call(server, "GET", "/v1/state", key=key, **headers)[1]["pending_turns"]:
        assert time.monotonic() < deadline


def answer_anything(_: Seen) -> replies.Reply:
    return replies.json_reply(replies.completion("ok"))


@pytest.fixture(scope="module")
def fuzz_key() -> str:
    return new_key()


@pytest.fixture(scope="module")
def stranger() -> str:
    """Somebody with memories of her own, none of which may be touched."""
    return f"sk-test-{secrets.token_hex(8)}"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server without a provider."""
    with Running(Path(tmp_path_factory.mktemp("bare")), wait=False) as running:
        yield running
