"""Fetching by URL: reachable addresses, and the many ways in which a URL may try to reach the local network."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from aiohttp import web

from proxy.media.base import MediaRefused
from proxy.media.fetch import MAX_REDIRECTS, Fetched, fetch, is_public
from proxy.media.limits import Limits
from tests.fakes.http import listening

pytestmark = pytest.mark.anyio

LIMITS = Limits(max_file_bytes=2048)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def site(*handlers: Handler) -> AsyncIterator[int]:
    """Serve handlers at ``/`` and at their names on a free local port."""
    app = web.Application()
    for handler in handlers:
        app.router.add_get(f"/{handler.__name__}", handler)
    async with listening(app) as port:
        yield port


async def at_home(host: str, port: int) -> list[str]:
    return {"public.example": ["127.0.0.1"], "mixed.example": ["127.0.0.1", "10.0.0.1"]}.get(host, ["10.1.2.3"])


async def get(url: str, within_s: float = 2.0) -> Fetched:
    """Fetch as from the internet, where 127.0.0.1 is the only public address."""
    return await fetch(url, LIMITS, lookup=at_home, allows=lambda address: address == "127.0.0.1", within_s=within_s)


async def refused(url: str, within_s: float = 2.0) -> str:
    with pytest.raises(MediaRefused) as caught:
        await get(url, within_s)
    return caught.value.reason


async def picture(request: web.Request) -> web.Response:
    assert "Cookie" not in request.headers
    assert "Authorization" not in request.headers
    headers = {"Content-Disposition": 'attachment; filename="../a/tea pot.png"', "Set-Cookie": "a=b"}
    return web.Response(body=b"tea", content_type="image/png", headers=headers)


async def large(request: web.Request) -> web.StreamResponse:
    reply = web.StreamResponse()
    await reply.prepare(request)
    for _ in range(100):
        await reply.write(b"x" * 1000)
    return reply


async def declared(_: web.Request) -> web.Response:
    return web.Response(body=b"x" * 4000)


async def silent(_: web.Request) -> web.Response:
    await anyio.sleep_forever()
    raise AssertionError


async def packed(_: web.Request) -> web.Response:
    return web.Response(body=gzip.compress(b"x" * 10**7), headers={"Content-Encoding": "gzip"})


async def onward(request: web.Request) -> web.Response:
    raise web.HTTPFound(request.query["to"])


async def missing(_: web.Request) -> web.Response:
    raise web.HTTPNotFound


async def test_file_is_fetched_with_its_name_and_type():
    async with site(picture) as port:
        got = await get(f"http://public.example:{port}/picture")
    assert (got.data, got.media_type, got.name) == (b"tea", "image/png", ".._a_tea pot.png")


@pytest.mark.parametrize(
    ("handler", "reason"),
    [(large, "too_large"), (declared, "too_large"), (packed, "unsupported"), (missing, "unreachable")],
)
async def test_oversized_or_missing_file_is_refused(handler, reason):
    async with site(handler) as port:
        assert await refused(f"http://public.example:{port}/{handler.__name__}") == reason


async def test_silent_server_is_given_up():
    async with site(silent) as port:
        assert await refused(f"http://public.example:{port}/silent", within_s=0.2) == "timeout"


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ("http://inside.example/", "forbidden_address"),
        ("http://169.254.169.254/latest/meta-data/", "forbidden_address"),
        ("http://[::1]/", "forbidden_address"),
        ("file:///etc/passwd", "bad_url"),
        ("http://u:p@public.example/", "bad_url"),
    ],
)
async def test_redirects_are_checked_like_the_first_url(to, reason):
    async with site(onward) as port:
        assert await refused(f"http://public.example:{port}/onward?to={to}") == reason


async def test_redirects_are_followed_and_counted():
    async with site(onward, picture) as port:
        here = f"http://public.example:{port}"
        assert (await get(f"{here}/onward?to=/picture")).data == b"tea"
        assert await refused(f"{here}/onward?to=/onward?to=/onward") == "unreachable"  # the last redirect has no target
        too_many = "/onward?to=" * (MAX_REDIRECTS + 1)
        assert await refused(f"{here}{too_many}/picture") == "too_many_redirects"


async def test_host_with_one_address_inside_is_refused():
    assert await refused("http://mixed.example/") == "forbidden_address"


@pytest.mark.parametrize(
    "url", ["", "tea", "ftp://public.example/", "data:image/png;base64,AA", "http:///x", "http://[/", "javascript:1"]
)
async def test_other_urls_are_refused(url):
    assert await refused(url) == "bad_url"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://0x7f.1/", "http://127.1/",
        "http://[::ffff:127.0.0.1]/", "http://[::]/", "http://0.0.0.0/", "http://10.0.0.1/", "http://[fe80::1%25lo]/",
    ],
)  # fmt: skip
async def test_no_spelling_of_an_address_inside_is_fetched(url):
    with pytest.raises(MediaRefused) as caught:
        await fetch(url, LIMITS)
    assert caught.value.reason in ("forbidden_address", "bad_url", "unreachable")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3",
        "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "192.88.99.1", "::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1", "2002:808:808::1",
        "2001::1", "2001:db8::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd12::1", "ff02::1", "100::1",
        "3fff::1", "not an address", "",
    ],
)  # fmt: skip
async def test_address_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::1"])
async def test_address_is_public(address):
    assert is_public(address)
