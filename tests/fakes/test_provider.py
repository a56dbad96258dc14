"""The fake provider itself: its records and its HTTP."""

from __future__ import annotations

import socket

import httpx
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, Raw, Reply

pytestmark = pytest.mark.anyio


async def test_it_echoes_in_openais_shape_and_records(provider: FakeProvider) -> None:
    async with httpx.AsyncClient(base_url=provider.base_url) as client:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        reply = await client.post("/chat/completions?a=1", json=body, headers={"X-A": "b"})
    assert reply.json()["choices"][0]["message"]["content"] == "echo: hi"
    assert (provider.last.path, provider.last.query, provider.last.json) == ("/v1/chat/completions", "a=1", body)
    assert provider.last.header("x-a") == "b"
    await provider.until(lambda: provider.last.answered)  # recorded after the last byte was written


async def test_scripts_and_queued_replies_decide(provider: FakeProvider) -> None:
    provider.script(lambda seen: replies.error(418, seen.method) if seen.path == "/v1/tea" else None)
    provider.then(replies.json_reply({"first": True}))
    async with httpx.AsyncClient(base_url=provider.base_url) as client:
        assert (await client.get("/tea")).json() == {"first": True}
        assert (await client.get("/tea")).status_code == 418
        assert (await client.get("/models")).json()["object"] == "list"


async def test_gate_holds_the_reply_until_opened(provider: FakeProvider) -> None:
    gate = Gate()
    provider.then(Reply([b"a", gate, b"b"], framing="chunked"))
    async with httpx.AsyncClient() as client, client.stream("GET", provider.url) as reply:
        pieces = reply.aiter_raw()
        assert await anext(pieces) == b"a"
        gate.open()
        assert await anext(pieces) == b"b"


def test_chunked_and_expected_bodies_arrive_whole(provider: FakeProvider) -> None:
    with socket.create_connection(("127.0.0.1", provider.port)) as client:
        client.sendall(b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        client.sendall(b"2;x=y\r\nde\r\n0\r\n\r\n")
        assert client.recv(9999).startswith(b"HTTP/1.1 200")
        client.sendall(b"POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert client.recv(9999) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"fg")
        assert client.recv(9999).startswith(b"HTTP/1.1 200")
    assert [seen.body for seen in provider.seen] == [b"abcde", b"fg"]


def test_raw_bytes_go_out_as_they_are(provider: FakeProvider) -> None:
    provider.then(Raw([b"anything ", b"at all"]))
    with socket.create_connection(("127.0.0.1", provider.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        received = b""
        while piece := client.recv(9999):
            received += piece
    assert received == b"anything at all"
