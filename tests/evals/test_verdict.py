from __future__ import annotations

import pytest

from proxy.evals.verdict import Check, enders, find, holds, judge

FRAME = "Where lines disagree, the later one holds."
SAID = [
    "I use Rectangle, Alfred and Hammerspoon on my laptop.",
    "The launcher got on my nerves, so I don't use Alfred anymore. Anyway, how do I remap caps lock?",
]
TOOLS = Check(present=(("Rectangle",), ("Hammerspoon",)), absent=("Alfred",), whole_words=False)
OLD = '2026-01-05: "I use Rectangle, Alfred and Hammerspoon on my laptop."'
NEW = '2026-01-07: "so I don\u2019t use Alfred anymore"'


def block(*lines: str) -> str:
    return "\n".join(("<memory>", *lines, "</memory>"))


def outcome(injected: str, check: Check = TOOLS, said=SAID) -> tuple[bool, bool, bool, bool]:
    verdict = judge(injected, check, said)
    return verdict.is_kept, verdict.is_resolved, verdict.is_strict, verdict.is_withheld


@pytest.mark.parametrize(
    ("needle", "text", "places"),
    [
        ("Perm", "in PERM, not Permafrost", [(3, 7)]),
        ("Perm*", "in Permafrost", [(3, 7)]),
        ("three\u00a0am", "at three\n am", [(3, 12)]),
        ("cow's milk", "no cow\u2019s milk", [(3, 13)]),
        ("厦门", "我住在厦门市", [(3, 5)]),
        ("C++", "in C++, not C", [(3, 6)]),
        ("a", "b", []),
    ],
)
def test_find_matches_whole_words_in_any_form(needle, text, places):
    assert find(needle, text) == places


def test_find_anywhere_matches_parts_of_words():
    assert find("Перм", "Я живу в Перми") == []
    assert find("Перм", "Я живу в Перми", whole_words=False) == [(9, 13)]


@pytest.mark.parametrize(
    ("injected", "expected"),
    [
        (block("I use Rectangle and Hammerspoon"), (True, True, True, True)),
        (block("I use Rectangle"), (False, False, False, True)),
        (block(OLD), (True, False, False, False)),
        (block(OLD, NEW), (True, False, False, False)),
        (block(FRAME, OLD, NEW), (True, True, False, False)),
        (block(FRAME, NEW, OLD), (True, False, False, False)),
        (block(f"{OLD}; then {NEW}"), (True, True, False, False)),
        (block(FRAME, OLD, NEW, OLD), (True, False, False, False)),
        (block(OLD) + block(FRAME, NEW), (True, True, False, False)),
        (block(FRAME, OLD) + block(NEW), (True, False, False, False)),
        (block(FRAME, OLD, '2026-01-07: "Anyway, how do I remap caps lock?"'), (True, False, False, False)),
    ],
)
def test_ended_string_resolves_to_its_ending(injected, expected):
    assert outcome(injected) == expected


def test_update_resolves_to_the_new_value():
    said = ["My office extension is 4471.", "Can you redo that signature? Extension is 5208, and use a nicer font."]
    check = Check(present=(("5208",),), absent=("4471",))
    old, new = "My office extension is 4471.", "Extension is 5208"
    assert outcome(block(FRAME, old, new), check, said)[1]
    assert not outcome(block(FRAME, old, "Can you redo that signature? 5208"), check, said)[1]


def test_unnamed_ending_is_any_later_statement():
    check = Check(present=(("Tomasz",),), absent=("Priya",))
    said = ["I live with Tomasz, and Priya stays over.", "Rough week. We split up. What should I read?"]
    assert enders("Priya", check, said) == ["Rough week.", "We split up."]
    assert enders("Nobody", check, said) == []


def test_statements_of_scripts_without_spaces_count_by_characters():
    assert holds('- "幕布我已经不用了"', "顺便说一声,幕布我已经不用了") is False
    assert holds('- "幕布我已经不用了"', "幕布我已经不用了")
    said = ["我平时办公用飞书和幕布。", "顺便说一声，幕布我已经不用了，会员到期就没续。"]
    check = Check(present=(("飞书",),), absent=("幕布",))
    assert outcome(block(FRAME, said[0], "幕布我已经不用了"), check, said)[1]


@pytest.mark.parametrize(
    ("injected", "is_resolved"),
    [
        ("We have 60 guests. We expected 90 guests.", True),
        ("We expect 90 guests, no, 60 of them.", True),
        ("90 guests\n60 guests", False),
        (f"{FRAME}\n90 guests\n60 guests", True),
        ("90 guests", False),
        ("60 guests", True),
    ],
)
def test_pair_is_resolved_by_the_newer_string(injected, is_resolved):
    check = Check(resolved=(("90 guests", ("60 guests", "60 of them")),))
    verdict = judge(injected, check)
    assert (verdict.is_resolved, verdict.is_right) == (is_resolved, is_resolved)
    assert verdict.is_strict == ("90" not in injected)


def test_reasons_name_all_that_is_wrong():
    check = Check(
        present=(("tea", "chai"),),
        absent=("coffee",),
        resolved=(("Leeds", ("York",)),),
        once=("sugar",),
        guarded=(("cats", ("hate", "hates")),),
    )
    verdict = judge("coffee, sugar and sugar in Leeds\nBo likes cats\nAda hates cats", check)
    assert verdict.reasons() == [
        "missing: tea | chai",
        "leaked: coffee",
        "not marked: Leeds",
        "2 times: sugar",
        "without hate | hates: Bo likes cats",
    ]
    assert not verdict.is_right
    assert judge("chai", check).is_right
