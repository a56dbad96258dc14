"""Learn the weights of ``proxy/memory/extract_builtin/weights`` from lines; run by hand when there are new ones.

    python deploy/learn_endings.py --talk ../shared/data

A line of ``endings/lines`` is "said | text | ended | kept | new": what a user told, what they write later, which values
of the first end, which stay (several are parted by semicolons), and what takes the place of the one that ended.
``endings/talk`` holds messages of persons who take nothing back, a message a line and an empty line between persons;
so do the English sets of real conversations in the folder that is named. Our own cases about forgetting come on top.
The weights are those of logistic regressions with an L2 penalty, found by accelerated gradient descent (Nesterov,
1983); the same lines give the same weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import numpy as np

from proxy.evals.dataset import load_set
from proxy.memory.extract_builtin.extractor import BuiltinExtractor
from proxy.memory.extract_builtin.lexicons import LEXICONS
from proxy.memory.extract_builtin.looks import Held, Look, held_as, held_in, places_of
from proxy.memory.extract_builtin.mentions import NOUN, Heard
from proxy.memory.extract_builtin.reading import Reading, is_brief, is_talk, read
from proxy.memory.extract_builtin.replacement import touches
from proxy.memory.extract_builtin.spots import spots_in
from proxy.memory.extract_builtin.traits import new_traits, ruled_traits, traits_of
from proxy.memory.extract_builtin.weighing import ends_of
from proxy.memory.extract_builtin.weights import NAMED, NEW, UNNAMED
from proxy.memory.words import HAS_CJK, flat, words
from proxy.types import Episode, Said, Scope, Turn

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "proxy" / "memory" / "extract_builtin" / "weights"
OWN = HERE.parent / "tests" / "memory" / "retract_own.jsonl"
TALK = ("locomo", "beam100k", "realmem")
SEEN = "seen"  # a case that rules were made with: what they say of it tells nothing
LEAST_SEEN, LEAST_WEIGHT = 3, 0.06
PENALTY = 6.0
STEPS = 600
OTHER_NAMED, OTHER_UNNAMED, PIECE = 0.5, 0.4, 0.5  # how much a value counts of which a line says nothing
HEARD = 25  # earlier messages that share a word
TALK_NAMED, TALK_UNNAMED = 0.6, 0.05  # share of places in talk that are learned from


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


@dataclass(frozen=True, slots=True)
class Row:
    """A value against a message."""

    code: str
    model: str
    traits: frozenset[str]
    ends: bool
    share: float = 1.0


def lines_in(path: Path) -> Iterator[Line]:
    """Yield the lines of a file."""
    for line in path.read_text("utf-8").splitlines():
        if path.suffix == ".txt":
            said, text, ended, kept, new = (field.strip() for field in line.split("|"))
            yield Line(path.name[:2], (said,), text, _values(ended, said), _values(kept, said), new)
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


def rows_of(line: Line) -> Iterator[Row]:
    """Yield a row for each value of a line, and for what else was told: that does not end."""
    reading = read(line.text, LEXICONS, hint=line.code)
    if reading.lexicon.code != line.code:
        return
    look, ruled = Look(reading), () if line.seen else ends_by_rule(line.said, line.text)
    labelled = (*line.ended, *line.kept)
    for value in labelled:
        text = next((s for s in line.said if flat(value) in flat(s)), line.said[0])
        held = held_as(value, text, reading.lexicon)
        is_ruled = any(touches(one, value) for one in ruled)
        if held is not None:
            yield row_of(look, held, ends=value in line.ended, ruled=is_ruled, seen=line.seen)
    if line.ended and not line.seen:
        yield from rows_of_new(look, line)
    for held in others(reading, line.said):
        if not any(touches(held.value, one) or touches(one, held.value) for one in labelled):
            share = OTHER_NAMED if places_of(held.value, line.text) else OTHER_UNNAMED
            yield row_of(look, held, ends=False, seen=line.seen, share=share)


def rows_of_new(look: Look, line: Line) -> Iterator[Row]:
    """Yield a row for all that a message newly tells, as what takes the place of the value that ends first."""
    text = next((s for s in line.said if flat(line.ended[0]) in flat(s)), line.said[0])
    held = held_as(line.ended[0], text, look.reading.lexicon)
    for spot, start, end in spots_in(line.text, look.reading.lexicon) if held else ():
        if held is not None and not places_of(spot, text):
            takes = bool(line.new) and (touches(spot, line.new) or flat(spot) == flat(line.new))
            is_piece = bool(line.new) and not takes and touches(line.new, spot)
            yield Row(line.code, NEW, new_traits(look, held, (start, end)), takes, PIECE if is_piece else 1.0)


def row_of(look: Look, held: Held, *, ends: bool, ruled: bool = False, seen: bool = False, share: float = 1.0) -> Row:
    """Return the row of one value."""
    places = places_of(held.value, look.reading.text)
    found = traits_of(look, held, places)
    more = frozenset((SEEN,)) if seen else ruled_traits(found, ruled=ruled)
    return Row(held.told.lexicon.code, NAMED if places else UNNAMED, found | more, ends, share)


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


def ends_by_rule(said: Sequence[str], text: str) -> tuple[str, ...]:
    """Return what the rules alone say that a message ends."""
    at = datetime(2031, 5, 14, tzinfo=UTC)
    heard = [Episode(f"e{i}", "s", f"t{i}", i, "user", one, at.replace(day=1 + i % 9)) for i, one in enumerate(said)]
    turn = Turn("t", Scope("0" * 32, "1" * 32), (Said("m", "user", text),), "ok", "complete", "m", at)
    found = BuiltinExtractor(weighs=False).extract(turn, (), heard)
    return tuple(value for candidate in found for value in ends_of(candidate))


def talk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (language, messages) of each person of the English sets of real conversations."""
    for name in TALK:
        for person in load_set(folder, name).people:
            yield "en", [line.content for _, line in person.lines() if line.role == "user"]


