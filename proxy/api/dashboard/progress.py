"""Progress of long work, sent to pages as server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from proxy.api.dashboard import HEADERS, ROOT
from proxy.api.dashboard.visit import PageRoute, Refused, SignedOut, Visit, text_of

router = APIRouter(prefix=ROOT, include_in_schema=False, route_class=PageRoute)
PAUSE_S = 0.25  # between two polls
MAX_LOOKS = 2400  # 10 min; a browser then reconnects if it still waits
MAX_KEPT = 200
_MARK = re.compile(r"[0-9a-f]{32}")
_END = b"event: end\ndata:\n\n"


@dataclass(slots=True)
class Progress:
    """Progress of a piece of work; ``total`` 0 until it is known."""

    done: int = 0
    total: int = 0
    step: str = ""
    is_over: bool = False


class Started:
    """Running work of this process, by the marks of the visitors' pages."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Progress] = {}

    def begin(self, visit: Visit, mark: str) -> Progress:
        """Return the progress of new work; a page can query it if it sent a mark."""
        made = Progress()
        if _MARK.fullmatch(mark):
            self._kept[(visit.csrf, mark)] = made
            for old in list(self._kept)[:-MAX_KEPT]:
                del self._kept[old]
        return made

    def find(self, visit: Visit, mark: str) -> Progress | None:
        """Return the progress of the visitor's own work, None if this process does not know the mark."""
        return self._kept.get((visit.csrf, mark))


def started(request: Request) -> Started:
    """Return the running work of this process."""
    state = request.app.state
    if not hasattr(state, "started"):
        state.started = Started()
    found: Started = state.started
    return found


@router.get("/progress/{mark}")
async def progress(request: Request, mark: str) -> Response:
    """Send the progress of an export or an erasure whenever it changes; null while this process knows of none."""
    visit = await Visit.of(request)
    return _events(_of_work(started(request), visit, mark))


@router.get("/jobs/events")
async def jobs(request: Request) -> Response:
    """Send the list of imports whenever it changes, until none is running."""
    return _events(_of_jobs(await Visit.of(request)))


async def _of_work(known: Started, visit: Visit, mark: str) -> AsyncIterator[bytes]:
    last = ""
    for _ in range(MAX_LOOKS):
        found = known.find(visit, mark)
        told = json.dumps(asdict(found)) if found is not None else "null"
        if told != last:
            yield _event(told)
            last = told
        if found is not None and found.is_over:
            yield _END
            return
        await asyncio.sleep(PAUSE_S)


async def _of_jobs(visit: Visit) -> AsyncIterator[bytes]:
    last = ""
    for _ in range(MAX_LOOKS):
        try:
            found = (await visit.get("/v1/jobs", limit=10))["data"]
        except (SignedOut, Refused):
            yield _END
            return
        told = text_of("jobs.html", jobs=found)
        if told != last:
            yield _event(told)
            last = told
        if not is_open(found):
            yield _END
            return
        await asyncio.sleep(PAUSE_S)


def is_open(jobs: list[dict[str, object]]) -> bool:
    """Return whether any job is queued or running."""
    return any(job["status"] in ("queued", "running") for job in jobs)


def _event(text: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"{lines}\n".encode()


def _events(parts: AsyncIterator[bytes]) -> Response:
    headers = {**HEADERS, "cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(parts, media_type="text/event-stream", headers=headers)
