"""Writes by HTTP, and their texts: journalled first, applied under the scope's lease, then answered."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, Field

from proxy.clock import in_utc
from proxy.errors import InvalidRequest
from proxy.memory.plan.changes import Change, changes_to_json
from proxy.process.threads import in_thread, shielded
from proxy.services import Services
from proxy.text.secrets import redact
from proxy.text.topics import is_about
from proxy.types import Memory, Scope

_PAUSE_S = 0.1
_TAKE_OVER = timedelta(seconds=60)  # after which the worker finishes the write of a dead process


async def settled(services: Services, scope: Scope, patience_s: float, *, most: int | None = None) -> None:
    """Wait until the scope's turns are learned.

    Args:
        services: The services of the request.
        scope: The scope.
        patience_s: Maximum wait; turns that are delayed beyond it are ignored.
        most: Do not wait if more turns are pending, as in an import.
    """
    until = services.clock.monotonic() + patience_s
    by = services.clock.now() + timedelta(seconds=patience_s)
    while services.clock.monotonic() < until:
        pending = await services.journal.due_by(scope, by)
        if not pending or (most is not None and pending > most):
            return
        services.wake.set()
        await asyncio.sleep(_PAUSE_S)


async def write(services: Services, scope: Scope, plan: Callable[[list[Memory]], Sequence[Change]]) -> Sequence[Change]:
    """Compute changes from the memories that ``scope`` may change, and apply them.

    Raises:
        InvalidRequest: If a text is about a topic of ``memory.leave_out``.
    """
    return await shielded(_write(services, scope, plan), "write memories")


async def _write(
    services: Services, scope: Scope, plan: Callable[[list[Memory]], Sequence[Change]]
) -> Sequence[Change]:
    async with services.leases.held(scope):
        rows = [row for row in await services.store.memories(scope) if scope.owns(row.agent)]
        changes = await in_thread("cpu", _planned, plan, rows, services.settings.memory.leave_out)
        if changes:
            now = services.clock.now()
            name = f"change_{secrets.token_hex(12)}"
            await services.journal.change(scope, name, changes_to_json(changes), now=now, due=now + _TAKE_OVER)
            await services.book.apply(scope, changes)
            seqs = [item.seq for item in await services.journal.items(scope) if item.id == name]
            await services.journal.finish(scope, seqs, now=services.clock.now())
            services.note_shown(scope)  # for upkeep: no turn may come that tells of this owner
    return changes


def _planned(
    plan: Callable[[list[Memory]], Sequence[Change]], rows: list[Memory], topics: Sequence[str]
) -> Sequence[Change]:
    changes = plan(rows)
    if any(change.action in ("add", "edit") and is_about(change.memory.text, topics) for change in changes):
        raise InvalidRequest(
            f"This server keeps nothing about {', '.join(topics)}: `memory.leave_out` says so.", param="text"
        )
    return changes


def worded(text: str) -> str:
    """Return a text that holds more than blanks.

    Raises:
        ValueError: If it is blank.
    """
    if not text.strip():
        raise ValueError("it is blank; send some words")
    return text


def readable(text: str) -> str:
    """Return a name that is readable and fits a header.

    Raises:
        ValueError: If it is blank or has control characters.
    """
    if not text.strip() or any(unicodedata.category(char) == "Cc" for char in text):
        raise ValueError("it is blank or has control characters in it; send a name that can be read")
    return text


ReadableName = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(readable), AfterValidator(redact)]

# A text to store or to search for.
Text = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(worded), AfterValidator(redact)]

Moment = Annotated[AwareDatetime, AfterValidator(in_utc)]
