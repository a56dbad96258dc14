"""What is typed without capitals and apostrophes is read with them, and quoted without."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.learn.extract_builtin import BuiltinExtractor
from proxy.memory.learn.extract_builtin.casing import cased, unclipped
from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.types import Episode, Said, Scope, Turn

ENGLISH, GERMAN = LEXICONS["en"], LEXICONS["de"]
AT = datetime(2026, 1, 1, tzinfo=UTC)
CHATTED = st.lists(
    st.sampled_from(["im", "dont", "the", "Joplin", "joplin", "thats", "ive", "«", "ida", ".", "42", "mr", "ß", "i"])
).map(" ".join)


@given(text=CHATTED, earlier=st.lists(CHATTED, max_size=3))
def test_only_letters_of_names_change(text: str, earlier: list[str]) -> None:
    for lexicon in (ENGLISH, GERMAN):
        found = cased(text, earlier, lexicon)
        assert len(found) == len(text)
        assert found.casefold() == text.casefold()
        assert found == text or text == text.lower()


@given(text=CHATTED)
def test_apostrophes_are_only_added(text: str) -> None:
    spelt, added = unclipped(text)
    assert all(spelt[place] == "'" for place in added)
    assert "".join(char for place, char in enumerate(spelt) if place not in set(added)) == text


def test_a_name_is_written_as_before() -> None:
    assert cased("joplin is awful", ["I keep notes in Joplin."], ENGLISH) == "Joplin is awful"
    assert cased("calm is awful", ["I use Calm.", "keep calm"], ENGLISH) == "calm is awful"
    assert cased("Notes in joplin", ["I keep notes in Joplin."], ENGLISH) == "Notes in joplin"
    assert cased("ich hab den alten kühlschrank verkauft", [], GERMAN) == "ich hab den alten Kühlschrank verkauft"


def test_what_stands_where_an_apostrophe_may_be_left_alone() -> None:
    assert unclipped("its well, were ill")[0] == "its well, were ill"
    assert unclipped("i dont, you're")[0] == "i dont, you're"


def test_a_quote_is_what_was_typed() -> None:
    scope = Scope("0" * 32, "1" * 32)
    before = Episode("e0", "s", "turn_0", 0, "user", "I keep my notes in Joplin.", AT)
    said = Said("msg", "user", "hey, i dont use joplin anymore")
    turn = Turn("turn_1", scope, (said,), "ok", "complete", "m", AT)
    (ending,) = BuiltinExtractor().extract(turn, (), [before])
    assert (ending.action, ending.object) == ("retract", "Joplin")
    assert ending.quote in said.text
