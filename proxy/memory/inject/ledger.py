"""Assembly of injected texts, such that consecutive requests of a session share their prefix. Pure.

The profile and the opening (summaries of the last sessions) are chosen once per session and stay on its first user
message. The block for a question goes on the last user message. Texts of earlier messages are injected again byte for
byte, and only entries that no earlier message carries are added; nothing is added before a reply that its provider
binds to its prefix. Everything is appended to user messages: chat templates of several model families refuse a second
system message, or one that is not the first message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.memory.conversations.chain import Point
from proxy.memory.inject.blocks import EMPTY, Block, opening_block, query_block
from proxy.memory.inject.entries import plain, unsaid
from proxy.store.ledger import LedgerEntry
from proxy.text.fence import Count
from proxy.types import Hit

_NOTES = re.compile(r" \[[^\[\]]*\]$")  # dates after a statement


@dataclass(frozen=True, slots=True)
class Addition:
    """Text to append to the content of one message; ``apart`` as in ``LedgerEntry``."""

    index: int
    text: str
    apart: bool | None = None


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies of a request that their provider binds to every word before them.

    Args:
        last: Index of the last one; -1 if there is none.
        following: Their ``signature_hash`` by the index of the user message that they follow.
    """

    last: int = -1
    following: Mapping[int, str] = field(default_factory=dict)


UNBOUND = Replies()


@dataclass(frozen=True, slots=True)
class Assembly:
    """Texts to inject into a request, and their ledger entries.

    Args:
        additions: At most three a message, in the order in which they are appended.
        entries: Ledger entries that are new or changed.
        hits: Hits that this request is the first to inject, new ones of the profile and the opening included.
        carried: Ids of the rows whose text earlier messages already carry.
        tokens: Tokens of all additions, carried ones included.
        kept: Those of ``carried`` that are in the history kept by the provider, not in this request.
        shown: Number of entries of all additions.
        shown_kept: Number of entries in the history kept by the provider.
        placed: Ledger anchor and kind of each addition.
    """

    additions: tuple[Addition, ...]
    entries: tuple[LedgerEntry, ...]
    hits: tuple[Hit, ...]
    carried: frozenset[str]
    tokens: int
    kept: frozenset[str] = frozenset()
    shown: int = 0
    shown_kept: int = 0
    placed: tuple[tuple[str, str], ...] = ()


NOTHING = Assembly((), (), (), frozenset(), 0)


