"""Whole replies: the client gets the provider's bytes, and an SDK parses them as without a proxy."""

from __future__ import annotations

import gzip
from typing import Any

import orjson
import pytest
from openai import pydantic_function_tool
from pydantic import BaseModel

from tests.fakes import replies
from tests.fakes.replies import JSON_HEADERS, Reply, Text
from tests.wire.conftest import QUESTION, WIRES, Wire, ask, asked_anywhere


def reply_of(**message: Any) -> dict[str, Any]:
    body = replies.completion()
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": None, **message}
    return body


def assert_unchanged(wire: Wire, body: bytes | dict[str, Any], request: Any = None) -> None:
    """Assert that the client gets the bytes of a provider's body."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    answer = wire.through(Reply([raw]), request or ask())
    assert (answer.status, answer.body) == (200, raw)


def test_row_15_nulls_are_kept(wire: Wire) -> None:
    assert_unchanged(wire, b'{ "choices":[ {"index":0,"message":{"role":"assistant","content":null,"refusal":null,'
                           b'"audio":null,"tool_calls":null},"logprobs":null,"finish_reason":null} ],"usage":null }')  # fmt: skip


def test_row_16_unknown_fields_stay_in_place(wire: Wire) -> None:
    assert_unchanged(wire, b'{"x_groq":{"id":"r1"},"id":"c1","choices":[{"zz":1,"index":0,"message":{"content":"a",'
                           b'"role":"assistant","citations":[1]}}],"provider":"p","usage":{"cost":0.10,"x":1e-7}}')  # fmt: skip


def test_row_17_refusal_is_whole(wire: Wire) -> None:
    wire.provider.then(replies.json_reply(reply_of(refusal="I can't help with that.")))
    message = wire.openai.chat.completions.create(**ask()).choices[0].message
    assert (message.refusal, message.content) == ("I can't help with that.", None)


def test_row_18_refusal_is_whole_in_a_stream(wire: Wire) -> None:
    chunks = replies.chunks()
    for chunk, piece in zip(chunks[1:-1], ("I can't ", "help ", "with ", "that."), strict=True):
        chunk["choices"][0]["delta"] = {"refusal": piece}
    wire.provider.then(Reply([*map(replies.event, chunks), replies.DONE], headers=replies.SSE_HEADERS))
    stream = wire.openai.chat.completions.create(**ask(), stream=True)
    assert "".join(chunk.choices[0].delta.refusal or "" for chunk in stream) == "I can't help with that."


def test_row_19_logprobs_with_null_bytes_are_kept(wire: Wire) -> None:
    body = replies.completion("Hi")
    token = {"token": "Hi", "logprob": -0.1, "bytes": None, "top_logprobs": []}
    body["choices"][0]["logprobs"] = {"content": [token], "refusal": None}
    assert_unchanged(wire, body, ask(logprobs=True))
    wire.provider.then(replies.json_reply(body))
    logprobs = wire.openai.chat.completions.create(**ask(logprobs=True)).choices[0].logprobs
    assert logprobs is not None
    assert logprobs.content is not None
    assert (logprobs.content[0].token, logprobs.content[0].bytes) == ("Hi", None)


def test_row_20_two_choices_arrive(wire: Wire) -> None:
    body = replies.completion("one")
    second = {**body["choices"][0], "index": 1, "message": {"role": "assistant", "content": "two", "refusal": None}}
    body["choices"].append({**second, "finish_reason": "length"})
    wire.provider.then(replies.json_reply(body))
    choices = wire.openai.chat.completions.create(**ask(n=2)).choices
    assert [(one.index, one.message.content, one.finish_reason) for one in choices] == [
        (0, "one", "stop"),
        (1, "two", "length"),
    ]


def test_row_21_two_choices_stream_with_role_and_finish(wire: Wire) -> None:
    head = {key: value for key, value in replies.chunks()[0].items() if key != "choices"}

    def piece(index: int, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return replies.event({**head, "choices": [{"index": index, "delta": delta, "finish_reason": finish}]})

    events = [piece(at, {"role": "assistant", "content": ""}) for at in (0, 1)]
    events += [piece(1, {"content": "two"}), piece(0, {"content": "one"})]
    events += [piece(1, {}, "length"), piece(0, {}, "stop")]
    wire.provider.then(Reply([*events, replies.DONE], headers=replies.SSE_HEADERS))
    seen: dict[int, list[Any]] = {0: [], 1: []}
    for chunk in wire.openai.chat.completions.create(**ask(n=2), stream=True):
        for choice in chunk.choices:
            seen[choice.index] += [choice.delta.role, choice.delta.content, choice.finish_reason]
    assert [value for value in seen[0] if value] == ["assistant", "one", "stop"]
    assert [value for value in seen[1] if value] == ["assistant", "two", "length"]


def test_row_22_interleaved_parallel_tool_deltas_come_together(wire: Wire) -> None:
    def delta(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
        named = {"id": f"call_{index}", "type": "function"} if name else {}
        return {"index": index, **named, "function": {**({"name": name} if name else {}), "arguments": arguments}}

    chunks = replies.chunks(Text("1234", pieces=4))
    deltas = [
        [delta(0, "", "look"), delta(1, "", "hear")],
        [delta(1, '{"b"')],
        [delta(0, '{"a":1}')],
        [delta(1, ":2}")],
    ]
    for chunk, calls in zip(chunks[1:-1], deltas, strict=True):
        chunk["choices"][0]["delta"] = {"tool_calls": calls}
    chunks[-1]["choices"][0]["finish_reason"] = "tool_calls"
    wire.provider.then(Reply([*map(replies.event, chunks), replies.DONE], headers=replies.SSE_HEADERS))
    tools: Any = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "hear")]
    with wire.openai.chat.completions.stream(**ask(), tools=tools) as stream:
        choice = stream.get_final_completion().choices[0]
    assert [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []] == [
        ("call_0", "look", '{"a":1}'),
        ("call_1", "hear", '{"b":2}'),
    ]
    assert choice.finish_reason == "tool_calls"


def test_row_23_legacy_function_call_is_kept(wire: Wire) -> None:
    body = reply_of(function_call={"name": "look", "arguments": '{"a": 1}'})
    body["choices"][0]["finish_reason"] = "function_call"
    assert_unchanged(wire, body, ask(functions=[{"name": "look"}], function_call="auto"))


def test_row_24_audio_is_kept(wire: Wire) -> None:
    audio = {"id": "audio_1", "data": "UklGRg==" * 500, "expires_at": 1_700_000_000, "transcript": "hello"}
    assert_unchanged(wire, reply_of(audio=audio), ask(modalities=["text", "audio"]))


def test_row_25_reasoning_keeps_its_own_name(wire: Wire) -> None:
    details = [{"type": "reasoning.text", "text": "t", "signature": None, "format": None, "index": 0}]
    assert_unchanged(wire, reply_of(content="a", reasoning="r", reasoning_content="rc", reasoning_details=details))


def test_row_26_annotations_are_kept(wire: Wire) -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://a.test", "start_index": 0, "end_index": 1}}
    assert_unchanged(wire, reply_of(content="a", annotations=[cited]))


def test_row_27_json_schema_and_strict_tools_work(wire: Wire) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    shape = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}
    body = replies.completion('{"a":1}')
    assert_unchanged(wire, body, ask(response_format=shape))
    assert wire.seen.json["response_format"] == shape


def test_row_27_sdk_reads_strict_tools(wire: Wire) -> None:
    class Look(BaseModel):
        at: int

    call = {"id": "call_1", "type": "function", "function": {"name": "Look", "arguments": '{"at": 7}'}}
    body = reply_of(tool_calls=[call])
    body["choices"][0]["finish_reason"] = "tool_calls"
    wire.provider.then(replies.json_reply(body))
    tools = [pydantic_function_tool(Look)]
    message = wire.openai.chat.completions.parse(**ask(), tools=tools).choices[0].message
    assert [one.function.parsed_arguments for one in message.tool_calls or []] == [Look(at=7)]
    assert wire.seen.json["tools"] == tools
    assert wire.seen.json["tools"][0]["function"]["strict"] is True


def test_row_28_providers_names_and_numbers_are_unchanged(wire: Wire) -> None:
    body = {**replies.completion(), "id": "gen-17-ABC", "created": 1, "model": "org/other@1", "service_tier": "flex",
            "system_fingerprint": None, "obfuscation": "aB3"}  # fmt: skip
    assert_unchanged(wire, body)


def test_row_28_in_a_stream(wire: Wire) -> None:
    chunks = [{**chunk, "obfuscation": "x" * at, "created": at} for at, chunk in enumerate(replies.chunks())]
    pieces = [*map(replies.event, chunks), replies.DONE]
    answer = wire.through(Reply(pieces, headers=replies.SSE_HEADERS), ask(stream=True))
    assert answer.body == b"".join(pieces)


def test_row_76_usage_is_as_the_provider_counted(wire: Wire) -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 10**12, "total_tokens": 3, "prompt_tokens_details": None}
    assert_unchanged(wire, {**replies.completion(), "usage": usage})


def test_row_79_compressed_reply_keeps_coding_and_bytes(wire: Wire) -> None:
    packed = gzip.compress(orjson.dumps(replies.completion("Hi there")))
    wire.provider.then(Reply([packed], headers=(*JSON_HEADERS, ("Content-Encoding", "gzip"))))
    answer = wire.send(ask(), accept_encoding="gzip, br")
    assert (answer.header("content-encoding"), answer.body) == ("gzip", packed)
    assert answer.header("content-length") == str(len(packed))


def test_row_79_unrequested_coding_is_not_requested(wire: Wire) -> None:
    wire.send(ask())
    assert wire.seen.header("accept-encoding") is None


def test_nothing_of_ours_is_in_the_body(remembering: Wire) -> None:
    answer = remembering.send(ask())
    assert orjson.loads(answer.body).keys() == replies.completion().keys()
    assert orjson.loads(answer.body)["choices"][0]["message"]["content"].startswith(f"echo: {QUESTION}")
    assert (answer.header("x-memory") or "").startswith("used; n=")
    assert (answer.header("x-memory-receipt") or "").startswith("rcpt_")
    assert (answer.header("x-memory-session") or "").startswith("ses_")
    assert "upstream;dur=" in (answer.header("server-timing") or "")


@pytest.mark.parametrize("path", [*WIRES, "/v1/embeddings"])
@pytest.mark.parametrize("control", ["\x01", "\x7f"])
def test_reply_header_with_a_control_character_is_dropped(wire: Wire, path: str, control: str) -> None:
    theirs = (("X-Bad", f"a{control}b"), ("X-Tab", "a\tb"), ("X-High", "\xe9"))
    wire.provider.then(Reply([b"{}"], headers=(*JSON_HEADERS, *theirs)))
    answer = wire.send(asked_anywhere(), path)
    assert (answer.status, answer.body) == (200, b"{}")
    assert [answer.header(name) for name, _ in theirs] == [None, "a\tb", "\xe9"]


@pytest.mark.parametrize("path", [*WIRES, "/v1/embeddings"])
def test_reply_has_one_set_of_memory_headers(wire: Wire, path: str) -> None:
    """The provider is itself a Throughline."""
    theirs = (("X-Memory", "used; n=9; tokens=9"), ("X-Memory-Receipt", "rcpt_9"), ("X-Memory-Session", "ses_9"))
    wire.provider.then(Reply([b"{}"], headers=(*JSON_HEADERS, *theirs)))
    answer = wire.send(asked_anywhere(), path)
    ours = [pair for pair in answer.headers if pair[0].lower().startswith("x-memory")]
    assert len({name.lower() for name, _ in ours}) == len(ours)
    assert not set(theirs) & {(name.title(), value) for name, value in ours}
    assert answer.header("x-memory")
