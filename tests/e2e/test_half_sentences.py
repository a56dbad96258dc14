"""Sentences of which one half ends or is forgotten: the other half stays, and keeps its subject."""

from __future__ import annotations

import pytest

from tests.fakes.provider import FakeProvider
from tests.serving import agreeing
from tests.talking import Speaker


def told(speaker: Speaker, upstream: FakeProvider, *said: str, asked: str) -> str:
    """Send each message in its own conversation, ask in a new one, and return the provider's messages."""
    upstream.script(agreeing)
    for text in said:
        speaker.tell(text)
    speaker.say(asked)
    return str(upstream.last.json["messages"])


@pytest.mark.parametrize(
    ("first", "then", "asked", "stays"),
    [
        (
            "Я пью кофе без сахара и не ем глютен.",
            "Кофе я больше не пью.",
            "Что мне нельзя есть?",
            "не ем глютен",
        ),
        (
            "Trabajo en una panadería de Vigo y los sábados doy clases de guitarra.",
            "Ya no doy clases de guitarra.",
            "¿Dónde trabajo?",
            "panadería de Vigo",
        ),
        (
            "The wifi at my cabin is called PineNet, the key is under the third flowerpot.",
            "The key of my cabin is no longer under the flowerpot, it's with our neighbour Ines.",
            "Where is the key of my cabin?",
            "with our neighbour Ines",
        ),
    ],
)
def test_the_other_half_stays(
    alice: Speaker, upstream: FakeProvider, first: str, then: str, asked: str, stays: str
) -> None:
    assert stays in told(alice, upstream, first, then, asked=asked)


@pytest.mark.parametrize(
    ("first", "then", "asked", "stays"),
    [
        (
            "I live in Leeds and I play the cello in a quartet.",
            "I live in Sheffield now.",
            "What do I play?",
            "the cello",
        ),
        ("I live in Leeds with my cats, Momo and Kiki.", "I've moved to Hull.", "What are my cats called?", "Momo"),
        ("My name is Hannah, I live in Leeds and work at Bosch.", "I live in Hull now.", "Where do I work?", "Bosch"),
        (
            "Ich wohne in Metz und habe zwei Katzen.",
            "Ich wohne jetzt in Lyon.",
            "Welche Tiere habe ich?",
            "zwei Katzen",
        ),
        ("我住在北京，养了两只猫。", "我现在住在上海。", "我养了什么？", "两只猫"),
    ],
)
def test_a_move_ends_nothing_but_the_home(
    alice: Speaker, upstream: FakeProvider, first: str, then: str, asked: str, stays: str
) -> None:
    assert stays in told(alice, upstream, first, then, asked=asked)


def test_a_move_learns_nothing_from_a_pasted_letter(alice: Speaker) -> None:
    letter = "Translate this letter:\n\nDear Mr Falk,\nI moved to Metz and I own two parrots.\nKind regards,\nBenno"
    alice.tell(letter)
    alice.tell("I live in Lyon now.")
    assert alice.texts() == {"I live in Lyon now."}


def test_nothing_is_left_without_its_subject(alice: Speaker, upstream: FakeProvider) -> None:
    said = "Coco, our parrot, is very loud.", "We gave Coco away."
    assert "- our parrot" not in told(alice, upstream, *said, asked="Do we have a parrot?")
    assert all(not one.startswith("our parrot") for one in alice.texts())


@pytest.mark.parametrize(
    ("first", "then", "asked", "torn"),
    [
        ("My phone is a Pixel 6 and it is slow.", "I swapped the Pixel for a Nokia.", "Which phone?", "- it is slow"),
        (
            "Ich habe Schulden, etwa 12.000 Euro.",
            "Vergiss alles über meine Schulden.",
            "Was weißt du von mir?",
            "12.000",
        ),
        ("We gave our dog away.", "When I was a kid I cried because my dad was allergic.", "Dogs?", "- because"),
    ],
)
def test_no_half_is_shown_that_says_nothing_alone(
    alice: Speaker, upstream: FakeProvider, first: str, then: str, asked: str, torn: str
) -> None:
    assert torn not in told(alice, upstream, first, then, asked=asked)


def test_no_context_shows_what_was_forgotten(alice: Speaker, upstream: FakeProvider) -> None:
    said = "My PIN hint is the year my gran was born. She was born in Zadar.", "Don't remember the PIN hint."
    sent = told(alice, upstream, *said, asked="Where was my gran born?")
    assert "Zadar" in sent
    assert "PIN hint" not in sent


def test_a_request_about_nothing_is_not_shown(alice: Speaker, upstream: FakeProvider) -> None:
    said = "Forget everything I told you about Project Larkspur.", "I work in Delft."
    assert "Larkspur" not in told(alice, upstream, *said, asked="What do you know about me?")


def test_greetings_are_not_shown(alice: Speaker, upstream: FakeProvider) -> None:
    sent = told(alice, upstream, "Good morning!", "Thanks, that is great", "I work in Delft.", asked="Where do I work?")
    assert "Delft" in sent
    assert "Good morning" not in sent
