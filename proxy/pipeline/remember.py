"""Step 6, remember: journal the turn in one transaction before the end of the reply is sent. Fails open, noted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, timedelta
from itertools import dropwhile
from typing import Any

from proxy.clock import iso
from proxy.errors import StoreUnavailable
from proxy.memory.conversations.chain import Point, message_id, reply_hash, turn_id
from proxy.memory.conversations.transcript import MAX_CHARACTERS, without_topics
from proxy.memory.inject.entries import members
from proxy.memory.lifecycle.usage import counted
from proxy.pipeline.compact import summary_of, to_store
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.keeping import settle
from proxy.pipeline.placement import locate
from proxy.pipeline.policy import beside_loop, best_effort
from proxy.pipeline.prefix import bindings_of, entries_of, places_of
from proxy.pipeline.steps import Attached
from proxy.services import Services
from proxy.store.costs import Cost
from proxy.store.costs import shown as costs_shown
from proxy.store.journal_rows import Record
from proxy.store.replies import Kept
from proxy.store.sessions import Link
from proxy.text.fence import without_blocks
from proxy.text.secrets import redact, redact_answer, redact_name
from proxy.text.thoughts import without_thoughts
from proxy.text.topics import without
from proxy.types import Finish, Hit, Role, Said, Turn, offset_of
from proxy.upstream.model_map import Prices

_MAX_CONSIDERED = 30
_MAX_WAIT_S = 2.0
_MAX_WAIT_AFTER_FAILURE_S = 0.25  # SQLite retries a locked file every 0.1 s
_MAX_OF_NAME = 60  # characters
_OF_MEMORIES = frozenset({"fact", "summary", "task"})  # uses are counted for no other source


async def remember(exchange: Exchange, services: Services, finish: Finish, status: int) -> None:
    """Write the turn, its place in the conversation, the ledger entries and the receipt, in one transaction.

    A locked database delays this reply by ``_MAX_WAIT_S``, and later replies by ``_MAX_WAIT_AFTER_FAILURE_S`` until a
    write succeeds again. A record that timed out may still be written later.
    """
    if exchange.scope is None or exchange.mode == "off":
        return
    with exchange.timings.step("journal"), best_effort(exchange, "journal", deadline_reason="journal"):
        async with asyncio.timeout(_MAX_WAIT_S):
            await settle(exchange)
            if not exchange.placed.is_located:  # it timed out before the first token; the end of the reply can wait
                await locate(exchange, services)
        if services.is_ephemeral:
            services.last_used[exchange.scope] = services.clock.monotonic()
        exchange.relayed.costs, exchange.relayed.usd = _costs_of(exchange, services), _price_of(exchange, services)
        record = await beside_loop(exchange.body, _record, exchange, services, finish, status)
        has_failed = services.database.failed_write is not None
        async with asyncio.timeout(_MAX_WAIT_AFTER_FAILURE_S if has_failed else _MAX_WAIT_S):
            is_new, _ = await asyncio.gather(
                services.journal.record(exchange.scope, record),
                _note_names(exchange, services),  # in the same commit
            )
        if is_new:
            services.note_written(exchange.scope)
        if exchange.learns and status < 400 and exchange.upstream_body is not exchange.resolved_body:
            shown = [one for hit in exchange.assembly.hits for one in members(hit)]
            used = [one.id for one in shown if one.source in _OF_MEMORIES and not one.author]
            used += [id_ for one in shown for id_ in one.stands_for]
            services.uses.note(exchange.scope, list(dict.fromkeys(used)), now=services.clock.now())
    if "journal" in exchange.reasons:
        await _tell_in_memory(exchange, services, finish)


async def _note_names(exchange: Exchange, services: Services) -> None:
    """Store the names of the agent and the project; on failure the next request brings them again."""
    if exchange.mode == "observe":
        return
    scope, now = exchange.required_scope, services.clock.now()
    with suppress(StoreUnavailable):
        if exchange.named.agent_id:
            await services.agents.note(scope, exchange.named.agent_id, now=now)
        if exchange.named.project:
            await services.projects.note(scope, redact_name(exchange.named.project), now=now)


async def _tell_in_memory(exchange: Exchange, services: Services, finish: Finish) -> None:
    """Hold an unwritten receipt in RAM for ``ephemeral_ttl_s``: the response headers, already sent, name it."""
    ram = services.ephemeral
    if ram is None:
        return
    scope, body, now = exchange.required_scope, receipt_of(exchange, finish), services.clock.now()
    holder = exchange.identity.holder
    with best_effort(exchange, "journal"):
        await ram.database.submit(lambda connection: ram.receipts.put(scope, connection, body, now=now, holder=holder))
        await ram.receipts.prune(before=now - timedelta(seconds=ram.settings.memory.ephemeral_ttl_s))


def _record(exchange: Exchange, services: Services, finish: Finish, status: int) -> Record:
    now = services.clock.now()
    answered = status < 400 and exchange.mode != "observe"
    links = [point for point in exchange.placed.points if point.links]
    turn = _turn(exchange, finish) if answered and exchange.learns and links else None
    receipt, topics = receipt_of(exchange, finish), services.settings.memory.leave_out
    if topics:
        turn = without_topics(turn, topics) if turn is not None else None
        receipt["query"] = without(receipt["query"], topics)
    new_links = [point for point in links if point.hash not in exchange.placed.known]
    learned, offset = turn is not None, exchange.offset
    return Record(
        turn=turn,
        links=[_link(point, offset, learned=learned) for point in new_links] if answered else [],
        ledger=entries_of(exchange) if answered else (),
        receipt=receipt,
        session_name=exchange.named.session,
        now=now,
        due=now + timedelta(seconds=services.pace.gather_s),
        said_at=exchange.moment,
        is_repeat=bool(links) and links[-1].hash in exchange.placed.known,
        is_visit=answered,
        reply=_kept(exchange) if answered and finish == "complete" else None,
        compaction=to_store(exchange) if answered else None,
        costs=exchange.relayed.costs if answered else (),
        bindings=bindings_of(exchange) if answered else (),
        holder=exchange.identity.holder,
    )


def _link(point: Point, offset: int, *, learned: bool) -> Link:
    return Link(point.hash, offset + point.index, learned, point.stored_pair, point.before, point.rest)


def _kept(exchange: Exchange) -> Kept | None:
    """Return the provider's id of the stored response, and its place; None if the provider does not store it."""
    reply, request, thread = exchange.relayed.reply, exchange.request, exchange.placed.thread
    links = [point for point in exchange.placed.points if point.links]
    state = links[-1].state if links else thread.state if thread else ""
    if reply is None or not reply.id or request is None or not request.is_kept or not state:
        return None
    return Kept(
        id=reply.id,
        parent=thread.reply if thread else "",
        state=state,
        seq=exchange.offset + len(exchange.placed.points) + 1,
        anchors=tuple(point.hash for point in links),
        deployment=exchange.target.deployment if exchange.target else "",
        goes_on_as=exchange.tool.continues_as if exchange.tool.continues_as != reply.id else "",
        open_calls=exchange.tool.open_calls,
    )


