"""Pairs of consecutive messages, which identify a session when a client omits its earlier messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from proxy.store.tables import chain
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Pair:
    """Two consecutive stored points of a hash chain.

    Args:
        name: Hash of both messages, independent of earlier ones.
        before: Chain hash of the first message.
        hash: Chain hash of the second message.
        state: State of the chain after the second message.
        session: Session that contains both.
        seq: Position of the second message in the session.
    """

    name: str
    before: str
    hash: str
    state: str
    session: str
    seq: int


def find_pairs(connection: sa.Connection, scope: Scope, names: Sequence[str]) -> list[Pair]:
    """Return the stored pairs of this user and agent among ``names``, at most ``_MAX_PAIRS``, latest first."""
    values = {"owner": scope.user, "agent": scope.agent, "names": list(names)}
    return [
        Pair(row.pair, row.before, row.hash, row.hash + row.rest, row.session, row.seq)
        for row in connection.execute(_FIND, values)
    ]


_MAX_PAIRS = 200  # a short exchange ("go on", "thanks") may occur in very many sessions
_FIND = (
    sa.select(chain.c.pair, chain.c.before, chain.c.hash, chain.c.rest, chain.c.session, chain.c.seq)
    .where(
        chain.c.owner == sa.bindparam("owner"),
        chain.c.agent == sa.bindparam("agent"),
        chain.c.pair.in_(sa.bindparam("names", expanding=True)),
    )
    .order_by(chain.c.at_ms.desc(), chain.c.seq.desc())
    .limit(_MAX_PAIRS)
)
