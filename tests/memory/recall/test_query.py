from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.recall.query import (
    Query,
    asks_for_advice,
    is_across,
    is_of_replies,
    leans_back,
    matter,
    prefers,
    widen,
)
from tests.memory.rows import NOW

ACROSS = [
    "In which order did I take up the guitar, chess and climbing?",
    "List the sequence in which I tried the apps.",
    "What did I say about my knee throughout our conversations?",
    "How many different doctors have I seen?",
    "Summarize how my garden has come along so far.",
    "Can you give me a summary of my trips?",
    "How has my running changed over time?",
    "In welcher Reihenfolge habe ich die Kurse belegt?",
    "Was habe ich in all unseren Gesprächen über mein Knie erzählt?",
    "Wie viele verschiedene Ärzte habe ich besucht?",
    "Gib mir einen Überblick über meinen Umbau.",
    "¿En qué orden probé las aplicaciones?",
    "¿Qué dije de mi rodilla a lo largo de nuestras conversaciones?",
    "¿Cuántas veces fui al médico?",
    "Resume cómo va mi huerto.",
    "В каком порядке я учил языки?",
    "Что я говорил о колене за все наши разговоры?",
    "Сколько раз я был у врача?",
    "我按什么顺序学了这些语言?",
    "我们所有的对话中我提到过哪些医生?",
    "总结一下我的装修进展。",
]
PLAIN = [
    "What is my knee doctor called?",
    "I talked to my boss in order to get a raise.",
    "Can you order me a pizza?",
    "Wie heißt mein Arzt?",
    "Ich habe die Ware in Ordnung gebracht.",
    "¿Cómo se llama mi médico?",
    "Как зовут моего врача?",
    "我的医生叫什么名字?",
    "So far I like it, and overall the plan is good.",
    "Did the sessions with the physiotherapist help my back?",
]


def test_a_question_of_its_own_stands_alone():
    assert widen(["I live in Berlin", "Which restaurants near Alexanderplatz serve ramen?"])[1] == ""


@pytest.mark.parametrize("turn", ["and why?", "what about it?", "tell me more about that one", "warum ist das so?"])
def test_short_follow_up_takes_the_turn_before_along(turn):
    assert leans_back(turn)
    assert widen(["My dog Rex limps", turn]) == (turn, "My dog Rex limps")


def test_the_reply_helps_where_nothing_was_said_before():
    assert widen(["and then?"], reply="Rex went home") == ("and then?", "Rex went home")
    assert widen([]) == ("", "")


def test_context_is_embedded_with_the_text():
    assert Query("why?", "My dog limps", None, NOW).dense_text == "My dog limps\nwhy?"
    assert Query("why?", "", None, NOW).dense_text == "why?"


@pytest.mark.parametrize(
    "text",
    [
        "Alright, I ordered the ramen set for the dinner with my sister. What is the next step?",
        "Ich habe heute den Antrag für unsere Wohnung abgeschickt.",
        "Я сегодня отправил заявку на нашу новую квартиру.",
        "今天我终于把新公寓的申请表寄出去了。",
    ],
)
def test_telling_is_known_from_asking(text):
    assert Query(text, "", None, NOW).says


@pytest.mark.parametrize(
    "text",
    [
        "What did I say about the lake house and my sister last year?",
        "which restaurants near my office did i like most",
        "Remind me where I parked the car near our old flat",
        "window manager Berlin Rex pier dog food",
        "Okay. Thanks! What did you recommend me for the long trip to Norway?",
        "Wann habe ich meinen Zahnarzttermin in Hamburg vereinbart",
        "",
    ],
)
def test_asking_tells_nothing(text):
    assert not Query(text, "", None, NOW).says


@given(st.lists(st.text(max_size=5000), max_size=4))
def test_long_turns_are_cut(turns):
    text, context = widen(turns)
    assert len(text) <= 2001
    assert len(context) <= 2001


@pytest.mark.parametrize("text", ACROSS)
def test_asks_across_conversations(text):
    assert is_across(text)


