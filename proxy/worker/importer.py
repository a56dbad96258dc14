"""Import jobs: claim a job and import its file; resume where a killed process stopped."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, islice
from pathlib import Path
from typing import TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from proxy.access.auth import agent_id, project_id
from proxy.errors import InvalidRequest, ProxyError
from proxy.media.base import MediaRefused
from proxy.memory.changes.book import stated
from proxy.memory.conversations.transcript import without_topics
from proxy.memory.library.library import Parcel
from proxy.memory.lifecycle.transfer import ours
from proxy.memory.lifecycle.transfer.conversations import session_name, turns_of
from proxy.memory.lifecycle.transfer.entries import Conversation, Told
from proxy.memory.lifecycle.transfer.formats import Format, entries_of, format_of, nothing_of
from proxy.memory.plan.changes import Change
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.dump import Dump
from proxy.store.jobs import Job
from proxy.store.journal_rows import Record
from proxy.telemetry import JOBS
from proxy.text.secrets import redact
from proxy.text.topics import is_about
from proxy.types import Scope

_log = structlog.get_logger(__name__)
T = TypeVar("T")
LEASE_S = 15.0  # after which another process resumes a killed one's job
BEAT_S = 4.0
WAIT_S = 60.0  # for another holder of the user's lease
POLL_S = 2.0
AWAY_S = 10.0  # until the next attempt while a store is unavailable
MAX_ATTEMPTS = 5  # attempts without progress
MAX_NOTES = 200  # per job, about single entries
MAX_PENDING = 400  # turns of one user that may wait for indexing while more are journalled
AT_ONCE = 50  # statements between two progress updates; a conversation is one by itself
_PATIENCE_S = 0.2
_MORE_NOTES = f"more than {MAX_NOTES} notes: the others are not kept; import the rest of the file by itself to see them"


class Importer:
    """Runner of import jobs, one at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._holder = secrets.token_hex(8)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start polling for jobs."""
        self._task = spawn(self._seek(), "importer")

    async def stop(self, timeout_s: float) -> None:
        """Stop; a running job is cancelled and resumes at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=timeout_s)

    async def _seek(self) -> None:
        services = self._services
        await services.warmed.wait()
        await self._sweep()
        while True:
            job = None
            try:
                job = await services.jobs.claim(self._holder, now=services.clock.now(), lease_s=LEASE_S)
                if job is not None:
                    await self._do(job)
            except Exception as error:  # noqa: BLE001 - an importer that ends would end importing for all users
                _log.error("importing failed, going on", error=type(error).__name__)
            if job is None:
                await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(POLL_S):
                await self._services.asked.wait()
        except TimeoutError:
            return
        self._services.asked.clear()

    async def _sweep(self) -> None:
        try:
            needed = await self._services.jobs.open_ids()
            await in_thread("load", self._services.spool.sweep, needed)
        except (ProxyError, OSError) as error:
            _log.warning("left-over files could not be looked for", error=type(error).__name__)

    async def _do(self, job: Job) -> None:
        services = self._services
        try:
            job = await _held(_Import(services, job, self._holder))
            job = replace(job, status="done", finished_at=services.clock.now())
        except (InvalidRequest, OSError) as error:
            kept = await services.jobs.get(job.scope, job.id)
            told = str(error) if isinstance(error, InvalidRequest) else "The file is not there any more."
            job = replace(kept, status="failed", error=redact(told), finished_at=services.clock.now())
        except _Lost:
            return
        except ProxyError as error:  # a store is unavailable
            _log.warning("an import waits", error=error.code)
            await services.jobs.put_off(job, self._holder, until=services.clock.now() + timedelta(seconds=AWAY_S))
            return
        JOBS.labels("import", job.status).inc()
        _log.info("import ended", status=job.status, format=job.format, entries=job.done, tenant=job.scope.tenant[:8])
        await services.jobs.note(job, self._holder, now=services.clock.now(), lease_s=LEASE_S)
        await services.spool.remove(job.scope, job.id)


