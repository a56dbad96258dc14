"""Chat commands to the memory: ``/memory …``, if the key or a setting allows them.

Throughline answers them itself. Commands and their answers are removed from later requests, in which the client sends
its whole history, and nothing is learned from them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from proxy.dialects.body import changed
from proxy.dialects.splice import quoted
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import beside_loop
from proxy.services import Services
from proxy.upstream.base import UpstreamResponse
from proxy.upstream.own_reply import RESPONSE_ID, before

_COMMAND = re.compile(r"/memory(?:\s+(?P<word>\S+)(?:\s+(?P<rest>.*))?)?", re.DOTALL | re.IGNORECASE)
_MODES = frozenset({"full", "read", "write", "ephemeral"})


@dataclass(frozen=True, slots=True)
class Command:
    """Command of a user to the memory.

    Args:
        word: ``forget``, ``off`` and so on, in lower case; "" for a bare ``/memory``.
        rest: Text after the word.
    """

    word: str = ""
    rest: str = ""


Here = Callable[[Exchange, Services, Command], Awaitable[UpstreamResponse]]


def command_of(text: str) -> Command | None:
    """Return the command in a message, None if it is not one."""
    found = _COMMAND.fullmatch(text.strip())
    return Command((found["word"] or "").lower(), (found["rest"] or "").strip()) if found is not None else None


def takes_commands(exchange: Exchange, services: Services) -> bool:
    """Return whether commands are answered for this request."""
    is_on = exchange.identity.takes_commands or services.settings.memory.commands
    return is_on and exchange.scope is not None and exchange.mode in _MODES


async def take(exchange: Exchange, services: Services) -> Command | None:
    """Return the command in the last message; else remove earlier commands and apply ``/memory off``.

    Messages between ``/memory off`` and ``/memory on`` stay without memory in later requests too.
    """
    found = await beside_loop(exchange.body, _found, exchange)
    last = exchange.messages[-1].index if exchange.messages else -1
    if last in found:
        return found[last]
    is_off, scope = await beside_loop(exchange.body, _leave_out, exchange, found), exchange.required_scope
    if is_off or (scope.session and await services.silenced.has(scope)):
        exchange.mode, exchange.off_reason = "off", "command"
    return None


def _found(exchange: Exchange) -> dict[int, Command]:
    """Return the commands of a request by message index."""
    return {
        message.index: command
        for message in exchange.messages
        if message.role == "user" and (command := command_of(exchange.said(message.index))) is not None
    }


def _leave_out(exchange: Exchange, found: dict[int, Command]) -> bool:
    """Remove commands and their answers from the body; return whether they leave memory off."""
    if not found:
        return False
    drop: set[int] = set()
    unheard: set[int] = set()
    is_answer = is_off = False
    for message in exchange.messages[:-1]:
        index = message.index
        if index in found:
            is_answer = True
            is_off = {"off": True, "on": False}.get(found[index].word, is_off)
        elif message.role != "assistant" or message.tool_calls:
            is_answer = False
        if is_answer:
            drop.add(index)
        elif is_off:
            unheard.add(index - len(drop))
    body = exchange.dialect.condense(exchange.body, drop, exchange.messages[-1].index, "")
    if body is not exchange.body:
        exchange.body = body
        exchange.request, exchange.authored = exchange.dialect.read(body), None
        exchange.unheard = frozenset(unheard)
    return is_off


def resolve_previous(exchange: Exchange) -> None:
    """Replace the id of an own answer, unknown to the provider, by that of the provider's reply before it."""
    if RESPONSE_ID.encode() not in exchange.body:
        return

    def named(value: str) -> str | None:
        given = value.strip('"')
        known = before(given)
        return None if known == given else quoted(known) if known else "null"

    exchange.body = changed(exchange.body, "previous_response_id", named)
