"""Long work that a client asked for, such as an import: how far it is, what came of it, and who runs it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa

from proxy.clock import from_ms, to_ms
from proxy.errors import NotFound
from proxy.store.sql import Database
from proxy.store.tables import jobs
from proxy.types import Scope

JobStatus = Literal["queued", "running", "completed", "failed"]
_OPEN: tuple[JobStatus, ...] = ("queued", "running")


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of long work.

    Attributes:
        scope: Whose, and of which agent.
        attempts: How often it was begun.
        body: Progress and outcome, JSON; never a text of the user's.
    """

    scope: Scope
    id: str
    kind: str
    status: JobStatus
    created_at: datetime
    attempts: int
    body: dict[str, Any]


class Jobs:
    """The jobs of every owner."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, scope: Scope, job_id: str, kind: str, body: dict[str, Any], *, now: datetime) -> Job:
        """Queue a job."""
        row = {
            "owner": scope.user,
            "id": job_id,
            "tenant": scope.tenant,
            "agent": scope.agent,
            "kind": kind,
            "status": "queued",
            "created_ms": to_ms(now),
            "due_ms": to_ms(now),
            "holder": "",
            "until_ms": 0,
            "attempts": 0,
            "body": body,
        }
        await self._db.submit(lambda connection: connection.execute(jobs.insert(), row).rowcount)
        return Job(scope, job_id, kind, "queued", now, 0, body)

    async def get(self, scope: Scope, job_id: str) -> Job:
        """Return one job.

        Raises:
            NotFound: If there is none of this id in view.
        """
        query = sa.select(jobs).where(*_seen(scope), jobs.c.id == job_id)
        row = await self._db.query(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"There is no job {job_id[:80]!r}.", param="id")
        return _job(row)

    async def all(self, scope: Scope) -> list[Job]:
        """Return the jobs in view, newest first."""
        query = sa.select(jobs).where(*_seen(scope)).order_by(jobs.c.created_ms.desc(), jobs.c.id)
        rows = await self._db.query(lambda connection: connection.execute(query).all())
        return [_job(row) for row in rows]

    async def claim(self, holder: str, *, now: datetime, lease_s: float) -> Job | None:
        """Take a job that is due and that nobody runs; None if there is none."""
        open_ = jobs.c.status.in_(_OPEN), jobs.c.due_ms <= to_ms(now), jobs.c.until_ms <= to_ms(now)
        due = sa.select(jobs.c.owner, jobs.c.id).where(*open_).order_by(jobs.c.created_ms).limit(1)
        found = await self._db.query(lambda connection: connection.execute(due).first())
        if found is None:
            return None
        values = {
            "status": "running",
            "holder": holder,
            "until_ms": to_ms(now + timedelta(seconds=lease_s)),
            "attempts": jobs.c.attempts + 1,
        }
        take = jobs.update().where(jobs.c.owner == found.owner, jobs.c.id == found.id, *open_).values(**values)
        row = await self._db.submit(lambda connection: connection.execute(take.returning(*jobs.c)).first())
        return None if row is None else _job(row)

    async def note(
        self, scope: Scope, job_id: str, holder: str, body: dict[str, Any], *, now: datetime, lease_s: float
    ) -> bool:
        """Write down how far a running job is, and hold it for longer; False if it is gone or another runs it."""
        values = {"body": body, "until_ms": to_ms(now + timedelta(seconds=lease_s))}
        return await self._update(scope, job_id, holder, values)

    async def finish(self, scope: Scope, job_id: str, holder: str, status: JobStatus, body: dict[str, Any]) -> bool:
        """End a job, ``completed`` or ``failed``; False if it is gone or another runs it."""
        return await self._update(scope, job_id, holder, {"status": status, "body": body, "holder": "", "until_ms": 0})

    async def put_off(self, scope: Scope, job_id: str, holder: str, *, due: datetime) -> bool:
        """Let go of a job, to be taken up again when it is due; False if it is gone or another runs it."""
        values = {"status": "queued", "holder": "", "until_ms": 0, "due_ms": to_ms(due)}
        return await self._update(scope, job_id, holder, values)

    async def _update(self, scope: Scope, job_id: str, holder: str, values: dict[str, Any]) -> bool:
        held = jobs.c.owner == scope.user, jobs.c.id == job_id, jobs.c.holder == holder
        update = jobs.update().where(*held).values(**values)
        return await self._db.submit(lambda connection: connection.execute(update).rowcount) == 1


def _seen(scope: Scope) -> tuple[sa.ColumnElement[bool], ...]:
    return jobs.c.owner == scope.user, jobs.c.agent.in_({"", scope.agent})


def _job(row: Any) -> Job:
    scope = Scope(row.tenant, row.owner, row.agent)
    return Job(scope, row.id, row.kind, row.status, from_ms(row.created_ms), row.attempts, row.body)