async def _held(work: _Import) -> Job:
    """Run a job and renew its lease meanwhile."""
    running: asyncio.Task[Job] = spawn(work.run(), "import")
    try:
        while not (await asyncio.wait({running}, timeout=BEAT_S))[0]:
            await work.hold()
        return running.result()
    finally:
        running.cancel()


class _Lost(Exception):
    """The lease was lost to another process, or the job was deleted."""


class _Import:
    """A running import; it skips entries that an earlier attempt finished."""

    def __init__(self, services: Services, job: Job, holder: str) -> None:
        self._services, self._job, self._holder = services, job, holder
        self._known: set[tuple[str, str]] | None = None  # text and agent of all memories; lazy

    async def run(self) -> Job:
        """Run the job to its end; return it with its counts.

        Raises:
            InvalidRequest: If the file cannot be imported.
        """
        job = self._job
        path = self._services.spool.path(job.scope, job.id)
        is_read = 0 < job.total <= job.done  # the remaining learning is retried turn by turn, in the journal
        if job.attempts > MAX_ATTEMPTS and not is_read:
            raise InvalidRequest("It could not be read to its end, after several tries.")
        if not job.format:
            await self._note(replace(job, format=await in_thread("load", format_of, path)))
        if self._job.format == "throughline":
            await self._ours(path)
        else:
            await self._others(path, self._job.format)  # type: ignore[arg-type]
        await self._drained(0)
        return self._job

    async def _ours(self, path: Path) -> None:
        services, scope = self._services, self._job.scope
        manifest = await in_thread("load", ours.examine, path)
        await self._note(replace(self._job, total=manifest.total))
        places, ids = places_of(services), _ids_here(services, scope, manifest)
        lines = islice(ours.lines(path), self._job.done, None)
        while batch := await in_thread("load", _taken, lines, ours.BATCH):
            async with services.leases.held(scope, wait_s=WAIT_S):
                added, notes = await _restored(places, scope, manifest, batch, ids)
            await self._advance(len(batch), added, notes)
        services.note_shown(scope)
        services.arrived.set()

    async def _others(self, path: Path, name: Format) -> None:
        total = await in_thread("load", lambda: sum(1 for _ in entries_of(path, name)))
        if not total:
            raise await in_thread("load", nothing_of, path, name)
        await self._note(replace(self._job, total=total))
        entries = islice(entries_of(path, name), self._job.done, None)
        while batch := await in_thread("load", _taken, entries, AT_ONCE):
            for kind, group in groupby(batch, type):
                if kind is Told:
                    await self._state([one for one in group if isinstance(one, Told)])
                    continue
                for one in group:
                    if isinstance(one, Conversation):
                        await self._converse(one, name)

    async def _state(self, told: list[Told]) -> None:
        """Add statements as memories, except existing ones."""
        services, scope = self._services, self._job.scope
        notes: list[str] = []
        now, topics = services.clock.now(), services.settings.memory.leave_out
        async with services.leases.held(scope, wait_s=WAIT_S):
            if self._known is None:
                self._known = {(row.text, row.agent) for row in await services.store.memories(scope)}
            known, new = self._known, set[tuple[str, str]]()
            changes = []
            for number, one in enumerate(told, self._job.done + 1):
                text = redact(one.text)
                if one.is_cut:
                    notes.append(f"entry {number}: cut off after {len(one.text):,} characters")
                if text != one.text:
                    notes.append(f"entry {number}: a secret was left out")
                if is_about(text, topics):
                    notes.append(f"entry {number}: left out, as `memory.leave_out` says")
                    continue
                if (text, scope.agent) in known or (text, scope.agent) in new:
                    continue
                new.add((text, scope.agent))
                at = min(one.at or now, now)
                memory = stated(scope, text, at, kind=one.kind, id_=f"mem_{secrets.token_hex(12)}", source="import")
                changes.append(Change("add", memory, None, "", "import"))
            await services.book.apply(scope, changes)
        services.note_shown(scope)
        known |= new
        await self._advance(len(told), {"memories": len(changes)}, notes)

    async def _converse(self, one: Conversation, name: str) -> None:
        """Journal the turns of a conversation; turns that are already journalled add nothing."""
        services, scope = self._services, self._job.scope
        now = services.clock.now()
        turns, left_out = await in_thread("cpu", turns_of, scope, name, one, now)
        notes = list(left_out)
        if topics := services.settings.memory.leave_out:
            turns = await in_thread("cpu", lambda: [without_topics(turn, topics) for turn in turns])
        await self._drained(MAX_PENDING)
        records = [
            Record(
                turn=turn,
                links=(),
                ledger=(),
                receipt=None,
                session_name=session_name(name, one),
                now=now,
                due=now,
                said_at=turn.at,
            )
            for turn in turns
        ]
        new = await asyncio.gather(*(services.journal.record(_of(record), record) for record in records))
        files = [await self._attach(file, text, notes) for remark in one.remarks for file, text in remark.files]
        added = {"conversations": int(any(new)), "turns": sum(new), **({"documents": sum(files)} if files else {})}
        services.note_written(scope)
        await self._advance(1, added, notes)

    async def _attach(self, name: str, text: str, notes: list[str]) -> int:
        parcel = Parcel(text.encode("utf-8", "replace"), name, "text/plain", "upload", self._services.clock.now())
        try:
            _, is_new = await self._services.library.take_in(self._job.scope, parcel)
        except MediaRefused as refused:
            notes.append(f"file {redact(name)[:80]!r}: {refused}")
            return 0
        self._services.arrived.set()
        return int(is_new)

    async def _drained(self, most: int) -> None:
        """Wait until at most ``most`` turns of the user are pending."""
        while (await self._services.journal.tally(self._job.scope))[0] > most:
            self._services.wake.set()
            await asyncio.sleep(_PATIENCE_S)

    async def _advance(self, entries: int, added: Mapping[str, int], notes: list[str]) -> None:
        job = self._job
        counts = {name: job.counts.get(name, 0) + added.get(name, 0) for name in (*job.counts, *added)}
        told = (*job.notes, *notes)
        if len(told) > MAX_NOTES:
            told = (*told[:MAX_NOTES], _MORE_NOTES)
        await self._note(replace(job, done=job.done + entries, counts=counts, notes=told, attempts=1))

    async def _note(self, job: Job) -> None:
        self._job = job
        await self.hold()

    async def hold(self) -> None:
        """Store the progress and renew the lease."""
        now = self._services.clock.now()
        if not await self._services.jobs.note(self._job, self._holder, now=now, lease_s=LEASE_S):
            raise _Lost


