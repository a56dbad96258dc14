"""Values for the tests of the SQL store."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest

from proxy.store.bindings import Binding
from proxy.store.compactions import Compaction
from proxy.store.costs import Cost
from proxy.store.journal_rows import Record
from proxy.store.ledger import LedgerEntry
from proxy.store.replies import Kept
from proxy.store.sessions import Link
from proxy.types import Said, Scope, Turn

ON_BOTH = pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOSTILE = (
    "",
    "'; DROP TABLE journal; --",
    '"%_\\ \\0 \\ud800 ${x} :id ?',
    "nul\0in the middle",
    "\ud800 lone \udfff",
    "\U0001f469\u200d\U0001f680 \u202eright to left",
    "x" * 10_000,
    "\0" * 3_000,
)


def make_scope(user: str, *, session: str = "s", agent: str = "") -> Scope:
    return Scope(_hex("tenant"), _hex(user), _hex(agent) if agent else "", f"ses_{session}")


def make_turn(scope: Scope, turn: str, *, text: str = "I use Shram.", at: datetime = NOW) -> Turn:
    return Turn(f"turn_{turn}", scope, (Said(f"msg_{turn}", "user", text),), "Noted.", "complete", "demo", at)


def make_record(
    scope: Scope,
    turn: str | None,
    *,
    text: str = "I use Shram.",
    now: datetime = NOW,
    due: datetime | None = None,
    name: str = "",
    memory_ids: tuple[str, ...] = (),
) -> Record:
    """Return the record of one exchange; without ``turn``, of one that is not learned."""
    return Record(
        turn=None if turn is None else make_turn(scope, turn, text=text, at=now),
        links=(Link(f"hash_{turn}", 0, learned=turn is not None),),
        ledger=(LedgerEntry(f"hash_{turn}", "block", text, memory_ids),),
        receipt={"id": f"rcp_{turn}", "injected": [], "query": text},
        session_name=name,
        now=now,
        due=due or now,
        compaction=Compaction(
            f"anchor_{turn}", f"hash_{turn}", (), ({"first": 0, "last": 0, "lines": [], "hints": [], "text": "said"},)
        ),
        costs=(Cost("injected", 3, 0.5),),
        bindings=(Binding(_hex(f"{scope.session} signature_{turn}"), _hex("client"), _hex("sent")),),
        reply=Kept(f"resp_{turn}", "", "0" * 64, 2, (f"hash_{turn}",)),
    )


def _hex(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
