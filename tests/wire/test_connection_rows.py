"""Connections: disconnects, sizes, silence, concurrency, and the variants of HTTP/1.1."""

from __future__ import annotations

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import Seen
from tests.fakes.replies import DONE, Gate, Hang, Reply
from tests.running import WAIT_S
from tests.wire.conftest import KEY, PAGE, WIRES, Wire, ask, asked_anywhere, without_memory
from tests.wire.rawhttp import TIMEOUT_S, Wiretap, send

_SOON_S = 20.0  # on a busy machine; without the disconnect it would never end


def hung_up_within(wire: Wire, seen: Seen, closed_at: float) -> float:
    wire.provider.wait(lambda: seen.hung_up_at is not None)
    assert seen.hung_up_at is not None
    return seen.hung_up_at - closed_at


def await_request(wire: Wire) -> Seen:
    wire.provider.wait(lambda: bool(wire.provider.seen))
    return wire.provider.last


@pytest.mark.parametrize("path", WIRES)
@pytest.mark.parametrize("how", ["close", "reset"])
def test_row_53_client_gone_in_the_middle(wire: Wire, how: str, path: str) -> None:
    wire.provider.then(replies.gated(replies.stream(), Gate(), after=2))
    tap = wire.tap(asked_anywhere(stream=True), path)
    tap.until(b"Hello")
    getattr(tap, how)()
    assert hung_up_within(wire, wire.seen, time.monotonic()) < _SOON_S


@pytest.mark.parametrize("path", WIRES)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_row_54_and_55_client_gone_before_first_byte(wire: Wire, stream: bool, path: str) -> None:
    wire.provider.then(Hang())
    tap = wire.tap(asked_anywhere(stream=stream), path)
    seen = await_request(wire)
    tap.close()
    assert hung_up_within(wire, seen, time.monotonic()) < _SOON_S


@pytest.mark.parametrize("path", WIRES)
def test_row_55_client_gone_amid_a_whole_reply(wire: Wire, path: str) -> None:
    headers = (("Content-Type", "application/json"),)
    wire.provider.then(Reply([b'{"choices":', b"[", Gate()], headers=headers, framing="chunked"))
    tap = wire.tap(asked_anywhere(stream=False), path)
    seen = await_request(wire)
    tap.close()
    assert hung_up_within(wire, seen, time.monotonic()) < _SOON_S


def test_row_56_partial_reply_is_never_remembered_as_whole(wire: Wire) -> None:
    whole = "It is seven, and nothing else but seven."
    wire.provider.then(replies.gated(replies.stream(replies.Text(whole, pieces=8)), Gate(), after=4))
    with wire.tap(ask("How many are there?", stream=True)) as tap:
        received = tap.until(b"n, an").decode()
    wire.provider.wait(lambda: wire.seen.hung_up_at is not None)
    with wire.api as api:
        if wire.memory == "off":
            assert api.get("/sessions").json()["data"] == []
            return
        deadline = time.monotonic() + WAIT_S
        while not (sessions := api.get("/sessions").json()["data"]):
            assert time.monotonic() < deadline
        wire.server.wait_learned(KEY, x_memory_user=wire.user)
        said = [one["text"] for one in api.get(f"/sessions/{sessions[0]['id']}").json()["messages"][1:]]
        receipt = re.search(r"(?i)x-memory-receipt: (\w+)", received)
        assert receipt is not None
        assert api.get(f"/receipts/{receipt[1]}").json()["finish"] == "client_closed"
    assert said in ([], ["It is seven, an"])


@pytest.mark.parametrize("base", ["/v1", ""])
@pytest.mark.parametrize("path", ["/chat/completions", "/embeddings", "/memories/m1"])
def test_row_57_preflight_is_answered(plain: Wire, base: str, path: str) -> None:
    asked = [("Origin", PAGE), ("Access-Control-Request-Method", "POST"),
             ("Access-Control-Request-Headers", "authorization,content-type,x-stainless-os")]  # fmt: skip
    answer = send(plain.server.origin, "OPTIONS", base + path, asked)
    assert (answer.status, answer.header("access-control-allow-origin")) == (204, PAGE)
    assert "POST" in (answer.header("access-control-allow-methods") or "")
    assert answer.header("access-control-allow-headers") == "authorization,content-type,x-stainless-os"
    assert not plain.provider.seen


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/v1/memories"])
def test_row_57_page_reads_reply_and_request_id(wire: Wire, path: str) -> None:
    theirs = (*replies.JSON_HEADERS, ("Access-Control-Allow-Origin", "https://other.example"))
    wire.provider.script(lambda _: Reply([b"{}"], headers=theirs))
    answer = wire.send(ask() if path != "/v1/memories" else {"text": "likes tea"}, path, origin=PAGE)
    assert answer.status == 200
    assert [value for name, value in answer.headers if name.lower() == "access-control-allow-origin"] == [PAGE]
    assert "Origin" in [value for name, value in answer.headers if name.lower() == "vary"]
    assert "x-request-id" in (answer.header("access-control-expose-headers") or "")


