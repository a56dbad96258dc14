"""Statements that expire, and questions about the past, over real sockets."""

from __future__ import annotations

import pytest

from tests.fakes.provider import FakeProvider
from tests.talking import Speaker

TOLD = "2026-11-02T09:00:00Z"  # a Monday
LATER = "2026-12-10T09:00:00Z"


def sent(upstream: FakeProvider) -> str:
    return str(upstream.last.json["messages"])


PASSING = [
    ("Until Friday I am staying at the Hotel Astoria", "Astoria", "Where am I staying?", "2026-11-06"),
    ("This week I am in Rome", "Rome", "Which city am I in?", "2026-11-08"),
    ("Bis Freitag wohne ich im Hotel Adler", "Adler", "Wo wohne ich?", "2026-11-06"),
]


@pytest.mark.parametrize(("said", "word", "question", "last"), PASSING)
def test_a_statement_stops_being_current_by_itself(
    alice: Speaker, upstream: FakeProvider, said: str, word: str, question: str, last: str
) -> None:
    alice.tell(f"{said}. My boat is called Ondine.", x_memory_time=TOLD, x_memory_session="one")
    alice.say(question, x_memory_mode="read", x_memory_time="2026-11-04T09:00:00Z")
    assert word in sent(upstream)
    for ask in (question, "What is my boat called?"):
        alice.say(ask, x_memory_mode="read", x_memory_time=LATER)
        assert word not in sent(upstream), ask
    assert "Ondine" in sent(upstream)
    (memory,) = [row for row in alice.memories(as_of=TOLD.replace("09", "10", 1)) if word in row["text"]]
    assert memory["expires_at"] > last
    assert [row for row in alice.memories(as_of=LATER) if word in row["text"]] == []


def test_question_about_the_past_gets_ended_statements(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(PASSING[0][0], x_memory_time=TOLD, x_memory_session="one")
    alice.say("Where did I stay in early November?", x_memory_mode="read", x_memory_time=LATER)
    assert "Astoria [until 2026-11-06]" in sent(upstream)


def test_question_about_a_month_is_answered_from_history(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("I use Magnet for my windows", x_memory_time="2026-02-02T09:00:00Z", x_memory_session="one")
    alice.tell("I don't use Magnet anymore", x_memory_time="2026-04-02T09:00:00Z", x_memory_session="two")
    alice.say("What did I use in March?", x_memory_mode="read", x_memory_time=LATER)
    assert "2026-02-02: I use Magnet for my windows" in sent(upstream)
    assert "2026-04-02" in sent(upstream)
    assert [row["text"] for row in alice.memories(as_of="2026-03-15T00:00:00Z")] == ["I use Magnet for my windows"]
    assert alice.memories(as_of="2026-05-15T00:00:00Z") == []
