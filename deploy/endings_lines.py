"""What endings are learned from: lines about what a message ends, and talk that ends nothing.

A line of ``endings/lines`` is "said | text | ended | kept | new": what a user told, what they write later, which values
of the first end, which stay (several are parted by semicolons), and what takes the place of the one that ended.
``endings/talk`` holds messages of persons who take nothing back, a message a line and an empty line between persons;
so do the English sets of real conversations. Our own cases about forgetting come on top.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proxy.evals.dataset import load_set
from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.memory.learn.extract_builtin.looks import Held, held_as, held_in, places_of
from proxy.memory.learn.extract_builtin.mentions import NOUN, Heard
from proxy.memory.learn.extract_builtin.reading import Reading, is_talk, read
from proxy.memory.learn.extract_builtin.replacement import touches
from proxy.text.words import HAS_CJK, flat, words

ENDINGS = Path(__file__).resolve().parent / "endings"
OWN = ENDINGS.parent.parent / "tests" / "memory" / "retract_own.jsonl"
TALK = ("locomo", "beam100k", "realmem")
EVERYDAY = 4.0  # how much a line counts of those by which rules or weights were once misled (``lines/*.0.txt``)
OTHER_NAMED, OTHER_UNNAMED = 0.5, 0.4  # how much a value counts of which a line says nothing
HEARD = 25  # earlier messages that share a word


@dataclass(frozen=True, slots=True)
class Line:
    """What a user told, what they write later, and what becomes of the values."""

    code: str
    said: tuple[str, ...]
    text: str
    ended: tuple[str, ...]
    kept: tuple[str, ...]
    new: str = ""
    seen: bool = False
    count: float = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    """A value that was told, whether a message ends it, and how much that counts."""

    held: Held
    ends: bool
    share: float = 1.0
    is_labelled: bool = True


def all_lines() -> list[Line]:
    """Return all lines, and our own cases."""
    return [line for path in (*sorted((ENDINGS / "lines").glob("*.txt")), OWN) for line in lines_in(path)]


def all_talk(folder: Path | None) -> list[tuple[str, list[str]]]:
    """Return (language, messages) of all persons; those of real conversations are in ``folder``."""
    people = [person for path in sorted((ENDINGS / "talk").glob("*.txt")) for person in logs(path)]
    return [*people, *(talk(folder) if folder else ())]


def lines_in(path: Path) -> Iterator[Line]:
    """Yield the lines of a file."""
    for line in path.read_text("utf-8").splitlines():
        if path.suffix == ".txt":
            said, text, ended, kept, new = (field.strip() for field in line.split("|"))
            count = EVERYDAY if path.stem.endswith(".0") else 1.0
            yield Line(path.name[:2], (said,), text, _values(ended, said), _values(kept, said), new, count=count)
            continue
        case = json.loads(line)
        messages = [message for conversation in case["conversations"] for message in conversation]
        if case["kind"] != "restate" and len(messages) > 1:
            between = flat("\n".join(messages[1:-1]))
            told = flat("\n".join(messages[:-1]))
            ended = tuple(v for v in case["absent"] if flat(v) in told and flat(v) not in between)
            kept = tuple(v for v in case["present"] if flat(v) in told)
            yield Line(case["lang"], tuple(messages[:-1]), messages[-1], ended, kept, seen=True)


def _values(field: str, said: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in field.split(";") if one.strip() and flat(one.strip()) in flat(said))


def read_line(line: Line) -> Reading | None:
    """Return the message of a line, read, None where it is taken for another language."""
    reading = read(line.text, LEXICONS, hint=line.code)
    return reading if reading.lexicon.code == line.code else None


def examples_of(line: Line, reading: Reading) -> Iterator[Example]:
    """Yield the values of a line, and what else was told: that does not end."""
    labelled = (*line.ended, *line.kept)
    for value in labelled:
        text = next((s for s in line.said if flat(value) in flat(s)), line.said[0])
        held = held_as(value, text, reading.lexicon)
        if held is not None:
            yield Example(held, value in line.ended, line.count)
    for held in others(reading, line.said):
        if not any(touches(held.value, one) or touches(one, held.value) for one in labelled):
            share = OTHER_NAMED if places_of(held.value, line.text) else OTHER_UNNAMED
            yield Example(held, ends=False, share=share, is_labelled=False)


def others(reading: Reading, said: Sequence[str]) -> Iterator[Held]:
    """Yield the values of what was told last; in Chinese, what the message names of them besides."""
    lexicon = reading.lexicon
    for text in said[-3:]:
        yield from (held for held in held_in(text, lexicon) if held.may_end)
    heard = Heard(said, (), reading.text)
    for sentence in reading.sentences if lexicon.code == "zh" else ():
        for mention in heard.mentions(sentence, reading.text, lexicon) if sentence.clauses else ():
            held = held_as(mention.surface, mention.said[0], lexicon)
            if mention.rank >= NOUN and held is not None:
                yield held


def talk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (language, messages) of each person of the English sets of real conversations."""
    for name in TALK:
        for person in load_set(folder, name).people:
            yield "en", [line.content for _, line in person.lines() if line.role == "user"]


def logs(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (language, messages) of each person of a file: a message a line, an empty line between persons."""
    for block in path.read_text("utf-8").split("\n\n"):
        yield path.stem, block.strip().splitlines()


def meetings(code: str, messages: Sequence[str], most: int = HEARD) -> Iterator[tuple[int, Reading, list[str]]]:
    """Yield somebody's messages, each with its number and the earlier ones that share most words with it."""
    holding: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(messages):
        own = {word.text[:5] for word in words(text) if len(word.text) > 2 or HAS_CJK.match(word.text)}
        near = Counter(place for word in own for place in holding[word][-HEARD:])
        reading = read(text, LEXICONS, hint=code)
        if near and reading.lexicon.code == code and is_talk(reading):
            yield number, reading, [messages[place] for place, _ in near.most_common(most)]
        for word in own:
            holding[word].append(number)


def told_by(text: str, reading: Reading) -> Iterator[Held]:
    """Yield what an earlier message tells that a later one could end."""
    yield from (held for held in held_in(text, reading.lexicon) if held.may_end)
