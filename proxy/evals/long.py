"""Long conversation eval: recall and cost for conversations many times longer than the context window.

They are built from real conversations with needles; the same seed gives the same text.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from proxy.evals.cache import rendered
from proxy.evals.client import Asked, Client
from proxy.evals.dataset import Dataset, Question
from proxy.evals.metrics import Injected, common_prefix, mean
from proxy.evals.replay import Progress
from proxy.evals.report import Report, Table
from proxy.text import tokens

WINDOW, MODEL = 128_000, "gpt-4o"
WINDOWS = (1, 5, 10, 80)
_PLANTED, _NATURAL, _FEW = 20, 20, 8
_GROWN = 20  # windows; a longer conversation is posted in many growing requests
_STEPS = 20
_TURNS = (20, 200)
_STEP = re.compile(r"(?<!\w)(\w++);dur=([\d.]++)")
_OURS = ("compact", "condense", "leftout", "recall", "assemble", "identify")
_SEED = 20
_COUNTED = 2_000_000  # tokens; those of longer conversations are estimated by length
_SAID = "By the way, so that it is not lost: the {thing} of the {place} is {value}."
_ASKED = "What is the {thing} of the {place}?"
_THINGS = ("door code", "spare key number", "router label", "locker combination", "gate phrase", "meter reading")
_PLACES = (
    *("allotment", "boathouse", "bakery cellar", "observatory", "cider press", "tram depot", "ferry office"),
    *("print shop", "beehive shed", "quarry hut", "mill attic", "glasshouse", "chapel annex", "kiln yard"),
)
_WORDS = ("heron", "copper", "lantern", "juniper", "basalt", "saffron", "walnut", "kestrel", "marble", "cobalt")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")
_NUMBER = re.compile(r"\d+")

T = TypeVar("T")
Messages = list[dict[str, str]]


@dataclass(slots=True)
class _Tally:
    """Measurements of the requests about one haystack."""

    sent: list[int] = field(default_factory=list)
    wall_ms: list[float] = field(default_factory=list)
    ours_ms: list[float] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)
    found: dict[str, list[float]] = field(default_factory=dict)
    answered: list[bool | None] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    def note(self, needle: Needle, asked: Asked) -> None:
        """Add the measurements of one request."""
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
    """Ask about conversations of ``windows`` context windows, then measure the effect on the provider's cache."""
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
    """Return the default dataset: the one with the longest conversations, if present."""
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
    """Post the conversation in growing prefixes, so that no request adds more than a share of it."""
    ends = [at for at, one in enumerate(messages) if one["role"] == "user"]
    for step in range(1, _STEPS):
        end = ends[len(ends) * step // _STEPS]
        await client.chat(messages[: end + 1], user=user, session=user, model=MODEL)


async def _prefixes(client: Client, dataset: Dataset) -> Table:
    """Compare the shared prefixes of consecutive requests with and without memory."""
    said = [line for _, line in dataset.people[0].lines()]
    known, said = said[: len(said) // 3], said[len(said) // 3 :]  # posted first, so that there is something to recall
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


@dataclass(frozen=True, slots=True)
class Needle:
    """A text stated once, with a question about it.

    Args:
        kind: ``planted`` for an inserted sentence, ``natural`` for one of the conversation itself.
        texts: Texts that must reach the model: the planted value, or the messages that hold the answer.
        answer: The dataset's answer, if any.
    """

    kind: str
    question: str
    texts: tuple[str, ...]
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Haystack:
    """A long conversation; its last message is the assistant's."""

    messages: Messages
    needles: tuple[Needle, ...]
    tokens: int


def build(dataset: Dataset, size: int, planted: int, natural: int) -> Haystack:
    """Return a conversation of about ``size`` tokens.

    Args:
        dataset: Source conversations; they are repeated with other names and numbers as often as needed.
        size: Length in tokens.
        planted: Number of planted needles, spread over the oldest 90 % of the messages.
        natural: Number of the dataset's questions about the conversation.
    """
    messages: Messages = []
    labels: dict[str, str] = {}
    total = 0
    for role, text, label in _endless(dataset):
        if total >= size and role == "user":
            break
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += "\n" + text
        else:
            messages.append({"role": role, "content": text})
        if label:
            labels[label] = text
        total += tokens.measure(text) + 4 if size < _COUNTED else tokens.estimate(text)
    while messages and messages[-1]["role"] != "assistant":
        messages.pop()
    needles = [*_planted(messages, planted), *_natural(dataset, labels, natural)]
    return Haystack(messages, tuple(needles), total)


def _endless(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """Yield role, text and label of every message repeatedly, each round with other names and numbers."""
    for round_ in range(1000):
        for person in dataset.people:
            for _, line in person.lines():
                label = f"{person.id}/{line.labels[0]}" if line.labels and not round_ else ""
                yield line.role, line.content if not round_ else _varied(line.content, round_), label


def _varied(text: str, round_: int) -> str:
    renamed = _NAME.sub(lambda match: match[0] + _WORDS[(hash_of(match[0]) + round_) % len(_WORDS)][:3], text)
    return _NUMBER.sub(lambda match: str((int(match[0][:9]) * 7 + 13 * round_) % 10**9), renamed)


def hash_of(text: str) -> int:
    """Return a hash of a text that is the same in every process."""
    return sum(ord(letter) * (at + 1) for at, letter in enumerate(text))


def _planted(messages: Messages, many: int) -> list[Needle]:
    drawn = random.Random(_SEED)  # noqa: S311 - the same haystack each time
    pairs = [(thing, place) for thing in _THINGS for place in _PLACES]
    drawn.shuffle(pairs)
    old = [at for at in range(int(len(messages) * 0.9)) if messages[at]["role"] == "user"]
    needles = []
    for at, (thing, place) in zip(_spread(old, many), pairs, strict=False):
        value = f"{drawn.choice(_WORDS)} {drawn.choice(_WORDS)} {drawn.randrange(1000, 9999)}"
        messages[at]["content"] += "\n" + _SAID.format(thing=thing, place=place, value=value)
        needles.append(Needle("planted", _ASKED.format(thing=thing, place=place), (value,)))
    return needles


def _natural(dataset: Dataset, labels: dict[str, str], many: int) -> list[Needle]:
    found: list[tuple[Question, tuple[str, ...]]] = []
    for person in dataset.people:
        for question in person.questions:
            names = [f"{person.id}/{label}" for label in question.gold]
            if names and len(names) <= 3 and all(name in labels for name in names):
                found.append((question, tuple(labels[name] for name in names)))
    return [Needle("natural", question.text, texts, question.answer) for question, texts in _spread(found, many)]


def _spread(items: Sequence[T], many: int) -> list[T]:
    taken = min(many, len(items))
    return [items[len(items) * at // taken] for at in range(taken)]
