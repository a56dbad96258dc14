"""Composition: settings to a running ASGI application."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext

from fastapi import FastAPI

from proxy.api import install, wrap
from proxy.clock import Clock
from proxy.process import heap
from proxy.process.connection import REQUEST_TIMEOUT
from proxy.process.occupancy import occupied
from proxy.process.pace import Pace
from proxy.process.stopping import SIGNALS, StopRequests, end_at_once
from proxy.process.threads import drain, in_thread, spawn
from proxy.services import Services
from proxy.services.opening import open_services
from proxy.settings.load import Settings, load_settings
from proxy.telemetry import configure_logging
from proxy.worker.importer import Importer
from proxy.worker.judging import Judging
from proxy.worker.loop import Worker
from proxy.worker.mend import Mender
from proxy.worker.reader import Reader
from proxy.worker.schedule import Schedule

_WORK_DRAIN_S = 10.0
_TURN_S = 0.001  # a computing thread yields to an answering one after this; Python's 5 ms add up over a request
_YOUNG_OBJECTS = 10_000  # loading one user's index allocates thousands of long-lived objects at once


def create_app(
    settings: Settings, *, clock: Clock | None = None, pace: Pace | None = None, owns_process: bool = False
) -> FastAPI:
    """Return the application; its services open when it starts.

    Args:
        settings: All settings.
        clock: Clock of the requests and of the background work.
        pace: Pauses of the background work.
        owns_process: True if the process runs nothing else; its threads and garbage collector are then tuned.
    """
    configure_logging(settings.telemetry)
    if owns_process:
        heap.share_arenas()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Mapping[str, object]]:
        services = await open_services(settings, clock=clock, pace=pace)
        # With several processes, each outlives a killed supervisor for a moment.
        with occupied(settings.server.data_dir) if owns_process else nullcontext():
            install(app, services)
            warming = spawn(_warm(services, owns_process=owns_process), "warm")
            # Only this process can learn from turns that it holds in memory.
            working = [part for part in services.both() if settings.worker.enabled or part.is_ephemeral]
            workers: list[Worker | Reader | Judging | Mender | Importer] = [
                Mender(services),
                *map(Worker, working),
                *map(Reader, working),
                *map(Judging, working),
                *([Importer(services)] if settings.worker.enabled else []),
            ]
            schedule = Schedule(services, keeps_store=settings.worker.enabled)
            for worker in workers:
                worker.start()
            schedule.start()
            try:
                yield {REQUEST_TIMEOUT: settings.server.request_timeout_s}
            finally:
                services.is_draining = True
                warming.cancel()
                await drain_all(services, workers, schedule)

    app = FastAPI(
        title="Throughline",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        # FastAPI's telemetry would export URLs with their queries, and the texts of exceptions.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    wrap(app)
    return app


def from_environment() -> FastAPI:
    """Return the application of a worker process, with its settings from the environment."""
    threading.Thread(target=_end_with_supervisor, name="supervisor", daemon=True).start()
    return create_app(load_settings(), owns_process=True)


def _end_with_supervisor() -> None:
    """Stop this process when its supervisor is killed: a survivor would hold the port and block the next start."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)


async def _warm(services: Services, *, owns_process: bool) -> None:
    """Load the slow parts, then exempt them from every later garbage collection."""
    if owns_process:
        sys.setswitchinterval(_TURN_S)
    await services.warm()
    if owns_process:
        gc.collect()
        await in_thread("load", heap.give_back)
        gc.freeze()
        gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


async def work(settings: Settings) -> None:
    """Process the journal until the process is asked to stop."""
    services = await open_services(settings)
    stop = asyncio.Event()
    requests = StopRequests(end_at_once)
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, _take, number, requests, stop)
    warming = spawn(services.warm(), "warm")
    workers: list[Worker | Reader | Judging | Mender | Importer] = [
        Mender(services),
        Worker(services),
        Reader(services),
        Judging(services),
        Importer(services),
    ]
    schedule = Schedule(services)
    for worker in workers:
        worker.start()
    schedule.start()
    await stop.wait()
    warming.cancel()
    await drain_all(services, workers, schedule)


def _take(number: int, requests: StopRequests, stop: asyncio.Event) -> None:
    requests.note(number)
    stop.set()


async def drain_all(
    services: Services, workers: Sequence[Worker | Reader | Judging | Mender | Importer], schedule: Schedule
) -> None:
    """Let running work end, then close the services; unfinished jobs stay in the journal."""
    await schedule.stop()
    await asyncio.gather(*(worker.stop(_WORK_DRAIN_S) for worker in workers))
    await drain(_WORK_DRAIN_S)
    await services.close()
