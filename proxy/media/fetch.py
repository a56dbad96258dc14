"""Download of a file by URL: from public addresses only, within limits, without credentials."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias
from urllib.parse import unquote

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from proxy.media.base import MediaRefused
from proxy.media.limits import Limits

Lookup = Callable[[str, int], Awaitable[list[str]]]
Allows = Callable[[str], bool]

FETCH_S = 15.0
MAX_REDIRECTS = 3  # each is checked again
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {"User-Agent": "throughline", "Accept": "*/*", "Accept-Encoding": "identity"}
_FILENAME = re.compile(r"""filename\*?=(?:UTF-8'')?"?([^";]+)""", re.IGNORECASE)
_MAX_URL_CHARS = 4096
_CHUNK_BYTES = 2**16
_UNICAST = IPv6Network("2000::/3")  # all assigned unicast; excludes mapped, NAT64 and site-local addresses
_NOT_PUBLIC_6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # Teredo, benchmarking, ORCHID …
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which can carry any IPv4 address
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
    )
)
_RELAYS = IPv4Network("192.88.99.0/24")  # 6to4


@dataclass(frozen=True, slots=True)
class Fetched:
    """A downloaded file.

    Args:
        media_type: Media type declared by the server; unreliable.
        name: File name, from the server or the URL.
    """

    data: bytes = field(repr=False)
    media_type: str = ""
    name: str = ""


Fetch: TypeAlias = "Callable[[str, Limits], Awaitable[Fetched]]"


def is_public(address: str) -> bool:
    """Return whether an IP address is plain and public: not private, shared, reserved, multicast or tunnelled."""
    try:
        found = ip_address(address)
    except ValueError:
        return False  # also for a zone, which only local addresses have
    if isinstance(found, IPv6Address):
        return found in _UNICAST and found.is_global and not any(found in block for block in _NOT_PUBLIC_6)
    return found.is_global and not found.is_multicast and not found.is_reserved and found not in _RELAYS


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host from the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def fetch(
    url: str,
    limits: Limits,
    *,
    lookup: Lookup = look_up,
    allows: Allows = is_public,
    within_s: float = FETCH_S,
) -> Fetched:
    """Download a URL.

    Each host is resolved once, and only the checked addresses are connected to, so DNS rebinding has no effect.
    Redirects are followed here, each with the same checks. No cookies, credentials or proxies are used.

    Args:
        url: An http or https URL.
        limits: Limits, of which the maximum file size applies.
        lookup: Function from host and port to addresses.
        allows: Check whether an address may be connected to.
        within_s: Total timeout in seconds.

    Raises:
        MediaRefused: ``bad_url``, ``forbidden_address``, ``unreachable``, ``too_large``, ``timeout`` …
    """
    connector = aiohttp.TCPConnector(resolver=_Resolver(lookup, allows), use_dns_cache=False, force_close=True)
    timeout = aiohttp.ClientTimeout(total=within_s)
    try:
        async with (
            asyncio.timeout(within_s),
            aiohttp.ClientSession(
                connector=connector,
                timeout=timeout,
                headers=_HEADERS,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            ) as session,
        ):
            return await _followed(session, _checked(url, allows), limits, allows)
    except TimeoutError as error:
        raise MediaRefused(f"Fetching {url[:200]!r} took longer than {within_s:g} seconds.", "timeout") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise MediaRefused(f"{url[:200]!r} cannot be fetched ({type(error).__name__}).", "unreachable") from error


async def _followed(session: aiohttp.ClientSession, url: URL, limits: Limits, allows: Allows) -> Fetched:
    for _ in range(MAX_REDIRECTS + 1):
        async with session.get(url, allow_redirects=False) as reply:
            if reply.status not in _REDIRECTS or "Location" not in reply.headers:
                return await _read(reply, limits)
            url = _checked(str(url.join(URL(reply.headers["Location"]))), allows)
    raise MediaRefused(f"It was redirected more than {MAX_REDIRECTS} times.", "too_many_redirects")


async def _read(reply: aiohttp.ClientResponse, limits: Limits) -> Fetched:
    if reply.status != 200:
        raise MediaRefused(f"The server of {str(reply.url)[:200]!r} answered {reply.status}.", "unreachable")
    if reply.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise MediaRefused("The server sends it packed although it was asked not to.", "unsupported")
    if (reply.content_length or 0) > limits.max_file_bytes:
        raise _too_large(limits)
    data = bytearray()
    async for chunk in reply.content.iter_chunked(_CHUNK_BYTES):
        data += chunk
        if len(data) > limits.max_file_bytes:
            raise _too_large(limits)
    return Fetched(bytes(data), reply.content_type or "", _name(reply))


def _checked(url: str, allows: Allows) -> URL:
    """Return a parsed URL after checks; the resolver checks host names."""
    try:
        parsed = URL(url)
    except ValueError as error:
        raise MediaRefused("This is no URL.", "bad_url") from error
    if parsed.scheme not in ("http", "https") or not parsed.host or len(url) > _MAX_URL_CHARS:
        raise MediaRefused("Only http and https URLs are fetched.", "bad_url")
    if parsed.user or parsed.password:
        raise MediaRefused("URLs with a user name or password are not fetched.", "bad_url")
    if _is_address(parsed.host) and not allows(parsed.host):
        raise _forbidden(parsed.host)
    return parsed


def _is_address(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _forbidden(host: str) -> MediaRefused:
    return MediaRefused(f"{host[:200]!r} is not at a public address; only those are fetched from.", "forbidden_address")


def _too_large(limits: Limits) -> MediaRefused:
    return MediaRefused(f"It is larger than {limits.max_file_bytes} bytes (media.max_file_bytes).", "too_large")


def _name(reply: aiohttp.ClientResponse) -> str:
    given = _FILENAME.search(reply.headers.get("Content-Disposition", ""))
    name = unquote(given[1]) if given else reply.url.name
    return re.sub(r"[\x00-\x1f/\\]", "_", name.strip())[:200]


class _Resolver(AbstractResolver):
    """Resolver that refuses a host if any of its addresses is not allowed."""

    def __init__(self, lookup: Lookup, allows: Allows) -> None:
        self._lookup, self._allows = lookup, allows

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._lookup(host, port)
        if not addresses or not all(map(self._allows, addresses)):
            raise _forbidden(host)  # not an OSError, which aiohttp treats as a failed look-up
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Do nothing: the resolver holds no resources."""