def test_row_57_without_an_origin_nothing_is_added(wire: Wire) -> None:
    assert wire.send(ask()).header("access-control-allow-origin") is None


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/memories"])
@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1.evil.example", "null"])
def test_foreign_page_with_a_placeholder_key_is_refused(plain: Wire, path: str, origin: str) -> None:
    method = "POST" if path.endswith("completions") else "GET"
    body = ask() if method == "POST" else b""
    answer = plain.send(body, path, method, origin=origin, authorization="Bearer EMPTY")
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (403, "forbidden")
    assert not plain.provider.seen


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:80", "app://obsidian.md"]
)
def test_local_page_may_use_a_placeholder_key(plain: Wire, origin: str) -> None:
    answer = plain.send(b"", "/v1/state", "GET", origin=origin, authorization="Bearer EMPTY")
    assert answer.status == 200


def test_rebound_name_with_placeholder_key_has_no_memory(plain: Wire) -> None:
    named = [("Host", "evil.example:8787"), ("Authorization", "Bearer EMPTY")]
    with Wiretap(plain.server.origin, "GET", "/v1/memories", named) as tap:
        assert tap.until(b"}}").startswith(b"HTTP/1.1 401")
    with Wiretap(plain.server.origin, "POST", "/v1/chat/completions", named, orjson.dumps(ask())) as tap:
        assert b"off; n=0; tokens=0; reason=no-identity" in tap.until(b"service_tier")


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/files"])
def test_client_gone_on_other_paths(wire: Wire, path: str) -> None:
    wire.provider.then(Hang())
    tap = Wiretap(wire.server.origin, "POST", path, wire.headers.items(), b'{"model":"m"}')
    seen = await_request(wire)
    tap.close()
    assert hung_up_within(wire, seen, time.monotonic()) < _SOON_S


def test_row_67_large_body_works(wire: Wire) -> None:
    picture = "data:image/png;base64," + "iVBORw0KGgo" * 1_900_000
    parts = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": "What is in it?"}]
    body = orjson.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": parts}]})
    assert len(body) > 20_000_000
    assert wire.send(body).status == 200
    assert without_memory(wire.seen.body) == body


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/v1/files"])
def test_row_67_over_the_cap_is_413(wire: Wire, path: str) -> None:
    pieces = (b" " * 2**20 for _ in range(65))
    answer = send(wire.server.origin, "POST", path, wire.headers.items(), pieces)
    assert (answer.status, orjson.loads(answer.body)["error"]["code"]) == (413, "body_too_large")
    assert not wire.provider.seen


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/v1/files"])
def test_row_67_excessive_length_is_413_before_the_body(wire: Wire, path: str) -> None:
    headers = {**wire.headers, "Content-Length": str(500 * 2**20)}
    with Wiretap(wire.server.origin, "POST", path, headers.items()) as tap:
        assert tap.until(b"}}").startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("path", WIRES)
def test_row_69_a_hundred_streams_do_not_mix(wire: Wire, path: str) -> None:
    """100 streams of 20 users are open at once; each gets its own reply and only its user's memory."""
    lockers = {f"{number:03}": f"{500 + number % 20}" for number in range(100)}
    gate = Gate()

    def reply(seen: Seen) -> Reply:
        said = replies.Text(f"echo: {_numbers(without_memory(seen.body))}", pieces=8)
        return replies.gated(replies.stream(said), gate, after=4)

    def user(locker: str) -> Wire:
        return replace(wire, user=f"{wire.user}-{locker}")

    def one(number: str) -> tuple[str, bytes]:
        question = f"{number}: which number has my locker?"
        said = {"input": question} if path == "/v1/responses" else {**ask(question), "max_tokens": 9}
        return number, user(lockers[number]).send({"model": "gpt-4o", "stream": True, **said}, path).body

    for locker in sorted(set(lockers.values())) if wire.memory == "full" else ():
        user(locker).learn(f"My locker has the number {locker}")
    wire.provider.script(reply)
    with ThreadPoolExecutor(len(lockers)) as pool:
        answers = pool.map(one, lockers)
        wire.provider.wait(lambda: len(wire.provider.seen) == len(lockers))
        gate.open()
        for number, body in answers:
            expected = replies.stream(replies.Text(f"echo: {[number]}", pieces=8))
            assert body == b"".join(piece for piece in expected.chunks if isinstance(piece, bytes))
    seen = sorted(_numbers(seen.body) for seen in wire.provider.seen)
    assert seen == [[number, locker] if wire.memory == "full" else [number] for number, locker in lockers.items()]


