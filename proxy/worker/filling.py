"""Gives rows their vectors that were stored without: the embedder was away, or there were too many at once."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from proxy.services import Services
from proxy.store.stamps import owners
from proxy.types import Scope

MAX_FILLED, MAX_FILLS = 128, 4  # vectors under one lease, a second of work; and how often in a tick
MAX_OWNERS = 100  # looked at in a tick, beside those written for


class Filling:
    """The owners whose rows may wait for vectors: at the start everybody, then those written for."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: dict[str, Scope] | None = None

    async def tick(self, written: Iterable[Scope]) -> None:
        """Fill in vectors, those of the owners just written for first.

        Raises:
            EmbeddingFailed: If the embedder is away; the next tick tries again.
            StoreUnavailable: If an owner's rows cannot be read or written now.
        """
        if self._known is None:
            self._known = {owner: Scope("", owner) for owner in await owners(self._services.database)}
        latest = {scope.user: scope for scope in written}
        self._known = {**latest, **{owner: one for owner, one in self._known.items() if owner not in latest}}
        if not self._services.is_embedder_warm:
            return
        for owner, scope in list(islice(self._known.items(), len(latest) + MAX_OWNERS)):
            self._known[owner] = self._known.pop(owner)  # last, so that one who cannot be served is in nobody's way
            if not await self._services.store.has_unembedded(scope):
                del self._known[owner]
                continue
            await self._services.embedder.warm()  # fails without a lease: an embedder that hangs keeps no user waiting
            for _ in range(MAX_FILLS):
                if not await self._filled(scope):
                    break

    async def _filled(self, scope: Scope) -> int:
        """Embed one part of what waits; others write between the parts."""
        async with self._services.leases.held(scope):
            return await self._services.book.fill_in(scope, MAX_FILLED)
