"""A closed statement returns only when the user states it again."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import told

ENDED = ("I use Shram and Magnet as productivity tools.", "I don't use Magnet anymore.")


def test_a_new_statement_brings_it_back() -> None:
    world = told(*ENDED, "I started using Magnet again.")
    assert "I started using Magnet again." in world.active
    assert "I started using Magnet again." in world.quotable
    assert "I use Shram and Magnet as productivity tools." in world.quotable


def test_the_same_words_said_anew_hold_again() -> None:
    world = told("I use Magnet.", "I don't use Magnet anymore.", "I use Magnet.")
    assert world.active == ["I use Magnet."]


@pytest.mark.parametrize("reply", ["You use Magnet.", "I use Magnet."])
def test_a_reply_does_not_bring_it_back(reply: str) -> None:
    world = told("I use Magnet.", "I don't use Magnet anymore.")
    world.say("What can I tidy up with?", reply=reply)
    assert world.active == []


def test_reply_does_not_bring_back_forgotten_statements() -> None:
    world = told("I was married to Konrad.", "Forget everything about Konrad.")
    world.say("Whom did I know in Bern?", reply="You were married to Konrad. Nice town.")
    assert not any("Konrad" in text for text in [*world.active, *world.quotable])
    assert "Nice town." in world.quotable


def test_question_does_not_bring_back_forgotten_statements() -> None:
    world = told(*ENDED, "Do I use Magnet?")
    assert world.active == ["I use Shram as productivity tools."]


def test_passing_statement_said_anew_holds_anew() -> None:
    """The first "this week" has expired by the time of the second."""
    world = told("This week I am in Rome.", *["Good morning."] * 20, "This week I am in Rome.")
    first, second = sorted(world.memories.values(), key=lambda row: row.valid_from)
    assert first.expires_at is not None
    assert second.expires_at is not None
    assert first.expires_at < second.valid_from < second.expires_at


def test_passing_statement_in_resent_history_stays_over() -> None:
    world = told("This week I am in Rome.", *["Good morning."] * 20)
    world.say("This week I am in Rome.", live=False)
    assert len(world.memories) == 1