def _numbers(body: bytes) -> list[str]:
    return re.findall(r"\b\d{3}\b", body.decode())


def test_row_79_connections_are_kept_alive(wire: Wire) -> None:
    body = orjson.dumps(ask())
    with wire.tap(body) as tap:
        tap.until(b"service_tier")
        head = "".join(f"{name}: {value}\r\n" for name, value in {**wire.headers, "Content-Length": len(body)}.items())
        tap.received = b""
        tap._socket.sendall(f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode() + body)
        assert b"HTTP/1.1 200" in tap.until(b"service_tier")


def test_row_79_chunked_request_is_read(wire: Wire) -> None:
    raw = orjson.dumps(ask())
    pieces = (raw[at : at + 7] for at in range(0, len(raw), 7))
    assert send(wire.server.origin, "POST", "/v1/chat/completions", wire.headers.items(), pieces).status == 200
    assert without_memory(wire.seen.body) == raw


TRAILERS = {
    "Authorization": "Bearer sk-other",
    "X-Api-Key": "sk-other",
    "X-Memory-User": "somebody-else",
    "X-Memory-Mode": "observe",
    "X-Trailer": "1",
    "Connection": "openai-project",
}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
@pytest.mark.parametrize("is_late", [False, True])
def test_row_79_trailers_are_no_headers(remembering: Wire, path: str, *, is_late: bool) -> None:
    raw = orjson.dumps(asked_anywhere())
    trailers = "".join(f"{name}: {value}\r\n" for name, value in TRAILERS.items())
    framed = b"%x\r\n%s\r\n" % (len(raw), raw)
    end = f"0\r\n{trailers}\r\n".encode()
    named = {**remembering.headers, "OpenAI-Project": "p", "Transfer-Encoding": "chunked"}
    with Wiretap(remembering.server.origin, "POST", path, named.items(), framed + (b"" if is_late else end)) as tap:
        if is_late:
            tap._socket.sendall(end)
        head = tap.sent_head().lower()
    assert head.startswith(b"http/1.1 200")
    assert (b"x-memory: used" in head) == path.endswith("chat/completions")
    assert [value for name, value in remembering.seen.headers if name.lower() == "authorization"] == [f"Bearer {KEY}"]
    assert remembering.seen.header("openai-project") == "p"
    assert not [name for name in ("x-trailer", "x-api-key") if remembering.seen.header(name)]


def test_trailer_names_no_user_of_the_memory_api(remembering: Wire) -> None:
    named = {**remembering.headers, "X-Memory-User": f"{remembering.user}-other", "Transfer-Encoding": "chunked"}
    named.pop("x-memory-user")
    body = f"0\r\nX-Memory-User: {remembering.user}\r\n\r\n".encode()
    with Wiretap(remembering.server.origin, "GET", "/v1/memories", named.items(), body) as tap:
        assert b'"data":[]' in tap.ended()


def test_row_79_expect_continue_is_answered(wire: Wire) -> None:
    raw = orjson.dumps(ask())
    headers = [*wire.headers.items(), ("Expect", "100-continue"), ("Content-Length", str(len(raw)))]
    with Wiretap(wire.server.origin, "POST", "/v1/chat/completions", headers) as tap:
        tap.until(b"HTTP/1.1 100 Continue\r\n\r\n")
        tap._socket.sendall(raw)
        tap.until(b"HTTP/1.1 200")
    assert wire.seen.header("expect") is None


@pytest.mark.parametrize("stream", [False, True])
def test_http_1_0_reply_has_no_chunks(wire: Wire, *, stream: bool) -> None:
    body = orjson.dumps(ask(stream=stream))
    with socket.create_connection(("127.0.0.1", wire.server.port), timeout=TIMEOUT_S) as client:
        head = "".join(f"{name}: {value}\r\n" for name, value in wire.headers.items())
        client.sendall(f"POST {WIRES[0]} HTTP/1.0\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        received = b"".join(iter(lambda: client.recv(65_536), b""))
    answered, _, rest = received.partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in answered.lower()
    assert b"\r\nconnection: close" in answered
    assert rest.endswith(DONE if stream else b"}")
    assert all(line.startswith(b"data: ") for line in rest.split(b"\n\n")[:-1])
