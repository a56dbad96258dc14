"""Learn the weights of ``proxy/memory/extract_builtin/weights`` from lines; run by hand when there are new ones.

    python deploy/learn_endings.py --talk ../shared/data

``endings_lines`` says what the lines are; ``--talk`` names the folder of real conversations. The weights are those of
logistic regressions with an L2 penalty, found by accelerated gradient descent (Nesterov, 1983); the same lines give
the same weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import numpy as np
from endings_lines import Line, all_lines, all_talk, examples_of, meetings, read_line, told_by

from proxy.memory.learn.extract_builtin.extractor import BuiltinExtractor
from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.memory.learn.extract_builtin.looks import Held, Look, held_as, places_of
from proxy.memory.learn.extract_builtin.reading import is_brief
from proxy.memory.learn.extract_builtin.replacement import touches
from proxy.memory.learn.extract_builtin.spots import spots_in
from proxy.memory.learn.extract_builtin.traits import new_traits, ruled_traits, traits_of
from proxy.memory.learn.extract_builtin.weighing import ends_of
from proxy.memory.learn.extract_builtin.weights import NAMED, NEW, UNNAMED
from proxy.text.words import flat
from proxy.types import Episode, Said, Scope, Turn

FOLDER = Path(__file__).resolve().parent.parent / "proxy" / "memory" / "extract_builtin" / "weights"
SEEN = "seen"  # a case that rules were made with: what they say of it tells nothing
LEAST_SEEN, LEAST_WEIGHT = 3, 0.06
PENALTY = 6.0
STEPS = 600
PIECE = 0.5  # how much a piece of what comes counts
TALK_NAMED, TALK_UNNAMED = 0.6, 0.05  # share of places in talk that are learned from


@dataclass(frozen=True, slots=True)
class Row:
    """A value against a message."""

    code: str
    model: str
    traits: frozenset[str]
    ends: bool
    share: float = 1.0


def rows_of(line: Line) -> Iterator[Row]:
    """Yield a row for each value of a line."""
    reading = read_line(line)
    if reading is None:
        return
    look, ruled = Look(reading), () if line.seen else ends_by_rule(line.said, line.text)
    for one in examples_of(line, reading):
        is_ruled = one.is_labelled and any(touches(value, one.held.value) for value in ruled)
        yield row_of(look, one.held, ends=one.ends, ruled=is_ruled, seen=line.seen, share=one.share)
    if line.ended and not line.seen:
        yield from rows_of_new(look, line)


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


def ends_by_rule(said: Sequence[str], text: str) -> tuple[str, ...]:
    """Return what the rules alone say that a message ends."""
    at = datetime(2031, 5, 14, tzinfo=UTC)
    heard = [Episode(f"e{i}", "s", f"t{i}", i, "user", one, at.replace(day=1 + i % 9)) for i, one in enumerate(said)]
    turn = Turn("t", Scope("0" * 32, "1" * 32), (Said("m", "user", text),), "ok", "complete", "m", at)
    found = BuiltinExtractor(weighs=False).extract(turn, (), heard)
    return tuple(value for candidate in found for value in ends_of(candidate))


def rows_of_talk(code: str, messages: Sequence[str]) -> Iterator[Row]:
    """Yield rows of somebody's messages that take nothing back: what was told before ends with none of them."""
    for number, reading, near in meetings(code, messages):
        look, brief = Look(reading), is_brief(reading)
        for held in (held for text in near for held in told_by(text, reading)):
            wanted = TALK_NAMED if places_of(held.value, reading.text) else TALK_UNNAMED if brief else 0.0
            if crc32(f"{number}{held.value}".encode()) % 100 < 100 * wanted:
                yield row_of(look, held, ends=False)


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
    lines, people = all_lines(), all_talk(options.talk)
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
