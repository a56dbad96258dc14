"""Everyday messages in five languages: small talk is not learned, near misses close nothing, ends and moves do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.running import Running
from tests.talking import speaking

JUNK = Path(__file__).parents[1] / "memory" / "junk_turns.jsonl"
NEAR_MISSES = [  # (stated, later, still active)
    ("I use Zulip all day.", "I don't use Zulip on weekends.", "Zulip"),
    ("I take levothyroxine.", "My friend stopped taking levothyroxine.", "levothyroxine"),
    ("I play the bassoon.", "I never stopped playing the bassoon.", "bassoon"),
    ("I use Darktable for my photos.", "Should I stop using Darktable?", "Darktable"),
    ("I own two kettlebells.", 'The blog says "get rid of your kettlebells, they are a waste".', "kettlebells"),
    ("I speak Catalan.", "I also speak Occitan.", "Catalan"),
    ("I use Magnet.", "Don't let me forget to update Magnet.", "Magnet"),
    ("Ich wohne in Metz.", "Mein Chef ist nach Lyon gezogen.", "Metz"),
    ("Vivo en Vigo.", "Mi jefe se ha mudado a Lugo.", "Vigo"),
    ("Живу в Казани.", "Соседи переехали в Самару.", "Казани"),
    ("我住在北京。", "同事搬到上海了。", "北京"),
    ("I use Magnet.", "I cancelled the Magnet webinar.", "Magnet"),
    ("I work at Dorn.", "I work at home on Fridays.", "Dorn"),
    ("No vivo en Madrid, vivo en Vigo.", "No vivo en Madrid.", "Vigo"),
    ("我喝黑咖啡。", "我老板不喝咖啡了。", "黑咖啡"),
]
ENDINGS = [  # (stated, later, closed)
    ("I use Scrivener for writing.", "I don't use Scrivener anymore.", "Scrivener"),
    ("Ich nutze Scrivener.", "Ich nutze Scrivener nicht mehr.", "Scrivener"),
    ("Toco la zampoña.", "Ya no toco la zampoña.", "zampoña"),
    ("Учу суахили.", "Я больше не учу суахили.", "суахили"),
    ("我平时用幕布。", "我已经不用幕布了。", "幕布"),
    ("Fumo una pipa por la noche.", "He dejado de fumar.", "pipa"),
]
MOVES = [  # (stated, later, old, new)
    ("I live in Metz.", "I live in Lyon now.", "Metz", "Lyon"),
    ("Ich wohne in Metz.", "Ich wohne jetzt in Lyon.", "Metz", "Lyon"),
    ("Vivo en Vigo.", "Ahora vivo en Lugo.", "Vigo", "Lugo"),
    ("Я живу в Казани.", "Теперь я живу в Самаре.", "Казани", "Самаре"),
    ("我住在北京。", "我现在住在上海。", "北京", "上海"),
]


OVERVIEWS = [  # (stated, a question about all memories)
    ("I have a green sofa.", "What do you know about me?"),
    ("Ich habe ein grünes Sofa.", "Was weißt du über mich?"),
    ("Tengo un sofá verde.", "¿Qué sabes de mí?"),
    ("У меня зелёный диван.", "Что ты знаешь обо мне?"),
    ("我有一个绿色的沙发。", "你知道我什么?"),
    ("J'ai un canapé vert.", "Que sais-tu de moi ?"),
]
STANDING = [  # (stated, a later question without a common word, expected in its profile)
    ("Always give sizes in centimetres.", "How tall is a wardrobe?", "centimetres"),
    ("Bitte immer Quellen angeben.", "Wie weit ist der Mond?", "Quellen"),
    ("请总是用公制单位。", "月亮多远？", "公制"),
]
NEWCOMERS = [  # (stated by a new user, an unrelated question)
    (("Vivo en Vigo.", "Mi marido se llama Andrés."), "¿Cuál es el símbolo químico del hierro?"),
    (("Меня зовут Ольга, я живу в Казани.", "Мой муж программист."), "Какая гора самая высокая в Африке?"),
    (("我叫王芳，住在成都。", "我在一家药店当药剂师。"), "《红楼梦》是谁写的？"),
    (("Ich wohne in Bremen.", "Wir fahren einen VW Touran."), "Wie zentriere ich ein div in CSS?"),
    (("I live in Leeds.", "My shifts start at seven."), "Tell me a joke about penguins."),
]


def known_after(server: Running, *messages: str) -> str:
    """Return the active memories' texts of a new user who sends each message in its own conversation."""
    with speaking(server) as speaker:
        for message in messages:
            speaker.tell(message)
        return "\n".join(memory["text"] for memory in speaker.memories())


def test_small_talk_and_pasted_material_are_not_learned(server: Running) -> None:
    messages = [json.loads(line) for line in JUNK.read_text("utf-8").splitlines()]
    with speaking(server) as speaker:
        speaker.tell(*messages)
        learned = [memory["text"] for memory in speaker.memories(limit=1000)]
    assert len(learned) <= 0.02 * len(messages), learned


@pytest.mark.parametrize(("told", "later", "value"), NEAR_MISSES)
def test_near_miss_ends_nothing(server: Running, told: str, later: str, value: str) -> None:
    assert value in known_after(server, told, later)


@pytest.mark.parametrize(("told", "later", "value"), ENDINGS)
def test_plain_ending_closes_the_memory(server: Running, told: str, later: str, value: str) -> None:
    assert value in known_after(server, told)
    assert value not in known_after(server, told, later)


@pytest.mark.parametrize(("told", "later", "old", "new"), MOVES)
def test_new_home_replaces_the_old_one(server: Running, told: str, later: str, old: str, new: str) -> None:
    known = known_after(server, told, later)
    assert new in known
    assert old not in known


@pytest.mark.parametrize(("told", "question", "word"), STANDING)
def test_a_standing_instruction_goes_with_every_conversation(
    server: Running, told: str, question: str, word: str
) -> None:
    with speaking(server) as speaker:
        speaker.tell(told)
        receipt = speaker.receipt(speaker.say(question))
        profile = [entry["text"] for entry in receipt["injected"] if entry["id"] in receipt["profile"]]
    assert any(word in text for text in profile)


@pytest.mark.parametrize(("told", "question"), OVERVIEWS)
def test_overview_question_brings_the_memory(server: Running, told: str, question: str) -> None:
    with speaking(server) as speaker:
        speaker.tell(told)
        injected = speaker.receipt(speaker.say(question))["injected"]
    assert told in [entry["text"] for entry in injected]


@pytest.mark.parametrize(("told", "question"), NEWCOMERS)
def test_a_newcomers_few_sentences_answer_nothing_else(server: Running, told: Sequence[str], question: str) -> None:
    with speaking(server) as speaker:
        for message in told:
            speaker.tell(message)
        receipt = speaker.receipt(speaker.say(question))
    assert [entry["text"] for entry in receipt["injected"] if entry["id"] not in receipt["profile"]] == []


def test_questions_find_what_was_told_in_another_language(server: Running) -> None:
    talk = [f"Heute habe ich {what} geputzt." for what in ("das Bad", "die Fenster", "den Keller", "das Auto")] * 7
    with speaking(server) as speaker:
        speaker.tell("Unser Hund heißt Balu und ist ein Labrador.")
        speaker.tell(*(f"{text} Das war der {number}. Tag." for number, text in enumerate(talk)))
        injected = speaker.receipt(speaker.say("What is our dog called?"))["injected"]
    assert any("Balu" in entry["text"] for entry in injected)
