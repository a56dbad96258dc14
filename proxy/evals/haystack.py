"""Builds very long conversations out of real ones, with needles in them; the same seed gives the same text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proxy.evals.dataset import Dataset, Question
from proxy.text import tokens

_SEED = 20
_COUNTED = 2_000_000  # tokens; longer ones are estimated by their length
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


@dataclass(frozen=True, slots=True)
class Needle:
    """Something said once, and the question that asks for it.

    Args:
        kind: ``planted`` for a sentence of ours, ``natural`` for what the conversation itself holds.
        texts: What has to reach the model: for a planted one the value, else the messages that hold the answer.
        answer: As the set gives it, where it does.
    """

    kind: str
    question: str
    texts: tuple[str, ...]
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Haystack:
    """One long conversation; its messages end with the assistant's."""

    messages: Messages
    needles: tuple[Needle, ...]
    tokens: int


def build(dataset: Dataset, size: int, planted: int, natural: int) -> Haystack:
    """Return a conversation of about ``size`` tokens.

    Args:
        dataset: Conversations to take it from; where they run out they are taken again with other names and numbers.
        size: Tokens.
        planted: Needles put in, spread from the first message to the last that is old.
        natural: Questions of the set about what is in it.
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
    """Yield role, text and label of every message, round after round, each round with other names and numbers."""
    for round_ in range(1000):
        for person in dataset.people:
            for _, line in person.lines():
                label = f"{person.id}/{line.labels[0]}" if line.labels and not round_ else ""
                yield line.role, line.content if not round_ else _varied(line.content, round_), label


def _varied(text: str, round_: int) -> str:
    renamed = _NAME.sub(lambda match: match[0] + _WORDS[(hash_of(match[0]) + round_) % len(_WORDS)][:3], text)
    return _NUMBER.sub(lambda match: str((int(match[0][:9]) * 7 + 13 * round_) % 10**9), renamed)


def hash_of(text: str) -> int:
    """Return a number for a text, the same in every process."""
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
