"""What the provider gets: the client's own bytes, and with memory on the same bytes around the blocks."""

from __future__ import annotations

import gzip
from typing import Any

import orjson
import pytest

from tests.wire.conftest import PATHS, QUESTION, Wire, ask, asked_anywhere, without_memory

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "it"}'}}


def last(text: str = QUESTION) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assert_arrives(wire: Wire, body: bytes | dict[str, Any]) -> None:
    """Send a body and find the same bytes at the provider, blocks left out; with something to inject, it is there."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    answer = wire.send(raw)
    assert answer.status == 200
    sent = wire.seen.body
    assert without_memory(sent) == raw
    outcome = (answer.header("x-memory") or "").partition(";")[0]
    assert outcome == {"off": "off", "empty": "none", "full": "used"}[wire.memory]
    assert (sent != raw) == (wire.memory == "full")


def test_row_01_body_is_the_same(wire: Wire) -> None:
    assert_arrives(
        wire, b'{ "model":"gpt-4o" ,\n\t"messages": [ {"content":"' + QUESTION.encode() + b'","role":"user"} ] }'
    )


def test_row_02_unknown_fields_nulls_and_order_stay(wire: Wire) -> None:
    body = {
        "zeta": None,
        "messages": [{"x-mine": {"b": 1, "a": [None, {"deep": {}}]}, **last(), "weight": 0, "extra": None}],
        "model": "gpt-4o",
        "alpha": {"z": None, "a": [], "m": {"n": None}},
        "temperature": None,
        "": "empty key",
    }
    assert_arrives(wire, body)


def test_row_03_provider_fields_are_kept(wire: Wire) -> None:
    more = {
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "verbosity": "low",
        "top_k": 40,
        "chat_template_kwargs": {"enable_thinking": False},
        "provider": {"order": ["a", "b"], "allow_fallbacks": False},
        "guided_json": {"type": "object", "properties": {"a": {"type": "string"}}},
        "reasoning_effort": "minimal",
        "extra_body": {"nested": True},
        "stream_options": None,
    }
    assert_arrives(wire, ask(**more))


def test_row_04_developer_role_and_name_are_kept(wire: Wire) -> None:
    messages = [
        {"role": "developer", "content": "Be brief.", "name": "ops"},
        {"role": "user", "content": "Hi", "name": "alice"},
        {"role": "assistant", "content": "Hello.", "name": "bot"},
        {**last(), "name": "alice"},
    ]
    assert_arrives(wire, {"model": "gpt-4o", "messages": messages})


def test_row_05_assistant_history_is_kept(wire: Wire) -> None:
    thought = {"type": "reasoning.encrypted", "data": "c2lnbmVk", "signature": "sig==", "index": 0}
    messages = [
        {"role": "user", "content": "Look at it"},
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
        {"role": "assistant", "content": "Done", "refusal": None, "reasoning_details": [thought], "annotations": []},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "abc"}], "audio": None},
        last(),
    ]
    assert_arrives(wire, {"model": "gpt-4o", "messages": messages})


def test_row_06_every_kind_of_part_is_kept(wire: Wire) -> None:
    pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    parts = [
        {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "image_url", "image_url": {"url": pixel, "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-abc"}},
        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}},
        {"type": "video_url", "video_url": {"url": "https://example.test/v.mp4"}},
        {"type": "something_new", "payload": {"a": None}},
    ]
    system = {"role": "system", "content": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]}
    assert_arrives(wire, {"model": "gpt-4o", "messages": [system, {"role": "user", "content": parts}]})


def test_row_07_tool_and_function_messages_are_kept(wire: Wire) -> None:
    messages = [
        {"role": "user", "content": "Look twice"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "call_2"}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "two"}]},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": None},
        last(),
    ]
    assert_arrives(wire, {"model": "gpt-4o", "messages": messages, "tools": [TOOL], "functions": [{"name": "old"}]})


def test_row_08_custom_and_allowed_tools_are_kept(wire: Wire) -> None:
    custom = {"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": {"syntax": "lark"}}}}
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "custom", "name": "sql"}]}}
    assert_arrives(wire, ask(tools=[TOOL, custom], tool_choice=allowed, parallel_tool_calls=False))


@pytest.mark.parametrize("body", [{"messages": []}, {"model": "", "messages": []}, {"model": 7}, {"model": None}])
def test_row_09_missing_model_is_400(wire: Wire, body: dict[str, Any]) -> None:
    answer = wire.send(body)
    error = orjson.loads(answer.body)["error"]
    assert (answer.status, error["type"], error["param"]) == (400, "invalid_request_error", "model")
    assert not [seen for seen in wire.provider.seen if seen.path.endswith("completions")]


@pytest.mark.parametrize("body", [{"model": "m"}, {"model": "m", "messages": []}, {"model": "m", "messages": None}])
def test_row_10_missing_messages_are_the_providers_400(wire: Wire, body: dict[str, Any]) -> None:
    answer = wire.send(body)
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (400, "empty_array")
    assert wire.seen.json == body


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"null", b"7", b'{"model": "m", }', b"\xff\xfe", b"NaN"])
def test_row_11_malformed_json_is_400_in_shape(wire: Wire, body: bytes) -> None:
    answer = wire.send(body)
    error = orjson.loads(answer.body)["error"]
    assert (answer.status, error["type"]) == (400, "invalid_request_error")
    assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "GZIP"])
def test_row_12_compressed_body_is_accepted(wire: Wire, coding: str) -> None:
    import zlib

    raw = orjson.dumps(ask())
    packed = zlib.compress(raw) if coding == "deflate" else gzip.compress(raw)
    assert wire.send(packed, content_encoding=coding).status == 200
    is_off = wire.memory == "off"  # then the same bytes
    assert without_memory(wire.seen.body) == (packed if is_off else raw)
    assert wire.seen.header("content-encoding") == (coding if is_off else None)


def test_row_12_unknown_coding_is_415(wire: Wire) -> None:
    answer = wire.send(b"snappy", content_encoding="snappy")
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (415, "unsupported_encoding")


def test_row_12_broken_gzip_is_400(wire: Wire) -> None:
    assert wire.send(b"\x1f\x8b broken", content_encoding="gzip").status == 400


def test_row_12_gzip_bomb_is_413(wire: Wire) -> None:
    bomb = gzip.compress(b" " * (65 * 2**20), 9)
    answer = wire.send(bomb, content_encoding="gzip")
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("path", PATHS)
def test_row_13_openais_headers_are_forwarded(wire: Wire, path: str) -> None:
    given = {
        "openai-organization": "org-1",
        "openai-project": "proj_1",
        "x-client-request-id": "abc-123",
        "idempotency-key": "idem-1",
        "openai-beta": "assistants=v2",
        "x-stainless-lang": "python",
        "user-agent": "mine/1.0",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    }
    assert wire.send(asked_anywhere(), path, **given).status == 200
    assert {name: wire.seen.header(name) for name in given} == given
    assert wire.seen.header("authorization") == wire.headers["authorization"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
@pytest.mark.parametrize("credentials", ["Basic x", "Digest username=a", "opaque"])
def test_row_13_credentials_of_another_kind_are_forwarded(plain: Wire, path: str, credentials: str) -> None:
    answer = plain.send(ask(), path, authorization=credentials)
    assert (answer.status, plain.seen.header("authorization")) == (200, credentials)
    assert (answer.header("x-memory") or "").startswith("off;")


@pytest.mark.parametrize("path", PATHS)
def test_row_14_hop_and_own_headers_stay_here(wire: Wire, path: str) -> None:
    kept_back = {
        "connection": "keep-alive, x-hop",
        "x-hop": "1",
        "keep-alive": "timeout=5",
        "te": "trailers",
        "proxy-authorization": "Basic eA==",
        "cookie": "a=1",
        "x-memory-agent": "cli",
        "x-memory-budget": "500",
        "x-memory-session": "s1",
        "x-memory-time": "2026-03-01T09:30:00Z",
        "x-memory-tools": "off",
    }
    assert wire.send(asked_anywhere(), path, **kept_back).status == 200
    arrived = {name.lower() for name, _ in wire.seen.headers}
    assert not arrived & (set(kept_back) | {"x-memory-user", "x-memory-mode"})
    assert wire.seen.header("host") == f"127.0.0.1:{wire.provider.port}"


def test_row_78_duplicate_keys_and_big_numbers_survive(wire: Wire) -> None:
    body = (
        b'{"model":"other","seed":123456789012345678901234567890,"temperature":1.0e0,"top_p":0.10,"n":1,"n":1,'
        b'"logit_bias":{"50256":-100.000},"model":"gpt-4o","messages":[{"role":"user","role":"user","content":"first",'
        b'"content":"' + QUESTION.encode() + b' \\u00e9 \\/ \\ud83d\\ude00"}]}'
    )
    assert_arrives(wire, body)


def test_row_78_byte_order_mark_survives(wire: Wire) -> None:
    assert_arrives(wire, b"\xef\xbb\xbf" + orjson.dumps(ask()))


def test_row_78_lone_surrogate_survives(wire: Wire) -> None:
    assert_arrives(wire, b'{"model":"m","messages":[{"role":"user","content":"' + QUESTION.encode() + b' \\ud83d"}]}')
