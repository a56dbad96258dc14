"""Conversations that are continued by a reply's id, kept in memory for providers that keep none themselves."""

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
    """Subject of a request.

    Args:
        before: The items of what it continues.
        own: Its own, references resolved.
        before_bytes: Size of the former.
    """

    before: tuple[Item, ...]
    own: tuple[Item, ...]
    before_bytes: int = 0

    @property
    def items(self) -> list[Item]:
        """All of it, in order."""
        return [*self.before, *self.own]


@dataclass(frozen=True, slots=True)
class _Conversation:
    """Everything said up to one reply; items are shared with what came before and after it."""

    items: tuple[Item, ...]
    size_bytes: int
    added_bytes: int
    used_at: float


class KeptReplies:
    """Messages up to each of the last replies, by key and reply id; dropped after an idle hour.

    Args:
        clock: Tells what is idle.
        max_bytes: Of everything together, about; the oldest goes first.
    """

    def __init__(self, clock: Clock | None = None, max_bytes: int = _MAX_BYTES) -> None:
        self._clock = clock or Clock()
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._by_id: OrderedDict[tuple[str, str], _Conversation] = OrderedDict()

    def asked(self, key: str, body: Mapping[str, Any]) -> Asked:
        """Return what a request is about.

        Raises:
            PreviousReplyNotFound: If what it continues is not known (any more).
            InvalidRequest: If it says nothing, or refers to an item that is not known.
        """
        given = body.get("input")
        items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
        if not isinstance(items, list) or not items or not all(isinstance(one, dict) for one in items):
            raise InvalidRequest("'input' must be a string or a list of at least one item.", param="input")
        before = self._before(key, body.get("previous_response_id"))
        own = tuple(self._resolved(key, item) for item in items)
        return Asked(before.items, own, before.size_bytes) if before is not None else Asked((), own)

    def keep(self, key: str, id_: str, asked: Asked, output: Sequence[Item]) -> None:
        """Keep a conversation under its last reply's id.

        Args:
            key: The client's.
            id_: The reply's.
            asked: What it answers.
            output: Its own items.
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
