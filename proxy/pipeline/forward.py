"""Step 4: send the request to its provider; errors are the provider's own."""

from __future__ import annotations

from proxy.pipeline.exchange import Exchange
from proxy.services import Services
from proxy.upstream.base import UpstreamRequest, UpstreamResponse


async def forward(exchange: Exchange, services: Services) -> UpstreamResponse:
    """Send and return when the head of the reply is there.

    Raises:
        UpstreamUnreachable: If there is no connection, or no API at its other end.
        UpstreamTimeout: If the provider stays silent for too long.
    """
    del services
    assert exchange.target is not None
    body = exchange.upstream_body
    if exchange.target.model is not None and exchange.target.model != exchange.model:
        body = exchange.dialect.replace_model(body, exchange.target.model)
    request = UpstreamRequest(
        exchange.method,
        exchange.path,
        exchange.query,
        exchange.headers,
        body,
        stream=exchange.streams,
        readable=exchange.learns,
    )
    with exchange.timings.step("upstream"):
        return await exchange.target.upstream.send(request, exchange.target)
