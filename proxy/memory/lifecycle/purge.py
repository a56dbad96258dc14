"""Destroy the words of one memory and of its earlier versions in every store: no undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from proxy.memory.changes.book import Book
from proxy.memory.conversations.episode import mended
from proxy.memory.conversations.running import Segment, without
from proxy.memory.index.cache import IndexCache
from proxy.memory.plan.changes import TERMS, TEXTS, is_ending
from proxy.process.threads import in_thread
from proxy.store.compactions import Compactions
from proxy.store.history import History
from proxy.store.journal import Journal
from proxy.store.ledger import Ledger
from proxy.store.passages import trails
from proxy.store.receipts import Receipts
from proxy.store.uses import Uses
from proxy.text.segment import sentences
from proxy.text.terms import plain
from proxy.types import Episode, Memory, Scope

BLANK = "…"  # replaces a sentence, padded to its length: offsets of other sentences stay


@dataclass(frozen=True, slots=True)
class Stores:
    """Every store that holds words of a memory."""

    index: IndexCache
    book: Book
    history: History
    journal: Journal
    ledger: Ledger
    compactions: Compactions
    receipts: Receipts
    uses: Uses


async def purge(stores: Stores, scope: Scope, memory: Memory, now: datetime) -> None:
    """Destroy every copy of a memory's words and of its earlier versions; the caller holds the scope's lease.

    The memory's own row and history stay, as they hold the words that find the copies: the caller removes them. Turns
    that learning has not processed are not covered: wait until ``pending_turns`` is 0 if that matters.
    """
    texts = _texts([memory, *await _former(stores.history, scope, memory.id)])
    store = stores.index.store
    rows = [row for row in await store.memories(scope) if row.id != memory.id]
    told = await store.episodes(scope)
    changed, touched = await in_thread("cpu", _blanked_rows, told, texts)
    await stores.book.keep(scope, touched, words_first=True)
    see = _seer(texts)
    after = {row.id: row for row in (*rows, *mended(rows, see, now))}
    others = [clean for row in rows if (clean := _clean(after[row.id], memory, texts)) != row]
    await stores.history.rewrite(scope, lambda row: row if row.id == memory.id else _clean(row, memory, texts))
    await stores.book.rewrite(scope, others)
    await stores.compactions.mend(scope, lambda raw: without(Segment.from_json(raw), see).to_json())
    await stores.uses.remove(scope, [memory.id])
    shown = [memory.id, *(row.id for row in others), *changed]
    await stores.ledger.drop_memories(scope, shown)
    await stores.ledger.drop_text(scope, lambda text: _says(text, texts))
    await stores.receipts.blank_queries(scope, lambda text: _says(text, texts))
    await stores.journal.drop_contents(scope)


def blanked(text: str, texts: frozenset[str]) -> str:
    """Return a text with the sentences among ``texts``, folded, blanked; as long as before.

    >>> blanked("Hello. I play chess.", frozenset({plain("I play chess.")}))
    'Hello. …            '
    """
    for start, end in sentences(text):
        if plain(text[start:end]) in texts:
            text = text[:start] + BLANK.ljust(end - start) + text[end:]
    return text


def _blanked_rows(told: Sequence[Episode], texts: frozenset[str]) -> tuple[dict[str, Episode], list[Episode]]:
    """Return the episodes that change, by id, and all episodes whose windows contain one of them."""
    changed = {row.id: replace(row, text=text) for row in told if (text := blanked(row.text, texts)) != row.text}
    windows = trails([changed.get(row.id, row) for row in told])  # a window's vector holds a share of each turn
    return changed, [window[-1] for window in windows.values() if any(one.id in changed for one in window)]


async def _former(history: History, scope: Scope, memory_id: str) -> list[Memory]:
    """Return all versions of a memory, before and after each step of its history."""
    steps = await history.of(scope, memory_id)
    return [one for step in steps for one in (step.before, step.after) if one is not None]


def _texts(versions: Sequence[Memory]) -> frozenset[str]:
    """Return the sentences of a memory's versions, folded."""
    return frozenset(known for one in versions for text in (one.text, one.quote) if (known := plain(text)))


def _seer(texts: frozenset[str]) -> Callable[[str], str | None]:
    def see(text: str) -> str | None:
        return None if _says(text, texts) else text

    return see


def _says(text: str, texts: frozenset[str]) -> bool:
    whole = plain(text)
    return any(one in whole for one in texts)


def _clean(row: Memory, gone: Memory, texts: frozenset[str]) -> Memory:
    """Return another memory or an ending without the words and the id of the purged memory."""
    row = replace(row, earlier=_other(row.earlier, gone.id), later=_other(row.later, gone.id))
    if is_ending(row):
        kept = [text for text in row.metadata.get(TEXTS, ()) if text not in texts]
        if len(kept) == len(row.metadata.get(TEXTS, ())) and gone.batch != row.id:
            return row
        terms = row.metadata.get(TERMS, ()) if kept else []
        return replace(row, text="", quote="", metadata={**row.metadata, TEXTS: kept, TERMS: terms})
    if row.quote and _says(row.quote, texts):
        row = replace(row, quote=row.text)
    return replace(row, context="", context_by="") if row.context and _says(row.context, texts) else row


def _other(ids: Sequence[str], gone: str) -> tuple[str, ...]:
    return tuple(id_ for id_ in ids if id_ != gone)
