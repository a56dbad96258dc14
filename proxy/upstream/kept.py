"""Conversations continued by a reply's id, held in RAM for providers that do not store them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from proxy.clock import Clock
from proxy.errors import InvalidRequest, PreviousReplyNotFound

Item = Mapping[str, Any]

_MAX_BYTES = 64 * 2**20
_MAX_BYTES_OF_ONE = 16 * 2**20
_MAX_IDLE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """All items of a request.

    Args:
        before: Items of the conversation that it continues.
        own: Its own items, references resolved.
        before_bytes: Size of ``before``.
    """

    before: tuple[Item, ...]
    own: tuple[Item, ...]
    before_bytes: int = 0

    @property
    def items(self) -> list[Item]:
        """All items, in order."""
        return [*self.before, *self.own]


@dataclass(frozen=True, slots=True)
class _Conversation:
    """Items up to one reply; item objects are shared with earlier and later states of the conversation."""

    items: tuple[Item, ...]
    size_bytes: int
    added_bytes: int
    used_at: float


class KeptReplies:
    """Items up to each of the last replies, by client key and reply id; dropped after an hour.

    Args:
        clock: Clock that measures the hour.
        max_bytes: Approximate limit of all items together; the oldest reply is dropped first.
    """

    def __init__(self, clock: Clock | None = None, max_bytes: int = _MAX_BYTES) -> None:
        self._clock = clock or Clock()
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._by_id: OrderedDict[tuple[str, str], _Conversation] = OrderedDict()

    def asked(self, key: str, body: Mapping[str, Any]) -> Asked:
        """Return all items of a request.

        Raises:
            PreviousReplyNotFound: If the reply that it continues is unknown or was dropped.
            InvalidRequest: If it has no items, or refers to an unknown item.
        """
        given = body.get("input")
        items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
        if not isinstance(items, list) or not items or not all(isinstance(one, dict) for one in items):
            raise InvalidRequest("'input' must be a string or a list of at least one item.", param="input")
        before = self._before(key, body.get("previous_response_id"))
        own = tuple(self._resolved(key, item) for item in items)
        return Asked(before.items, own, before.size_bytes) if before is not None else Asked((), own)

    def keep(self, key: str, id_: str, asked: Asked, output: Sequence[Item]) -> None:
        """Store a conversation under its last reply's id.

        Args:
            key: Key of the client.
            id_: Id of the reply.
            asked: Items that the reply answers.
            output: Items of the reply.
        """
        added = sum(len(orjson.dumps(item, default=str)) for item in (*asked.own, *output))
        size = asked.before_bytes + added
        if size > _MAX_BYTES_OF_ONE or (key, id_) in self._by_id:
            return
        self._by_id[key, id_] = _Conversation((*asked.items, *output), size, added, self._clock.monotonic())
        self._size_bytes += added
        self._evict()

    def _before(self, key: str, id_: object) -> _Conversation | None:
        if id_ is None:
            return None
        self._evict()
        found = self._by_id.get((key, id_)) if isinstance(id_, str) else None
        if found is None:
            raise PreviousReplyNotFound(
                f"Previous response with id {str(id_)[:80]!r} not found: conversations with this model are kept here "
                "for an hour at most. Send the conversation in `input`.",
                param="previous_response_id",
            )
        return found

    def _resolved(self, key: str, item: Item) -> Item:
        if item.get("type") != "item_reference":
            return item
        mine = (kept for (owner, _), kept in reversed(self._by_id.items()) if owner == key)
        known = (one for kept in mine for one in kept.items if one.get("id") == item.get("id"))
        found = next(known, None)
        if found is None:
            raise InvalidRequest(
                f"Item with id {str(item.get('id'))[:80]!r} not found. Send the item itself.", param="input"
            )
        return found

    def _evict(self) -> None:
        long_ago = self._clock.monotonic() - _MAX_IDLE_S
        while self._by_id:
            oldest = next(iter(self._by_id.values()))
            if self._size_bytes <= self._max_bytes and oldest.used_at > long_ago:
                return
            self._by_id.popitem(last=False)
            self._size_bytes -= oldest.added_bytes
