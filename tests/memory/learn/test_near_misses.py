"""Other people's words, quoted material and questions close none of the user's statements."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import told


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I have a peanut allergy.", "My daughter had a therapy and her allergy is gone!"),
        ("I have asthma.", "My brother's asthma is gone since he moved to the coast."),
        ("I have a cat called Muffin.", "My neighbour's cat died yesterday."),
        ("I'm a member of a golf club.", "My wife's membership of the golf club has ended."),
        ("Soy alérgico a los frutos secos.", "Mi hijo ya no es alérgico a los frutos secos, qué alivio."),
        ("Vivo en Bilbao.", "Mi hermana se mudó a Burgos, ya no vive en Bilbao."),
        ("My phone is a Pixel.", "My new phone case is pink."),
        ("Trabajo en Zara.", "Mi prima ya no trabaja en Zara."),
        ("I'm allergic to walnuts and cashews.", "My son is no longer allergic to walnuts and cashews."),
    ],
)
def test_what_others_lost_ends_nothing_of_mine(first: str, second: str) -> None:
    world = told(first, second)
    assert first in world.active
    assert not any(row.later for row in world.memories.values())


def test_what_others_lost_ends_what_is_theirs() -> None:
    first, second = "My dad's business sells tiles.", "My dad's business is over."
    assert first not in told(first, second).active


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Oxford.", "My friend texted me: i moved to Berlin. What do I answer?"),
        ("I live in Oxford.", "here's her text: I moved to Berlin. What should I answer?"),
        ("I work at Siemens.", "Make my text nicer: I no longer work at Siemens."),
        ("I work at Siemens.", "Complete: I no longer work at Siemens because ___"),
        ("Ich wohne in Trier.", "Meine Tante schreibt grad: Ich wohne jetzt in Rom. Was antworte ich?"),
        ("Ich wohne in Trier.", "Meine Tante hat mir geschrieben: bin nach Rom gezogen. Was antworte ich?"),
        ("I have a Gold plan.", "Email I got: Dear customer, we have cancelled your Gold plan. Is that spam?"),
        ("I live in Oxford.", "The chat:\nAnna: I moved to Rome\nAnna: and I quit my job\nMe: wow\nWhat do I answer?"),
        ("我住在成都。", "朋友发来：我搬到重庆了。我该怎么回？"),
    ],
)
def test_a_message_of_others_ends_nothing(first: str, second: str) -> None:
    assert told(first, second).active == [first]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("i live in leeds", "i live in fear now since the burglary."),
        ("i work at lidl", "i work for free now, in my mum's garden."),
        ("My name is Pauline.", "my name is on the waiting list now."),
    ],
)
def test_words_that_name_no_place_replace_none(first: str, second: str) -> None:
    assert first in told(first, second).active


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I sing in a choir.", "forget about the choir question, what about my essay?"),
        ("I use Slack.", "Forget my last question about Slack."),
        ("I use Python at work.", "delete the python part of the script and show me the rest"),
        ("I use Slack.", "Can you delete the last sentence about Slack in the text?"),
        ("Ich nutze Excel.", "Vergiss die Frage zu Excel, hat sich erledigt."),
        ("Uso Excel.", "olvida la pregunta de Excel, ya lo resolví"),
        ("Я работаю в Excel.", "забудь вопрос про Excel, уже разобралась"),
        ("我用Excel。", "忘掉刚才那个Excel的问题吧，已经解决了。"),
    ],
)
def test_a_question_or_text_is_no_memory(first: str, second: str) -> None:
    world = told(first, second)
    assert first in world.active
    assert first in world.quotable


def test_a_question_to_forget_is_withheld() -> None:
    world = told("I see a therapist.", "Is therapy paid by Aetna?", "Forget the question about Aetna.")
    assert world.active == ["I see a therapist."]
    assert not any("Aetna" in text for text in world.quotable)


@pytest.mark.parametrize("first", ["My manager is Priyanka.", "Mi jefa se llama Remedios."])
def test_a_new_manager_stands_behind_the_old(first: str) -> None:
    second = {"My": "My new manager is called Fintan.", "Mi": "Mi nueva jefa se llama Covadonga."}[first[:2]]
    world = told(first, second)
    row = next(row for row in world.memories.values() if row.text == first)
    assert [world.memories[id_].text for id_ in row.later] == [second]


def test_a_problem_to_forget_is_no_question() -> None:
    assert told("我有肠胃问题。", "请忘掉我肠胃的问题。").active == []


def test_a_fact_beside_a_question_is_forgotten() -> None:
    assert told("I have lupus.", "forget my last question and my lupus").active == []


def test_what_is_only_new_in_both_is_apart() -> None:
    world = told("My new job is at Apple.", "My new boss is Tim.")
    assert not any(row.later for row in world.memories.values())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I go hiking every Sunday.", "forget hiking, let's talk about pasta"),
        ("I play the cello.", "ok forget the cello for a sec, what's a good pasta recipe"),
        ("I collect stamps.", "Forget stamps, how do I unclog a sink"),
        ("Ich spiele Schach im Verein.", "Vergiss Schach, ich hab ne ganz andere Frage: wie koche ich Spargel?"),
        ("Juego al pádel.", "olvida el pádel, hablemos de otra cosa: ¿qué cocino hoy?"),
        ("J'ai un chien qui s'appelle Plume.", "oublie Plume, parlons cuisine"),
        ("Tenho um cachorro chamado Bidu.", "esquece o Bidu, vamos falar de comida"),
        ("Я играю на скрипке.", "забудь про скрипку, давай про ремонт: как клеить обои?"),
        ("我在学吉他。", "先忘了吉他吧，我们聊聊做饭"),
    ],
)
def test_a_topic_that_is_left_is_not_forgotten(first: str, second: str) -> None:
    world = told(first, second)
    assert first in world.active
    assert first in world.quotable


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I play the banjo.", "Forget everything about the banjo, let's talk about dinner."),
        ("My ex is called Ruth.", "forget my ex, let's talk about food"),
        ("I have lupus.", "forget that I have lupus, and what's a good soup?"),
        ("I use Magnet.", "can you forget Magnet, please?"),
        ("Моя бывшая — Лера.", "забудь всё о Лере, давай поговорим о еде"),
    ],
)
def test_a_request_before_another_topic_forgets(first: str, second: str) -> None:
    world = told(first, second)
    assert first not in world.active
    assert first not in world.quotable


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I use vim every day.", "quit vim, finally figured out how lol"),
        ("我住在苏州。", "我搬到沙发上睡了，床太硬"),
        ("我男朋友叫阿杰。", "我梦见和阿杰分手了，吓醒"),
        ("I have a dog called Toby.", "I dreamed that Toby died, woke up crying."),
        ("I'm a stay-at-home dad.", "I'm no longer at home, call my cell"),
        ("I have a horse named Duke.", "in red dead redemption my horse died :("),
    ],
)
def test_what_only_sounds_like_an_end_is_none(first: str, second: str) -> None:
    world = told(first, second)
    assert first in world.active
    assert not any(row.later for row in world.memories.values())


@pytest.mark.parametrize(
    "message",
    [
        "In Stardew Valley I married Abigail and we have a kid.",
        "В игре я маг 60 уровня и живу в Штормграде",
        "在游戏里我是六十级法师，住在暴风城",
        "I dreamed that I was pregnant with twins.",
        "yeah right, and I'm the queen of England",
        "ага, а я папа римский",
        "Wir spielen ein Spiel: Ich bin der König und du mein Diener.",
        "Found this, thoughts?\n\nI (34M) cheated on my wife with her sister. We have two kids. I live in Ohio.",
        "Ich (w, 27) bin seit drei Jahren mit meinem Freund (m, 30) zusammen. Er will keine Kinder.",
        "我（28女）和男友在一起五年了。他不想结婚。",
        "Can you check this for grammar? I am a nurse from Manila and I live in Dubai since five years.",
        "Correct my sentence please - Yesterday I go to the dentist and he take out my tooth",
        "Korrigiere meinen Satz bitte. Ich wohnen in Ulm seit zwei Jahr.",
        "say in German: my wife is pregnant",
        "Example: I have lived here for ten years. (present perfect)",
        "Beispiel: Ich habe seit zehn Jahren einen Hund. Ist das Perfekt?",
        "Math: I have 5 apples and give 2 to my sister",
        "Assume I'm a diabetic with a nut allergy. Plan a menu.",
        "Write a text from my dog's perspective. I love my human and I live under the sofa",
        "The doctor asked if I am allergic to latex",
        "Meine Mutter meinte nur: ich bin zu alt für sowas",
    ],
)
def test_what_is_played_or_pasted_is_no_memory(message: str) -> None:
    assert told(message).active == []


@pytest.mark.parametrize(
    "message",
    [
        "was soll ich heute kochen",
        "was koche ich meiner Oma zum Geburtstag",
        "darf ich meinen Hund mit in den Zug nehmen",
        "Was soll ich heute kochen, esse ich vegan?",
        "que cocino hoy para mi familia",
        "como le digo a mi jefe que no voy",
        "стоит ли мне звонить начальнику",
        "我是不是太老了不能读书",
        "play my workout playlist",
        "text my wife that i'm late",
        "turn off my bedroom light",
        "quick question about my taxes",
        "weck mich um 7",
        "мне нужна идея для подарка",
    ],
)
def test_a_question_or_errand_is_no_memory(message: str) -> None:
    assert told(message).active == []


@pytest.mark.parametrize(
    "message",
    [
        "I play Minecraft with my kids every Saturday.",
        "I've always dreamed of moving to Japan.",
        "My wife (pregnant) can't eat sushi.",
        "I asked him to check my essay. My deadline is May 3.",
        "was ich gern mache ist klettern",
        "Exercise: I run 5k every day.",
        "For example: I hate mornings and my boss loves them.",
        "Kann leider keinen Fisch essen, hab ne Allergie",
        "No como carne.",
        "I love wine, esp. Riesling.",
        "我不知道吃什么好，我对花生过敏",
    ],
)
def test_what_resembles_them_is_remembered(message: str) -> None:
    assert any(text in message for text in told(message).active)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("Hast du einen Führerschein?", "Habe ich, seit 2010."), ("Isst du Nüsse?", "Darf ich nicht, leider.")],
)
def test_an_answer_without_its_subject_is_kept(reply: str, answer: str) -> None:
    world = told("Ich fahre einen Golf.", session="s")
    world.say("Und?", reply=reply, session="s", seq=2)
    world.say(answer, session="s", seq=4)
    assert answer in world.active
