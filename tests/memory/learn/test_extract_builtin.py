"""What the rules read in a message: facts one by one, tastes, tasks, instructions, endings; and what they leave alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.learn.extract_builtin import BuiltinExtractor
from proxy.memory.learn.ground import ground
from proxy.types import Candidate, Episode, Said, Scope, Turn

AT = datetime(2026, 3, 10, 23, 30, tzinfo=UTC)


def turn(text: str, zone: str = "UTC") -> Turn:
    return Turn("t", Scope("0" * 32, "1" * 32), (Said("m", "user", text),), "", "complete", "m", AT, zone=zone)


def extract(text: str, *before: str, zone: str = "UTC") -> list[Candidate]:
    heard = [Episode(f"e{n}", "s", f"t{n}", n, "user", said, AT) for n, said in enumerate(before)]
    step = turn(text, zone)
    found = BuiltinExtractor().extract(step, (), heard)
    assert ground(found, step, heard=heard) == found, "every quote is the user's"
    return found


def objects(text: str, *before: str) -> set[str]:
    return {candidate.object for candidate in extract(text, *before) if candidate.action != "retract"}


def ended(text: str, *before: str) -> set[str]:
    return {value for candidate in extract(text, *before) for value in candidate.replaces}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I use Shram and Magnet as productivity tools", {"Shram", "Magnet"}),
        ("I speak Dutch, Frisian and a little Welsh at home.", {"Dutch", "Frisian", "little Welsh"}),
        ("Ich nutze Obsidian und Zotero für die Uni.", {"Obsidian", "Zotero"}),
        ("Uso Inkscape y Krita en el trabajo.", {"Inkscape", "Krita"}),
        ("Я использую Figma и Miro в работе.", {"Figma", "Miro"}),
        ("我会弹钢琴和吉他。", {"钢琴", "吉他"}),
    ],
)
def test_a_compound_object_becomes_one_fact_each(text: str, expected: set[str]) -> None:
    assert objects(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Always mention the sources, or say that there are none, when I ask about history.",
        "Please always show the units when I ask for a calculation.",
        "When I ask about recipes, never suggest coriander.",
        "I'd like you to always call me by my first name.",
        "Bitte erwähne immer die Quelle, wenn ich nach Zahlen frage.",
        "Bitte immer Beispiele angeben, wenn ich etwas nicht verstehe.",
        "Siempre incluye la fuente, aunque sea larga, cuando pregunte por datos.",
        "Cuando pregunte por recetas, indica las calorías.",
        "Всегда указывай источник, когда я спрашиваю о цифрах.",
        "Когда я спрашиваю о рецептах, пиши калории.",
        "请总是注明来源，哪怕很长。",
        "每次我问菜谱都请列出热量。",
    ],
)
def test_a_standing_instruction_is_kept_whole_and_for_every_conversation(text: str) -> None:
    (candidate,) = extract(text)
    assert (candidate.relation, candidate.kind, candidate.profile) == ("instruction", "procedure", True)
    assert candidate.text == text.rstrip(".。")


@pytest.mark.parametrize(
    "text",
    [
        "Always been afraid of dogs, me.",
        "Never been to Norway.",
        "Always use the lift, he said, and so I did.",
        "Immer nur Regen hier.",
        "Siempre llueve aquí.",
        "Всегда любил море.",
        "总是下雨。",
    ],
)
def test_what_is_always_so_is_no_instruction(text: str) -> None:
    assert all(candidate.relation != "instruction" for candidate in extract(text))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("My name is Ines.", {"relation": "name", "object": "Ines", "profile": True, "single": True}),
        ("Please always answer in German.", {"relation": "reply language", "kind": "procedure", "profile": True}),
        ("From now on, keep answers short.", {"relation": "instruction", "kind": "procedure", "profile": True}),
        ("Ich heiße Jonas.", {"relation": "name", "object": "Jonas", "profile": True}),
        ("Me llamo Vera.", {"relation": "name", "object": "Vera", "profile": True}),
        ("Меня зовут Глеб.", {"relation": "name", "object": "Глеб", "profile": True}),
        ("我叫林森。", {"relation": "name", "object": "林森", "profile": True}),
        ("I live in Leeds.", {"relation": "live in", "object": "Leeds", "single": True, "profile": False}),
        ("I love olives.", {"kind": "preference", "object": "olives", "profile": False}),
        ("My cat is called Miso.", {"subject": "cat", "object": "Miso"}),
        ("Remind me to water the plants tomorrow", {"kind": "task"}),
        ("My desk is 3F-118.", {"relation": "desk", "object": "3F-118", "single": True}),
    ],
)
def test_what_is_stated_has_its_kind_and_slot(text: str, fields: dict[str, Any]) -> None:
    (candidate,) = extract(text)
    assert {name: getattr(candidate, name) for name in fields} == fields


@pytest.mark.parametrize(
    "text",
    [
        "Can you write a poem about autumn?",
        "hello there, how are you?",
        "Thanks, that was great!",
        "Do I use Magnet?",
        "If I used Magnet I would be faster.",
        "Should I live in Leeds?",
        "```\nI use Magnet\n```",
        "> I use Magnet",
        "What is the capital of France?",
        "Kannst du mir ein Gedicht schreiben?",
        "¿Puedes escribirme un poema?",
        "Напиши мне стихотворение, пожалуйста.",
        "帮我写一首诗吧。",
    ],
)
def test_small_talk_questions_and_thoughts_give_nothing(text: str) -> None:
    assert extract(text) == []


@pytest.mark.parametrize(
    ("text", "zone", "day"),
    [
        ("I have a dentist appointment tomorrow", "UTC", 11),
        ("I have a dentist appointment tomorrow", "Asia/Tokyo", 12),
        ("I have a meeting on March 22", "UTC", 22),
        ("Ich habe eine Prüfung in zwei Tagen", "UTC", 12),
        ("I adopted a dog three days ago", "UTC", 7),
    ],
)
def test_dates_are_resolved_against_the_turn(text: str, zone: str, day: int) -> None:
    candidate = extract(text, zone=zone)[0]
    assert candidate.at is not None
    from zoneinfo import ZoneInfo

    assert candidate.at.astimezone(ZoneInfo(zone)).day == day


@pytest.mark.parametrize(
    ("before", "text", "value"),
    [
        ("I play the cello and the mandolin.", "The mandolin is gone too, sold it.", "mandolin"),
        ("The wedding is in Lisbon.", "Actually it is Porto.", "Lisbon"),
        ("My office extension is 4471.", "Extension is 5208, please.", "4471"),
        ("We live in Leeds.", "We moved from Leeds to Aberdeen.", "Leeds"),
        ("My plate is KX21 VDP.", "Don't remember my plate KX21 VDP please.", "KX21 VDP"),
        ("Ich nutze Scrivener.", "Scrivener nutze ich nicht mehr.", "Scrivener"),
        ("Toco la zampoña.", "Vendí la zampoña.", "zampoña"),
        ("Учу суахили.", "Суахили я забросил.", "Суахили"),
        ("我平时用幕布。", "幕布我已经不用了。", "幕布"),
    ],
)
def test_what_ends_is_found_in_what_was_said_before(before: str, text: str, value: str) -> None:
    assert ended(text, before) == {value}


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I use Zulip all day.", "I don't use Zulip on weekends."),
        ("I take levothyroxine.", "My friend stopped taking levothyroxine."),
        ("I play the bassoon.", "I never stopped playing the bassoon."),
        ("I edit in Darktable.", "Should I stop using Darktable?"),
        ("I train with kettlebells.", 'The blog says "get rid of your kettlebells, they are a waste".'),
        ("I go to Ironhaven.", "If they raise the fees, I would quit Ironhaven."),
        ("I speak Catalan.", "I also speak Occitan."),
        ("I use Magnet.", "Don't let me forget to update Magnet."),
        ("I keep a notes file.", "Delete the second paragraph of the notes file."),
    ],
)
def test_near_misses_end_nothing(before: str, text: str) -> None:
    assert ended(text, before) == set()


def test_forgetting_is_marked_and_restating_too() -> None:
    assert extract("Forget everything you know about Gregor.", "My landlord is Gregor.")[0].forget
    assert any(candidate.again for candidate in extract("I'm learning Welsh again!", "I'm learning Welsh."))


def test_at_most_a_few_facts_come_of_one_message() -> None:
    text = " ".join(f"I use Tool{letter}." for letter in "ABCDEFGHIJKLMNOP")
    assert len(extract(text)) <= 6


@given(st.text(max_size=400))
@settings(deadline=None, max_examples=150)
def test_any_text_can_be_read(text: str) -> None:
    extract(text, "I use Magnet and live in Leeds.")


def test_an_endless_sentence_is_passed_over_and_what_follows_is_read() -> None:
    endless = ", ".join(f"I use tool{number}" for number in range(200))
    assert objects(f"{endless}.\nI use Shram for notes.") == {"Shram"}


def test_a_name_told_anew_stays_in_the_profile() -> None:
    (candidate,) = extract("My name is Rowan, and what is a dipole?", "My name is Robin")
    assert (candidate.action, candidate.relation, candidate.profile) == ("replace", "name", True)
    assert candidate.replaces == ("Robin",)


@pytest.mark.parametrize(
    "text",
    [
        "I'm debating if a trust is feasible with my current savings of $25,000.",
        "Mein Gehalt von 65.000 Euro reicht gerade so.",
        "My rent of €1,250.50 is due.",
    ],
)
def test_a_piece_of_a_number_is_no_value(text: str) -> None:
    assert not objects(text) & {"000", "25", "65", "250", "50", "250.50", "1,250"}


def test_a_date_keeps_its_year() -> None:
    assert objects("I was born on March 3, 1990.") == {"March 3, 1990"}
    assert not ended(
        "My boss retires in March 2025, and I need someone new for my estate plan.",
        "I started my estate plan as of March 15, 2024.",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "I use Zulip for chat and Figma for design.",
            {"Zulip": "I use Zulip for chat", "Figma": "I use Figma for design"},
        ),
        (
            "I prefer electronic signatures to save time and reduce paper waste.",
            {"electronic signatures": "I prefer electronic signatures to save time"},
        ),
        ("I'm using Bootstrap for my website's layout and design.", {"Bootstrap": "I'm using Bootstrap for my website's layout"}),
        ("I've been working with Zofia, 28, a junior editor.", {"Zofia": "I've been working with Zofia"}),
        (
            "I have a vibrant presence and a playful sense of humour.",
            {"vibrant presence": "I have a vibrant presence", "playful sense": "I have a playful sense of humour"},
        ),
        ("Uso Zulip para el trabajo y Signal en casa.", {"Zulip": "Uso Zulip para el trabajo", "Signal": "Uso Signal en casa"}),
    ],
)  # fmt: skip
def test_what_hangs_on_one_of_a_list_is_not_said_of_the_others(text: str, told: dict[str, str]) -> None:
    assert {candidate.object: candidate.text for candidate in extract(text)} == told


def test_a_figure_replaces_that_of_the_same_thing_only() -> None:
    before = "I'm not sure it is feasible with my current savings of 2400 a month."
    assert not ended("I track my estate expenses, which are currently at 3500 a month.", before)


def test_who_tells_what_they_delete_asks_for_nothing_to_be_forgotten() -> None:
    asked = "How can I balance speed with privacy, given our rules, deleting candidates' data after 6 months?"
    assert not ended(asked, "I prefer a balanced approach to hiring.", "I want more work-life balance.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('We love "The Santa Clause" too - so heartwarming.', {"The Santa Clause"}),
        ("Ich mag „Dune“ sehr.", {"Dune"}),
        ("We're like a family.", set()),
        ("Connecting with the things I love makes writing more fun.", set()),
    ],
)
def test_what_is_liked_is_a_thing(text: str, expected: set[str]) -> None:
    assert objects(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm Zofia, a paediatric nurse.", {"paediatric nurse"}),
        ("Hi, I'm Craig, a 44-year-old colour technologist from Port Michael.", {"colour technologist"}),
        ("I'm tired, a nurse told me to rest.", set()),
        ("I'm a 31-year-old man from Leeds.", set()),
    ],
)
def test_who_introduces_themselves_tells_what_they_do(text: str, expected: set[str]) -> None:
    assert objects(text) == expected


def test_a_piece_of_a_number_is_not_ended() -> None:
    before = "My salary is 600,000 yen, and I put 50,000 aside."
    assert not ended("You wrote three sentences about moving 50,000 into the All-Country fund.", before)


def test_what_somebody_is_called_and_what_they_are_do_not_replace_each_other_in_chinese() -> None:
    assert not ended("我的下属叫赵雨涵。", "我的下属是个老师。")
    assert not ended("我的下属是个程序员。", "我的下属叫李明辉。")
    assert ended("我的下属叫赵雨涵。", "我的下属叫李明辉。") == {"李明辉"}
