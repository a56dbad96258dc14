"""Reads cases of a question with one more sentence: unless that ends the fact told before, the fact must stand.

A line of ``question_plus_sentence.jsonl``; with ``absent``, the message does end something::

    {"lang": "en", "fact": "I live in Rotterdam.", "message": "Where do I live? I'm filling in a form.",
     "probe": "Which city do I live in?", "present": ["Rotterdam"], "absent": []}

Or a Python file with two literal lists, which is parsed and never run: ``FACTS`` of (language, fact, probe, values,
questions, sentences), each question combined with each sentence, and ``ENDINGS`` of (language, fact, probe, absent,
present, message).
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proxy.errors import ConfigError
from proxy.evals.forget import Case

_LINES = "question_plus_sentence.jsonl"
_LISTS = ("question_plus_sentence.py", "clients/question_plus_sentence.py")
_NAMES = ("FACTS", "ENDINGS")
_UNSPACED = frozenset({"zh", "ja"})


def load_questions(folder: Path) -> list[Case]:
    """Read the cases of a folder.

    Raises:
        ConfigError: If there are none, or they are not of the format.
    """
    path = next((folder / name for name in (_LINES, *_LISTS) if (folder / name).is_file()), None)
    if path is None:
        raise ConfigError(f"The folder {str(folder)!r} holds none of {', '.join((_LINES, *_LISTS))}.\n{__doc__}")
    try:
        text = path.read_text(encoding="utf-8")
        rows = list(_listed(text)) if path.suffix == ".py" else [json.loads(line) for line in text.splitlines() if line]
        return [_case(number, row) for number, row in enumerate(rows)]
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise ConfigError(f"{str(path)!r} is not of the format: {error!r}.\n{__doc__}") from error


def _case(number: int, row: Mapping[str, Any]) -> Case:
    absent = tuple(row.get("absent", ()))
    return Case(
        id=f"{'ending' if absent else 'question'}-{number:03}",
        lang=row.get("lang", ""),
        kind="ending" if absent else "question",
        conversations=((row["fact"],), (row["message"],)),
        probe=row["probe"],
        present=tuple(row.get("present", ())),
        absent=absent,
    )


def _listed(source: str) -> Iterator[dict[str, Any]]:
    lists = _literals(source)
    for lang, fact, probe, values, questions, sentences in lists["FACTS"]:
        for at, (question, sentence) in enumerate(itertools.product(questions, sentences)):
            # behind the question for the fact itself, else behind and in front in turns
            parts = (question, sentence) if question == questions[0] or at % 2 == 0 else (sentence, question)
            message = ("" if lang in _UNSPACED else " ").join(parts)
            yield {"lang": lang, "fact": fact, "probe": probe, "present": values, "message": message}
    for lang, fact, probe, absent, present, message in lists["ENDINGS"]:
        yield {"lang": lang, "fact": fact, "probe": probe, "present": present, "absent": absent, "message": message}


def _literals(source: str) -> dict[str, list[Any]]:
    """Return the values that are assigned to the two names at the top of a module."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in _NAMES:
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found
