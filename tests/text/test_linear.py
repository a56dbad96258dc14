"""All patterns of the package run in time linear in the text, for any text."""

from __future__ import annotations

import re

import pytest

from tests.text.patterns import of_languages, of_modules, of_wrappers
from tests.text.runs import Run, runs_for, slow_on

_WORD = re.compile(r"[^\W\d_]+")


def test_patterns_of_modules_are_linear() -> None:
    slow = {name: found for name, pattern in of_modules().items() if (found := slow_on(pattern, runs_for(pattern)))}
    assert not slow, _told(slow)


def test_patterns_of_languages_are_linear() -> None:
    alike = {_WORD.sub("w", pattern.pattern): (name, pattern) for name, pattern in of_languages().items()}
    runs = [Run("", unit) for unit in ("7", "a", " ", "a ", "a.", "a,", "a, ", "中", "中，", "\n")]
    slow = {name: found for name, pattern in alike.values() if (found := slow_on(pattern, runs))}
    assert not slow, _told(slow)


def test_patterns_of_wrappers_are_linear() -> None:
    runs = [
        Run("", unit)
        for unit in ("7", "a", " ", "a ", "a.", "# ", "*", "[", "中", "\n", "- ", "is ", "<a>", "question ")
    ]
    slow = {name: found for name, pattern in of_wrappers().items() if (found := slow_on(pattern, runs))}
    assert not slow, _told(slow)


@pytest.mark.parametrize("written", [r"\s+$", r"(\d+)\.", r"<a[^>]*>", r"x.*y", r"#+[ ]*t"])
def test_the_runs_find_what_is_not_linear(written: str) -> None:
    pattern = re.compile(written, re.DOTALL)
    assert slow_on(pattern, runs_for(pattern))


def test_patterns_are_found_wherever_they_are_kept() -> None:
    names = set(of_modules())
    assert {"proxy.text.segment._END", "proxy.text.quoted._TAG", "proxy.media.chunk._SENTENCE_END"} <= names
    assert len(of_languages()) > 3_000


def _told(slow: dict[str, list[tuple[Run, float, float]]]) -> str:
    lines = [
        f"{name}: {run.before!r} + {run.repeated!r} * n: {once:.1f} ms, twice as long {twice:.1f} ms"
        for name, found in slow.items()
        for run, once, twice in found[:3]
    ]
    return "\n".join(lines)
