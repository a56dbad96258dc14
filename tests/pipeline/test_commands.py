"""Commands are distinguished from messages, and leave a request as if they had never been sent."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import chat, messages
from proxy.pipeline.commands import Command, command_of, resolve_previous, take
from proxy.pipeline.exchange import Exchange
from proxy.types import Scope
from proxy.upstream.own_reply import before, response_id

TEXTS = ["I live in Oslo", "Thanks!", "你好，我住在成都", "What is /memory?", "a\n\n/memory"]
COMMANDS = ["/memory", "/memory forget my sister", " /MEMORY undo\n", "/memory export"]
BARE: Any = SimpleNamespace()


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/memory", Command()),
        ("  /Memory  FORGET  my Sister  ", Command("forget", "my Sister")),
        ("/memory forget two\nlines", Command("forget", "two\nlines")),
        ("/memory's", None),
        ("/memoryoff", None),
        ("say /memory", None),
        ("", None),
        ("/memory forget " + "x" * 3000, Command("forget", "x" * 3000)),
    ],
)
def test_command_begins_its_message(text: str, command: Command | None) -> None:
    assert command_of(text) == command


def exchange_of(dialect: Any, said: list[dict[str, Any]]) -> Exchange:
    body = json.dumps({"model": "m", "max_tokens": 5, "messages": said}, ensure_ascii=False).encode()
    exchange = Exchange("POST", "/chat/completions", "", [], body, dialect)
    exchange.request, exchange.mode, exchange.scope = dialect.read(body), "full", Scope("t", "u")
    return exchange


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 4)), max_size=8),
    st.sampled_from(["chat", "messages"]),
)
def test_what_goes_up_is_what_would_without_commands(turns: list[tuple[bool, int, int]], wire: str) -> None:
    dialect: Any = chat if wire == "chat" else messages
    said: list[dict[str, Any]] = []
    plain: list[dict[str, Any]] = []
    for is_command, command, text in turns:
        content: Any = COMMANDS[command] if is_command else TEXTS[text]
        pair = [{"role": "user", "content": content}, {"role": "assistant", "content": f"reply {text}"}]
        said += pair
        plain += [] if is_command else pair
    last = {"role": "user", "content": "And now?"}
    exchange, expected = exchange_of(dialect, [*said, last]), exchange_of(dialect, [*plain, last])
    assert asyncio.run(take(exchange, BARE)) is None
    assert exchange.body == expected.body
    assert exchange.request == expected.request
    again = exchange.body
    assert asyncio.run(take(exchange, BARE)) is None
    assert exchange.body is again


@given(st.lists(st.sampled_from(["on", "off", "text"]), max_size=8))
def test_messages_while_memory_is_off_are_ignored(turns: list[str]) -> None:
    said: list[dict[str, Any]] = []
    heard: list[str] = []
    is_off = False
    for number, turn in enumerate(turns):
        is_command = turn != "text"
        said.append({"role": "user", "content": f"/memory {turn}" if is_command else f"text {number}"})
        said.append({"role": "assistant", "content": f"reply {number}"})
        if is_command:
            is_off = turn == "off"
        elif not is_off:
            heard += [f"text {number}", f"reply {number}"]
    exchange = exchange_of(chat, [*said, {"role": "user", "content": "And now?"}])
    assert asyncio.run(take(exchange, BARE)) is None
    assert (exchange.mode == "off") == is_off
    found = [exchange.said(message.index) for message in exchange.messages[:-1]]
    assert [text for text in found if text] == heard


@given(st.one_of(st.none(), st.from_regex(r"resp_[a-z0-9]{1,40}", fullmatch=True)), st.integers(1, 3))
def test_chain_of_answers_leads_to_the_providers_reply(known: str | None, length: int) -> None:
    id_ = known
    for _ in range(length):
        made = response_id({"previous_response_id": id_} if id_ else {})
        id_ = made if id_ is None or before(id_) == id_ else response_id({"previous_response_id": before(id_)})
    body = json.dumps({"model": "m", "previous_response_id": id_, "input": "resp_memory_"}).encode()
    exchange = Exchange("POST", "/responses", "", [], body, chat)
    resolve_previous(exchange)
    assert json.loads(exchange.body) == {"model": "m", "previous_response_id": known, "input": "resp_memory_"}
