"""Names and related words of a clause."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.text.languages import words as listed
from proxy.text.terms import called_in, holds, terms_in, with_alike
from proxy.text.words import stems


@pytest.mark.parametrize(
    ("clause", "name"),
    [
        ("我老板叫赵建国。", "赵建国"),
        ("我女儿叫小雨", "小雨"),
        ("我有只猫叫做团子", "团子"),
        ("我的猫叫了一声", None),
        ("他叫我小明", None),
        ("My boss is called Ana", None),  # capitals mark names in English
    ],
)
def test_name_that_ends_a_clause_without_spaces(clause: str, name: str | None) -> None:
    assert [term.text for term in called_in(clause)] == ([name] if name else [])


@pytest.mark.parametrize(
    ("asked", "said"),
    [("my weight", "I weigh 93 kilos"), ("mein Gehalt", "Ich verdiene 4.100 Euro"), ("моя зарплата", "я зарабатываю")],
)
def test_related_words_hold_each_other(asked: str, said: str) -> None:
    (term,) = terms_in(asked)
    assert not holds(said, term)
    assert holds(said, with_alike(term))


@pytest.fixture
def impatient_threads() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("impatient_threads")
def test_stems_are_right_in_many_threads() -> None:
    found = [word for word in listed("time") | listed("people") | listed("verbs_done") if word.isalpha()]
    right = {word: stems.__wrapped__(word) for word in found}
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: {word: stems.__wrapped__(word) for word in found}, range(100)))
    assert made == [right] * 100
