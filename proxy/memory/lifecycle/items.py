"""Items of ``/memory-manager``: memories and documents with a priority, and their form in a prompt. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from proxy.memory.lifecycle.hygiene import MAX_WHOLE, Rules, Stage, last_use, stage_of
from proxy.memory.lifecycle.tasks import task_of
from proxy.memory.plan.changes import INTERNAL, is_ending
from proxy.store.uses import Use
from proxy.text.tokens import count
from proxy.types import Document, Memory

CONTENT_TYPE = "content_type"  # metadata of a memory that was added as an item
PRIORITY = 5  # of 1 to 10, the default
LOW, HIGHEST = 5, 10  # items below LOW are shortened first, items at HIGHEST last
MAX_FULL = 2000  # tokens of a document that a prompt shows whole
POINTER_TOKENS = 24  # of the line that names an item
SAFE_SHARE = 0.85  # of the window; above it a request may not fit with its reply


@dataclass(frozen=True, slots=True)
class Item:
    """A memory or a document of the caller.

    Args:
        id: Of the memory or document.
        content_type: Any word.
        priority: 1 to 10.
        tokens: Of the whole content.
        summary: Its text in a prompt when compressed.
        form: Its form in a prompt: whole, summary, or a line with its id.
        used_at: Time of creation or last use, by the server's clock.
        created_at: Time of creation.
        metadata: As the client gave it.
    """

    id: str
    content_type: str
    priority: int
    tokens: int
    summary: str
    form: Stage
    used_at: datetime
    created_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def in_prompt(self) -> int:
        """Tokens that the item takes in a prompt."""
        if self.form == "full":
            return self.tokens
        short = POINTER_TOKENS if self.form == "archived" else POINTER_TOKENS + count(self.summary)
        return min(short, self.tokens)


def is_large(content: str) -> bool:
    """Return whether a content is stored as a document with chunks; a short one is a memory."""
    return len(content) > MAX_WHOLE


def is_item(memory: Memory) -> bool:
    """Return whether a memory counts as an item: in force, and neither a task nor a session summary."""
    is_kept = memory.status in ("active", "archived") and memory.kind != "summary"
    return is_kept and not is_ending(memory) and task_of(memory) is None


def item_of_memory(memory: Memory, use: Use | None, now: datetime, rules: Rules) -> Item:
    """Return a memory as an item."""
    tokens = count(memory.text)
    stage = stage_of(memory, use, now, rules)
    form: Stage = "full" if stage == "compressed" and len(memory.text) <= MAX_WHOLE else stage
    return Item(
        memory.id,
        str(memory.metadata.get(CONTENT_TYPE) or memory.kind),
        HIGHEST if memory.pinned else rank_of(memory.priority),
        tokens,
        memory.text if len(memory.text) <= MAX_WHOLE else f"{memory.text[: MAX_WHOLE - 1].rstrip()}…",
        form,
        last_use(memory, use),
        memory.created_at,
        {name: value for name, value in memory.metadata.items() if name not in INTERNAL and name != CONTENT_TYPE},
    )


def item_of_document(document: Document, use: Use | None, now: datetime, rules: Rules) -> Item:
    """Return a document as an item; a prompt shows a large one as its summary from the start."""
    used_at = document.created_at if use is None else max(document.created_at, use.last_at)
    priority = rank_of(document.priority)
    idle = now - used_at
    form: Stage = "compressed" if document.tokens > MAX_FULL else "full"
    if priority < HIGHEST:
        if rules.compress_days and idle >= timedelta(days=rules.compress_days):
            form = "compressed"
        if rules.archive_days and idle >= timedelta(days=rules.archive_days):
            form = "archived"
    return Item(
        document.id,
        document.content_type or "document",
        priority,
        document.tokens,
        document.summary,
        form,
        used_at,
        document.created_at,
        document.metadata,
    )


def rank_of(priority: int) -> int:
    """Return a priority of 1 to 10; 0 means unset and gives the default."""
    return min(max(priority or PRIORITY, 1), HIGHEST)


def fitted(items: Sequence[Item], room: float | None) -> list[Item]:
    """Return items in the forms that fit a prompt's room in tokens; None: no limit is known.

    Whole items are shortened to summaries first, then summaries to single lines: low priority first, then the longest
    unused first, the highest priority last.
    """
    forms = {item.id: item for item in items}
    left = sum(item.in_prompt for item in items)
    order = sorted(items, key=_gives_way)
    shorter: dict[Stage, Stage] = {"full": "compressed", "compressed": "archived"}
    for known, form in shorter.items():
        for one in order:
            if room is None or left <= room:
                break
            item = forms[one.id]
            if item.form == known:
                forms[one.id] = replace(item, form=form)
                left -= item.in_prompt - forms[one.id].in_prompt
    return [forms[item.id] for item in items]


def _gives_way(item: Item) -> tuple[bool, bool, datetime, int, str]:
    return item.priority == HIGHEST, item.priority >= LOW, item.used_at, item.priority, item.id


def totals(items: Iterable[Item]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of items by form, and the tokens stored, in a prompt, and saved there."""
    forms = {"total": 0, "full": 0, "compressed": 0, "archived": 0}
    stored = in_prompt = 0
    for item in items:
        forms["total"] += 1
        forms[item.form] += 1
        stored += item.tokens
        in_prompt += item.in_prompt
    return forms, {"stored": stored, "in_context": in_prompt, "saved": stored - in_prompt}
