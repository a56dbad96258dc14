"""Measures conversations many times longer than the window: what reaches the model, and the cost."""

from __future__ import annotations

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proxy.evals.cache import rendered
from proxy.evals.client import Asked, Client
from proxy.evals.dataset import Dataset
from proxy.evals.haystack import Haystack, Messages, Needle, build
from proxy.evals.metrics import Injected, common_prefix, mean
from proxy.evals.replay import Progress
from proxy.evals.report import Report, Table
from proxy.text import tokens

WINDOW, MODEL = 128_000, "gpt-4o"
WINDOWS = (1, 5, 10, 80)
_PLANTED, _NATURAL, _FEW = 20, 20, 8
_GROWN = 20  # windows; a longer conversation grows over many requests
_STEPS = 20
_TURNS = (20, 200)
_STEP = re.compile(r"(?<!\w)(\w++);dur=([\d.]++)")
_OURS = ("compact", "condense", "leftout", "recall", "assemble", "identify")


@dataclass(slots=True)
class _Tally:
    """Figures of the requests about one haystack."""

    sent: list[int] = field(default_factory=list)
    wall_ms: list[float] = field(default_factory=list)
    ours_ms: list[float] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)
    found: dict[str, list[float]] = field(default_factory=dict)
    answered: list[bool | None] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    def note(self, needle: Needle, asked: Asked) -> None:
        """Count one request."""
        text = rendered(asked.received)
        seen = Injected(text)
        if needle.kind == "planted":
            share = float(needle.texts[0] in text)
        else:
            share = sum(map(seen.holds, needle.texts)) / len(needle.texts)
            self.answered.append(seen.answers(needle.answer))
        self.found.setdefault(needle.kind, []).append(share)
        self.sent.append(tokens.measure(text) if len(text) < 200_000 else sum(map(_weight, asked.received)))
        steps = {name: float(ms) for name, ms in _STEP.findall(asked.steps)}
        self.wall_ms.append(asked.wall_ms)
        self.outcomes[asked.outcome] += 1
        self.ours_ms.append(sum(steps.get(name, 0.0) for name in _OURS if name != "leftout"))
        self.search_ms.append(steps.get("leftout", 0.0))


async def long(client: Client, dataset: Dataset, windows: Sequence[int]) -> Report:
    """Ask about conversations of so many windows, then measure what memory does to the provider's cache."""
    report = Report()
    rows = []
    for size in windows:
        planted, natural = (_PLANTED, _NATURAL) if size <= _GROWN else (_FEW, _FEW)
        haystack = build(dataset, size * WINDOW, planted, natural)
        progress = Progress(f"long {size}x", len(haystack.needles))
        rows.append(await _asked(client, haystack, size, progress))
        progress.finish()
    columns = (
        *("windows", "tokens", "sent", "ratio", "planted", "natural", "answers"),
        *("first ms", "later ms", "our steps ms", "search ms", "server MB", "outcomes"),
    )
    notes = (
        f"Model {MODEL}, window {WINDOW:,}. Every request carries the whole conversation; planted: share of the values "
        "in the request when asked for; natural: share of the messages that hold the answer (60 % of their 3-grams); "
        "answers: share of the set's answers whose words are in it. Times are medians.",
    )
    report.tables.append(Table(f"{dataset.name}: conversations without end", columns, tuple(rows), notes))
    report.tables.append(await _prefixes(client, dataset))
    return report


def long_set(folder: Path) -> str:
    """Return the set to take when none is named: the longest that there is."""
    return "beam100k" if (folder / "traffic" / "beam100k").is_dir() else "own"


async def _asked(
    client: Client, haystack: Haystack, size: int, progress: Progress
) -> tuple[str | int | float | None, ...]:
    user = f"long-{size}"
    if size > _GROWN:
        await _grow(client, user, haystack.messages)
    tally = _Tally()
    for needle in haystack.needles:
        messages = [*haystack.messages, {"role": "user", "content": needle.question}]
        tally.note(needle, await client.chat(messages, user=user, session=user, model=MODEL))
        progress.advance(1)
    sent = statistics.median(tally.sent)
    return (
        f"{size}x",
        haystack.tokens,
        int(sent),
        haystack.tokens / sent,
        mean(tally.found.get("planted", [])),
        mean(tally.found.get("natural", [])),
        mean(tally.answered),
        tally.wall_ms[0],
        statistics.median(tally.wall_ms),
        statistics.median(tally.ours_ms),
        statistics.median(tally.search_ms),
        await client.resident_mb(),
        ", ".join(f"{outcome} {n}" for outcome, n in tally.outcomes.most_common()),
    )


async def _grow(client: Client, user: str, messages: Messages) -> None:
    """Post the conversation as it grows, so that no request brings more than a share of it."""
    ends = [at for at, one in enumerate(messages) if one["role"] == "user"]
    for step in range(1, _STEPS):
        end = ends[len(ends) * step // _STEPS]
        await client.chat(messages[: end + 1], user=user, session=user, model=MODEL)


async def _prefixes(client: Client, dataset: Dataset) -> Table:
    """Compare the share of each request that the one before began with, with memory and without."""
    said = [line for _, line in dataset.people[0].lines()]
    known, said = said[: len(said) // 3], said[len(said) // 3 :]  # so that there is something to recall
    before = [line.wire() for line in known if line.content]
    await client.chat([*before, {"role": "user", "content": "Thanks!"}], user="prefix", session="before", model=MODEL)
    await client.settle("prefix")
    rows = []
    for turns in _TURNS:
        users = [line.content for line in said if line.role == "user"][:turns]
        answers = [line.content for line in said if line.role == "assistant"] or ["Okay."]
        history: Messages = []
        asked = []
        for turn in range(turns):
            history = [*history, {"role": "user", "content": users[turn % len(users)][:600]}]
            asked.append(await client.chat(history, user="prefix", session=f"prefix-{turns}", model=MODEL))
            history = [*history, {"role": "assistant", "content": answers[turn % len(answers)][:200]}]
        off, on = _shared([rendered(one.sent) for one in asked]), _shared([rendered(one.received) for one in asked])
        rows.append((turns, off, on, on - off, sum(one.outcome == "used" for one in asked)))
    notes = ("Share of a request's tokens in the longest common prefix with the request before.",)
    return Table(
        "The provider's cache",
        ("turns", "memory off", "memory on", "difference", "turns with memory"),
        tuple(rows),
        notes,
    )


def _shared(requests: Sequence[str]) -> float:
    whole = shared = 0
    for before, now in itertools.pairwise(requests):
        prefix = common_prefix(before, now)
        shared += tokens.measure(now[:prefix])
        whole += tokens.measure(now)
    return shared / max(1, whole)


def _weight(message: dict[str, str] | object) -> int:
    return tokens.measure(str(message.get("content"))) if isinstance(message, dict) else 0
