"""Sentences that only sound like an end: another thing, one of several, one occurrence, a role, a text to write."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import told


@pytest.mark.parametrize(
    ("holds", "later"),
    [
        ("My birthday is on 7 June.", "My dog's birthday is on 3 May."),
        ("My weight is 80 kg.", "My cat's weight is 5 kg."),
        ("My email is jo@example.com.", "My work email is jo@acme.com."),
        ("My email is jo@example.com.", "My email is full of spam."),
        ("My favourite restaurant is Gusto in Leeds.", "My favourite restaurant is closed today."),
        ("My phone is a Fairphone.", "My phone is broken."),
        ("My name is Jonathan.", "Call me Jon."),
        ("I work for Bosch.", "I work for Mr. Keller, he is a great boss."),
        ("I live in Germany.", "I live in Munich."),
        ("Ich wohne in Köln.", "Ich wohne in Ehrenfeld."),
        ("Vivo en Madrid.", "Vivo en Malasaña."),
        ("我住在北京。", "我住在朝阳区。"),
        ("I have three cats.", "One of my cats died."),
        ("Ich habe drei Katzen.", "Eine meiner Katzen ist gestorben."),
        ("J'ai trois chats.", "Un de mes chats est mort."),
        ("Tengo tres gatos.", "Uno de mis gatos murió."),
        ("Tenho três gatos.", "Um dos meus gatos morreu."),
        ("I go to therapy on Tuesdays.", "Tuesday's therapy is cancelled."),
        ("I have a piano lesson every Friday.", "I cancelled my piano lesson because I'm ill."),
        ("Eu bebo café.", "Não bebo mais café à noite."),
        ("我喝咖啡。", "我晚上不喝咖啡了。"),
        ("Je bois du café.", "Je ne bois plus de café le soir."),
        ("I live in Seville with my husband Pablo.", "I don't live in Seville anymore, I moved to Cadiz."),
        ("Ich arbeite bei Siemens in München und spiele Cello.", "Ich habe bei Siemens gekündigt."),
    ],
)
def test_it_still_holds(holds: str, later: str) -> None:
    assert holds in told(holds, later).active


@pytest.mark.parametrize(
    ("ends", "later"),
    [
        ("I live in Leeds.", "I live in York now."),
        ("I live in Leeds.", "I moved to York."),
        ("Ich wohne in Rostock.", "Ich bin nach Kassel gezogen."),
        ("My email is jo@example.com.", "My new email is jo@acme.com."),
        ("I have a cat.", "My cat died."),
        ("I use Magnet as a window manager on my MacBook.", "I don't use Magnet anymore."),
        ("My name is Robin.", "Actually, my name is Rowan."),
        ("I have two cars.", "I sold both cars."),
        ("I have a piano lesson on Friday.", "I cancelled my piano lesson."),
    ],
)
def test_it_ends(ends: str, later: str) -> None:
    assert ends not in told(ends, later).active


def test_an_item_goes_whatever_the_verb() -> None:
    assert told("I teach maths and physics.", "I no longer teach physics.").active == ["I teach maths."]


def test_a_plan_brings_nothing_back() -> None:
    world = told("I live in Rome.", "I moved to Milan.", "I'm moving back to Rome next year.")
    assert "I live in Rome." not in world.active


@pytest.mark.parametrize(
    "text",
    [
        "Write a tweet in my name: I just quit my job and I moved to Bali!",
        "Caption for my photo: I moved to Bali",
        "LinkedIn post idea: I live in Bali now and love it!",
        "Sentence 1: I live in Paris. Sentence 2: I am living in Paris. Which is right?",
        "Lyrics:\nI moved to Texas\nMy name is Cash\n\nmake it better",
        "User: I have two kids\nAssistant: great\nUser: I moved to Oslo.\n\nwhat do you think of this chat log?",
    ],
)
def test_a_text_to_be_written_tells_nothing(text: str) -> None:
    assert told("I live in Leeds.", text).active == ["I live in Leeds."]


@pytest.mark.parametrize(
    "text", ["My story: I was born in Hull.", "Long story short: I moved to Bali.", "Update: I quit."]
)
def test_a_label_of_ones_own_words(text: str) -> None:
    assert told(text).active == [text]


def test_a_role_is_played_until_it_ends() -> None:
    opening = "Let's roleplay: you are a dragon, I am a knight."
    world = told(opening, "My name is Lancelot.", "The roleplay is over.", "I live in Leeds.", session="s")
    assert world.active == ["I live in Leeds."]


@pytest.mark.parametrize(
    ("fact", "end"),
    [
        ("I play tennis.", "I stopped playing tennis because of my knee."),
        ("I smoke.", "I quit smoking twice already but never for long."),
    ],
)
def test_no_stump_is_left(fact: str, end: str) -> None:
    assert all(text[0].isupper() for text in told(fact, end).active)


def test_a_list_item_is_kept_without_its_mark() -> None:
    assert "allergic to penicillin" in told("A few things about me:\n- allergic to penicillin").active


@pytest.mark.parametrize("text", ["Je joue du piano.", "Je bois du thé vert tous les jours."])
def test_du_is_no_you_in_french(text: str) -> None:
    assert told(text).active == [text]


@pytest.mark.parametrize(
    ("holds", "later"),
    [
        ("I use React.", "We replaced the React button with a div."),
        ("I use React.", "I replaced React with Vue in the example."),
        ("I live in Boston.", "In 1998 we moved to Denver."),
        ("Ich wohne in Köln.", "Ich bin 1998 nach Berlin gezogen."),
        ("I live in Boston.", "We moved to AWS."),
        ("I have a cat.", "My cat stopped eating."),
        ("У меня есть кошка.", "Моя кошка перестала есть."),
        ("I have two cars.", "I sold one car."),
        ("Tenho dois carros.", "Vendi o segundo carro."),
        ("I have two cats, Tim and Tom.", "Tim died."),
        ("I don't have a car.", "I sold my car last year."),
        ("My grandpa was a baker.", "My grandpa passed away last year."),
        ("I drink coffee.", "I stopped drinking coffee for two weeks last year."),
        ("I use Instagram.", "I don't use Instagram as much anymore."),
        ("I play Minecraft.", "I died in Minecraft."),
        ("I love Christmas.", "Christmas is over."),
    ],
)
def test_what_ended_is_another_thing(holds: str, later: str) -> None:
    assert holds in told(holds, later).active


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I have a dog.", "I don't have a dog."),
        ("I'm allergic to peanuts.", "I'm not allergic to peanuts, it was a misdiagnosis."),
        ("My rent is 900.", "My rent is 950 now."),
    ],
)
def test_the_newer_stands_beside_the_older(old: str, new: str) -> None:
    world = told(old, new)
    later = next(row.later for row in world.memories.values() if row.text == old)
    assert [world.memories[id_].text for id_ in later] == [new]