def logs(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (language, messages) of each person of a file: a message a line, an empty line between persons."""
    for block in path.read_text("utf-8").split("\n\n"):
        yield path.stem, block.strip().splitlines()


def rows_of_talk(code: str, messages: Sequence[str]) -> Iterator[Row]:
    """Yield rows of somebody's messages that take nothing back: what was told before ends with none of them."""
    holding: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(messages):
        own = {word.text[:5] for word in words(text) if len(word.text) > 2 or HAS_CJK.match(word.text)}
        near = Counter(place for word in own for place in holding[word][-HEARD:])
        reading = read(text, LEXICONS, hint=code)
        if near and reading.lexicon.code == code and is_talk(reading):
            look, brief = Look(reading), is_brief(reading)
            told = (held for place, _ in near.most_common(HEARD) for held in held_in(messages[place], reading.lexicon))
            for held in (held for held in told if held.may_end):
                places = places_of(held.value, text)
                wanted = TALK_NAMED if places else TALK_UNNAMED if brief else 0.0
                if crc32(f"{number}{held.value}".encode()) % 100 < 100 * wanted:
                    yield row_of(look, held, ends=False)
        for word in own:
            holding[word].append(number)


def learn(rows: Sequence[Row]) -> dict[str, float]:
    """Return the weight of each trait."""
    seen = Counter(trait for row in rows for trait in row.traits)
    names = sorted(trait for trait, count in seen.items() if count >= LEAST_SEEN)
    at = {name: index for index, name in enumerate(names)}
    pairs = [(line, at[trait]) for line, row in enumerate(rows) for trait in sorted(row.traits) if trait in at]
    lines, traits = (np.array(side) for side in zip(*pairs, strict=True))
    ends = np.array([row.ends for row in rows], float)
    share = np.array([row.share for row in rows])

    def sums(weights: np.ndarray) -> np.ndarray:
        return np.bincount(lines, weights[traits], len(rows))

    def slopes(errors: np.ndarray) -> np.ndarray:
        return np.bincount(traits, errors[lines], len(names))

    penalty = np.full(len(names), PENALTY)
    penalty[at[""]] = 0
    vector = np.ones(len(names))
    for _ in range(30):  # the largest eigenvalue, by power iteration
        vector = slopes(share * sums(vector))
        largest = np.linalg.norm(vector)
        vector /= largest
    step = 1 / (0.26 * largest + PENALTY)
    weights = ahead = np.zeros(len(names))
    for number in range(STEPS):
        slope = slopes(share * (1 / (1 + np.exp(-sums(ahead))) - ends)) + penalty * ahead
        moved = ahead - step * slope
        ahead = moved + number / (number + 3) * (moved - weights)
        weights = moved
    found = zip(names, weights, strict=True)
    return {name: round(float(w), 2) for name, w in found if abs(w) >= LEAST_WEIGHT or not name}


def listed(source: Line | tuple[str, list[str]]) -> list[Row]:
    """Return the rows of a line, or of somebody's messages."""
    return list(rows_of(source) if isinstance(source, Line) else rows_of_talk(*source))


def main() -> None:
    """Learn from all that there is, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talk", type=Path, help="folder with sets of real conversations")
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    files = [*sorted((HERE / "endings" / "lines").glob("*.txt")), OWN]
    lines = [line for path in files for line in lines_in(path)]
    people = [person for path in sorted((HERE / "endings" / "talk").glob("*.txt")) for person in logs(path)]
    people += talk(options.talk) if options.talk else ()
    with ProcessPoolExecutor() as pool:
        found = [*pool.map(listed, lines, chunksize=64), *pool.map(listed, people)]
    rows = [row for some in found for row in some]
    for code in LEXICONS:
        learned = {}
        for model in (NAMED, UNNAMED, NEW):
            own = [row for row in rows if row.code == code and row.model == model]
            learned[model] = learn(own)
            ended = sum(row.ends for row in own)
            sys.stderr.write(f"{code} {model}: {len(own)} rows, {ended} end, {len(learned[model])} weights\n")
        text = json.dumps(learned, ensure_ascii=False, indent=0)
        (options.out / f"{code}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
