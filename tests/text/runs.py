"""Texts on which a pattern that is not linear shows it: long runs, alone and behind what the pattern begins with."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

Tree = Sequence[tuple[Any, Any]]

CLASSES = [
    *(
        "7",
        "a",
        "A",
        " ",
        "\n",
        "\t",
        ".",
        ",",
        "-",
        "_",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "/",
        "\\",
        "'",
        '"',
        "`",
    ),
    *("#", "*", "|", ":", "=", "@", "!", "?", "中", "é", "я", "\u0301", "\u200d", "\U0001f600", "…", "，"),
    *("a ", "7 ", "a.", "a,", "a-", "A ", "a\n", " \n", "7.", "7,", "a'", "a@", "aA", "| ", "|-", "中，", "\r\n", " #"),
    *("a b c ", ">\n", "<a>", "((", '{"a":', "<!--"),
]
BEHIND = ["7", "a", " ", "\n", ".", "#", "|", "a "]
LENGTH = 2_000  # characters, times those of one repeat
MAX = 16_000
FLOOR_MS = 2.0  # less is not measured: what is linear takes a tenth of it
MAX_GROWTH = 2.5
MAX_GROWTH_OF_EIGHT = 24.0
_MAX_EXAMPLES, _MAX_CUTS, _MAX_EXAMPLE = 4, 3, 200
_ENOUGH = 3
_OF_CATEGORY = {
    "CATEGORY_DIGIT": "7",
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": "a",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_NOT_WORD": ".",
    "CATEGORY_NOT_DIGIT": "a",
}


class Run(NamedTuple):
    """A text of any length: a beginning, and something repeated; what ends it lets no match reach the end."""

    before: str
    repeated: str

    def text(self, length: int) -> str:
        whole = self.repeated * (length // len(self.repeated) + 1)
        return self.before + whole[:length] + ("\0" if self.before else "")


def slow_on(pattern: re.Pattern[Any], runs: Sequence[Run]) -> list[tuple[Run, float, float]]:
    """Return the runs on which a search for all matches takes more than twice the time for twice the text.

    Milliseconds of a busy machine double by themselves: a suspect is measured again on texts one of which is eight times
    as long as the other, where what is quadratic takes 64 times as long.
    """
    found = []
    for run in runs:
        if len(found) >= _ENOUGH:
            break
        length = min(LENGTH * len(run.repeated), MAX)
        look = _cost_ms(pattern, run.text(length), 1)
        if look < FLOOR_MS or look <= MAX_GROWTH * _cost_ms(pattern, run.text(length // 2), 2):  # clears most
            continue
        half, whole = _cost_ms(pattern, run.text(length // 2), 3), _cost_ms(pattern, run.text(length), 3)
        if whole <= MAX_GROWTH * half:
            continue
        one, eight = _cost_ms(pattern, run.text(length // 2), 5), _cost_ms(pattern, run.text(4 * length), 2)
        if eight > MAX_GROWTH_OF_EIGHT * one:
            found.append((run, half, whole))
    return found


def runs_for(pattern: re.Pattern[Any]) -> list[Run]:
    """Return runs of each class of characters, and those that the pattern's own beginnings make."""
    made = [Run("", unit) for unit in CLASSES]
    for example in examples(pattern):
        size = len(example)
        for cut in sorted({max(1, round(size * part / _MAX_CUTS)) for part in range(1, _MAX_CUTS + 1)}):
            head = example[:cut]
            made += [Run("", head), Run("", f"{head} ")]
            made += [Run(head, unit) for unit in BEHIND]
    return list(dict.fromkeys(made))


def examples(pattern: re.Pattern[Any]) -> list[str]:
    """Return short texts that the alternatives of a pattern more or less match."""
    parser = import_module("re._parser")
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~re.LOCALE if isinstance(pattern.pattern, str) else 0)
    made = ["".join(_written(tree)), *("".join(_written(branch)) for branch in _branches(tree))]
    return [text[:_MAX_EXAMPLE] for text in dict.fromkeys(made) if text][:_MAX_EXAMPLES]


def _branches(tree: Tree) -> Sequence[Tree]:
    for kind, value in tree:
        if str(kind) == "BRANCH":
            return list(value[1])
        if str(kind) == "SUBPATTERN" and (found := _branches(value[3])):
            return found
    return []


def _written(tree: Tree) -> Iterator[str]:
    for kind, value in tree:
        match str(kind):
            case "SUBPATTERN":
                yield from _written(value[3])
            case "ATOMIC_GROUP":
                yield from _written(value)
            case "BRANCH":
                yield from _written(value[1][0])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield from [*_written(value[2])] * max(1, min(value[0], 70))
            case "LITERAL":
                yield chr(value)
            case "IN":
                yield _one_of(value)
            case "ANY" | "NOT_LITERAL":
                yield "a"


def _one_of(choices: Sequence[tuple[Any, Any]]) -> str:
    for kind, value in choices:
        match str(kind):
            case "LITERAL":
                return chr(value)
            case "RANGE":
                return chr(value[0])
            case "CATEGORY":
                return _OF_CATEGORY[str(value)]
    return "a"


def _cost_ms(pattern: re.Pattern[Any], text: str, times: int) -> float:
    subject: Any = text if isinstance(pattern.pattern, str) else text.encode()
    best = float("inf")
    for _ in range(times):
        start = time.process_time_ns()
        for _match in pattern.finditer(subject):
            pass
        best = min(best, (time.process_time_ns() - start) / 1e6)
    return best
