"""Check the words of the code, and print what breaks a rule.

A docstring names a thing or an action; a constant says MAX or MIN; a test's name has at most eight words.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_ROUNDABOUT = re.compile(r"(?:What|How|Where|Whether|Which|Who|Whose|Whoever)\b")
_SUPERLATIVE = re.compile(r"_?(?:MOST|LEAST|LONGEST|SHORTEST|FEWEST)(?:_|\Z)")
MAX_TEST_WORDS = 8
_TEST = re.compile(r"test_(?:row_\d+_(?:and_\d+_)?)?(?P<words>\w+)")  # the number of a row is no word
_NAMED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def findings(source: str, *, reads_docstrings: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the line and the reason of each word that the rules do not allow.

    >>> list(findings("'What is kept.'"))
    [(1, 'a docstring opens with "What": say what the thing is')]
    >>> list(findings("_MOST_ROWS = 8"))
    [(1, '_MOST_ROWS: begin with MAX or MIN')]
    >>> list(findings("def test_one_two_three_four_five_six_seven_eight_nine(): ..."))
    [(1, 'test_one_two_three_four_five_six_seven_eight_nine: more than 8 words')]
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, _NAMED):
            continue
        if reads_docstrings and (found := _ROUNDABOUT.match(ast.get_docstring(node) or "")):
            yield node.body[0].lineno, f'a docstring opens with "{found[0]}": say what the thing is'
        if not isinstance(node, ast.Module) and _is_long_test(node.name):
            yield node.lineno, f"{node.name}: more than {MAX_TEST_WORDS} words"
    for node in tree.body:
        is_assigned = isinstance(node, ast.Assign | ast.AnnAssign)
        for name in ast.walk(node) if is_assigned else ():
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and _SUPERLATIVE.match(name.id):
                yield node.lineno, f"{name.id}: begin with MAX or MIN"


def _is_long_test(name: str) -> bool:
    test = _TEST.fullmatch(name)
    return test is not None and len(test["words"].split("_")) > MAX_TEST_WORDS


def main() -> int:
    """Print the findings of all Python files; return how many there are, at most 1."""
    found = 0
    for folder in ("proxy", "tests", "deploy"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, reason in findings(path.read_text("utf-8"), reads_docstrings=folder == "proxy"):
                print(f"{path.relative_to(ROOT)}:{line}: {reason}")
                found = 1
    return found


if __name__ == "__main__":
    sys.exit(main())
