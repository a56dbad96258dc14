"""Loader of scenarios: cases of forgetting, and questions with one additional sentence that closes nothing.

A line of ``retract/open.jsonl`` or ``retract.jsonl``; ``near_miss``, ``additive`` and ``restate`` close nothing::

    {"id": "…", "lang": "en", "kind": "retract", "conversations": [["first message", …], …],
     "probe": "question", "present": ["must be injected"], "absent": ["must not be"]}

A line of ``question_plus_sentence.jsonl``; with ``absent``, the message does close a statement::

    {"lang": "en", "fact": "I live in Rotterdam.", "message": "Where do I live? I'm filling in a form.",
     "probe": "Which city do I live in?", "present": ["Rotterdam"], "absent": []}

Or ``question_plus_sentence.py`` with two literal lists; it is parsed and never run: ``FACTS`` of (language, fact,
probe, values, questions, sentences), each question combined with each sentence, and ``ENDINGS`` of (language, fact,
probe, absent, present, message).
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from proxy.clock import iso
from proxy.errors import ConfigError
from proxy.evals.cases import Scenario

FIRST_DAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
APART = timedelta(days=2)
_CASES = ("retract/open.jsonl", "retract.jsonl")
_NAME = "question_plus_sentence"
_QUESTIONS = (f"{_NAME}.jsonl", f"{_NAME}.py", f"clients/{_NAME}.py")
_ENDING_NOTHING = frozenset({"near_miss", "additive", "restate", "question"})
_LISTS = ("FACTS", "ENDINGS")
_UNSPACED = frozenset({"zh", "ja"})

Row = Mapping[str, Any]


def has_cases(folder: Path) -> bool:
    """Return whether a folder holds cases of forgetting."""
    return any((folder / name).is_file() for name in _CASES)


def load_cases(folder: Path) -> list[Scenario]:
    """Read the cases of forgetting.

    Raises:
        ConfigError: If there are none, or a line has the wrong format.
    """
    return _load(folder, _CASES, _case)


def load_questions(folder: Path) -> list[Scenario]:
    """Read the cases of a question with one additional sentence.

    Raises:
        ConfigError: If there are none, or they have the wrong format.
    """
    return _load(folder, _QUESTIONS, _question)


def _load(folder: Path, names: Sequence[str], read: Callable[[int, Row], Scenario]) -> list[Scenario]:
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise ConfigError(f"The folder {str(folder)!r} holds none of {', '.join(names)}.\n{__doc__}")
    text = path.read_text(encoding="utf-8")
    try:
        rows = _listed(text) if path.suffix == ".py" else map(json.loads, filter(str.strip, text.splitlines()))
        return [read(number, row) for number, row in enumerate(rows)]
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise ConfigError(f"{str(path)!r} is not of the format: {error!r}.\n{__doc__}") from error


def _case(_: int, row: Row) -> Scenario:
    kind, told = row.get("kind", ""), row["conversations"]
    steps = tuple({"user": list(said), "time": iso(FIRST_DAY + APART * at)} for at, said in enumerate(told))
    checks = {name: row.get(name, ()) for name in ("present", "absent")}
    probe = {"probe": row["probe"], "time": iso(FIRST_DAY + APART * len(told)), **checks}
    nothing = kind in _ENDING_NOTHING
    return Scenario(row["id"], kind, row.get("lang", ""), steps, (probe,), {}, ends_nothing=nothing, whole_words=False)


def _question(number: int, row: Row) -> Scenario:
    kind = "ending" if row.get("absent") else "question"
    told = [[row["fact"]], [row["message"]]]
    return _case(number, {**row, "id": f"{kind}-{number:03}", "kind": kind, "conversations": told})


def _listed(source: str) -> Iterator[Row]:
    lists = _literals(source)
    for lang, fact, probe, values, questions, sentences in lists["FACTS"]:
        for at, (question, sentence) in enumerate(itertools.product(questions, sentences)):
            # the sentence follows the question about the fact itself; for others it alternately follows and precedes
            parts = (question, sentence) if question == questions[0] or at % 2 == 0 else (sentence, question)
            message = ("" if lang in _UNSPACED else " ").join(parts)
            yield {"lang": lang, "fact": fact, "probe": probe, "present": values, "message": message}
    for lang, fact, probe, absent, present, message in lists["ENDINGS"]:
        yield {"lang": lang, "fact": fact, "probe": probe, "present": present, "absent": absent, "message": message}


def _literals(source: str) -> dict[str, list[Any]]:
    """Return the literals assigned to the names in ``_LISTS`` at the top level of a module."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in _LISTS:
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found
