"""Wire fidelity is a list of rows, each with a test of its number."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent

# Subjects of the rows; each test's name has the number.
ROWS = {
    range(1, 9): "the request's body: fields, nulls, order, roles, parts, tools",
    range(9, 15): "bad bodies, codings, headers up",
    range(15, 32): "the reply's body, whole and streamed",
    range(32, 43): "events, their end, their errors",
    range(43, 53): "errors, headers down, paths, keys",
    range(53, 58): "hang-ups, partial replies, browsers",
    range(58, 67): "other paths",
    range(67, 70): "sizes, silence, many at once",
    range(70, 77): "with memory: retries, failures, order, validity, usage",
    range(77, 81): "shutdown, number texts, HTTP/1.1, nothing leaks",
    range(81, 84): "clients: upgrades, compressed bodies, compaction",
    range(84, 88): "clients: bound thoughts, beta fields, errors that say when to try again",
    range(88, 93): "clients: errands, wrappers, private headers, unfilled names, HEAD",
    range(93, 96): "clients: lists of models, spellings of the base URL, refused starts",
    range(96, 98): "clients: one memory over several; what is refused for memory goes up without it",
}


def test_every_row_has_a_test_of_its_name() -> None:
    named = {row for path in HERE.rglob("test_*.py") for name in _tests(path) for row in _rows(name)}
    assert sorted(named) == sorted(row for rows in ROWS for row in rows)
    assert named >= set(range(1, 98))


def _tests(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node.name for node in ast.walk(tree) if isinstance(node, kinds) and node.name.startswith("test_row_")]


def _rows(name: str) -> list[int]:
    numbers = re.match(r"test_row_((?:\d\d(?:_and)?_)+)", name)
    return [int(number) for number in re.findall(r"\d\d", numbers[1])] if numbers else []
