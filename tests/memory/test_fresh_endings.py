"""Endings told in words that neither rules nor weights were made from: how many are heard, and how much that was not said.

A line of ``endings/*.jsonl`` is what a user said, a later message that names a thing of it, and whether the thing ends
there. They were written to be hard, both ways, by authors who saw no rule; nothing was made or learned from them. Those of
``endings/plain`` were written as plainly as people talk, and tell as ``new`` what comes in its place, where something
does. What is held here is what is reached, so that nobody makes it worse unnoticed: it is far from what a reader
would reach.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proxy.memory.learn.extract_builtin.extractor import BuiltinExtractor
from proxy.memory.learn.extract_builtin.replacement import touches
from proxy.types import Episode, Said, Scope, Turn

FOLDER = Path(__file__).parent / "endings"
LEAST_HEARD = {
    "": {"en": 0.57, "de": 0.56, "es": 0.64, "ru": 0.49, "zh": 0.83},
    "plain": {"en": 0.77, "de": 0.74, "es": 0.74, "ru": 0.86, "zh": 0.77},
}
MOST_MISHEARD = {
    "": {"en": 0.16, "de": 0.11, "es": 0.14, "ru": 0.16, "zh": 0.29},
    "plain": {"en": 0.14, "de": 0.14, "es": 0.18, "ru": 0.2, "zh": 0.19},
}
SCOPE = Scope("0" * 32, "1" * 32, session="ses_2")
AT = datetime(2031, 5, 14, 7, 20, tzinfo=UTC)


def is_heard(line: dict[str, str]) -> bool:
    """Whether the thing of a line is heard to end."""
    before = Episode("a-0", "ses_1", "turn-a", 0, "user", line["said"], AT - timedelta(days=3))
    turn = Turn("turn-b", SCOPE, (Said("turn-b/0", "user", line["text"], live=True),), "Noted.", "complete", "m", AT)
    return any(
        any(touches(old, line["value"]) for old in found.replaces)
        or (found.action == "retract" and touches(found.object or found.text, line["value"]))
        for found in BuiltinExtractor().extract(turn, [], [before])
    )


@pytest.mark.parametrize("kind", sorted(LEAST_HEARD))
@pytest.mark.parametrize("code", sorted(LEAST_HEARD[""]))
def test_endings_in_fresh_words_are_heard_as_often_as_before(code: str, kind: str) -> None:
    lines = [json.loads(line) for line in (FOLDER / kind / f"{code}.jsonl").read_text("utf-8").splitlines()]
    ends = [is_heard(line) for line in lines if line["ends"]]
    lasts = [is_heard(line) for line in lines if not line["ends"]]
    assert sum(ends) / len(ends) >= LEAST_HEARD[kind][code]
    assert sum(lasts) / len(lasts) <= MOST_MISHEARD[kind][code]
