"""What has ended is cut out of old words; what holds, and what was said since, is shown."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.plan.changes import retract_memory, revive
from proxy.memory.visibility.visibility import ClosedValues
from proxy.types import Memory

THEN = datetime(2026, 1, 1, tzinfo=UTC)
CLOSED = THEN + timedelta(days=9)
LATER = CLOSED + timedelta(days=9)


def memory(value: str, text: str = "", **fields: object) -> Memory:
    return Memory(f"mem_{value}{text}", "fact", text or value, THEN, THEN, THEN, object=value, **fields)  # type: ignore[arg-type]


def closed(*values: str) -> ClosedValues:
    return ClosedValues.from_memories([retract_memory(memory(value), CLOSED).memory for value in values])


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("I use Shram and Magnet as productivity tools", "Magnet", "I use Shram as productivity tools"),
        ("I use Shram and Magnet as productivity tools", "Shram", "I use Magnet as productivity tools"),
        ("I use Alpha, Beta and Gamma on my laptop, so beware.", "Gamma", "I use Alpha, Beta on my laptop, so beware."),
        ("I have psoriasis and a hazelnut allergy.", "psoriasis", "I have a hazelnut allergy."),
        ("My plate is KX21 VDP and I drive a Volvo.", "KX21 VDP", "I drive a Volvo."),
        (
            "I live with Tom, and my girlfriend Priya stays over. Any ideas for dinner?",
            "Priya",
            "I live with Tom. Any ideas for dinner?",
        ),
        ("Wir haben Waipu und Joyn abonniert.", "Waipu", "Wir haben Joyn abonniert."),
        ("Los lunes hago yoga y los martes esgrima.", "esgrima", "Los lunes hago yoga."),
        ("По вторникам у меня дзюдо, по четвергам регби.", "регби", "По вторникам у меня дзюдо."),
        ("我平时用飞书、石墨文档和幕布，文件很多。", "幕布", "我平时用飞书、石墨文档，文件很多。"),
        ("Magnet is great.", "Magnet", None),
        ("I like magnets and magnetism in general.", "Magne", "I like magnets and magnetism in general."),
        ("The pot is at 68,400 now. I like tea.", "68,400", "I like tea."),
    ],
)
def test_the_smallest_part_goes(text: str, value: str, expected: str | None) -> None:
    assert closed(value).visible(text, THEN) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("mandolin", "Both mandolins are mine."),
        ("Иван", "Я живу с Иваном."),
        ("акита", "Порода акиту любит снег."),
        ("podenca", "Son dos podencas."),
    ],
)
def test_inflected_forms_are_the_same_value(value: str, text: str) -> None:
    assert value[:4] not in (closed(value).visible(text, THEN) or "")


def test_names_that_differ_in_one_letter_are_different() -> None:
    assert closed("Maria").visible("I met Mario.", THEN) == "I met Mario."


def test_the_turn_that_ends_something_is_not_quoted() -> None:
    text = "The mandolin is gone, sold it to a student. What should I put on the wall?"
    assert closed("mandolin").visible(text, CLOSED) == "What should I put on the wall?"


def test_what_is_said_afterwards_is_shown() -> None:
    assert closed("Magnet").visible("I tried Magnet once more.", LATER) == "I tried Magnet once more."


def test_a_value_that_holds_again_shows_in_texts_since_then_only() -> None:
    back = revive(retract_memory(memory("Welsh"), CLOSED).memory, at=LATER, now=LATER)
    values = ClosedValues.from_memories([back])
    assert values.visible("I'm learning Welsh.", THEN) is None
    assert values.visible("I'm learning Welsh again.", LATER) == "I'm learning Welsh again."


def test_another_statement_of_the_same_value_that_still_holds_is_kept() -> None:
    gone = retract_memory(memory("Leeds", "I live in Leeds", quote="I live in Leeds."), CLOSED).memory
    stays = memory("Leeds", "My parents live in Leeds", quote="My parents live in Leeds.", subject="parents")
    values = ClosedValues.from_memories([gone, stays])
    assert values.visible("I live in Leeds. My parents live in Leeds.", THEN) == "My parents live in Leeds."


@given(st.text(max_size=200), st.text(min_size=1, max_size=12))
def test_any_text_can_be_looked_through(text: str, value: str) -> None:
    values = closed(value)
    shown = values.visible(text, THEN)
    assert shown is None or values.visible(shown, THEN) in (shown, None) or len(shown) <= len(text)


def test_a_hundred_values_and_fifty_texts_take_little_time() -> None:
    values = closed(
        *(
            a + b + c
            for a in "BKLMT"
            for b in ("ora", "ilu", "ane", "esto", "ubi")
            for c in ("dan", "rik", "los", "wen")
        )
    )
    texts = [
        f"On day {n} we walked along the river, had lunch and talked about the holidays and the weather."
        for n in range(50)
    ]
    start = time.process_time()
    for text in texts:
        assert values.visible(text, THEN) == text
    assert time.process_time() - start < 0.05
