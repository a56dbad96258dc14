"""Learn from told examples what the signs around a value say of it; run by hand, after the examples or the cues change.

    python deploy/learn_stance.py tests/memory/retract_own.jsonl

Every value that a later message of a case names is an example: it ended ("absent") or it holds ("present"); a value as
it was first told is one that holds. The model
is a logistic regression with a penalty on the squares of the weights (Hoerl and Kennard, 1970), which are written
to ``proxy/memory/extract_builtin/stance.txt`` one to a line; signs seen in one example only are left out.
"""

# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy>=2"]
# ///

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from proxy.memory.extract_builtin import stance
from proxy.memory.extract_builtin.extractor import LEXICONS
from proxy.memory.extract_builtin.facts import stated_in
from proxy.memory.extract_builtin.mentions import Heard
from proxy.memory.extract_builtin.pairs import pairs_in
from proxy.memory.extract_builtin.reading import read

WEIGHTS = Path(stance.__file__).with_name("stance.txt")
PENALTY, STEPS, LEAST = 3.3, 400, 0.02
EVERY = 5  # case is one of what was said again: people come back to what they have told, but seldom here
_SHORT = 3  # letters of a part of a value that may be any word


def examples(case: dict[str, Any]) -> Iterator[tuple[set[str], bool]]:
    """Yield marks of what a case names again with whether it is a value, and a value's signs with whether it ended."""
    earlier: list[str] = []
    for number, conversation in enumerate(case["conversations"]):
        is_between = 0 < number < len(case["conversations"]) - 1
        for text in conversation:
            if earlier:
                yield from _of_message(text, earlier, case, is_between=is_between)
            earlier.append(text)


def said_again(case: dict[str, Any]) -> Iterator[tuple[set[str], bool]]:
    """Yield the values of a case as they were first told: who tells a thing once more still means it."""
    text, values = case["conversations"][0][0], [*case["absent"], *case["present"]]
    found = stance.Stance(read(text, LEXICONS, hint=case["lang"]), Heard(values, values, text))
    for place, mention in found.named():
        yield found.signs(place, mention), False


def _of_message(
    text: str, earlier: list[str], case: dict[str, Any], *, is_between: bool
) -> Iterator[tuple[set[str], bool]]:
    reading = read(text, LEXICONS, hint=case["lang"])
    values = [fact.object for told in earlier for fact in stated_in(told, reading.lexicon)]
    values += [pair.value for told in earlier for pair in pairs_in(told, reading.lexicon)]
    found = stance.Stance(reading, Heard(earlier, values, text))
    for place, mention in found.named():
        surface = mention.surface.casefold()
        gone, holds = ([value.casefold() for value in case[key]] for key in ("absent", "present"))
        has_ended = any(v in surface or (surface in v and len(surface) > _SHORT) for v in gone)
        is_told = has_ended or any(value in surface for value in holds)
        yield found.marks(mention), is_told
        if is_told:
            yield found.signs(place, mention), has_ended or (case["kind"] == "restate" and is_between)


def fit(found: list[tuple[set[str], bool]]) -> dict[str, float]:
    """Return the weight of each sign, by gradient descent with momentum (Nesterov, 1983)."""
    counts = Counter(sign for signs, _ in found for sign in signs)
    column = {sign: n for n, sign in enumerate(sorted(sign for sign, times in counts.items() if times > 1))}
    seen = np.zeros((len(found), len(column)), np.float32)
    for row, (signs, _) in enumerate(found):
        seen[row, [column[sign] for sign in signs if sign in column]] = 1
    ended = np.array([has_ended for _, has_ended in found], np.float32)
    weights = previous = np.zeros(len(column), np.float32)
    rate = 4 / (float(np.linalg.norm(seen, 2)) ** 2 + 4 * PENALTY)
    for step in range(STEPS):
        ahead = weights + (step / (step + 3)) * (weights - previous)
        slope = seen.T @ (1 / (1 + np.exp(-seen @ ahead)) - ended) + PENALTY * ahead
        previous, weights = weights, ahead - rate * slope
    return {sign: float(weights[n]) for sign, n in column.items() if abs(weights[n]) >= LEAST}


def main() -> None:
    """Read the cases, learn, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", type=Path, nargs="+")
    lines = [line for path in parser.parse_args().cases for line in path.read_text("utf-8").splitlines()]
    cases = [json.loads(line) for line in lines]
    found = [example for case in cases for example in examples(case)]
    found += [example for case in cases[::EVERY] for example in said_again(case)]
    marks = [example for example in found if f"= {stance.BIAS}" in example[0]]
    signs = [example for example in found if stance.BIAS in example[0]]
    weights = fit(signs) | fit(marks)
    WEIGHTS.write_text("".join(f"{weight:.2f}\t{sign}\n" for sign, weight in sorted(weights.items())), "utf-8")
    print(f"{len(found)} examples, {len(weights)} signs")


if __name__ == "__main__":
    main()
