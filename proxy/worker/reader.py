"""Background ingestion of documents and images: claim, ingest, finish or retry."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from datetime import timedelta

import structlog

from proxy.errors import ContentDamaged, NotFound, ProxyError
from proxy.media.base import MediaRefused
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.media import MediaKind, Reading, Shown
from proxy.telemetry import JOBS
from proxy.text.secrets import redact
from proxy.worker.read_in import Gone, read_in

_log = structlog.get_logger(__name__)
_ANY, _PICTURES, _OTHERS = range(3)  # queues: images do not wait for long documents, nor users for one another
_POLLS = 4  # longer polls: uploads to this process wake it, and other processes' items can wait
_MAX_PAUSE_S = 600.0
_NOT_ITS_FAULT = frozenset({"unavailable", "cancelled"})  # refusals caused by the reader, not by the file


class Reader:
    """Processor of items that are not ingested yet."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start polling for work."""
        self._tasks = [spawn(self._seek(number), f"reader {number}") for number in (_ANY, _PICTURES, _OTHERS)]

    async def stop(self, timeout_s: float) -> None:
        """Stop; running ingestion is cancelled and resumes at the next start."""
        self._stopping.set()
        self._services.arrived.set()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)

    async def _seek(self, number: int) -> None:
        await self._services.warmed.wait()
        if number == _ANY:
            await self._sweep()
        while not self._stopping.is_set():
            holder = f"{secrets.token_hex(8)}.{number}"
            reading = None
            try:
                now = self._services.clock.now()
                lease_s = self._services.pace.lease_s
                only: MediaKind | None = "image" if number == _PICTURES else None
                reading = await self._services.media.claim(
                    holder, now=now, lease_s=lease_s, only=only, is_for_others=number == _OTHERS
                )
                if reading is not None:
                    await attempt(self._services, reading)
            except Exception as error:  # noqa: BLE001 - a reader that ends would end ingestion for all users
                _log.error("reading failed, going on", error=type(error).__name__)
            if reading is None:
                await self._pause()

    async def _pause(self) -> None:
        arrived = self._services.arrived
        try:
            async with asyncio.timeout(self._services.pace.poll_s * _POLLS):
                await arrived.wait()
        except TimeoutError:
            return
        arrived.clear()

    async def _sweep(self) -> None:
        """Delete blobs that no row names, left by a crash between writing blob and row."""
        try:
            if await self._services.incidents.happened("database"):
                return  # the rows were lost, and the blobs may be the only copy
            known = await self._services.media.blobs()
            if gone := await in_thread("load", self._services.blobs.sweep, known):
                _log.info("left-over files were deleted", files=gone)
        except (ProxyError, OSError) as error:
            _log.warning("left-over files could not be looked for", error=type(error).__name__)


async def attempt(services: Services, reading: Reading) -> Shown | None:
    """Ingest a claimed item; return None if it fails, for now or permanently."""
    scope, item = reading.scope, reading.item
    if reading.attempts > services.pace.max_attempts:
        await _fail(services, reading, "failed", "It could not be read, after several tries.")
        return None
    try:
        done = await read_in(services, reading)
    except Gone:
        return None
    except NotFound as gone:
        await _fail(services, reading, "damaged" if isinstance(gone, ContentDamaged) else "missing", str(gone))
        return None
    except MediaRefused as refused:
        if refused.reason in _NOT_ITS_FAULT:
            await _again(services, reading, refused.reason)
        else:
            await _fail(services, reading, refused.reason, str(refused))
        return None
    except asyncio.CancelledError:
        await asyncio.shield(_put_off(services, reading, 0.0, is_counted=False))
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again, then given up
        await _again(services, reading, type(error).__name__, exc_info=True)
        return None
    JOBS.labels("read", "done").inc()
    _log.info("read", kind=type(item).__name__, size_bytes=item.size_bytes, tenant=scope.tenant[:8])
    return done


async def _fail(services: Services, reading: Reading, reason: str, error: str) -> None:
    def edit(item: Shown) -> Shown:
        return replace(item, status="failed", reason=reason, error=redact(error), fraction=1.0)

    JOBS.labels("read", "refused").inc()
    _log.info("a file is not read", reason=reason)
    await services.media.change(reading.scope, reading.item.id, edit)


async def _again(services: Services, reading: Reading, error: str, *, exc_info: bool = False) -> None:
    _log.warning("a file was not read, trying again", error=error, exc_info=exc_info)
    JOBS.labels("read", "failed").inc()
    pause_s = min(services.pace.retry_s * 2.0**reading.attempts, _MAX_PAUSE_S)
    await _put_off(services, reading, pause_s, is_counted=True)


async def _put_off(services: Services, reading: Reading, pause_s: float, *, is_counted: bool) -> None:
    due = services.clock.now() + timedelta(seconds=pause_s)
    await services.media.put_off(reading.scope, reading.item.id, reading.holder, due=due, is_counted=is_counted)
