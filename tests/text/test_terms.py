"""Names and related words of a clause."""

from __future__ import annotations

import pytest

from proxy.text.terms import called_in, holds, terms_in, with_alike


@pytest.mark.parametrize(
    ("clause", "name"),
    [
        ("我老板叫赵建国。", "赵建国"),
        ("我女儿叫小雨", "小雨"),
        ("我有只猫叫做团子", "团子"),
        ("我的猫叫了一声", None),
        ("他叫我小明", None),
        ("My boss is called Ana", None),  # capitals tell names there
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
