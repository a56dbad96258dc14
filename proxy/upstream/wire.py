"""Upstream for servers of OpenAI's wire format; relays bytes unchanged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import structlog
from yarl import URL

from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.upstream import headers as crossing
from proxy.upstream.base import ClientGaveUp, Patience, Target, UpstreamCut, UpstreamRequest, patience
from proxy.upstream.connections import Pool, using

_log = structlog.get_logger(__name__)

_INVENTED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")

# Plain-text servers on the local machine (uvicorn: 5 s) close idle connections early; a request on such a closing
# connection must be sent again. Providers behind TLS keep them for minutes.
_KEEPALIVE_S = {False: 4.0, True: 30.0}

_PIECE_BYTES = 256 * 1024
_MAX_HEAD_BYTES = 64 * 1024


class WireUpstream:
    """One pool of connections for all OpenAI-wire providers."""

    def __init__(self) -> None:
        self._sessions: dict[float, aiohttp.ClientSession] = {}

    async def send(self, request: UpstreamRequest, target: Target) -> WireResponse:
        """Send a request; return once the head of the reply has arrived.

        If a used connection ends without a byte of a reply, the request is sent once more, on a new connection: the
        provider had closed the used one. No other request is ever sent twice.

        Raises:
            UpstreamUnreachable: If the connection fails, or the reply is an HTML error page.
            UpstreamTimeout: If the provider sends nothing for longer than the client would wait.
        """
        url, bounds = _url(request, target), patience(request, target)
        try:
            async with asyncio.timeout(bounds.head_s):
                reply = await self._reply(request, target, url, bounds)
        except TimeoutError as error:
            raise _timed_out(error, url, target, bounds) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(error, url) from error
        response = WireResponse(reply, url)
        if reply.status >= 500 and "html" in reply.headers.get("Content-Type", "").lower():
            await response.aclose()
            raise _html_error(response, url)
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def _reply(
        self, request: UpstreamRequest, target: Target, url: URL, bounds: Patience
    ) -> aiohttp.ClientResponse:
        keepalive_s = _KEEPALIVE_S[url.scheme == "https"]
        with using() as use:
            try:
                return await self._sent(keepalive_s, request, target, url, bounds)
            except (aiohttp.ClientError, OSError) as error:
                if not use.was_stale(error) or not isinstance(request.body, bytes):
                    raise
        _log.info("the provider had closed a used connection, sending on a new one", provider=target.provider)
        return await self._sent(0.0, request, target, url, bounds)

    async def _sent(
        self, keepalive_s: float, request: UpstreamRequest, target: Target, url: URL, bounds: Patience
    ) -> aiohttp.ClientResponse:
        return await self._session(keepalive_s).request(
            request.method,
            url,
            headers=_headers(request, target),
            data=_body(request),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=target.connect_timeout_s, sock_read=bounds.silence_s
            ),
        )

    def _session(self, keepalive_s: float) -> aiohttp.ClientSession:
        session = self._sessions.get(keepalive_s)
        if session is None:
            session = self._sessions[keepalive_s] = aiohttp.ClientSession(
                connector=Pool(keepalive_s),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=_INVENTED,
                max_line_size=_MAX_HEAD_BYTES,
                max_field_size=_MAX_HEAD_BYTES,
                max_headers=1024,
            )
        return session


class WireResponse:
    """A provider's reply while it arrives."""

    def __init__(self, reply: aiohttp.ClientResponse, url: URL) -> None:
        self._reply = reply
        self._url = url
        self.status = reply.status
        self.headers = crossing.downward(reply.raw_headers)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, undecoded.

        Raises:
            UpstreamCut: If the body breaks off or stays silent for too long.
        """
        try:
            async for chunk in self._reply.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamCut(
                f"The reply of {_place(self._url)} broke off ({_reason(error)}). Send the request again."
            ) from error

    async def aclose(self) -> None:
        """Disconnect from the provider at once, unless the reply has been read to its end."""
        self._reply.close()


def _url(request: UpstreamRequest, target: Target) -> URL:
    # encoded=True: the bytes of the path and the query stay as the client wrote them.
    query = f"?{request.query}" if request.query else ""
    return URL(f"{target.base_url}{request.path}{query}", encoded=True)


def _headers(request: UpstreamRequest, target: Target) -> list[tuple[str, str]]:
    codings = crossing.READABLE_AT_ONCE if request.stream else crossing.READABLE_WHOLE
    kept = crossing.upward(
        request.headers,
        api_key=target.api_key,
        forwards_auth=target.forwards_auth,
        codings=codings if request.readable else None,
        key_header=target.key_header,
    )
    extra = target.params.get("extra_headers")
    if isinstance(extra, dict):
        replaced = {str(name).lower() for name in extra}
        kept = [header for header in kept if header[0].lower() not in replaced]
        kept += [(str(name), str(value)) for name, value in extra.items()]
    length = _length(request)
    if length is not None:
        kept.append(("Content-Length", str(length)))
    return kept


def _length(request: UpstreamRequest) -> int | None:
    if isinstance(request.body, bytes):
        return len(request.body) if len(request.body) > _PIECE_BYTES else None
    given = crossing.find(request.headers, "content-length")
    return int(given) if given is not None and given.isdecimal() else None


def _body(request: UpstreamRequest) -> bytes | AsyncIterator[bytes] | None:
    if not isinstance(request.body, bytes):
        return aiter(request.body)
    if len(request.body) > _PIECE_BYTES:
        return _pieces(request.body)
    return request.body or None


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), _PIECE_BYTES):
        yield body[start : start + _PIECE_BYTES]


def _timed_out(error: Exception, url: URL, target: Target, bounds: Patience) -> UpstreamTimeout | UpstreamUnreachable:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return UpstreamUnreachable(
            f"No connection to {_place(url)} within {target.connect_timeout_s:g} s. "
            "Check the base URL, the network and upstream.connect_timeout_s."
        )
    if bounds.is_clients:
        return ClientGaveUp(f"{_place(url)} did not answer within the client's own timeout. Raise it.")
    return UpstreamTimeout(
        f"{_place(url)} did not answer in time. Raise the timeout of its route, or router_settings.timeout."
    )


def _unreachable(error: Exception, url: URL) -> UpstreamUnreachable:
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        mend = "Check the server's certificate, or use http:// if it speaks no TLS."
    elif isinstance(error, aiohttp.ClientConnectorDNSError):
        mend = "Check the host name in the base URL."
    elif isinstance(error, aiohttp.ClientConnectorError):
        mend = "Is it running, and is the base URL right (--upstream, upstream.url or OPENAI_BASE_URL)?"
    else:
        mend = "It closed the connection without a reply; try again."
    return UpstreamUnreachable(f"Cannot reach the provider at {_place(url)} ({_reason(error)}). {mend}")


def _html_error(response: WireResponse, url: URL) -> UpstreamUnreachable:
    kept = ("retry-after", "retry-after-ms", "x-should-retry", "x-request-id")
    return UpstreamUnreachable(
        f"{_place(url)} answered {response.status} with an HTML page, not with an API error; something in front of "
        "the provider failed. Try again, and check the base URL.",
        headers={name: value for name, value in response.headers if name.lower() in kept},
    )


def _place(url: URL) -> str:
    return f"{url.host}:{url.port}"


def _reason(error: Exception) -> str:
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    text = getattr(cause, "strerror", None)
    return str(text) if text else type(cause).__name__
