"""Two messages in a row of a conversation, by which it is recognised where a client leaves out what came before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from proxy.store.tables import chain
from proxy.types import Scope


@dataclass(frozen=True, slots=True)
class Pair:
    """A stored point of a hash chain, and the one before it.

    Args:
        name: Hash of both messages, whatever came before them.
        before: Chain hash of the first.
        hash: Chain hash of the second.
        state: The chain's state after it.
        session: Conversation that went through both.
        seq: Place of the second in it.
    """

    name: str
    before: str
    hash: str
    state: str
    session: str
    seq: int


def find_pairs(connection: sa.Connection, scope: Scope, names: Sequence[str]) -> list[Pair]:
    """Return every stored pair of this user and agent among ``names``, those of the latest messages first."""
    values = {"owner": scope.user, "agent": scope.agent, "names": list(names)}
    return [
        Pair(row.pair, row.before, row.hash, row.hash + row.rest, row.session, row.seq)
        for row in connection.execute(_FIND, values)
    ]


_MAX_PAIRS = 200  # a short exchange ("go on", "thanks") may stand in very many conversations
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
