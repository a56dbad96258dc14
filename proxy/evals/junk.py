"""How much is learned that should not be: from small talk, twice, or without the user having said it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.evals.client import Client
from proxy.evals.dataset import Dataset, Person
from proxy.evals.metrics import words
from proxy.evals.replay import Progress, Replay, for_each
from proxy.evals.report import Report, Table
from proxy.evals.unrelated import EVERY_PROMPT

REPLAYS = 10
_LONG_WORDS = 40
_ASKER = "asks-only"


async def junk(client: Client, dataset: Dataset, concurrency: int, prompts: Sequence[str] = EVERY_PROMPT) -> Report:
    """Replay a set, and post prompts that state nothing; then look at what was learned, and what more replays add."""
    learned = await _learned_from_prompts(client, prompts)
    progress = Progress(f"junk {dataset.name}", (1 + REPLAYS) * sum(len(person.sessions) for person in dataset.people))
    audits: list[dict[str, float]] = []
    added: list[int] = []

    async def one(person: Person) -> None:
        await Replay(client, person).run()
        every = await client.memories(person.id, "all")
        first = [memory for memory in every if memory["status"] == "active"]
        ended = sum(memory["status"] in ("retracted", "superseded") for memory in every)
        audits.append({**audit(first, person), "ended or replaced since": ended})
        progress.advance(len(person.sessions))
        for _ in range(REPLAYS):
            await Replay(client, person).run()
            progress.advance(len(person.sessions))
        known = {memory["id"] for memory in first}
        added.append(len(known ^ {memory["id"] for memory in await client.memories(person.id)}))

    await for_each(dataset.people, one, concurrency)
    progress.finish()
    rows = [(name, sum(one[name] for one in audits)) for name in audits[0]] if audits else []
    facts = dict(rows).get("facts", 0)
    shares = tuple((name, int(count), count / facts if facts else None) for name, count in rows)
    replayed = (f"memories added or lost by {REPLAYS} more replays", sum(added), sum(added) / facts if facts else None)
    from_prompts = ("learned from them", len(learned), len(learned) / len(prompts))
    return Report(
        tables=[
            Table(f"{dataset.name}: what was learned", ("", "count", "of the facts"), (*shares, replayed)),
            Table(
                f"{len(prompts)} prompts that state nothing about the user",
                ("", "count", "per prompt"),
                (from_prompts,),
            ),
        ],
        items=[{"part": "junk", "text": one.get("text"), "quote": one.get("quote")} for one in learned],
    )


def audit(memories: Sequence[Mapping[str, Any]], person: Person) -> dict[str, float]:
    """Count what is wrong with the memories learned from one person's conversations."""
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
