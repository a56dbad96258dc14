"""Bindings of signed thinking blocks to their prefix; asks the provider to drop them if memory changed the prefix.

A provider binds a reply's signed thinking blocks to the system prompt, the tools and the messages before them. Two
digests of each such prefix are stored: as the client sent it, and as it was forwarded. If the client's is unchanged and
the forwarded one is not, memory changed the prefix: a memory was forgotten, or a history compacted. Then the request
asks the provider to drop such blocks. A change by the client is refused by the provider, and the refusal is relayed.
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
DEADLINE_S = 2.0  # as for the ledger; a read takes 0.3 ms
MAX_PLACES = 20  # of blocks in a receipt: 60 bytes each, again with every request
MAX_TRIED = 16  # thinking blocks of a request, last first, until one is known

_log = structlog.get_logger(__name__)


async def look_up(exchange: Exchange, services: Services) -> None:
    """Fill in the last bound thinking block of a request, with its stored binding."""
    request, scope = exchange.request, exchange.scope
    if request is None or scope is None or exchange.dialect is not messages or exchange.mode == "observe":
        return
    signatures = binding.last_signed(request.body, MAX_TRIED)
    if not signatures or binding.has_choice(request.body):
        return
    exchange.placed.bound = Bound(signatures[0], is_ours=True)  # assumed if the store does not answer
    with best_effort(exchange, "store"):
        async with asyncio.timeout(DEADLINE_S):
            known = await services.bindings.read(scope, [signature_hash(one) for one in signatures])
            found = next((one for one in signatures if signature_hash(one) in known), "")
            if found:
                exchange.placed.bound = Bound(found, known[signature_hash(found)])
            else:  # a scope without any binding has lost its bindings, or never had one
                exchange.placed.bound = Bound(signatures[0], is_ours=not await services.bindings.has_any(scope))


async def protect(exchange: Exchange, body: bytes) -> None:
    """Note whether the provider must drop thinking blocks of this body because memory changed their prefix."""
    if exchange.placed.bound is not None and not exchange.placed.drops_thoughts and not exchange.placed.keeps_thoughts:
        exchange.placed.drops_thoughts = await beside_loop(body, _is_broken, exchange, body)


def as_sent(exchange: Exchange, body: bytes, *, is_native: bool = True) -> tuple[bytes, list[tuple[str, str]]]:
    """Return a body and its headers, asking the provider to drop thinking blocks if needed.

    A request without thinking, or translated to another wire format, cannot ask: its thinking blocks are removed.
    """
    headers = list(exchange.headers)
    if not exchange.placed.drops_thoughts or exchange.request is None:
        return body, headers
    if is_native and binding.asks_to_think(exchange.request.body):
        return binding.dropping(body), binding.with_beta(headers)
    return binding.without_thoughts(body), headers


def is_to_mend(exchange: Exchange, told: str) -> bool:
    """Return whether a refusal is due to changes by memory, so that a second try may help.

    Also true if the provider rejects the parameter that drops thinking blocks: the second try leaves it out.
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
    """Toggle the request to drop thinking blocks, once, and note the degradation."""
    exchange.placed.keeps_thoughts = exchange.placed.drops_thoughts
    exchange.placed.drops_thoughts = not exchange.placed.drops_thoughts
    exchange.degrade(REASON)
    _log.warning("thoughts are bound to another prefix, sent again", drops=exchange.placed.drops_thoughts)


def entries_of(exchange: Exchange) -> list[LedgerEntry]:
    """Return the ledger entries to store; a text that differs from the stored one is filed under the signed reply."""
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
    """Return the places of injected texts for the receipt: those at the start, and the newest blocks.

    Each is the message, the kind, the anchor in the ledger if that is not the message, and the text's number of
    characters, which shows whether the stored text is unchanged.
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
    """Return the bindings of the reply's thinking blocks, and of the one that the provider was asked to drop."""
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
    """Return whether the prefix of the last known block is unchanged by the client, but not as forwarded."""
    bound = exchange.placed.bound
    if bound is None or bound.known is None:
        return False
    digests = _both(exchange, body, bound.signature)
    if digests is None:
        return False
    client, sent = digests
    return client == bound.known.client and (sent != bound.known.sent or bound.known.is_dropped)


def _is_changed(exchange: Exchange) -> bool:
    """Return whether memory changed the prefix of the last bound thinking block."""
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
