"""Everyday requests to forget: the memories they close and keep; the request itself becomes no memory."""

from __future__ import annotations

import pytest

from proxy.memory.plan.changes import FORGOTTEN
from tests.memory.learn.world import World, told


@pytest.mark.parametrize(
    ("facts", "request_text", "gone", "stays"),
    [
        (
            ["My address is 12 Quay Street.", "My shoe size is 44."],
            "I'd like you to forget my address.",
            ["Quay"],
            ["44"],
        ),
        (
            ["My sister Nora is pregnant.", "My sister Nora lives in Hull."],
            "Forget that Nora is pregnant.",
            ["pregnant"],
            ["Hull"],
        ),
        (
            ["My landline is 0531 55.", "My address is 12 Quay Street."],
            "Forget my landline and my address.",
            ["0531", "Quay"],
            [],
        ),
        (
            ["Мой домашний номер 0531 55.", "Мой адрес — Мира 12."],
            "Забудь мой домашний номер и мой адрес.",
            ["0531", "Мира"],
            [],
        ),
        (["Mein Schwarm heißt Elias.", "Ich mag Tee."], "Merk dir nichts über Elias.", ["Elias"], ["Tee"]),
        (
            ["Ich habe zwei Kinder, Ana und Tom.", "Ana ist sechs.", "Ich backe."],
            "Vergiss alles über meine Kinder.",
            ["Ana", "Tom"],
            ["backe"],
        ),
        (
            ["Juego al póker los viernes.", "Juego al squash los martes."],
            "¿Puedes olvidar lo del póker?",
            ["póker"],
            ["squash"],
        ),
        (["我用Trello和Linear。"], "忘记我用Trello这件事。", ["Trello"], ["Linear"]),
        (["我同事小王喜欢钓鱼。", "我喜欢爬山。"], "别再提小王，把他忘了。", ["小王"], ["爬山"]),
    ],
)
def test_request_takes_what_it_names(facts: list[str], request_text: str, gone: list[str], stays: list[str]) -> None:
    world = told(*facts, request_text)
    shown = "\n".join([*world.active, *world.quotable])
    assert [word for word in gone if word in shown] == []
    assert [word for word in stays if word not in shown] == []


def test_request_without_a_target_is_no_memory() -> None:
    assert told("I subscribe to a cheese box.", "Erase my political views.").active == ["I subscribe to a cheese box."]


def test_forgotten_person_goes_by_name_too() -> None:
    world = told(
        "My kids are called Ana and Tom.",
        "Tom has piano lessons on Friday.",
        "I swim.",
        "Forget everything about my kids.",
    )
    assert world.active == ["I swim."]
    assert not any("Tom" in text or "Ana" in text for text in world.quotable)


def test_forget_request_reaches_sentences_that_are_no_memory() -> None:
    world = told("What could Konrad have meant? I had soup.")
    world.say("I was married to Konrad.", reply="Konrad sounds interesting. Anything else?")
    world.say("Please forget everything about Konrad.")
    assert not any("Konrad" in text for text in [*world.active, *world.quotable])
    assert world.endings[0].metadata[FORGOTTEN]


def test_forget_request_keeps_its_messages_other_sentences() -> None:
    world = told("My ring size is 54.", "I moved to Lyon. Forget my ring size.")
    assert "I moved to Lyon." in world.active


@pytest.mark.parametrize(
    ("first", "request_"),
    [
        ("My salary is 68,400.", "Forget my salary. The 68,400 figure is nobody's business. The rest can stay."),
        ("My sister is pregnant.", "Forget that my sister is pregnant. Nobody should know about the pregnancy yet."),
        ("Ich habe Asthma.", "Vergiss bitte mein Asthma. Asthma ist niemandes Sache."),
    ],
)
def test_request_is_not_quoted_with_what_it_names(first: str, request_: str) -> None:
    shown = told(first, request_).quotable
    assert not any(word in text for text in shown for word in ("68,400", "pregnan", "Asthma"))


@pytest.mark.parametrize(
    ("first", "request_", "kept"),
    [
        ("I live in Leeds and I work as a nurse.", "Forget where I live.", ["I work as a nurse."]),
        ("I live at 12 Elm Street. I can swim.", "Delete my home address from your memory.", ["I can swim."]),
        ("I live in Leeds. I work at Acme. I like tea.", "Forget where I live and where I work.", ["I like tea."]),
        ("I work as a nurse. I live in Leeds.", "Can you forget what I do for a living?", ["I live in Leeds."]),
        ("My name is Anna. I love Anna Karenina.", "Forget my name.", ["I love Anna Karenina."]),
        ("I work as a nurse. My job interview is on 4 May.", "Forget my job interview.", ["I work as a nurse."]),
        ("Ich wohne in Kiel. Ich mag Tee.", "Vergiss bitte, wo ich wohne.", ["Ich mag Tee."]),
        ("Vivo en Zaragoza. Tengo dos gatos.", "Olvida dónde vivo.", ["Tengo dos gatos."]),
        ("Я живу в Перми. У меня есть кошка.", "Забудь, где я живу.", ["У меня есть кошка."]),
        ("我住在厦门。我喜欢喝茶。", "请忘记我住在哪里。", ["我喜欢喝茶。"]),
        ("J'habite à Lyon. J'aime le thé.", "Oublie où j'habite.", ["J'aime le thé."]),
        ("Moro em Recife. Gosto de chá.", "Esqueça onde eu moro.", ["Gosto de chá."]),
    ],
)
def test_request_names_by_a_question(first: str, request_: str, kept: list[str]) -> None:
    world = told(first, request_)
    assert world.active == kept
    assert not any(request_ in text for text in world.quotable)


