"""For any input: the provider's reply or an error in OpenAI's shape, never a crash, never another user's memory."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.e2e.hostile import CHAT, KEY, answer_anything, assert_refused, call, chat, wait_learned
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import lasting_provider, server, upstream
from tests.talking import new_key

__all__ = ["lasting_provider", "server", "upstream"]


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


@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/messages", "/v1/memories"])
@pytest.mark.parametrize("nested", [b"[" * 1100 + b"]" * 1100, b'{"a":' * 1100 + b"1" + b"}" * 1100])
def test_too_deep_body_is_refused_with_the_limit(server: Running, path: str, nested: bytes) -> None:
    answer, parsed = call(server, "POST", path, b'{"model":"m","text":"I like tea","x":' + nested + b"}")
    assert (answer.status, parsed["error"]["type"]) == (400, "invalid_request_error")
    assert "up to 900 levels" in parsed["error"]["message"]
    deep = b"[" * 899 + b"]" * 899
    answer, parsed = call(server, "POST", path, b'{"model":"m","text":"I like tea","x":' + deep + b"}")
    assert "levels" not in str(parsed)


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


@pytest.mark.parametrize("odd", [["user"], {"a": 1}, None, 7])
@pytest.mark.parametrize(
    ("path", "key"), [(CHAT, "messages"), ("/v1/responses", "input"), ("/v1/messages", "messages")]
)
def test_odd_role_or_type_leaves_memory_at_work(
    server: Running, upstream: FakeProvider, path: str, key: str, odd: Any
) -> None:
    upstream.script(answer_anything)
    turns = [{"role": odd, "content": [{"type": odd, "text": "x"}]}, {"type": odd, "role": "user", "content": "Hello"}]
    body = {"model": "m", "max_tokens": 9, "thinking": {"type": odd}, key: turns}
    answer, _ = call(server, "POST", path, body, key=new_key())
    assert (answer.status, answer.header("x-memory")) == (200, "none; n=0; tokens=0")


@pytest.mark.parametrize(
    "packed", [gzip.compress(b"{", mtime=0), gzip.compress(b"[]", mtime=0), b"\x1f\x8b", b"x", b""]
)
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


@pytest.mark.parametrize("mode", ["on", "FULL ", "none", "0", "ful", "full,off", "ö", "x" * 9000])
def test_bad_modes(server: Running, mode: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), x_memory_mode=mode)
    if mode == "FULL ":
        assert answer.status == 200
        return
    assert_refused(answer, parsed, 400)
    assert (parsed["error"]["code"], parsed["error"]["param"]) == ("invalid_header", "X-Memory-Mode")


@pytest.mark.parametrize("choice", ["yes", "true", "1", "on,off", "ö", "x" * 9000])
def test_bad_choices_of_tools(server: Running, choice: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), x_memory_tools=choice)
    assert_refused(answer, parsed, 400)
    assert (parsed["error"]["code"], parsed["error"]["param"]) == ("invalid_header", "X-Memory-Tools")


@pytest.mark.parametrize("name", ["User", "Session", "Agent", "Project", "Mode", "Budget", "Tools", "Time"])
def test_empty_headers_count_as_none(server: Running, name: str) -> None:
    answer, _ = call(server, "POST", CHAT, chat(), **{f"x_memory_{name.lower()}": " "})
    assert answer.status == 200


@pytest.mark.parametrize("name", ["User", "Session", "Agent", "Project"])
def test_overlong_names_are_refused_by_header(server: Running, name: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), **{f"x_memory_{name.lower()}": "a" * 16_385})
    assert_refused(answer, parsed, 400)
    assert parsed["error"]["param"] == f"X-Memory-{name}"


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


@pytest.mark.parametrize("name", ["x-memory-user", "x-memory-session", "x-memory-agent", "x-memory-project"])
def test_ids_beyond_any_id_are_400(server: Running, name: str) -> None:
    answer, parsed = call(server, "POST", CHAT, chat(), **{name: "x" * 20_000})
    assert_refused(answer, parsed, 400)


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
    path=st.sampled_from(["/v1/memories", "/v1/memories/search", "/v1/memories/forget", "/v1/memories/undo"]),
    body=st.dictionaries(st.sampled_from(["text", "kind", "query", "sources", "metadata", "limit", "dry_run", "as_of", "object_value", "ids", "batch"]),
                         _texts | _values, max_size=5) | _values,
)  # fmt: skip
def test_any_body_to_memory_is_answered_in_shape(server: Running, fuzz_key: str, path: str, body: Any) -> None:
    answer, parsed = call(server, "POST", path, body, key=fuzz_key)
    if answer.status == 200:
        assert parsed["object"] in ("memory", "list", "memory.forget", "memory.undo")
        return
    assert_refused(answer, parsed, 400, *([404] if path.endswith("/undo") else []))


@pytest.fixture(scope="module")
def fuzz_key() -> str:
    return new_key()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a server without a provider."""
    with Running(Path(tmp_path_factory.mktemp("bare")), wait=False) as running:
        yield running
