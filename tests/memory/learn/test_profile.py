"""A standing instruction opens with always or never; a fact about always or never does not join the profile."""

from __future__ import annotations

import pytest

from proxy.memory.learn.statements import own_sentences, statements
from tests.memory.learn.world import World


def in_profile(text: str) -> list[str]:
    return [one.text for one in statements(own_sentences(text)) if one.is_profile]


@pytest.mark.parametrize(
    "text",
    [
        "Always give the sizes in centimetres when I ask about furniture.",
        "Please always use metric units.",
        "Never use emojis in my letters.",
        "Immer die Quelle angeben, wenn ich nach Zahlen frage.",
        "Siempre incluye las fuentes cuando pregunto por salud.",
        "Indique toujours la source quand je demande un chiffre.",
        "Inclua sempre as fontes quando eu perguntar sobre saúde.",
        "Всегда указывай источник, когда я спрашиваю о цифрах.",
        "总是给我列出来源。",
    ],
)
def test_a_standing_instruction_is_of_the_profile(text: str) -> None:
    assert in_profile(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "I've never met Kyle.",
        "My sister always cooks on Sundays.",
        "We always eat at six.",
        "Always looking for new recipes for my kids.",
        "Always happy to help, I love my job!",
        "Never mind, I got it.",
        "Ich gehe immer schwimmen.",
        "Immer noch keine Antwort von meinem Vermieter.",
        "Siempre me ha gustado Bilbao.",
        "Toujours pas de nouvelles de mon frère.",
        "Sempre foi o meu sonho.",
        "Всегда хотел жить у моря, но мой дом в горах.",
        "我总是六点起床。",
    ],
)
def test_what_always_or_never_was_so_is_not(text: str) -> None:
    assert in_profile(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Please never use mailx, I only have msmtp here",
        "Please keep the answers short, my eyes are weak",
        "No multiple choice, ever, I hate marking those",
        "请以后回答都用列表，别写长段落",
        "Mein Sohn Lasse hat eine Erdnussallergie.",
        "Meine Frau Swantje hat jetzt doch Laktoseintoleranz.",
        "Sanjay is vegetarian and I can't stand coriander",
        "I have to avoid dairy as long as I'm nursing",
        "Mi mujer es vegetariana.",
        "我老婆吃素。",
    ],
)
def test_diets_and_ways_to_answer_stand(text: str) -> None:
    assert in_profile(text) == [text]


def test_what_holds_once_is_no_instruction() -> None:
    assert in_profile("Never use tabs here") == []


def test_allergy_of_a_named_person_is_kept() -> None:
    world = World()
    world.say("My daughter Ivy is nine.")
    world.say("Ivy is allergic to kiwi, what red fruit could we use?")
    world.say("Penicillin is what many are allergic to, is that so?")
    assert world.active == ["My daughter Ivy is nine.", "Ivy is allergic to kiwi"]


def test_allergy_stays_with_the_person_it_is_of() -> None:
    assert in_profile("我女儿朵朵今年七岁，对芒果过敏，生日蛋糕做什么口味好？") == ["我女儿朵朵今年七岁，对芒果过敏"]


def test_change_of_an_instruction_joins_the_profile() -> None:
    world = World()
    world.say("No long texts please")
    world.say("Long texts are fine now")
    assert [bool(row.metadata.get("profile")) for row in world.memories.values()] == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        "My friend wrote an article about nut allergies.",
        "My friend wrote an article about a nut allergy.",
        "Mi vecino publicó un artículo sobre la alergia al polen.",
        "Meine Schwester hat ein Buch über Nussallergien gekauft.",
    ],
)
def test_what_is_written_of_an_allergy_stays_out(text: str) -> None:
    assert in_profile(text) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I'm vegan.", "I eat meat again."),
        ("I'm a vegetarian.", "I started eating fish last month."),
        ("Ich bin Veganer.", "Ich esse wieder Fleisch."),
        ("Soy vegana.", "Vuelvo a comer carne."),
        ("Я вегетарианка.", "Я снова ем мясо."),
        ("我吃素。", "我又开始吃肉了。"),
        ("Je suis végétarienne.", "Je remange de la viande."),
        ("Sou vegana.", "Voltei a comer carne."),
    ],
)
def test_who_eats_meat_again_is_no_vegan_unmarked(before: str, after: str) -> None:
    world = World()
    world.say(before)
    world.say(after)
    first, second = world.memories.values()
    assert (first.later, second.earlier) == ((second.id,), (first.id,))
    assert second.metadata.get("profile")


@pytest.mark.parametrize("text", ["My husband eats meat again.", "I eat meat-free sausages.", "I don't eat meat."])
def test_other_meals_change_no_diet(text: str) -> None:
    world = World()
    world.say("I'm vegan.")
    world.say(text)
    assert not any(row.later for row in world.memories.values())
