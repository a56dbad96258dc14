"""What the learned weights add to the rules: endings in other words, what comes instead, and no more endings in mere talk."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.learn.extract_builtin.extractor import BuiltinExtractor
from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.memory.learn.extract_builtin.looks import Look, held_in
from proxy.memory.learn.extract_builtin.reading import read
from proxy.memory.learn.extract_builtin.traits import BIAS, message_traits, named_traits, spot_traits
from proxy.memory.learn.extract_builtin.verdicts import Verdicts
from proxy.memory.learn.extract_builtin.weights import NAMED, NEW, UNNAMED, Weights, weights_of
from proxy.text.words import HAS_CJK, words
from proxy.types import Candidate, Episode, Said, Scope, Turn

TALK = Path(__file__).with_name("talk")  # persons of whom nothing was learned, who take nothing back
MOST_FALSE = {"de": 7, "es": 8, "ru": 9, "zh": 6}  # of 140 messages each, written to mislead
SCOPE = Scope("0" * 32, "1" * 32)
AT = datetime(2031, 5, 14, 7, 20, tzinfo=UTC)
ENDED = [
    ("We live in Metz with our cat Pip.", "We've moved to Lyon, any tips for bakeries?", "Metz", "Lyon"),
    ("My flight leaves at 6:45 on Saturday.", "Checked the booking: departure is 8:20, not 6:45.", "6:45", "8:20"),
    ("Unser Hausarzt ist Dr. Amann.", "Dr. Amann ist in Rente, wir sind jetzt bei Dr. Kern.", "Amann", "Kern"),
    (
        "Mi jefa es la señora Etcheverry.",
        "Donde puse Etcheverry pon Echegaray, así se apellida.",
        "Etcheverry",
        "Echegaray",
    ),
]
ROOT = Path(__file__).resolve().parents[2]
TEXTS = st.text(
    st.sampled_from("Ida works in Bonn. Nicht 4 mehr, así ya no! Теперь живу 我不再住北京。?"), max_size=120
)


@pytest.fixture(scope="module")
def learning() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "deploy")
        yield importlib.import_module("learn_endings")


@pytest.fixture(scope="module")
def lines(learning: ModuleType) -> ModuleType:
    return sys.modules["endings_lines"]


def extracted(text: str, earlier: list[str], *, weighs: bool = True) -> list[Candidate]:
    heard = [
        Episode(f"e{n}", "s", f"t{n}", n, "user", told, AT - timedelta(days=len(earlier) - n))
        for n, told in enumerate(earlier)
    ]
    turn = Turn("turn", SCOPE, (Said("turn/0", "user", text),), "ok", "complete", "m", AT)
    return BuiltinExtractor(weighs=weighs).extract(turn, [], heard)


def ends(found: list[Candidate]) -> list[str]:
    return [old for one in found if one.action != "add" for old in (*one.replaces, one.object or one.text)]


@pytest.mark.parametrize(("said", "text", "old", "new"), ENDED)
def test_what_ends_gives_way_to_what_is_told_in_its_place(said: str, text: str, old: str, new: str) -> None:
    found = [one for one in extracted(text, [said]) if any(old in value for value in one.replaces)]
    assert [one.action for one in found] == ["replace"]
    assert new in found[0].object


@pytest.mark.parametrize("code", sorted(LEXICONS))
def test_each_language_has_weights_for_each_question(code: str) -> None:
    learned = weights_of(code)
    assert set(learned) == {NAMED, UNNAMED, NEW}
    assert all(weights.odds([BIAS]) < 0.5 for weights in learned.values())  # nothing ends where nothing speaks for it


@given(st.dictionaries(st.text(), st.floats(-9, 9, width=16)), st.frozensets(st.text()))
def test_weights_add_up_and_an_unknown_trait_weighs_nothing(learned: dict[str, float], unknown: frozenset[str]) -> None:
    weights = Weights(learned.items())
    assert weights.total([*learned, *(unknown - learned.keys())]) == pytest.approx(sum(learned.values()), abs=1e-3)
    assert weights.total(()) == 0


@pytest.mark.parametrize("code", sorted(MOST_FALSE))
def test_mere_talk_ends_next_to_nothing(code: str) -> None:
    false: list[str] = []
    for person in (TALK / f"{code}.txt").read_text("utf-8").strip().split("\n\n"):
        earlier: list[str] = []
        for text in person.splitlines():
            own = {word.text for word in words(text) if len(word.text) > 3 or HAS_CJK.match(word.text)}
            near = [told for told in earlier if own & {word.text for word in words(told)}]
            false += [text for one in extracted(text, near[-40:]) if one.action != "add"]
            earlier.append(text)
    assert len(false) <= MOST_FALSE[code], false


@given(TEXTS, TEXTS)
def test_any_text_is_weighed_against_any_other(said: str, text: str) -> None:
    for found in (extracted(text, [said]), extracted(text, [said, text, said])):
        assert all(one.quote in text for one in found)


@given(TEXTS, TEXTS)
def test_likelihoods_are_likelihoods_whatever_was_told(said: str, text: str) -> None:
    verdicts = Verdicts(read(text, LEXICONS), [said])
    assert all(0 <= verdict.odds <= 1 for verdict in verdicts.likely())
    assert all(text[start:end] for verdict in verdicts.likely() for start, end in verdict.places)


def test_the_same_words_have_the_same_traits_whatever_the_names() -> None:
    def traits(said: str, text: str) -> set[frozenset[str]]:
        look = Look(read(text, LEXICONS))
        return {
            named_traits(look, held, [(text.index(held.value), text.index(held.value) + len(held.value))])
            if held.value in text
            else message_traits(look, held.told) | spot_traits(look, held)
            for held in held_in(said, LEXICONS["en"])
            if held.may_end
        }

    metz = traits("We live in Metz.", "We have moved from Metz to Lyon.")
    assert metz
    assert metz == traits("We live in Turin.", "We have moved from Turin to Basel.")


def test_rules_alone_are_what_weights_are_learned_from() -> None:
    said, text = "We live in Metz with our cat Pip.", "Breakfast in Metz was lovely today."
    assert not ends(extracted(text, [said], weighs=False))
    assert not ends(extracted(text, [said]))


def test_every_line_names_what_it_says_of(lines: ModuleType) -> None:
    for path in sorted((ROOT / "deploy" / "endings" / "lines").glob("*.txt")):
        for line in lines.lines_in(path):
            assert line.code in LEXICONS
            assert line.text
            assert line.ended or line.kept, line


def test_the_same_lines_give_the_same_weights_and_what_tells_most_weighs_most(learning: ModuleType) -> None:
    code = "en"
    said, values = ("I play cello and harp.",), ("cello", "harp")
    lines = [learning.Line(code, said, f"I sold the harp, day {n}.", values[1:], values[:1]) for n in range(6)]
    lines += [learning.Line(code, said, f"I love the harp, day {n}.", (), values) for n in range(6)]
    rows = [row for line in lines for row in learning.rows_of(line) if row.model == NAMED]
    weights = learning.learn(rows)
    assert weights == learning.learn(rows)
    assert weights["1 sold"] > 0 > weights["1 love"]