@pytest.mark.parametrize("text", PLAIN)
def test_asks_of_one_thing(text):
    assert not is_across(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "Can you list the order in which I brought up different aspects of my garden throughout our conversations, "
            "in order? Mention only five items.",
            "my garden ?",
        ),
        ("What profession did I mention my cousin works in?", "What profession my cousin works in?"),
        ("Was hatte ich dir gesagt, wann der Umbau endet?", "Was , wann der Umbau endet?"),
        ("¿Qué te dije de mi huerto?", "¿Qué de mi huerto?"),
        ("Что я тебе говорила про сад?", "Что про сад?"),
        ("我提到过哪些医生?", "哪些医生?"),
        ("How many different instruments does my sister play?", "instruments does my sister play?"),
        ("I moved the meeting in order to sleep longer.", "I moved the meeting in order to sleep longer."),
    ],
)
def test_what_frames_a_question_is_not_sought(text, left):
    assert matter(text) == left


@pytest.mark.parametrize("text", ["What did I say?", "Can you tell me?", "In what order?", ""])
def test_query_without_telling_words_is_sought_whole(text):
    assert matter(text) == text


def test_a_long_text_is_sought_whole():
    text = "Can you list what I need? " + "It is for the trip with my sister to the lake. " * 20
    assert matter(text) == text
    assert not is_across(text)


@pytest.mark.parametrize(
    "text",
    [
        "What did you recommend for my knee?",
        "Which restaurant had you suggested in Porto?",
        "How did you help me plan the garden?",
        "What was your advice on the contract?",
        "Remind me what you told me about sourdough.",
        "Was hast du mir für den Rücken empfohlen?",
        "Welches Buch war es, das du mir vorgeschlagen hast?",
        "Was waren deine Tipps zum Umzug?",
        "¿Qué me recomendaste para la espalda?",
        "¿Cuáles eran tus consejos para la mudanza?",
        "Что ты мне посоветовал почитать?",
        "Какими были твои советы по переезду?",
        "你之前推荐过哪家餐厅?",
        "您上次建议的方法是什么?",
    ],
)
def test_what_the_assistant_once_answered_is_asked_for(text):
    assert is_of_replies(text)


@pytest.mark.parametrize(
    "text",
    [
        "What do you recommend for my knee?",
        "Can you suggest a restaurant in Porto?",
        "Could you help me plan the garden?",
        "Did I tell you about my knee?",
        "What did my doctor recommend?",
        "Was empfiehlst du mir?",
        "¿Qué me recomiendas?",
        "Что ты посоветуешь почитать?",
        "你推荐哪家餐厅?",
    ],
)
def test_advice_wanted_now_is_not_a_past_answer(text):
    assert not is_of_replies(text)


@pytest.mark.parametrize(
    "text",
    [
        "What would you recommend for a rainy weekend?",
        "Should I take the train or the bus?",
        "Kannst du mir ein Restaurant empfehlen?",
        "Was soll ich am Sonntag kochen?",
        "¿Qué me recomiendas para cenar?",
        "Посоветуй, что почитать вечером.",
        "推荐几本书吧",
    ],
)
def test_questions_for_advice_are_known(text: str) -> None:
    assert asks_for_advice(text)


@pytest.mark.parametrize(
    "text",
    ["When did I move to Leeds?", "Wie heißt meine Katze?", "¿Dónde vivo?", "Как зовут моего кота?", "我住在哪里？"],
)
def test_questions_for_facts_ask_for_no_advice(text: str) -> None:
    assert not asks_for_advice(text)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer small hotels, close to the station.",
        "I've decided to go without a car.",
        "Am liebsten sitze ich am Fenster.",
        "Prefiero los libros en papel.",
        "Мне нравится джаз.",
        "我比较喜欢安静的地方",
    ],
)
def test_preferences_are_known(text: str) -> None:
    assert prefers(text)


@pytest.mark.parametrize("text", ["The train leaves at nine.", "Ich wohne in Bonn.", "Vivo en Lima.", "我住在北京"])
def test_other_statements_are_no_preferences(text: str) -> None:
    assert not prefers(text)
