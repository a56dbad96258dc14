"""Keeps what stood before a bound thought where it stood, and asks to drop thoughts where that cannot be.

A provider binds a reply's signed thoughts to the system prompt, the tools and the messages before them. Of each such
reply two digests are kept: of what the client had sent and of what the provider was sent. Where the client's is as it
was and ours is not, memory changed the prefix: a memory was forgotten, a history compacted. Then the request asks the
provider to drop such thoughts. What the client itself changed is refused, and the refusal goes back as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog

from proxy.dialects import binding, messages
from proxy.dialects.reply import parsed
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.pipeline.steps import Bound
from proxy.services import Services
from proxy.store.bindings import Binding, signature_hash
from proxy.store.ledger import LedgerEntry

REASON = "prefix"
DEADLINE_S = 2.0  # as of the ledger; a reading takes 0.3 ms
MAX_PLACES = 20  # of blocks in a receipt: 60 bytes each, again with every request
MAX_TRIED = 16  # thoughts of a request, the last first, until one is known

_log = structlog.get_logger(__name__)


async def look_up(exchange: Exchange, services: Services) -> None:
    """Fill in what is known of the last bound thought of a request."""
    request, scope = exchange.request, exchange.scope
    if request is None or scope is None or exchange.dialect is not messages or exchange.mode == "observe":
        return
    signatures = binding.last_signed(request.body, MAX_TRIED)
    if not signatures or binding.has_choice(request.body):
        return
    exchange.placed.bound = Bound(signatures[0], is_ours=True)  # for want of better knowledge
    with best_effort(exchange, "store"):
        async with asyncio.timeout(DEADLINE_S):
            known = await services.bindings.read(scope, [signature_hash(one) for one in signatures])
            found = next((one for one in signatures if signature_hash(one) in known), "")
            if found:
                exchange.placed.bound = Bound(found, known[signature_hash(found)])
            else:  # a memory that knows of no thought has lost what it knew, or never had anything
                exchange.placed.bound = Bound(signatures[0], is_ours=not await services.bindings.has_any(scope))


async def protect(exchange: Exchange, body: bytes) -> None:
    """Note whether a body that is about to be sent needs the provider to drop thoughts for what memory changed."""
    if exchange.placed.bound is not None and not exchange.placed.drops_thoughts and not exchange.placed.keeps_thoughts:
        exchange.placed.drops_thoughts = await beside_loop(body, _is_broken, exchange, body)


def as_sent(exchange: Exchange, body: bytes, *, is_native: bool = True) -> tuple[bytes, list[tuple[str, str]]]:
    """Return a body and its headers, with the wish to drop thoughts where it is needed.

    A request that does not think, or is translated to another wire, cannot say it: it goes without thoughts.
    """
    headers = list(exchange.headers)
    if not exchange.placed.drops_thoughts or exchange.request is None:
        return body, headers
    if is_native and binding.asks_to_think(exchange.request.body):
        return binding.dropping(body), binding.with_beta(headers)
    return binding.without_thoughts(body), headers


def is_to_mend(exchange: Exchange, told: str) -> bool:
    """Return whether a refusal is for what memory changed, and a second try may help.

    Also true where the provider does not know the wish: then the request goes up without it.
    """
    bound = exchange.placed.bound
    if bound is None or exchange.placed.keeps_thoughts:
        return False
    if exchange.placed.drops_thoughts:
        return binding.FIELD in told and not binding.is_refusal(told)
    if not binding.is_refusal(told):
        return False
    return bound.known is None and (bound.is_ours or _is_changed(exchange))


def mend(exchange: Exchange) -> None:
    """Ask for the other way, once, and say so."""
    exchange.placed.keeps_thoughts = exchange.placed.drops_thoughts
    exchange.placed.drops_thoughts = not exchange.placed.drops_thoughts
    exchange.degrade(REASON)
    _log.warning("thoughts are bound to another prefix, sent again", drops=exchange.placed.drops_thoughts)


def entries_of(exchange: Exchange) -> list[LedgerEntry]:
    """Return what to remember of what was injected; another text at a place belongs to the reply that followed it."""
    signatures = exchange.relayed.reply.signatures if exchange.relayed.reply is not None else ()
    stood = {(entry.anchor, entry.kind): entry.text for entry in exchange.placed.ledger}
    name = signature_hash(signatures[-1]) if signatures else ""
    made: list[LedgerEntry] = []
    for entry in exchange.assembly.entries:
        before = stood.get((entry.anchor, entry.kind))
        if name and before is not None and before != entry.text:
            made.append(LedgerEntry(name, entry.kind, entry.text, entry.memory_ids, entry.apart))
        else:
            made.append(entry)
    return made


def places_of(exchange: Exchange) -> list[list[Any]]:
    """Return where our texts stand in a request, as its receipt keeps it: at the start, and the newest blocks.

    Of each: the message, the kind, the anchor in the ledger where that is not the message, and the characters of the
    text, by which it is known to be kept as it was.
    """
    done, entries = exchange.assembly, entries_of(exchange)
    renamed: dict[tuple[str, str], str] = {
        (old.anchor, old.kind): new.anchor for old, new in zip(done.entries, entries, strict=True)
    }
    hashes = {point.index: point.hash for point in exchange.placed.points}
    found: list[list[Any]] = []
    for addition, (anchor, kind) in zip(done.additions, done.placed, strict=True):
        message, kept = hashes[addition.index], renamed.get((anchor, kind), anchor)
        found.append([message, kind, "" if kept == message else kept, len(addition.text)])
    start = [one for one in found if one[1] != "block"]
    return [*start, *[one for one in found if one[1] == "block"][-MAX_PLACES:]]


def bindings_of(exchange: Exchange) -> list[Binding]:
    """Return what the reply's thoughts are bound to, and what a thought is bound to that was asked to be dropped."""
    if exchange.dialect is not messages or exchange.request is None or exchange.mode == "observe":
        return []
    signatures = exchange.relayed.reply.signatures if exchange.relayed.reply is not None else ()
    client, drops = exchange.request.body, exchange.placed.drops_thoughts
    sent = parsed(exchange.upstream_body) if signatures or drops else None
    if not isinstance(sent, dict):
        return []
    made: list[Binding] = []
    if drops and exchange.placed.bound is not None:
        digests = _digests(client, sent, exchange.placed.bound.signature)
        made += [Binding(signature_hash(exchange.placed.bound.signature), *digests, is_dropped=True)] if digests else []
    if signatures:
        whole = binding.digest(client), binding.digest(sent)
        made += [Binding(signature_hash(one), *whole, is_dropped=drops) for one in dict.fromkeys(signatures)]
    return made


def _is_broken(exchange: Exchange, body: bytes) -> bool:
    """Return whether the prefix of the last known thought is the client's as it was, and not ours as it was."""
    bound = exchange.placed.bound
    if bound is None or bound.known is None:
        return False
    digests = _both(exchange, body, bound.signature)
    if digests is None:
        return False
    client, sent = digests
    return client == bound.known.client and (sent != bound.known.sent or bound.known.is_dropped)


def _is_changed(exchange: Exchange) -> bool:
    """Return whether memory changed what stands before the last bound thought."""
    digests = (
        _both(exchange, exchange.upstream_body, exchange.placed.bound.signature) if exchange.placed.bound else None
    )
    return digests is not None and digests[0] != digests[1]


def _both(exchange: Exchange, body: bytes, signature: str) -> tuple[str, str] | None:
    sent = parsed(body)
    if exchange.request is None or not isinstance(sent, dict):
        return None
    return _digests(exchange.request.body, sent, signature)


def _digests(client: Mapping[str, Any], sent: Mapping[str, Any], signature: str) -> tuple[str, str] | None:
    here, there = binding.place_of(client, signature), binding.place_of(sent, signature)
    if here is None or there is None:
        return None
    return binding.digest(client, here), binding.digest(sent, there)
