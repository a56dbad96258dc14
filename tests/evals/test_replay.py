from __future__ import annotations

import pytest

from proxy.evals.dataset import Dataset, Line, Person, Question, Session
from proxy.evals.metrics import Gold, Injected
from proxy.evals.replay import Moment, places
from proxy.evals.score import Update, gold_of, rank, updated

OLD, NEW = "The gate code is 4711 now", "The gate code is 9022 now"
FIRST = Session("u", "s1", "2026-01-01T00:00:00", (Line("user", "The gate code is 4711 now", ("a",)),))
SECOND = Session(
    "u",
    "s2",
    "2026-01-02T00:00:00",
    (Line("user", "Hi there"), Line("assistant", "Hi"), Line("user", "The gate code is 9022 now", ("b",))),
)
STORED = [(session, line) for session in (FIRST, SECOND) for line in session.lines]


def question(text: str = "?", after: str = "all", **more: tuple[str, ...]) -> Question:
    return Question("u", text, "any", text, after, **more)


def test_question_stands_in_place_or_after_its_session():
    said, after, end = question("The gate code is 9022 now", "s2"), question("Code?", "s1"), question("Both codes?")
    person = Person("u", (FIRST, SECOND), (said, after, end))
    assert places(person) == {("s2", 2): [said], ("s1", None): [after], ("all", None): [end]}


def test_gold_is_messages_or_whole_sessions():
    moment = Moment(question(gold=("a", "b"), gold_sessions=("s2", "unknown")), (), STORED, "")
    by_message = gold_of(Dataset("x", ()), moment)
    by_session = gold_of(Dataset("x", (), gold_is_sessions=True), moment)
    assert by_message == Gold((("The gate code is 4711 now",), ("The gate code is 9022 now",)))
    assert by_session == Gold((("Hi there", "Hi", "The gate code is 9022 now"),))
    assert gold_of(Dataset("x", ()), Moment(question(gold=("z",)), (), STORED, "")) is None


def test_ranking_finds_sessions_by_text_and_by_name():
    moment = Moment(question(gold=("a", "b")), (), STORED, "")
    gold = gold_of(Dataset("x", ()), moment)
    assert gold is not None
    by_text = rank(Dataset("x", ()), moment, gold, [{"text": "User: The gate code is 9022 now", "session": "ses_1"}])
    by_name = rank(Dataset("x", ()), moment, gold, [{"text": "A code changed", "session": "s1"}])
    assert (by_text.turns, by_text.sessions) == (0.5, 0.5)
    assert (by_name.turns, by_name.sessions) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("text", "kept", "resolved", "strict", "first"),
    [
        (f"{NEW}. {OLD}.", True, True, False, True),
        (f"{OLD}. {NEW}.", True, False, False, False),
        (f"Where lines disagree, the later one holds.\n{OLD}. {NEW}.", True, True, False, False),
        (f"Where lines disagree, the later one holds.\n{NEW}. {OLD}.", True, False, False, True),
        (NEW, True, True, True, True),
        (OLD, False, False, False, False),
        ("", False, False, False, False),
    ],
)
def test_updated_value_is_read_off_the_block(text, kept, resolved, strict, first):
    moment = Moment(question(outdated=("a",), updated=("b",)), (), STORED, "")
    assert updated(moment, Injected(text)) == Update(kept, resolved, strict, first)


def test_question_without_an_update_has_none():
    assert updated(Moment(question(), (), STORED, ""), Injected("")) is None
