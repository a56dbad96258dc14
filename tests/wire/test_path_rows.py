"""All other paths: bytes and files to the provider and back, with memory off and on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import DONE, JSON_HEADERS, SSE_HEADERS, Gate, Reply
from tests.running import Running
from tests.wire.conftest import KEY, QUESTION, Wire, ask, without_memory
from tests.wire.rawhttp import Wiretap, send, unframed

BLOB = bytes(range(256)) * 2000
BOUNDARY = "----b0und\"ary'x"
FORM = (
    b"--" + BOUNDARY.encode() + b'\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--'
    + BOUNDARY.encode() + b'\r\nContent-Disposition: form-data; name="file"; filename="a b\xc3\xa9.wav"\r\n'
    b"Content-Type: audio/wav\r\n\r\n" + BLOB + b"\r\n--" + BOUNDARY.encode() + b"--\r\n"
)  # fmt: skip
MULTIPART = f'multipart/form-data; boundary="{BOUNDARY}"'


def test_row_66_realtime_is_answered_cleanly(wire: Wire) -> None:
    upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
               ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Authorization", f"Bearer {KEY}")]  # fmt: skip
    with Wiretap(wire.server.origin, "GET", "/v1/realtime?model=gpt-realtime", upgrade) as tap:
        assert tap.until(b"}}").startswith(b"HTTP/1.1 426")
        error = orjson.loads(tap.ended())["error"]
    assert (error["type"], "WebSocket" in error["message"]) == ("invalid_request_error", True)
    assert not [seen for seen in wire.provider.seen if "realtime" in seen.path]


def test_row_66_realtime_without_websocket_passes_through(wire: Wire) -> None:
    body = b'{ "session":{"type":"realtime","model":"gpt-realtime"} }'
    wire.provider.then(Reply([b'{"value" : "ek_1"}']))
    assert wire.send(body, "/v1/realtime/client_secrets").body == b'{"value" : "ek_1"}'
    assert wire.seen.body == body


@pytest.mark.parametrize("target", ["/v1/models/org%2Fname", "/v1/models/org/name", "/v1/models?limit=2"])
def test_row_58_models_pass_through(wire: Wire, target: str) -> None:
    assert wire.send(b"", target, "GET").status == 200
    assert wire.seen.target == target


def test_row_59_embeddings_pass_through(wire: Wire) -> None:
    for given in (b"[[1,2,3]]", b"[1,2,3]", b'"text"', b'["a","b"]'):
        body = b'{"model": "text-embedding-3-small","input":%s , "encoding_format":"base64","dimensions":256}' % given
        reply = b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPw=="}],"usage":{"n":1.0}}'
        wire.provider.then(Reply([reply]))
        assert wire.send(body, "/v1/embeddings").body == reply
        assert wire.seen.body == body


def test_row_62_binary_bodies_pass_both_ways(wire: Wire) -> None:
    wire.provider.then(Reply([BLOB], headers=(("Content-Type", "application/octet-stream"),)))
    answer = wire.send(BLOB, "/v1/uploads/u1/parts", content_type="application/octet-stream")
    assert (answer.body, wire.seen.body) == (BLOB, BLOB)
    assert wire.seen.header("content-type") == "application/octet-stream"


def test_row_64_stored_completions_pass_through(wire: Wire) -> None:
    for method, target in [("GET", "/v1/chat/completions?limit=1"), ("DELETE", "/v1/chat/completions/c1"),
                           ("GET", "/v1/chat/completions/c1/messages")]:  # fmt: skip
        assert wire.send(b"", target, method).status == 200
        assert (wire.seen.method, wire.seen.target) == (method, target)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_60_completions_pass_through(wire: Wire, stream: bool) -> None:
    """The legacy endpoint: a prompt of any kind is forwarded, ``text_completion`` is relayed."""
    for prompt in (b'"Say this"', b'["a","b"]', b"[1,2,3]", b"[[1,2],[3]]", b"null"):
        body = b'{"model":"gpt-3.5-turbo-instruct" ,"prompt":%s,"echo":true,"suffix":null,"stream":%s}'
        body %= (prompt, b"true" if stream else b"false")
        whole = b'{"id":"cmpl-1","object":"text_completion","choices":[{"text":" it","index":0,"logprobs":null,"finish_reason":null}]}'
        pieces = [b"data: " + whole + b"\n\n", DONE] if stream else [whole]
        wire.provider.then(Reply(pieces, headers=SSE_HEADERS if stream else JSON_HEADERS))
        answer = wire.send(body, "/v1/completions")
        assert (answer.status, answer.body, wire.seen.body) == (200, b"".join(pieces), body)


def test_row_60_sdk_reads_completions(wire: Wire) -> None:
    choice = {"text": "Hi", "index": 0, "logprobs": None, "finish_reason": "stop"}
    body = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
    wire.provider.then(replies.json_reply(body), Reply([replies.event(body), DONE], headers=SSE_HEADERS))
    assert wire.openai.completions.create(model="m", prompt="x").choices[0].text == "Hi"
    assert [one.choices[0].text for one in wire.openai.completions.create(model="m", prompt="x", stream=True)] == ["Hi"]


RESPONSE = b'{ "id":"resp_1","object":"response","status":"completed","error":null,"output":[],"usage":null,"x":1.0 }'
INPUTS = [
    QUESTION,
    [{"role": "user", "content": QUESTION}],
    [
        {"type": "message", "role": "developer", "content": "Be brief."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}", "status": None},
        {"type": "function_call_output", "call_id": "c1", "output": "seen"},
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": "u"}]},
    ],
]  # fmt: skip


@pytest.mark.parametrize("given", INPUTS, ids=["text", "message", "items"])
def test_row_61_responses_keep_their_bytes(wire: Wire, given: Any) -> None:
    """Forwarded: the same bytes around memory's additions; relayed: the provider's bytes, whole and streamed."""
    body = orjson.dumps({"model": "gpt-4o", "input": given, "store": None, "x": [1.5]})
    wire.provider.then(Reply([RESPONSE]))
    answer = wire.send(body, "/v1/responses")
    assert (answer.status, answer.body) == (200, RESPONSE)
    assert without_memory(wire.seen.body) == body
    assert wire.memory == "full" or wire.seen.body == body


def test_row_61_responses_stream_as_they_come(wire: Wire) -> None:
    events = [b'event: response.created\ndata: {"type":"response.created","sequence_number":0}\n\n',
              b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
              b'event: response.completed\ndata: {"type":"response.completed","response":' + RESPONSE + b"}\n\n"]  # fmt: skip
    gate = Gate()
    wire.provider.then(Reply([events[0], gate, *events[1:]], headers=SSE_HEADERS, framing="chunked"))
    with wire.tap({"model": "gpt-4o", "input": QUESTION, "stream": True}, "/v1/responses") as tap:
        tap.until(events[0])
        gate.open()
        assert unframed(tap.ended()) == b"".join(events)


@pytest.mark.parametrize(
    ("method", "target"),
    [("GET", "/v1/responses/resp_1?include%5B%5D=a"), ("DELETE", "/v1/responses/resp_1"),
     ("POST", "/v1/responses/resp_1/cancel"), ("GET", "/v1/responses/resp_1/input_items?limit=1"),
     ("POST", "/v1/responses/input_tokens"), ("POST", "/v1/conversations"), ("GET", "/v1/conversations/c/items")],
)  # fmt: skip
def test_row_61_stored_responses_pass_through(wire: Wire, method: str, target: str) -> None:
    wire.provider.then(Reply([RESPONSE]))
    body = b'{ "input":"x" }' if method == "POST" else b""
    assert wire.send(body, target, method).body == RESPONSE
    assert (wire.seen.method, wire.seen.target, wire.seen.body) == (method, target, body)


@pytest.mark.parametrize("length", [True, False], ids=["length", "chunked"])
def test_row_62_files_go_up_and_down_verbatim(wire: Wire, length: bool) -> None:
    body = FORM if length else (FORM[at : at + 50_000] for at in range(0, len(FORM), 50_000))
    headers = {**wire.headers, "content-type": MULTIPART}
    assert send(wire.server.origin, "POST", "/v1/files", headers.items(), body).status == 200
    assert (wire.seen.body, wire.seen.header("content-type")) == (FORM, MULTIPART)
    given = (("Content-Type", "application/jsonl"), ("Content-Disposition", 'attachment; filename="a.jsonl"'))
    wire.provider.then(Reply([BLOB[:9], BLOB[9:]], headers=given, framing="chunked"))
    answer = wire.send(b"", "/v1/files/file-1/content", "GET")
    assert (answer.body, answer.header("content-disposition")) == (BLOB, given[1][1])


@pytest.mark.parametrize(
    "path", ["/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations", "/uploads/u1/parts",
             "/containers/c1/files", "/skills", "/videos"],
)  # fmt: skip
def test_row_63_multipart_goes_up_byte_for_byte(wire: Wire, path: str) -> None:
    wire.provider.then(Reply([b'{"text" : "Hi"}']))
    answer = wire.send(FORM, f"/v1{path}", content_type=MULTIPART)
    assert (answer.status, answer.body) == (200, b'{"text" : "Hi"}')
    assert (wire.seen.body, wire.seen.header("content-type")) == (FORM, MULTIPART)
    assert wire.seen.header("content-length") == str(len(FORM))


@pytest.mark.parametrize("framing", ["chunked", "auto", "close"])
def test_row_63_speech_comes_down_byte_for_byte(wire: Wire, framing: str) -> None:
    gate = Gate()
    pieces = [BLOB] if framing == "auto" else [BLOB[:100], gate, BLOB[100:]]
    wire.provider.then(Reply(pieces, headers=(("Content-Type", "audio/mpeg"),), framing=framing))
    body = {"model": "tts-1", "voice": "alloy", "input": QUESTION}
    with wire.tap(body, "/v1/audio/speech", connection="close") as tap:
        tap.until(BLOB[:100])
        gate.open()
        received = tap.rest().partition(b"\r\n\r\n")[2]
    assert (received if framing == "auto" else unframed(received)) == BLOB
    assert wire.seen.json == body


@pytest.mark.parametrize(
    ("method", "target"),
    [("POST", "/v1/images/generations"), ("POST", "/v1/moderations"), ("POST", "/v1/batches"), ("GET", "/v1/batches?after=b"),
     ("POST", "/v1/batches/b1/cancel"), ("POST", "/v1/vector_stores"), ("POST", "/v1/vector_stores/vs/search"),
     ("DELETE", "/v1/vector_stores/vs/files/f"), ("POST", "/v1/fine_tuning/jobs"), ("POST", "/v1/rerank"),
     ("POST", "/v1/evals/e/runs"), ("GET", "/v1/organization/usage/completions?bucket_width=1d")],
)  # fmt: skip
def test_row_63_other_paths_pass_through(wire: Wire, method: str, target: str) -> None:
    body = b'{ "model":"m","input":"x" , "n":1.0,"a":null }' if method == "POST" else b""
    reply = b'{"object" : "thing","deleted":null,"score":1e-7}'
    wire.provider.then(Reply([reply]))
    answer = wire.send(body, target, method, openai_beta="assistants=v2")
    assert (answer.status, answer.body) == (200, reply)
    assert (wire.seen.method, wire.seen.target, wire.seen.body) == (method, target, body)
    assert wire.seen.header("openai-beta") == "assistants=v2"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_65_anthropic_messages_keep_their_bytes(wire: Wire, stream: bool) -> None:
    """Forwarded: the same bytes around memory's additions; relayed: the provider's bytes with ``event:`` lines."""
    cached = {"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}
    thought = {"type": "thinking", "thinking": "t", "signature": "sig=="}
    use, result = (
        {"type": "tool_use", "id": "t1", "name": "look", "input": {}},
        {"type": "tool_result", "tool_use_id": "t1"},
    )
    messages = [{"role": "user", "content": "Look"}, {"role": "assistant", "content": [thought, use]},
                {"role": "user", "content": [{**result, "content": None}]}, {"role": "assistant", "content": "Done."},
                {"role": "user", "content": [{"type": "text", "text": QUESTION}]}]  # fmt: skip
    body = orjson.dumps(
        {"model": "claude", "max_tokens": 9, "system": [cached], "messages": messages, "stream": stream}
    )
    reply = replies.anthropic("Hi there", stream_asked=stream)
    wire.provider.then(reply)
    answer = wire.send(body, "/v1/messages", anthropic_version="2023-06-01", anthropic_beta="a,b")
    assert (answer.status, answer.body) == (200, b"".join(piece for piece in reply.chunks if isinstance(piece, bytes)))
    assert without_memory(wire.seen.body) == body
    assert wire.memory == "full" or wire.seen.body == body
    assert (wire.seen.header("anthropic-version"), wire.seen.header("anthropic-beta")) == ("2023-06-01", "a,b")


def test_row_65_errors_of_anthropics_api_are_verbatim(wire: Wire) -> None:
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":null}'
    wire.provider.then(Reply([body], 529))
    answer = wire.send(ask(max_tokens=9), "/v1/messages", x_api_key=KEY, authorization="")
    assert (answer.status, answer.body) == (529, body)
    assert wire.seen.header("x-api-key") == KEY


def test_events_of_other_paths_leave_as_they_come(wire: Wire) -> None:
    gate = Gate()
    wire.provider.then(Reply([b"data: {}\n\n", gate, DONE], headers=SSE_HEADERS, framing="chunked"))
    with Wiretap(wire.server.origin, "POST", "/v1/completions", wire.headers.items(), b'{"model":"m"}') as tap:
        tap.until(b"data: {}\n\n")
        gate.open()
        tap.until(DONE)


def test_alias_of_an_embedding_model_is_replaced(tmp_path: Path, provider: FakeProvider) -> None:
    served = {"model": "openai/text-embedding-3-small", "api_base": provider.base_url, "api_key": "sk-route"}
    models = [{"model_name": "emb", "litellm_params": served}]
    with Running(tmp_path, wait=False, models=models) as server:
        body = b'{"model": "emb" ,"input":"hi"}'
        answer = send(server.origin, "POST", "/v1/embeddings", [("authorization", f"Bearer {KEY}")], body)
    assert (answer.status, provider.last.body) == (200, b'{"model": "text-embedding-3-small" ,"input":"hi"}')


@pytest.mark.parametrize("target", ["/v1/../admin", "/v1/files/%2e%2e/%2E./admin", "/v1/files/..", "/v1/a/%2e%2e%2fb"])
def test_path_that_climbs_is_404(plain: Wire, target: str) -> None:
    with Wiretap(plain.server.origin, "GET", target, plain.headers.items()) as tap:
        assert tap.until(b"}}").startswith(b"HTTP/1.1 404")
    assert not plain.provider.seen
