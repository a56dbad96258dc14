"""Junk eval: memories learned wrongly (from small talk, twice, or not stated), and memories closed without reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proxy.evals.abstain import EVERY_PROMPT
from proxy.evals.audit import Audit, CpuMeter, closed
from proxy.evals.client import Client
from proxy.evals.dataset import Dataset, Person
from proxy.evals.metrics import words
from proxy.evals.replay import Progress, Replay, for_each
from proxy.evals.report import Report, Table

REPLAYS = 10
_LONG_WORDS = 40
_ASKER = "asks-only"


async def junk(client: Client, dataset: Dataset, concurrency: int, prompts: Sequence[str] = EVERY_PROMPT) -> Report:
    """Replay a set and post prompts that state nothing; then count what was learned, and what further replays add."""
    learned = await _learned_from_prompts(client, prompts)
    name, sessions = dataset.name, sum(len(person.sessions) for person in dataset.people)
    progress = Progress(f"junk {name}", (1 + REPLAYS) * sessions)
    learning = Audit()
    first: dict[str, set[str]] = {}
    counts: list[dict[str, float]] = []
    added: list[int] = []

    async def play(person: Person) -> None:
        await Replay(client, person).run()
        progress.advance(len(person.sessions))

    async def look(person: Person) -> None:
        every = await client.memories(person.id, "all")
        said = [line.content for _, line in person.lines() if line.role == "user"]
        learning.look(every, said)
        learning.messages += len(said)
        learning.closed += [str(one["text"]) for one in closed(every).values()]
        active = [memory for memory in every if memory["status"] == "active"]
        first[person.id] = {memory["id"] for memory in active}
        counts.append(audit(active, person))

    async def play_more(person: Person) -> None:
        for _ in range(REPLAYS):
            await play(person)
        added.append(len(first[person.id] ^ {memory["id"] for memory in await client.memories(person.id)}))

    async with CpuMeter(client, learning):
        await for_each(dataset.people, play, concurrency)
    await for_each(dataset.people, look, concurrency)
    await for_each(dataset.people, play_more, concurrency)
    progress.finish()
    learning.ending_nothing = learning.messages
    table = learning.table(name)
    noted = "Every message counts as ending nothing: in these sets few end something."
    tables = [_table(name, counts, added), replace(table, notes=(noted, *table.notes)), _prompts(learned, prompts)]
    items = [{"part": "junk", "text": one.get("text"), "quote": one.get("quote")} for one in learned]
    return Report(tables=tables, items=[*items, *learning.items("junk")])


def _table(name: str, counts: Sequence[Mapping[str, float]], added: Sequence[int]) -> Table:
    rows = [(noun, sum(one[noun] for one in counts)) for noun in counts[0]] if counts else []
    rows.append((f"memories added or lost by {REPLAYS} more replays", sum(added)))
    facts = dict(rows).get("facts", 0)
    shares = tuple((noun, int(count), count / facts if facts else None) for noun, count in rows)
    return Table(f"{name}: what was learned", ("", "count", "of the facts"), shares)


def _prompts(learned: Sequence[object], prompts: Sequence[str]) -> Table:
    row = ("learned from them", len(learned), len(learned) / len(prompts))
    return Table(f"{len(prompts)} prompts that state nothing about the user", ("", "count", "per prompt"), (row,))


def audit(memories: Sequence[Mapping[str, Any]], person: Person) -> dict[str, float]:
    """Return counts of defects in the memories learned from one person's sessions."""
    said = {role: _joined(person, role) for role in ("user", "assistant")}
    quotes = [" ".join(str(memory.get("quote") or "").split()) for memory in memories]
    texts = Counter(" ".join(words(str(memory.get("text") or ""))) for memory in memories)
    return {
        "facts": len(memories),
        "user messages": sum(line.role == "user" for _, line in person.lines()),
        "without a quote": sum(not quote for quote in quotes),
        "quote not said by the user": sum(bool(quote) and quote not in said["user"] for quote in quotes),
        "quote said by the assistant only": sum(
            bool(quote) and quote not in said["user"] and quote in said["assistant"] for quote in quotes
        ),
        "quote is a question": sum(quote.endswith("?") for quote in quotes),
        "said twice": sum(count - 1 for count in texts.values()),
        f"longer than {_LONG_WORDS} words": sum(len(text.split()) > _LONG_WORDS for text in texts),
    }


async def _learned_from_prompts(client: Client, prompts: Sequence[str]) -> list[dict[str, Any]]:
    progress = Progress("junk prompts", len(prompts))
    for number, prompt in enumerate(prompts):
        await client.chat([{"role": "user", "content": prompt}], user=_ASKER, session=f"{_ASKER}-{number}")
        progress.advance()
    await client.settle(_ASKER)
    progress.finish()
    return await client.memories(_ASKER)


def _joined(person: Person, role: str) -> str:
    return " ".join(" ".join(line.content.split()) for _, line in person.lines() if line.role == role)