def _turn(exchange: Exchange, finish: Finish) -> Turn:
    """Return the turn of this exchange; without new messages it equals the earlier turn, which the journal detects."""
    scope = exchange.required_scope
    links = [point for point in exchange.placed.points if point.links]
    users = [point.index for point in links if point.role == "user"]
    last_user = users[-1] if users else -1
    is_step = links[-1].role != "user"  # in a tool loop: the user's message was stored with the first step
    start = exchange.placed.first_new if is_step or last_user < 0 else min(exchange.placed.first_new, last_user)
    fresh = exchange.placed.points[max(start, 0) :]
    if any(point.hash in exchange.placed.known for point in links if point.index < start):
        fresh = list(dropwhile(lambda point: point.role == "assistant", fresh))  # stored when it was relayed
    said = []
    for point in fresh:
        asked = exchange.messages[point.index - 1].text if point.index else ""
        text = redact_answer(exchange.said(point.index)[:MAX_CHARACTERS], asked).strip()
        if point.role in ("user", "assistant") and text:
            live = point.index == last_user and exchange.placed.first_new <= last_user
            id_ = message_id(scope.session, point.hash)
            role: Role = "user" if point.role == "user" else "assistant"
            said.append(Said(id_, role, text, live, exchange.offset + point.index))
    reply = exchange.relayed.reply
    return Turn(
        id=turn_id(scope.session, links[-1].hash),
        scope=replace(scope, teams=()),  # a turn never belongs to a team
        messages=tuple(said),
        reply=redact(without_thoughts(without_blocks(reply.text))[:MAX_CHARACTERS]) if reply else "",
        finish=finish,
        model=redact_name(reply.model if reply and reply.model else exchange.model),
        at=exchange.moment.astimezone(UTC),
        offset_minutes=offset_of(exchange.moment),
        reply_id=message_id(scope.session, reply_hash(links[-1].hash)),
        reply_seq=exchange.offset + len(exchange.placed.points),
        usage=dict(reply.usage) if reply and reply.usage else None,
        receipt=exchange.receipt_id,
    )