def assemble(
    points: Sequence[Point],
    ledger: Sequence[LedgerEntry],
    profile: Block | None,
    hits: Sequence[Hit],
    budget: int,
    count: Count,
    kept: Sequence[LedgerEntry] = (),
    opening: Sequence[Hit] = (),
    replies: Replies = UNBOUND,
) -> Assembly:
    """Place the profile, the blocks of earlier turns and a fresh block for the last user message.

    Args:
        points: Hash chain of the request's messages.
        ledger: Earlier injections of this session.
        profile: Profile as of now, used only if the session has none yet; None if it could not be looked up.
        hits: Hits recalled for the last user message, best first.
        budget: Maximum tokens of a new profile, the new block and a new opening together, which are filled in this
            order.
        count: Counts tokens.
        kept: Earlier injections in a history that the provider keeps; they are not injected again.
        opening: Summaries of the last sessions, if this one begins.
        replies: Replies that are bound to their prefix, to which nothing new may be added.
    """
    users = [point for point in points if point.role == "user"]
    kept_ids = frozenset(id_ for entry in kept for id_ in entry.memory_ids)
    shown_kept = sum(_count(entry.text) for entry in kept)
    if not users:
        return replace(NOTHING, carried=kept_ids, kept=kept_ids, shown_kept=shown_kept)
    stored = _Stored({(entry.anchor, entry.kind): entry for entry in ledger}, replies)
    last = users[-1]
    free = [point for point in users if point.index > replies.last]
    home = next((point for point in users if stored.at(point, "profile")), free[0] if free else None)
    frozen = stored.at(home, "profile")
    entries: list[LedgerEntry] = []
    fresh: list[Hit] = []
    if frozen is None and home is not None and not any(entry.kind == "profile" for entry in kept):
        chosen = profile or EMPTY
        frozen = LedgerEntry(home.hash, "profile", chosen.text, chosen.ids)
        entries += [frozen] if profile is not None else []
        fresh += chosen.hits
        budget -= chosen.tokens
    frozen = frozen or _blank("profile")
    opened = stored.at(home, "opening") or _blank("opening")
    texts = {point.index: entry for point in users[:-1] if (entry := stored.at(point, "block"))}
    carried = kept_ids.union(*(entry.memory_ids for entry in (frozen, opened, *texts.values())))
    is_bound = last.index <= replies.last
    current = stored.at(last, "block") if is_bound or points[-1].role in ("tool", "function") else None
    if current is None and not is_bound:
        profile_lines, before = _lines_of(frozen.text), (*kept, *texts.values())
        left = [one for hit in hits if (one := unsaid(hit, carried)) and not _is_line(one, profile_lines)]
        fresh_hits = [one for one in left if not _is_in_turn(one, before)]
        block = query_block(fresh_hits, budget, count) if hits else EMPTY
        current = LedgerEntry(last.hash, "block", block.text, block.ids)
        entries.append(current)
        fresh += block.hits
        budget -= block.tokens
    current = current or _blank("block")
    if opening and not opened.text and home is not None and home.index > replies.last:
        summaries = [hit for hit in opening if hit.id not in carried.union(current.memory_ids)]
        begins = opening_block(summaries, budget, count)
        opened = LedgerEntry(home.hash, "opening", begins.text, begins.ids)
        entries.append(opened)
        fresh += begins.hits
    texts[last.index] = current
    at_home = [(home.index, frozen), (home.index, opened)] if home is not None else []
    placed = [*at_home, *sorted(texts.items())]
    additions = [Addition(index, entry.text, entry.apart) for index, entry in placed if entry.text]
    tokens = sum(count(addition.text) for addition in additions)
    shown = sum(_count(addition.text) for addition in additions)
    names = tuple((entry.anchor, entry.kind) for _, entry in placed if entry.text)
    return Assembly(tuple(additions), tuple(entries), tuple(fresh), carried, tokens, kept_ids, shown, shown_kept, names)


@dataclass(frozen=True, slots=True)
class _Stored:
    """Earlier injections, by anchor and kind."""

    entries: Mapping[tuple[str, str], LedgerEntry]
    replies: Replies

    def at(self, point: Point | None, kind: str) -> LedgerEntry | None:
        """Return the injection at a message: the one stored for the bound reply after it, else for the message."""
        if point is None:
            return None
        reply = self.replies.following.get(point.index, "")
        return self.entries.get((reply, kind)) or self.entries.get((point.hash, kind))


def _blank(kind: Literal["profile", "opening", "block"]) -> LedgerEntry:
    return LedgerEntry("", kind, "", ())


def _count(block: str) -> int:
    """Return the number of entries of a block."""
    return sum(line.startswith("- ") for line in block.splitlines())


def _lines_of(profile: str) -> frozenset[str]:
    return frozenset(plain(_NOTES.sub("", shown.removeprefix("- "))) for shown in profile.splitlines())


def _is_in_turn(hit: Hit, before: Sequence[LedgerEntry]) -> bool:
    """Return whether a statement stands in its turn, which an earlier message shows."""
    if hit.source != "fact" or hit.then or hit.ended_by is not None:
        return False
    return any(hit.message in entry.memory_ids and plain(hit.text) in plain(entry.text) for entry in before)


def _is_line(hit: Hit, lines: frozenset[str]) -> bool:
    """Return whether the text of an old turn equals that of a line of the profile."""
    return bool(lines) and hit.source == "episode" and plain(hit.text) in lines
