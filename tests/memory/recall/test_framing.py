from __future__ import annotations

import pytest

from proxy.memory.recall.framing import is_across, is_of_replies, matter

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
