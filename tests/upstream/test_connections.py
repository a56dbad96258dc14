"""Pooled connections closed by the provider: requests that are sent again, and those that never are."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import anyio
import pytest

from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.upstream import connections
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.wire import WireUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Hang, Raw

pytestmark = pytest.mark.anyio

STREAMS = 60
LARGE = b'{"model": "m", "x": "' + b"x" * 300_000 + b'"}'
# A whole reply; the connection then closes without an announcement.
WHOLE = Raw([b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"])
PARTS = [b"H", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 9\r\n\r\n"]


@pytest.fixture
def provider(provider: FakeProvider) -> FakeProvider:
    provider.script(lambda _: replies.json_reply({}))
    return provider


@pytest.fixture
async def wire() -> AsyncIterator[WireUpstream]:
    upstream = WireUpstream()
    yield upstream
    await upstream.aclose()


async def ask(wire: WireUpstream, fake: FakeProvider, body: bytes = b'{"model": "m"}', method: str = "POST") -> int:
    request = UpstreamRequest(method, "/chat/completions", body=body, headers=[("Content-Type", "application/json")])
    response = await wire.send(request, Target(upstream=wire, base_url=fake.base_url))
    try:
        async for _ in response.chunks():
            pass
    finally:
        await response.aclose()
    return response.status


@pytest.mark.parametrize("abort", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("body", [b'{"model": "m"}', LARGE], ids=["small", "large"])
async def test_request_on_a_closed_connection_is_sent_again(wire, provider, abort, body):
    assert await ask(wire, provider) == 200
    provider.then(Raw(abort=abort))
    assert await ask(wire, provider, body) == 200
    assert [seen.connection for seen in provider.seen] == [1, 1, 2]
    assert [seen.body for seen in provider.seen[1:]] == [body, body]


async def test_request_is_sent_again_only_once(wire, provider):
    await ask(wire, provider)
    provider.then(Raw(), Raw())
    with pytest.raises(UpstreamUnreachable):
        await ask(wire, provider)
    assert [seen.connection for seen in provider.seen] == [1, 1, 2]


@pytest.mark.parametrize("abort", [False, True], ids=["closed", "reset"])
async def test_request_on_a_new_connection_is_sent_once(wire, provider, abort):
    provider.then(Raw(abort=abort))
    with pytest.raises(UpstreamUnreachable):
        await ask(wire, provider)
    assert len(provider.seen) == 1


@pytest.mark.parametrize("abort", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("part", PARTS, ids=["letter", "line", "head"])
async def test_request_is_not_repeated_after_a_byte(wire, provider, part, abort):
    gate = replies.Gate()

    async def end_later() -> None:
        await provider.requests(2)
        await anyio.sleep(0.1)  # a reset would discard unread bytes
        gate.open()

    await ask(wire, provider)
    provider.then(Raw([part, gate], abort=abort))
    async with anyio.create_task_group() as group:
        group.start_soon(end_later)
        with pytest.raises(UpstreamUnreachable):
            await ask(wire, provider)
    assert len(provider.seen) == 2


async def test_silence_is_not_a_closed_connection(wire, provider):
    await ask(wire, provider)
    provider.then(Hang())
    request = UpstreamRequest("POST", "/chat/completions", body=b"{}")
    with pytest.raises(UpstreamTimeout):
        await wire.send(request, Target(upstream=wire, base_url=provider.base_url, timeout_s=0.1))
    assert len(provider.seen) == 2


async def test_slow_provider_is_not_asked_twice(wire, provider, monkeypatch):
    monkeypatch.setattr(connections, "MAX_STALE_S", 0.0)
    await ask(wire, provider)
    provider.then(Raw())
    with pytest.raises(UpstreamUnreachable):
        await ask(wire, provider)
    assert len(provider.seen) == 2


async def test_unrepeatable_body_is_sent_once(wire, provider):
    async def pieces() -> AsyncIterator[bytes]:
        yield b"{}"

    await ask(wire, provider)
    provider.then(Raw())
    with pytest.raises(UpstreamUnreachable):
        await wire.send(
            UpstreamRequest("POST", "/files", body=pieces()), Target(upstream=wire, base_url=provider.base_url)
        )
    assert len(provider.seen) == 2


async def test_closing_provider_serves_every_stream_once(wire, provider):
    provider.script(lambda _: WHOLE)
    statuses: Counter[int] = Counter()

    async def client(number: int) -> None:
        for turn in range(4):
            statuses[await ask(wire, provider, b"[%d, %d]" % (number, turn))] += 1

    async with anyio.create_task_group() as group:
        for number in range(STREAMS):
            group.start_soon(client, number)
    assert statuses == {200: STREAMS * 4}
    assert set(Counter(read(provider.seen)).values()) == {1}


def read(seen: list[Seen]) -> list[bytes]:
    return [one.body for one in seen]