@pytest.mark.parametrize("said", ["Don't forget where I live!", "I forget where I live sometimes."])
def test_who_forgets_is_no_request(said: str) -> None:
    assert "I live in Leeds." in told("I live in Leeds.", said).active


@pytest.mark.parametrize(
    ("fact", "request_text"),
    [
        ("I earn 82000 euros a year.", "Forget that."),
        ("I earn 82000 euros a year.", "actually forget that please"),
        ("I earn 82000 euros a year.", "Please delete what I just told you."),
        ("Ich verdiene 82000 Euro.", "Vergiss das bitte wieder."),
        ("Gano 82000 euros.", "Olvida eso, por favor."),
        ("Je gagne 82000 euros.", "Oublie ça s'il te plaît."),
        ("Ganho 82000 euros.", "Esquece isso, por favor."),
        ("Я зарабатываю 82000.", "Забудь это, пожалуйста."),
        ("我年薪82000。", "请忘掉这个。"),
    ],
)
def test_forget_that_is_about_what_was_just_said(fact: str, request_text: str) -> None:
    world = told("I live in Leeds.")
    world.say(fact, reply="Noted: 82000.", session="s")
    world.say(request_text, reply="Done.", session="s", seq=2)
    assert world.active == ["I live in Leeds."]
    assert not any("82000" in text for text in world.quotable)


def test_forget_that_reaches_its_own_message() -> None:
    world = told("I cheated on my exam. Don't remember that.")
    assert world.active == []
    assert not any("cheated" in text for text in world.quotable)


@pytest.mark.parametrize("text", ["Never mind, forget that.", "Forget that guy from work.", "Don't forget that."])
def test_forget_that_alone_takes_something_back(text: str) -> None:
    world = World()
    world.say("I live in Leeds.", session="s")
    world.say(text, session="s", seq=2)
    assert "I live in Leeds." in world.active


@pytest.mark.parametrize(
    "text",
    [
        "Please don't remember this: I am seeing a therapist on Thursdays.",
        "Off the record, do not store this: I am seeing a therapist.",
    ],
)
def test_what_is_not_to_be_remembered_is_not(text: str) -> None:
    world = told(text)
    assert world.active == []
    assert not any("therapist" in shown for shown in world.quotable)


def test_what_ended_before_is_forgotten_too() -> None:
    world = told("I use Tinder.", "I stopped using Tinder.", "Please forget everything about Tinder.")
    ended = [row for row in world.memories.values() if "I use Tinder" in row.text]
    assert ended
    assert all(row.metadata.get(FORGOTTEN) for row in ended)


def test_all_about_a_person_reaches_its_own_message() -> None:
    world = told("My friend Nora lives in Bergen.", "Nora and I had a fight. I like tea. Please forget all about Nora.")
    assert world.active == ["I like tea."]
    assert not any("Nora" in text for text in world.quotable)


@pytest.mark.parametrize("text", ["Vergiss alles über mich.", "Olvida todo lo que sabes de mí."])
def test_a_request_to_forget_everything_is_no_memory(text: str) -> None:
    assert told(text).active == []


@pytest.mark.parametrize(
    ("own", "other", "request_text"),
    [
        ("I have asthma.", "My son has asthma.", "Forget that I have asthma."),
        ("My birthday is May 3.", "My wife's birthday is June 4.", "Forget my birthday."),
    ],
)
def test_what_is_mine_is_forgotten_of_nobody_else(own: str, other: str, request_text: str) -> None:
    world = told(own, other, request_text)
    assert world.active == [other]
    assert other in world.quotable


@pytest.mark.parametrize("text", ["Never mention Nora again.", "Ignore what I said about Nora."])
def test_everyday_words_for_forgetting(text: str) -> None:
    assert told("I met Nora in Hull.", text).active == []


@pytest.mark.parametrize(
    "asked",
    [
        "List the productivity tools I use.",
        "Compare the two phones I own.",
        "Provide a list of my tasks.",
        "Produce a report on our sales.",
        "Liste die Tools auf, die ich benutze.",
        "Enumera las herramientas que uso.",
        "Liste les outils que j'utilise.",
        "Mostre as cidades onde eu morei.",
        "Перечисли инструменты, которыми я пользуюсь.",
        "列出我使用的工具。",
    ],
)
def test_request_for_a_list_is_no_memory(asked: str) -> None:
    assert told(asked).active == []
