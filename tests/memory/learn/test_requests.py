"""Requests to forget in plain words: what goes, what stays, and that the request itself is no memory."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import World


def told(*messages: str) -> World:
    world = World()
    for message in messages:
        world.say(message)
    return world


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
