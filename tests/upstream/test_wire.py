"""The upstream wire over real sockets: bytes forwarded and relayed, disconnects and failures."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import orjson
import pytest

from proxy.dialects import chat as chat_wire
from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.upstream.base import Target, UpstreamCut, UpstreamRequest
from proxy.upstream.wire import WireUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Hang, Raw, Reply

pytestmark = pytest.mark.anyio

BODY = b'{"model": "m",  "messages":[{"role":"user","content":"hi"}], "n": 1.0e0}'


@pytest.fixture
async def wire() -> AsyncIterator[WireUpstream]:
    upstream = WireUpstream()
    yield upstream
    await upstream.aclose()


def chat(body: bytes = BODY, **more: Any) -> UpstreamRequest:
    given = {"headers": [("Content-Type", "application/json"), ("Authorization", "Bearer sk-client")], **more}
    return UpstreamRequest("POST", "/chat/completions", body=body, **given)


async def whole(wire: WireUpstream, request: UpstreamRequest, target: Target) -> tuple[int, dict[str, str], bytes]:
    response = await wire.send(request, target)
    body = b"".join([chunk async for chunk in response.chunks()])
    await response.aclose()
    return response.status, {name.lower(): value for name, value in response.headers}, body


def to(wire: WireUpstream, fake: FakeProvider, **more: Any) -> Target:
    return Target(upstream=wire, base_url=fake.base_url, **more)


async def test_bytes_up_and_down_are_the_same(wire, provider):
    reply = b'{"a" : 1.0, "a": null, "big": 123456789012345678901234567890, "\\u00e9": "\xc3\xa9"}'
    provider.then(Reply([reply]))
    status, headers, body = await whole(wire, chat(), to(wire, provider))
    assert (status, body) == (200, reply)
    assert provider.last.body == BODY
    assert provider.last.target == "/v1/chat/completions"
    assert headers["x-request-id"] == "req_fake"
    assert headers["content-length"] == str(len(reply))


async def test_no_header_is_invented(wire, provider):
    await whole(wire, UpstreamRequest("GET", "/models"), to(wire, provider))
    assert [name.lower() for name, _ in provider.last.headers] == ["host"]


async def test_path_and_query_keep_their_bytes(wire, provider):
    request = UpstreamRequest("GET", "/models/org%2Fname%20x/a+b", query="after=a%2Fb&x=%C3%A9&y=a+b")
    await whole(wire, request, to(wire, provider))
    assert provider.last.target == "/v1/models/org%2Fname%20x/a+b?after=a%2Fb&x=%C3%A9&y=a+b"


async def test_route_key_replaces_client_key(wire, provider):
    await whole(wire, chat(), to(wire, provider, api_key="sk-route"))
    assert provider.last.header("authorization") == "Bearer sk-route"


async def test_client_key_stays_back_where_it_is_ours(wire, provider):
    await whole(wire, chat(), to(wire, provider, forwards_auth=False))
    assert provider.last.header("authorization") is None


async def test_extra_headers_of_the_route_are_added(wire, provider):
    await whole(wire, chat(), to(wire, provider, params={"extra_headers": {"X-Team": "blue"}}))
    assert provider.last.header("x-team") == "blue"


async def test_errors_keep_status_headers_and_body(wire, provider):
    provider.then(
        replies.error(429, "slow down", "rate_limit_exceeded", retry_after="7", x_ratelimit_limit_requests="3")
    )
    status, headers, body = await whole(wire, chat(), to(wire, provider))
    assert status == 429
    assert headers["retry-after"] == "7"
    assert headers["x-ratelimit-limit-requests"] == "3"
    assert b'"code":"rate_limit_exceeded"' in body


async def test_repeated_response_headers_stay_repeated(wire, provider):
    provider.then(Reply([b"{}"], headers=(("X-A", "1"), ("X-A", "2"), ("Connection", "X-Hop"), ("X-Hop", "gone"))))
    response = await wire.send(chat(), to(wire, provider))
    await response.aclose()
    assert [value for name, value in response.headers if name == "X-A"] == ["1", "2"]
    assert not [name for name, _ in response.headers if name.lower() in ("connection", "x-hop")]


async def test_redirects_are_relayed_not_followed(wire, provider):
    provider.then(Reply([], 307, (("Location", "/elsewhere"), ("Content-Length", "0"))))
    status, headers, _ = await whole(wire, chat(), to(wire, provider))
    assert (status, headers["location"], len(provider.seen)) == (307, "/elsewhere", 1)


async def test_compressed_bodies_pass_undecoded(wire, provider):
    provider.then(Reply([b"\x1f\x8bnot really"], headers=(("Content-Encoding", "gzip"),)))
    _, headers, body = await whole(wire, chat(), to(wire, provider))
    assert (headers["content-encoding"], body) == ("gzip", b"\x1f\x8bnot really")


@pytest.mark.parametrize(("stream", "offered"), [(True, "identity"), (False, "gzip")])
async def test_observed_reply_comes_in_a_readable_coding(wire, provider, stream, offered):
    request = chat(headers=[("Accept-Encoding", "gzip, br")], stream=stream, readable=True)
    await whole(wire, request, to(wire, provider))
    assert provider.last.header("accept-encoding") == offered


async def test_each_event_leaves_before_the_next_arrives(wire, provider):
    gate = Gate()
    provider.then(replies.gated(replies.stream(), gate, after=2))
    response = await wire.send(chat(stream=True), to(wire, provider))
    chunks = response.chunks()
    first = b""
    while first.count(b"\n\n") < 2:
        first += await anext(chunks)
    gate.open()
    rest = b"".join([chunk async for chunk in chunks])
    assert first + rest == b"".join(replies.stream().chunks)
    await response.aclose()


async def test_hang_up_midway_reaches_the_provider_at_once(wire, provider):
    provider.then(replies.gated(replies.stream(), Gate(), after=2))
    response = await wire.send(chat(stream=True), to(wire, provider))
    await anext(response.chunks())
    closed_at = time.monotonic()
    await response.aclose()
    assert await provider.hung_up(provider.last) - closed_at < 20


async def test_cancelled_send_hangs_up(wire, provider):
    provider.then(Hang())
    async with anyio.create_task_group() as group:
        group.start_soon(wire.send, chat(), to(wire, provider))
        await provider.requests()
        group.cancel_scope.cancel()
    assert await provider.hung_up(provider.last)


@pytest.mark.parametrize("framing", ["chunked", "given"])
async def test_cut_reply_is_an_error(wire, provider, framing):
    headers = (("Content-Type", "text/event-stream"), *((("Content-Length", "999"),) if framing == "given" else ()))
    provider.then(Reply([b"data: {}\n\n"], headers=headers, framing=framing, cut=True))
    response = await wire.send(chat(stream=True), to(wire, provider))
    with pytest.raises(UpstreamCut):
        _ = [chunk async for chunk in response.chunks()]
    await response.aclose()


@pytest.mark.parametrize("broken", [b"zz\r\n", b"<html>502</html>\r\n\r\n", b"-1\r\n", b"\r\n\r\n", b"3\r\nabcdef\r\n"])
async def test_broken_chunk_is_a_cut(wire, provider, broken):
    gate = Gate()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    provider.then(Raw([head, b"a\r\ndata: {}\n\n\r\n", gate, broken]))
    response = await wire.send(chat(stream=True), to(wire, provider))
    gate.open()
    with anyio.fail_after(20), pytest.raises(UpstreamCut):
        _ = [chunk async for chunk in response.chunks()]
    await response.aclose()


async def test_html_error_page_becomes_a_json_502(wire, provider):
    provider.then(replies.html(503))
    with pytest.raises(UpstreamUnreachable, match="503 with an HTML page") as caught:
        await wire.send(chat(), to(wire, provider))
    assert caught.value.status == 502
    assert caught.value.body()["error"]["code"] == "upstream_unreachable"


async def test_refused_connection_says_where_and_how_to_mend(wire):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # bound, but without a listener
        with pytest.raises(UpstreamUnreachable, match=rf"127\.0\.0\.1:{port} .*--upstream"):
            await wire.send(chat(), Target(upstream=wire, base_url=f"http://127.0.0.1:{port}/v1"))


async def test_connection_closed_without_a_reply_is_unreachable(wire, provider):
    provider.then(Raw())
    with pytest.raises(UpstreamUnreachable, match="without a reply"):
        await wire.send(chat(), to(wire, provider))
    assert len(provider.seen) == 1


async def test_reply_that_is_no_http_is_unreachable(wire, provider):
    provider.then(Raw([b"SSH-2.0-hello\r\n\r\n"]))
    with pytest.raises(UpstreamUnreachable):
        await wire.send(chat(), to(wire, provider))


async def test_silence_ends_when_the_client_would_give_up(wire, provider):
    provider.then(Hang())
    with pytest.raises(UpstreamTimeout):
        await wire.send(chat(headers=[("x-stainless-read-timeout", "0.05")]), to(wire, provider, timeout_s=30))


async def test_silence_in_a_stream_is_a_cut(wire, provider):
    provider.then(replies.gated(replies.stream(), Gate(), after=1))
    response = await wire.send(chat(stream=True), to(wire, provider, timeout_s=0.05))
    with pytest.raises(UpstreamCut):
        _ = [chunk async for chunk in response.chunks()]
    await response.aclose()


@pytest.mark.parametrize("size", [300_000, 3_000_000])
async def test_large_bodies_keep_their_length(wire, provider, size):
    body = b'{"x":"' + b"a" * size + b'"}'
    await whole(wire, chat(body), to(wire, provider))
    assert provider.last.body == body
    assert provider.last.header("content-length") == str(len(body))


async def test_streamed_body_goes_up_with_the_clients_length(wire, provider):
    async def pieces() -> AsyncIterator[bytes]:
        yield b"abc"
        yield b"def"

    request = UpstreamRequest("POST", "/files", headers=[("Content-Length", "6")], body=pieces())
    await whole(wire, request, to(wire, provider))
    assert (provider.last.body, provider.last.header("content-length")) == (b"abcdef", "6")


async def test_streamed_body_of_unknown_length_goes_up_chunked(wire, provider):
    async def pieces() -> AsyncIterator[bytes]:
        yield b"abc"
        yield b"def"

    await whole(wire, UpstreamRequest("POST", "/files", body=pieces()), to(wire, provider))
    assert (provider.last.body, provider.last.header("transfer-encoding")) == (b"abcdef", "chunked")


async def test_connections_are_kept_alive(wire, provider):
    for _ in range(3):
        await whole(wire, chat(), to(wire, provider))
    assert provider.connections == 1


async def test_cookies_stay_where_they_are(wire, provider):
    provider.then(Reply([b"{}"], headers=(("Set-Cookie", "a=1; Path=/"),)))
    _, headers, _ = await whole(wire, chat(headers=[("Cookie", "session=ours")]), to(wire, provider))
    assert headers["set-cookie"] == "a=1; Path=/"
    await whole(wire, chat(), to(wire, provider))
    assert [seen.header("cookie") for seen in provider.seen] == [None, None]


async def test_row_69_a_hundred_streams_do_not_mix(wire, provider):
    said: dict[int, bytes] = {}

    async def one(number: int) -> None:
        body = orjson.dumps(
            {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"number {number}"}]}
        )
        _, _, said[number] = await whole(wire, chat(body, stream=True), to(wire, provider))

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(one, number)
    texts = {number: replies_text(stream) for number, stream in said.items()}
    assert texts == {number: f"echo: number {number}" for number in range(100)}


def replies_text(stream: bytes) -> str:
    accumulator = chat_wire.accumulator()
    accumulator.feed(stream)
    return accumulator.result(content_type="text/event-stream").text
