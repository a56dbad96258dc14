"""Long-running jobs that a user requested, such as an import: progress, results and lease."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import unknown
from proxy.store.partitions import owned
from proxy.store.sql import Database
from proxy.store.tables import jobs
from proxy.types import Scope

JobStatus = Literal["queued", "running", "done", "failed"]
_OPEN = jobs.c.status.in_((sa.literal_column("'queued'"), sa.literal_column("'running'")))
_MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """A long-running job.

    Attributes:
        kind: Kind of work: ``import``.
        format: Format of the given file; "" until it is detected.
        done, total: Processed and all entries of the file; ``total`` is 0 until they are counted.
        counts: Number of entries by outcome.
        notes: Remarks on single entries: a place in the file and a sentence, never a value.
        error: Reason of the failure in a sentence; "" if it did not fail.
    """

    id: str
    scope: Scope
    created_at: datetime
    status: JobStatus = "queued"
    kind: str = "import"
    format: str = ""
    done: int = 0
    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    error: str = ""
    finished_at: datetime | None = None
    attempts: int = 0


_KEPT = frozenset(one.name for one in fields(Job)) - {"id", "scope", "created_at", "status", "attempts"}


class Jobs:
    """Store of every user's jobs."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, scope: Scope, job: Job) -> None:
        """Insert a new job."""
        row = {
            "owner": scope.user,
            "id": job.id,
            "tenant": scope.tenant,
            "agent": scope.agent,
            "status": job.status,
            "created_ms": to_ms(job.created_at),
            "holder": "",
            "until_ms": 0,
            "attempts": 0,
            "body": _body(job),
        }
        await self._db.submit(lambda connection: connection.execute(jobs.insert(), row).rowcount)

    async def get(self, scope: Scope, job_id: str) -> Job:
        """Return a job.

        Raises:
            NotFound: If no visible job has this id.
        """
        query = sa.select(jobs).where(*_seen(scope), jobs.c.id == job_id)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise unknown("job", job_id)
        return _job(row)

    async def page(self, scope: Scope, *, limit: int = _MAX_PAGE) -> list[Job]:
        """Return the visible jobs, newest first."""
        query = sa.select(jobs).where(*_seen(scope)).order_by(jobs.c.created_ms.desc(), jobs.c.id.desc())
        rows = await self._db.query(lambda connection: connection.execute(query.limit(limit)).all())
        return [_job(row) for row in rows]

    async def claim(self, holder: str, *, now: datetime, lease_s: float) -> Job | None:
        """Lease the oldest open job without a valid lease; None if there is none."""
        first = sa.select(jobs.c.owner, jobs.c.id).where(_OPEN, jobs.c.until_ms <= to_ms(now))
        first = first.order_by(jobs.c.created_ms, jobs.c.id).limit(1)
        if await self._db.query(lambda connection: connection.execute(first).first()) is None:
            return None
        until_ms = to_ms(now + timedelta(seconds=lease_s))

        def take(connection: sa.Connection) -> Job | None:
            found = connection.execute(first).first()
            if found is None:
                return None
            where = (jobs.c.owner == found[0], jobs.c.id == found[1])
            values = {"holder": holder, "until_ms": until_ms, "status": "running", "attempts": jobs.c.attempts + 1}
            return _job(connection.execute(jobs.update().where(*where).values(**values).returning(*jobs.c)).one())

        return await self._db.submit(take)

    async def note(self, job: Job, holder: str, *, now: datetime, lease_s: float) -> bool:
        """Store a job's progress and renew its lease; return False if the holder lost it or the job was deleted."""
        is_over = job.status in ("done", "failed")
        values = {
            "status": job.status,
            "holder": "" if is_over else holder,
            "until_ms": 0 if is_over else to_ms(now + timedelta(seconds=lease_s)),
            "attempts": job.attempts,
            "body": _body(job),
        }
        held = (jobs.c.owner == job.scope.user, jobs.c.id == job.id, jobs.c.holder == holder)
        update = jobs.update().where(*held).values(**values)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount) == 1

    async def put_off(self, job: Job, holder: str, *, until: datetime) -> None:
        """Release a job until a later time; the attempt does not count."""
        held = (jobs.c.owner == job.scope.user, jobs.c.id == job.id, jobs.c.holder == holder)
        update = jobs.update().where(*held).values(holder="", until_ms=to_ms(until), attempts=jobs.c.attempts - 1)
        await self._db.submit(lambda connection: connection.execute(update).rowcount)

    async def open_ids(self) -> set[str]:
        """Return the ids of all users' unfinished jobs; their files are still needed."""
        query = sa.select(jobs.c.id).where(_OPEN)
        return set(await self._db.query(lambda connection: list(connection.execute(query).scalars())))


def _seen(scope: Scope) -> tuple[sa.ColumnElement[bool], ...]:
    return jobs.c.owner == scope.user, owned(scope, jobs.c.agent)


def _body(job: Job) -> dict[str, Any]:
    body = {name: getattr(job, name) for name in _KEPT}
    body["finished_at"] = None if job.finished_at is None else to_ms(job.finished_at)
    return body


def _job(row: Any) -> Job:
    body = {name: value for name, value in row.body.items() if name in _KEPT}
    body["notes"] = tuple(body["notes"])
    body["finished_at"] = None if body["finished_at"] is None else from_ms(body["finished_at"])
    blank = Job(row.id, Scope(row.tenant, row.owner, row.agent), from_ms(row.created_ms))
    return replace(blank, status=row.status, attempts=row.attempts, **body)