async def _restored(
    places: ours.Places, scope: Scope, manifest: ours.Manifest, batch: list[ours.Numbered], ids: Mapping[str, str]
) -> tuple[dict[str, int], list[str]]:
    try:
        return await ours.restore(places, scope, manifest, batch, ids)
    except (ValueError, TypeError, ArithmeticError, SQLAlchemyError) as error:  # permanent, unforeseen by checks
        _log.error("rows cannot be imported", error=type(error).__name__)
        raise InvalidRequest(
            f"Lines {batch[0][0]} to {batch[-1][0]} hold something that cannot be stored ({type(error).__name__})."
        ) from error


def places_of(services: Services) -> ours.Places:
    """Return the stores that exports read and imports write."""
    return ours.Places(services.store, services.index, services.book, Dump(services.database), services.blobs)


def _ids_here(services: Services, scope: Scope, manifest: ours.Manifest) -> dict[str, str]:
    """Return this server's ids of an export's agents and projects, by their original ids."""
    makers = {"agents": agent_id, "projects": project_id}
    return {id_: makers[kind](services.hasher, scope.user, name) for kind, id_, name in manifest.named}


def _of(record: Record) -> Scope:
    assert record.turn is not None
    return record.turn.scope


def _taken(entries: Iterator[T], most: int) -> list[T]:
    return list(islice(entries, most))
