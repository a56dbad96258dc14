"""Step 4: send the request to its provider; errors are the provider's own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from proxy.errors import UpstreamTimeout, UpstreamUnreachable
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.prefix import as_sent, protect
from proxy.pipeline.resend import what_to_change
from proxy.pipeline.stand_in import adopt, fitted
from proxy.services import Services
from proxy.upstream.base import Target, UpstreamRequest, UpstreamResponse
from proxy.upstream.failover import Plan
from proxy.upstream.messages import MessagesOverChat


async def forward(exchange: Exchange, services: Services) -> UpstreamResponse:
    """Send and return when the head of the reply is there; what is refused for what memory added goes up without it.

    Raises:
        UpstreamUnreachable: If there is no connection, or no API at its other end.
        UpstreamTimeout: If the provider stays silent for too long.
    """

    async def make(target: Target) -> UpstreamRequest:
        body = await fitted(exchange, services, target)
        await protect(exchange, body)
        return request_for(exchange, target, body)

    with exchange.timings.step("upstream"):
        exchange.target, response = await services.routes.send(_plan(exchange), make, exchange.relayed.attempts)
        adopt(exchange, exchange.target)
        change, response = await what_to_change(exchange, response)
        if change is not None:
            change(exchange)
            with suppress(UpstreamUnreachable, UpstreamTimeout):  # the first refusal is an answer
                exchange.target, response = await services.routes.send(_plan(exchange), make, exchange.relayed.attempts)
                adopt(exchange, exchange.target)
    return response


def _plan(exchange: Exchange) -> Plan:
    """Return the plan, begun with whoever keeps what the request continues: nobody else has it."""
    assert exchange.plan is not None
    plan, thread = exchange.plan, exchange.placed.thread
    if thread is None or not thread.deployment:
        return plan
    return replace(plan, tries=tuple(sorted(plan.tries, key=lambda one: one.target.deployment != thread.deployment)))


def request_for(exchange: Exchange, target: Target, body: bytes) -> UpstreamRequest:
    """Return what a target is sent: the body under the name that the model has there."""
    if target.model is not None and target.model != exchange.model:
        body = exchange.dialect.replace_model(body, target.model)
    body, headers = as_sent(exchange, body, is_native=not isinstance(target.upstream, MessagesOverChat))
    return UpstreamRequest(
        exchange.method,
        exchange.path,
        exchange.query,
        headers,
        body,
        stream=exchange.streams,
        readable=exchange.listens or exchange.ticket.counts_tokens or exchange.handing is not None,
    )
