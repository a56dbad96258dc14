"""A candidate stands on the user's own words or falls."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from proxy.memory.ground import ground
from proxy.types import Candidate, Said, Scope, Turn

TEXT = 'I use  Magnet and “Shram” daily.\n> I live in Paris\nMy boss said "I work for Initech since last May".'
TURN = Turn(
    "t",
    Scope("0" * 32, "1" * 32),
    (Said("m", "user", TEXT), Said("a", "assistant", "You use Vim.")),
    "",
    "complete",
    "m",
    datetime(2026, 1, 1, tzinfo=UTC),
)
GOOD = Candidate("add", "fact", "Uses Magnet", "I use Magnet", "m", relation="use", object="Magnet")


@pytest.mark.parametrize("quote", ["I use Magnet", 'i use magnet and "shram" daily', "I use\nMagnet"])
def test_space_case_and_quotation_marks_do_not_count(quote: str) -> None:
    assert ground([replace(GOOD, quote=quote)], TURN)


@pytest.mark.parametrize(
    "bad",
    [
        replace(GOOD, quote="I use Notion", object="Notion"),
        replace(GOOD, quote="I live in Paris", object="Paris"),
        replace(GOOD, quote="I work for Initech", object="Initech"),
        replace(GOOD, quote="You use Vim", object="Vim", message_id="a"),
        replace(GOOD, message_id="other"),
        replace(GOOD, object="Notion"),
        replace(GOOD, quote=""),
        replace(GOOD, object="", text="Drives a tractor"),
        Candidate("retract", "fact", "", "I use Magnet", "m"),
    ],
)
def test_what_the_user_did_not_say_is_rejected(bad: Candidate) -> None:
    assert ground([bad], TURN) == []


def test_a_statement_without_object_needs_the_words_of_its_quote() -> None:
    assert ground([replace(GOOD, object="", text="I use Magnet daily")], TURN)
