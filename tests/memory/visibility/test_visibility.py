"""Text of a closed memory is shown nowhere, all other text is, and undoing shows it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.plan.changes import ENDING, FORGOTTEN, HIDES, TERMS, TEXTS, undo_changes
from proxy.memory.visibility.visibility import Withheld
from proxy.text.segment import sentences
from proxy.text.terms import plain, terms_in
from proxy.types import Memory, Status
from tests.memory.rows import NOW

SAID = st.sampled_from(
    [
        "I use Magnet.",
        "My sister lives in Oslo!",
        "Am 3. Mai fahre ich los.",
        "Dr. Weiss is away...",
        "我住在无锡。",
        "Я живу в Перми.",
        "Really?",
        "- a list\n- of things",
        "fine :)",
        "Version 2.5.1 broke it",
    ]
)
TEXTS_SAID = st.lists(st.one_of(SAID, st.text(max_size=20)), max_size=6).map(" ".join)


def ending(*hides: tuple[str, int, int], status: Status = "closed", **metadata: Any) -> Memory:
    known = {ENDING: "end_1", HIDES: [list(hide) for hide in hides], **metadata}
    return Memory("end_1", "fact", "", NOW, NOW, NOW, status=status, metadata=known)


def forgetting(*texts: str, names: str = "", **metadata: Any) -> Memory:
    terms = [[term.text, sorted(term.forms), term.is_name] for term in terms_in(f"- {names}")]
    return ending(**{TEXTS: [plain(text) for text in texts], TERMS: terms, FORGOTTEN: True, **metadata})


def shown(text: str, *gone: str) -> str | None:
    """Return a stored text without the given closed sentences."""
    spans = [(a, b) for a, b in sentences(text) if text[a:b] in gone]
    assert len(spans) == len(gone)
    return Withheld.of([ending(*(("row", a, b) for a, b in spans))]).visible("row", text)


@pytest.mark.parametrize(
    ("text", "gone", "expected"),
    [
        ("I use Magnet. I like tea.", ["I use Magnet."], "I like tea."),
        ("I like tea. I use Magnet.", ["I use Magnet."], "I like tea."),
        ("I like tea. I use Magnet. I swim.", ["I use Magnet."], "I like tea. … I swim."),
        ("I use Magnet. I like tea.", ["I use Magnet.", "I like tea."], None),
        ("我住在无锡。我喝茶。", ["我住在无锡。"], "我喝茶。"),
        ("I use Magnet.\n\n\n***", ["I use Magnet."], None),
    ],
)
def test_withheld_sentences_are_left_out_whole(text: str, gone: list[str], expected: str | None) -> None:
    assert shown(text, *gone) == expected


def test_the_same_words_in_another_row_are_shown() -> None:
    withheld = Withheld.of([ending(("row", 0, 13))])
    assert withheld.visible("row", "I use Magnet.") is None
    assert withheld.visible("other", "I use Magnet.") == "I use Magnet."


@pytest.mark.parametrize("status", ["closed", "review"])
def test_endings_that_hold_withhold(status: Status) -> None:
    assert Withheld.of([ending(("row", 0, 13), status=status)]).visible("row", "I use Magnet.") is None


def test_spans_of_several_endings_are_all_withheld() -> None:
    first, second = ending(("row", 0, 5)), replace(ending(("row", 6, 11), ("row", 0, 5)), id="end_2")
    assert Withheld.of([first, second]).visible("row", "Cats. Dogs. Tea.") == "Tea."


def test_a_memory_that_is_no_ending_withholds_nothing() -> None:
    row = Memory("mem_1", "fact", "I use Magnet.", NOW, NOW, NOW, status="closed", metadata={HIDES: [["row", 0, 13]]})
    assert Withheld.of([row]).visible("row", "I use Magnet.") == "I use Magnet."


@given(TEXTS_SAID, st.data())
def test_withheld_sentences_go_others_stay_undo_restores(text: str, data: st.DataObject) -> None:
    spans = sentences(text)
    gone = data.draw(st.sets(st.sampled_from(spans)) if spans else st.just(set()))
    rows = [ending(*(("row", a, b) for a, b in gone))]
    seen = Withheld.of(rows).visible("row", text)
    kept = [text[a:b] for a, b in spans if (a, b) not in gone]
    assert _letters(seen or "") == _letters("".join(kept))
    at = 0
    for piece in kept:  # complete and in order
        at = (seen or "").index(piece, at) + len(piece)
    undone = [change.memory for change in undo_changes("end_1", rows, NOW)]
    assert Withheld.of(undone).visible("row", text) == text


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User: I use Magnet.", None),
        ("Assistant: i use magnet", None),
        ("I use Magnet and Shram.", "I use Magnet and Shram."),
        ("They swim on Mondays. I use Magnet. They like tea.", "They swim on Mondays. … They like tea."),
    ],
)
def test_texts_of_no_row_lose_withheld_sentences(text: str, expected: str | None) -> None:
    assert Withheld.of([ending(**{TEXTS: [plain("I use Magnet.")]})]).visible_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The user married Konrad in May. They live in Bern.", "They live in Bern."),
        ("Konrads Fahrrad ist kaputt.", None),
        ("Conrad lives in Bern.", "Conrad lives in Bern."),
        ("Konradin von Hohenstaufen", "Konradin von Hohenstaufen"),
    ],
)
def test_summaries_lose_what_names_a_forgotten_person(text: str, expected: str | None) -> None:
    assert Withheld.of([forgetting(names="Konrad")]).visible_text(text) == expected


def test_unnamed_forgotten_theme_needs_all_its_words() -> None:
    withheld = Withheld.of([forgetting(names="ring size")])
    assert withheld.visible_text("The user asked about ring sizes.") is None
    assert withheld.visible_text("The user bought a ring.") == "The user bought a ring."


def test_blocks_are_clean_only_without_forgotten_words() -> None:
    withheld = Withheld.of([forgetting("My ring size is 54."), ending(**{TEXTS: [plain("I use Magnet.")]})])
    assert not withheld.is_clean("[2026-01-01] My ring size is 54", [])
    assert withheld.is_clean("[2026-01-01] My shoe size is 43", [])
    assert withheld.is_clean("I use Magnet.", ["another"])  # closed, and possibly stated again


@pytest.mark.parametrize("texts", [[], [""]])
def test_a_request_that_names_no_sentence_keeps_blocks(texts: Sequence[str]) -> None:
    assert Withheld.of([forgetting(*texts, names="Konrad")]).is_clean("[2026-01-01] I like tea", [])
