"""Repair of damaged tables: quarantine them, and rebuild them from salvaged rows and other stores.

``Mender`` checks the tables at the start, and mends those that fail while the server runs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
import structlog

from proxy.clock import to_ms
from proxy.errors import ProxyError
from proxy.memory.conversations.transcript import episodes_of
from proxy.memory.library.caption import image_chunks
from proxy.memory.lifecycle.quarantine import apart_episodes, apart_passages
from proxy.process.threads import spawn
from proxy.services import Services
from proxy.store.incidents import Incident
from proxy.store.lance import LanceStore
from proxy.store.lance_damage import SetAside
from proxy.store.schema import LAYOUTS, NOUNS, Batch, Noun
from proxy.store.sessions import Session
from proxy.store.stamps import expected_tables
from proxy.types import Chunk, Episode, Image, Scope
from proxy.types.scope import settled

_log = structlog.get_logger(__name__)
_AT_A_TIME = 500  # rows in one commit
_LOOK_S = 1.5  # of reading tables, before the server reports ready
_PAUSE_S = 5.0  # after a check of a user found no damage
_MAX_PAUSE_S = 300.0


async def mend(services: Services, scope: Scope, *, is_thorough: bool = False) -> list[Incident]:
    """Quarantine a user's damaged tables, restore their rows, and return the incidents; without damage, do nothing.

    The rows come from the readable part of the table itself, then from the history of memories, the journal and the
    uploaded files. The caller holds the user's lease.

    Args:
        services: The lasting services.
        scope: The user.
        is_thorough: Whether to look for missing rows in undamaged tables too, as after the loss of a newest version.

    Raises:
        StoreUnavailable: If a needed store cannot be read or written now.
    """
    store = services.store
    if not isinstance(store, LanceStore):
        return []
    stepped_back = await store.heal(scope)
    flaws = await store.damage.flaws(scope)
    done: list[Incident] = []
    for noun in NOUNS:
        flaw, is_behind = flaws.get(noun), any(name.startswith(noun) for name in stepped_back)
        if flaw is None and not is_behind and not is_thorough and store.revision(scope, noun)[0]:
            continue
        aside = await store.damage.set_aside(scope, noun) if flaw else None
        if aside is not None:
            await _put_back(services, scope, noun, aside.rows)
        restored = await restore(services, scope, noun)
        if flaw or is_behind or restored:
            text = flaw or ("its newest version was cut" if is_behind else "rows were missing")
            done.append(await _told(services, scope, noun, text, aside, restored))
    if done:
        services.index.forget(scope)
        services.note_shown(scope)
        await _embed(services, scope)
    return done


async def restore(services: Services, scope: Scope, noun: Noun, *, writes: bool = True) -> int:
    """Write a table's missing rows from other stores; return their number.

    Chunks of documents are ingested again from the files, in the background.

    Args:
        services: The lasting services.
        scope: The user.
        noun: The table.
        writes: Whether to write the rows; otherwise they are only counted.
    """
    store, model = services.store, services.embedder.model
    if noun == "memories":
        stored = {row.id: row for row in await store.memories(scope)}
        latest = await services.history.latest(scope)
        lacking = [
            row for row in latest if row.id not in stored or to_ms(stored[row.id].updated_at) < to_ms(row.updated_at)
        ]
        for at in range(0, len(lacking) if writes else 0, _AT_A_TIME):
            await store.put_memories(scope, lacking[at : at + _AT_A_TIME], {}, model)
        return len(lacking)
    present = set(await store.ids(scope, noun))
    if noun == "episodes":
        told = [episode for turn in await services.journal.told(scope) for episode in episodes_of(turn)]
        missing = [episode for episode in told if episode.id not in present]
        missing = apart_episodes(missing, await services.quarantine.targets(scope))
        for at in range(0, len(missing) if writes else 0, _AT_A_TIME):
            await store.put_episodes(scope, missing[at : at + _AT_A_TIME], {}, model)
        return len(missing)
    return await _restore_passages(services, scope, present, writes=writes)


async def restore_sessions(services: Services, scope: Scope, *, writes: bool = True) -> int:
    """Restore the rows of sessions that have only episodes, as after a loss of the database; return their number.

    Their client names and hash chains are lost, so a client that continues one begins a new session. Without
    ``writes`` they are only counted.
    """
    said: dict[tuple[str, str], list[Episode]] = {}
    for row in await services.store.episodes(scope):
        said.setdefault((row.session, settled(row.agent)), []).append(row)
    known: set[str] = set()
    for agent in {agent for _, agent in said}:
        known |= {one.id for one in await _known(services, replace(scope, agent=agent))}
    lacking = {key: rows for key, rows in said.items() if key[0] not in known}
    now = services.clock.now()

    def write(connection: sa.Connection) -> None:
        for (session, agent), rows in lacking.items():
            whose, turns = replace(scope, agent=agent, session=session), len({row.turn for row in rows})
            for at, count in ((rows[0].at, turns), (rows[-1].at, 0)):
                services.sessions.touch(whose, connection, name="", turns=count, now=at, arrived=now)

    if lacking and writes:
        await services.database.submit(write)
    return len(lacking)


async def _known(services: Services, scope: Scope) -> list[Session]:
    found: list[Session] = []
    has_more = True
    while has_more:
        page, has_more = await services.sessions.page(scope, after=found[-1].id if found else "", limit=1000)
        found += page
    return found


async def _restore_passages(services: Services, scope: Scope, present: set[str], *, writes: bool) -> int:
    """Write the missing chunks of images, and queue documents with missing chunks for ingestion."""
    counts = Counter(id_.partition(".")[0] for id_ in present)
    lacking: list[Chunk] = []
    again = 0
    for item in await services.media.read(scope):
        if isinstance(item, Image):
            lacking += [row for row in image_chunks(item) if row.id not in present]
        elif counts[item.id] < item.chunks:
            again += item.chunks - counts[item.id]
            if writes and not item.reason:  # with a reason, its bytes are lost and so are its chunks
                await services.media.read_again(scope, item.id, now=services.clock.now())
    lacking = apart_passages(lacking, await services.quarantine.targets(scope))
    if lacking and writes:
        await services.store.put_chunks(scope, lacking, {}, services.embedder.model)
    if again and writes:
        services.arrived.set()
    return len(lacking) + again


async def _put_back(services: Services, scope: Scope, noun: Noun, rows: Batch[Any]) -> None:
    """Write salvaged rows, with their vectors if they are of the current model."""
    store, model = services.store, services.embedder.model
    for start in range(0, len(rows.items), _AT_A_TIME):
        part = range(start, min(start + _AT_A_TIME, len(rows.items)))
        items = [rows.items[at] for at in part]
        vectors = {
            rows.items[at].id: tuple(rows.vectors[name][at] for name in LAYOUTS[noun].vectors)
            for at in part
            if rows.models[at] == model
        }
        if noun == "memories":
            await store.put_memories(scope, items, {id_: pair[0] for id_, pair in vectors.items()}, model)
        elif noun == "episodes":
            await store.put_episodes(scope, items, {id_: (pair[0], pair[1]) for id_, pair in vectors.items()}, model)
        else:
            await store.put_chunks(scope, items, {id_: pair[0] for id_, pair in vectors.items()}, model)


async def _told(
    services: Services, scope: Scope, noun: Noun, text: str, aside: SetAside | None, restored: int
) -> Incident:
    """Record and return the incident, with the numbers of restored and lost rows."""
    kept = len(aside.rows.items) if aside is not None else 0
    lost: int | None = 0
    if aside is not None:
        there = max(kept + restored, await services.store.count(scope, noun))  # documents are not ingested again yet
        lost = None if aside.expected is None else max(0, aside.expected - there)
    what = f"the {noun} of one user were damaged: {text}"
    done = "; the table was set aside and rebuilt" if aside is not None else "; what was missing was put back"
    place = aside.place if aside is not None else ""
    incident = Incident(noun, what + done, services.clock.now(), place, kept + restored, lost)
    await services.incidents.note(scope, incident)
    counts = {"restored": incident.restored, "lost": incident.lost, "set_aside": incident.place}
    _log.error("a damaged table was mended", part=noun, what=incident.text, **counts)
    return incident


async def _embed(services: Services, scope: Scope) -> None:
    """Embed the restored rows; upkeep embeds the rest of very many."""
    if not services.is_embedder_warm:
        return
    try:
        await services.book.fill_in(scope)
    except ProxyError as error:
        _log.warning("restored rows wait for their vectors", error=error.code)


class Mender:
    """Repair task, one per process: any process may find damage, and the user's lease prevents concurrent repairs.

    Attributes:
        _pauses: By user, monotonic time until which the tables are not checked again.
        _spans: By user, length of the last pause, which doubles with every check without damage.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._suspects: dict[str, None] = {}
        self._pauses: dict[str, float] = {}
        self._spans: dict[str, float] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the checks."""
        self._task = spawn(self._run(), "mender")

    async def stop(self, timeout_s: float) -> None:
        """Stop; remaining damage is found again at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=timeout_s)

    def suspect(self, owner: str) -> None:
        """Queue a check of a user's tables, after they could not be read or written."""
        if self._pauses.get(owner, 0.0) <= self._services.clock.monotonic():
            self._suspects[owner] = None
            self._services.is_whole.clear()
            self._news.set()

    async def _run(self) -> None:
        await self._services.warmed.wait()
        store = self._services.store
        if not isinstance(store, LanceStore):
            self._services.looked_over.set()
            return
        try:
            found = await store.damage.suspects(budget_s=_LOOK_S)
            expected = await expected_tables(self._services.database)
            erased = await self._services.destructions.erased()  # erasures may have deleted their tables already
            missing = sorted({owner for _, owner in expected - await store.damage.names()} - erased)
            for owner in dict.fromkeys((*found, *missing)):
                await self._mend(owner)
        except Exception as error:  # noqa: BLE001 - a mender that ends would leave all damage unrepaired
            _log.error("the tables could not be looked over", error=type(error).__name__)
        self._services.looked_over.set()
        store.damage.tell(self.suspect)
        try:  # takes minutes for hundreds of thousands of sessions; nothing depends on it
            if any(incident.part == "database" for incident in await self._services.incidents.unseen()):
                await self._relist(sorted({owner for _, owner in await store.damage.names()}))
        except Exception as error:  # noqa: BLE001 - the mender must not end
            _log.error("conversations could not be listed again", error=type(error).__name__)
        while True:
            await self._news.wait()
            self._news.clear()
            while self._suspects:
                owner = next(iter(self._suspects))
                del self._suspects[owner]
                await self._mend(owner)
            self._services.is_whole.set()

    async def _relist(self, owners: list[str]) -> None:
        """Restore session rows that were lost with the database."""
        count = 0
        for owner in owners:
            async with self._services.leases.held(Scope("", owner)):
                count += await restore_sessions(self._services, Scope("", owner))
        if count:
            _log.info("conversations were listed again", count=count)

    async def _mend(self, owner: str) -> None:
        scope = Scope("", owner)
        try:
            async with self._services.leases.held(scope):
                done = await mend(self._services, scope)
        except ProxyError as error:
            _log.warning("a table cannot be mended now", error=error.code, why=str(error))
            done = []
        except Exception as error:  # noqa: BLE001 - the next user's tables must still be mended
            _log.error("a table cannot be mended", error=type(error).__name__, exc_info=True)
            done = []
        self._suspects.pop(owner, None)  # reads that failed meanwhile were before the repair
        span = 0.0 if done else min(max(_PAUSE_S, self._spans.get(owner, 0.0) * 2), _MAX_PAUSE_S)
        self._spans[owner] = span
        self._pauses[owner] = self._services.clock.monotonic() + span