def receipt_of(exchange: Exchange, finish: Finish) -> dict[str, Any]:
    """Return the receipt of a request: ids in place of texts, which are looked up when the receipt is read."""
    injected = exchange.assembly.hits
    shown = {hit.id for hit in injected} | exchange.assembly.carried
    kept_out = exchange.found.recalled.considered if exchange.found.recalled is not None else []
    found = {hit.id for hit in exchange.found.hits}  # an opening summary may also be a hit of the search
    opening = [hit for hit in exchange.found.opening if hit.id not in found]
    is_changed = exchange.upstream_body is not exchange.resolved_body
    considered = [hit for hit in (*exchange.found.hits, *opening, *kept_out) if hit.id not in shown]
    return {
        "id": exchange.receipt_id,
        "mode": exchange.mode,
        "model": redact_name(exchange.model),
        "client": redact_name(_client(exchange.header_map)),
        "created_at": iso(exchange.moment),
        "finish": finish,
        "query": redact(exchange.found.query),
        "gate": exchange.found.recalled.reason if exchange.found.recalled else "",
        "budget": exchange.budget,
        "tokens": exchange.assembly.tokens,
        "timings": {name: round(ms, 3) for name, ms in exchange.timings.ms.items()},
        "degraded": list(exchange.reasons),
        **({"compaction": summary_of(exchange)} if exchange.placed.compaction else {}),
        **({"thoughts": "dropped"} if exchange.placed.drops_thoughts else {}),
        **({"recall_calls": exchange.tool.calls} if exchange.tool.is_offered else {}),
        "usage": counted(exchange.relayed.reply.usage if exchange.relayed.reply else None),
        "costs": costs_shown(exchange.relayed.costs),
        "usd": round(exchange.relayed.usd, 9),
        "injected": [_entry(hit) for hit in injected],
        **{kind: _of(exchange, kind) for kind in ("profile", "opening")},
        "carried": sorted(exchange.assembly.carried),
        "message": _asked(exchange),
        **({"placed": places_of(exchange)} if is_changed else {}),
        **({"attachments": [_told(one) for one in exchange.files.items]} if exchange.files.items else {}),
        "considered": [_entry(hit) for hit in considered[:_MAX_CONSIDERED]],
    }


def _client(headers: Mapping[str, str]) -> str:
    """Return the client program's own name from the user agent, without its system and components.

    >>> _client({"user-agent": "claude-cli/2.1.328 (external, cli)"})
    'claude-cli/2.1.328'
    """
    return headers.get("user-agent", "").partition(" (")[0].strip()[:_MAX_OF_NAME]


def _asked(exchange: Exchange) -> str:
    """Return the id of the user's last message, as in the listing of the conversation; "" if there is none."""
    users = [point.hash for point in exchange.placed.points if point.role == "user" and point.links]
    return message_id(exchange.required_scope.session, users[-1]) if users else ""


def _of(exchange: Exchange, kind: str) -> list[str]:
    """Return the ids of the newly injected memories of a kind."""
    return [id_ for entry in exchange.assembly.entries if entry.kind == kind for id_ in entry.memory_ids]


def _told(one: Attached) -> dict[str, Any]:
    """Return the outcome of an attachment, without its name: a deleted file must leave no trace here."""
    entry = {"kind": one.attachment.kind, "id": one.item.id if one.item else None, "action": one.action}
    return {**entry, "source": "tool" if one.attachment.is_of_tool else "user", "reason": one.reason or None}


def _entry(hit: Hit) -> dict[str, Any]:
    """Return an entry without its text, which is looked up when the receipt is read: erased text stays erased."""
    return {
        "source": hit.source,
        "id": hit.id,
        "score": round(hit.score, 4),
        "tokens": hit.tokens,
        "when": iso(hit.when) if hit.when else None,
        "session": hit.session,
    }


def _costs_of(exchange: Exchange, services: Services) -> tuple[Cost, ...]:
    """Return the tokens added to the request and those left out of it, at the price of uncached input."""
    if exchange.scope is None or exchange.mode in ("observe", "off"):
        return ()
    prices = _prices(exchange, services)
    price = prices.input if prices else 0.0
    injected = exchange.memories().tokens + exchange.tool.tokens
    compacted = exchange.placed.compaction
    saved = compacted.before - compacted.plan.tokens - exchange.placed.summary_tokens if compacted else 0
    found = (Cost("injected", injected, injected * price), Cost("saved", max(0, saved), max(0, saved) * price))
    return tuple(one for one in found if one.tokens)


def _price_of(exchange: Exchange, services: Services) -> float:
    """Return the provider's price of the request and its reply, in US dollars; 0 if unknown.

    Tokens read from the provider's cache count at the cache price.
    """
    prices, reply = _prices(exchange, services), exchange.relayed.reply
    used = counted(exchange.relayed.usage or (reply.usage if reply else None))
    if prices is None or not used:
        return 0.0
    cached = used["cached_tokens"]
    price_cached = prices.input if prices.cache_read is None else prices.cache_read
    fresh = max(0, used["input_tokens"] - cached)
    return fresh * prices.input + cached * price_cached + used["output_tokens"] * prices.output


def _prices(exchange: Exchange, services: Services) -> Prices | None:
    """Return the prices of the model that answered."""
    model = (exchange.target.serves if exchange.target is not None else "") or exchange.model
    return services.routes.prices(model) if model else None
