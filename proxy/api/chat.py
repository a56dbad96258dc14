"""``POST /v1/chat/completions`` and its equivalents in other dialects, as a raw ASGI endpoint."""

from __future__ import annotations

import structlog

from proxy.api.asgi import (
    ClientGone,
    Receive,
    Scope,
    Send,
    headers_of,
    limited,
    read_body,
    refuse,
    send_end,
    send_head,
    until_hang_up,
    watched,
)
from proxy.api.coding import plain
from proxy.api.commands import answer_command
from proxy.api.heartbeat import Heartbeat
from proxy.api.passage import passage_of
from proxy.dialects.base import Dialect
from proxy.errors import ProxyError
from proxy.pipeline.admission import admit
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.handle import Answer, handle
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.upstream.headers import find

_log = structlog.get_logger(__name__)


class Completions:
    """Endpoint of one dialect, with memory."""

    def __init__(self, services: Services, dialect: Dialect, path: str) -> None:
        self._services = services
        self._dialect = dialect
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = headers_of(scope)
        exchange = Exchange("POST", self._path, scope["query_string"].decode("latin-1"), headers, b"", self._dialect)
        passage_of(scope).exchange = exchange
        try:
            with exchange.timings.step("identify"):
                admission = await admit(headers, self._services)
        except ProxyError as error:
            await self._refuse(exchange, send, error)
            return
        exchange.identity, exchange.ticket = admission.identity, admission.ticket
        receive = limited(scope, receive, admission.body_bytes, admission.limit_name)
        try:
            await self._serve(exchange, receive, watched(send, admission.ticket), admission.body_bytes)
        finally:
            admission.ticket.close()

    async def _serve(self, exchange: Exchange, receive: Receive, send: Send, limit: int) -> None:
        try:
            body, headers = await read_body(receive), list(exchange.headers)
            if find(headers, "content-encoding") is not None:  # in a thread: 50 kB may become 50 MB
                exchange.as_written = body, headers
                body, headers = await in_thread("cpu", plain, body, headers, limit=limit)
            exchange.body, exchange.headers = body, headers
        except ClientGone:
            return
        except ProxyError as error:
            await self._refuse(exchange, send, error)
            return
        await until_hang_up(receive, lambda: self._answer(exchange, send), exchange.ticket.close)

    async def _answer(self, exchange: Exchange, send: Send) -> None:
        try:
            answer = await handle(exchange, self._services, answer_command)
            await _relay(answer, send, self._services.settings.server.heartbeat_s)
        except ProxyError as error:
            await self._refuse(exchange, send, error)

    async def _refuse(self, exchange: Exchange, send: Send, error: ProxyError) -> None:
        exchange.relayed.refusal = error.code
        await refuse(send, error, self._dialect, exchange.request_id, exchange.response_headers())


async def _relay(answer: Answer, send: Send, heartbeat_s: float) -> None:
    """Send the reply; drop the connection if it breaks off, so that it does not look complete.

    The head of a stream is sent at once. Any other head waits for the first byte, and the first byte for the journal: a
    header can then report a journal failure.
    """
    started = answer.is_stream
    try:
        if started:
            await send_head(send, answer.status, answer.headers())
        every_s, end = heartbeat_s if started else 0.0, answer.exchange.dialect.end_watch()
        async with Heartbeat(send, answer.response.headers, every_s, end) as body:
            async for chunk in answer.chunks:
                if not started:
                    started = True
                    await send_head(send, answer.status, answer.headers())
                await body.chunk(chunk)
        if not started:
            await send_head(send, answer.status, answer.headers())
        await send_end(send)
    except ProxyError as error:
        if not started:
            raise
        _log.warning("the reply broke off", error=error.code)
    finally:
        await answer.chunks.aclose()
