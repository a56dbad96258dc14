"""Affinity of conversations to deployments, for the provider's prompt cache: a weighted, stable choice."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

_MAX_KNOWN = 16_384

_SPAN = 2.0**64


@dataclass(frozen=True, slots=True)
class Conversation:
    """Identity of a conversation.

    Args:
        opening: Digest of its first messages, or of the client's name for it.
        answer: Digest of its first reply, "" in its first request.
        is_named: Whether the client named it.
    """

    opening: str
    answer: str = ""
    is_named: bool = False


NO_CONVERSATION = Conversation("")


class Affinities:
    """Keys of conversations for ``rank``; a pure function of the conversation except for repeated openings.

    Equal openings are separate conversations and must not all go to one deployment: they are counted, and a
    conversation keeps the number with which it began. A forgotten number (restart, other process, too many
    conversations since) counts as the first.
    """

    def __init__(self) -> None:
        self._numbers: OrderedDict[tuple[str, str], int] = OrderedDict()

    def key(self, conversation: Conversation) -> str:
        """Return the key that decides the deployment of a request in this conversation."""
        opening = (conversation.opening, "")
        if conversation.is_named:
            return conversation.opening
        if not conversation.answer:
            return self._numbered(conversation, self._remember(opening, self._numbers.get(opening, -1) + 1))
        known = self._numbers.get((conversation.opening, conversation.answer))
        number = self._numbers.get(opening, 0) if known is None else known
        if number:
            self._remember((conversation.opening, conversation.answer), number)
        return self._numbered(conversation, number)

    def _remember(self, place: tuple[str, str], number: int) -> int:
        self._numbers[place] = number
        self._numbers.move_to_end(place)
        if len(self._numbers) > _MAX_KNOWN:
            self._numbers.popitem(last=False)
        return number

    @staticmethod
    def _numbered(conversation: Conversation, number: int) -> str:
        return f"{conversation.opening}#{number}"


def rank(weights: Mapping[str, float], key: str) -> list[str]:
    """Return the names, the chosen one first, followed by its fallbacks in order.

    Weighted rendezvous hashing (Thaler and Ravishankar 1998; with weights by Schindelhauer and Schomaker, SPAA 2005):
    over many keys each name comes first in proportion to its weight, and adding or removing a name moves no key
    between the others.

    Args:
        weights: Weights by name, not negative; a weight of 0 puts a name after all others.
        key: Equal keys get the same order.
    """
    return sorted(weights, key=lambda name: _score(name, weights[name], key), reverse=True)


def _score(name: str, weight: float, key: str) -> tuple[bool, float, float]:
    digest = hashlib.blake2b(f"{name}\0{key}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    drawn = (int.from_bytes(digest, "big") + 0.5) / _SPAN
    return weight > 0, weight / -math.log(drawn) if drawn < 1 else math.inf, drawn
