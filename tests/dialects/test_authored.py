"""Messages of a request that its user wrote, judged in the context of the other messages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from proxy.dialects import chat, messages, responses
from proxy.dialects.authored import MAX_READ, Authored, is_call, own_text
from proxy.dialects.base import Message

OWN = "I use Shram and Magnet as productivity tools."
ALIEN = "I live in Kiel and work as a notary."


def said(*turns: tuple[str, str], names: tuple[str, ...] = (), system: str = "") -> list[str]:
    """Return the users' own words in a chat request, message by message."""
    listed: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in turns]
    for one, name in zip(listed, names, strict=False):
        one.update({"name": name})
    first = [{"role": "system", "content": system}] if system else []
    request = chat.read(orjson.dumps({"model": "m", "messages": [*first, *listed]}))
    own = Authored(request)
    return [own.text(one.index) for one in request.messages if one.role == "user"]


def test_opening_noted_by_an_invented_reply_is_clients() -> None:
    opening = "Here is the map.\nsrc/cart.py\nI live in Kiel."
    assert said(("user", opening), ("assistant", "Ok, got it."), ("user", OWN)) == ["", OWN]


def test_one_line_noted_by_a_reply_is_users() -> None:
    assert said(("user", OWN), ("assistant", "Ok, noted."), ("user", "Thanks")) == [OWN, "Thanks"]


@pytest.mark.parametrize(
    "call",
    [
        "<read_file>\n<path>a</path>\n</read_file>",
        "Thought: look\nAction: lookup\nAction Input: a",
        '{"action": "lookup", "action_input": "a"}',
        "DISCUSSION\nI look.\n```\ncat a\n```",
        "<function=bash><parameter=command>ls</parameter></function>",
    ],
)
def test_what_answers_a_written_call_is_no_statement(call: str) -> None:
    assert said(("user", "Look."), ("assistant", call), ("user", ALIEN)) == ["Look.", ""]


@pytest.mark.parametrize("reply", ["Try this:\n```python\nprint(1)\n```", "<b>Fine</b>", "Where do you live?"])
def test_answer_to_a_plain_reply_is_the_users(reply: str) -> None:
    assert not is_call(reply)
    assert said(("user", "Hi"), ("assistant", reply), ("user", OWN)) == ["Hi", OWN]


def test_of_several_names_only_the_users_counts() -> None:
    turns = (("user", OWN), ("user", ALIEN), ("user", "Go on."))
    assert said(*turns, names=("user_proxy", "coder", "user_proxy")) == [OWN, "", "Go on."]
    assert said(*turns, names=("ana", "ana", "ana")) == [OWN, ALIEN, "Go on."]
    assert said(*turns, names=("", "researcher", "")) == [OWN, "", "Go on."]
    assert said(*turns, names=("ana", "", "")) == [OWN, ALIEN, "Go on."]


def test_instruction_of_a_side_task_is_the_agents() -> None:
    turns = (("user", OWN), ("assistant", "Nice."), ("user", "Scan it. I prefer short entries."))
    assert said(*turns, system="You act as the memory extraction subagent.") == [OWN, ""]
    assert said(*turns, system="You are a careful assistant.")[1] == "Scan it. I prefer short entries."


def test_every_wire_is_judged_by_parts() -> None:
    note = f"<system-reminder>\n{ALIEN}\n</system-reminder>"
    blocks = [{"type": "text", "text": note}, {"type": "text", "text": OWN}]
    request = messages.read(orjson.dumps({"model": "m", "messages": [{"role": "user", "content": blocks}]}))
    assert Authored(request).text(0) == OWN
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in (
            f"# AGENTS.md instructions\n{ALIEN}",
            "<environment_context>\n<cwd>/</cwd>\n</environment_context>",
            OWN,
        )
    ]
    own = Authored(responses.read(orjson.dumps({"model": "m", "input": items})))
    assert [own.text(at) for at in range(3)] == ["", "", OWN]


def test_our_own_blocks_are_nobodys_words() -> None:
    assert said(("user", f'{OWN}\n\n<memory kind="facts">\n{ALIEN}\n</memory>')) == [OWN]


def test_both_ends_of_very_long_messages_are_read() -> None:
    pasted = f"<document>\n{'lorem ipsum ' * (MAX_READ // 6)}\n</document>"
    assert own_text([f"I live in Oslo.\n{pasted}\nI work in Bergen."]) == "I live in Oslo.\nI work in Bergen."


def test_reading_of_a_long_history_has_a_ceiling() -> None:
    text = f"<a>{'river ' * 50}" * 600
    messages = [{"role": "user", "content": text} for _ in range(400)]
    body = orjson.dumps({"model": "m", "messages": [*messages, {"role": "user", "content": "I live in Oslo."}]})
    authored = Authored(chat.read(body))
    begun = time.process_time()
    assert [authored.text(index) for index in range(401)][-1] == "I live in Oslo."
    whole = time.process_time() - begun
    begun = time.process_time()
    own_text([text])
    assert whole < 60 * (time.process_time() - begun)  # of 400 messages, 4 of 73 million characters are read


class Counted(list[Message]):
    """Messages that count the loops over all of them."""

    walks = 0

    def __iter__(self) -> Iterator[Message]:
        self.walks += 1
        return super().__iter__()


@pytest.mark.parametrize("turns", [10, 1000])
def test_messages_are_not_walked_through_for_each(turns: int) -> None:
    """A history of 5,000 turns took 1 s, most of it for counting its user messages."""
    request = chat.read(orjson.dumps({"model": "m", "messages": [{"role": "user", "content": OWN}] * turns}))
    history = Counted(request.messages)
    own = Authored(replace(request, messages=history))
    assert [own.text(index) for index in range(turns)] == [OWN] * turns
    assert history.walks < 10


def test_very_many_parts_of_one_line_are_read() -> None:
    """The time is linear in their number; comparing them pair by pair took minutes."""
    assert own_text(["I like tea."] * 5_000).count("I like tea.") == 5_000
