"""Memory commands in a chat: answered by the proxy on every wire, never forwarded, never learned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.clock import Clock
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import BOTH, FACT, MAGNET, SHRAM, Message, Speaker, assistant, outcome, speaking, user


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("data")
    with Running(folder, upstream=lasting_provider.base_url, memory={"commands": True}) as running:
        yield running


def told(speaker: Speaker, text: str, **more: Any) -> str:
    response = speaker.post([user(text)], **more)
    assert outcome(response) == {"outcome": "off", "n": "0", "tokens": "0", "reason": "command"}
    return str(response.json()["choices"][0]["message"]["content"])


def test_a_memory_is_listed_forgotten_and_taken_back(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    seen = len(upstream.seen)
    listed = told(alice, "/memory")
    assert SHRAM in listed
    assert MAGNET in listed
    forgotten = told(alice, "  /Memory forget Magnet ")
    assert MAGNET in forgotten
    assert "/memory undo" in forgotten
    assert alice.texts() == {SHRAM}
    assert "Magnet" not in told(alice, "/memory")
    assert MAGNET in told(alice, "/memory undo")
    assert alice.texts() == BOTH
    assert "nothing to take back" in told(alice, "/memory undo")
    exported = told(alice, "/memory export")
    lines = exported.partition("```jsonl\n")[2].partition("```")[0].splitlines()
    assert {json.loads(line)["text"] for line in lines} == BOTH
    assert "/memory off" in told(alice, "/memory help")
    assert "no such command" in told(alice, "/memory dance")
    assert "Nothing that I keep" in told(alice, "/memory forget zeppelins")
    assert len(upstream.seen) == seen
    alice.wait()
    assert alice.texts() == BOTH
    assert not any("/memory" in episode["text"].lower() for episode in alice.all_episodes())


def test_commands_in_the_history_never_go_up(alice: Speaker, upstream: FakeProvider) -> None:
    first = [user(FACT)]
    alice.post(first)
    sent = upstream.last.json["messages"]
    alice.wait()
    history = [*first, assistant("All right."), user("/memory"), assistant(f"What I remember:\n- {MAGNET}")]
    history += [user("/memory forget Magnet"), assistant("Forgotten.")]
    alice.post([*history, user("What is the capital of Peru?")])
    went = upstream.last.json["messages"]
    assert went[: len(sent)] == sent
    assert "/memory" not in json.dumps(went)
    assert "What I remember" not in json.dumps(went)
    alice.wait()
    (session,) = alice.sessions()
    assert [episode["text"] for episode in alice.episodes(session["id"])] == [
        FACT,
        "All right.",
        "What is the capital of Peru?",
        "All right.",
    ]


def test_memory_is_off_between_the_two_commands(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    history: list[Message] = []
    for text, reply in (("/memory off", "Off."), ("I keep bees in Aarhus", "All right.")):
        history.append(user(text))
        response = alice.post(history)
        history.append(assistant(reply))
    assert outcome(response)["reason"] == "command"
    assert "Magnet" not in json.dumps(upstream.last.json)
    alice.wait()
    assert alice.texts() == BOTH
    for text in ("/memory on", "Which productivity tools do I use?"):
        history.append(user(text))
        response = alice.post(history)
        history.append(assistant())
    assert outcome(response)["outcome"] == "used"
    assert "bees" in json.dumps(upstream.last.json)
    alice.wait()
    assert alice.texts() == BOTH
    assert not any("bees" in episode["text"] for episode in alice.all_episodes())


def test_named_conversation_stays_off_whatever_history_comes(alice: Speaker) -> None:
    named = {"x_memory_session": "talk-1"}
    assert "off in this conversation" in told(alice, "/memory off", **named)
    assert outcome(alice.post([user("I keep bees in Aarhus")], **named))["reason"] == "command"
    assert outcome(alice.post([user("I keep hens in Leeds")], x_memory_session="talk-2"))["outcome"] != "off"
    told(alice, "/memory on", **named)
    assert outcome(alice.post([user("I keep ducks in Ghent")], **named))["outcome"] != "off"
    alice.wait()
    assert alice.texts() == {"I keep hens in Leeds", "I keep ducks in Ghent"}


@pytest.mark.parametrize("stream", [False, True])
def test_every_wire_has_its_own_shape(server: Running, upstream: FakeProvider, stream: bool) -> None:
    with speaking(server) as speaker:
        speaker.tell(FACT)
        seen = len(upstream.seen)
        openai, anthropic = server.client(speaker.key), server.anthropic(speaker.key)
        asked: list[Any] = [{"role": "user", "content": "/memory"}]
        if stream:
            chunks = openai.chat.completions.create(model="gpt-4o", messages=asked, stream=True)
            chat = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            events = list(openai.responses.create(model="gpt-4o", input="/memory", stream=True))
            assert events[-1].type == "response.completed"
            response = "".join(event.delta for event in events if event.type == "response.output_text.delta")
            with anthropic.messages.stream(model="claude-x", max_tokens=100, messages=asked) as message_stream:
                message = message_stream.get_final_text()
        else:
            chat = openai.chat.completions.create(model="gpt-4o", messages=asked).choices[0].message.content or ""
            response = openai.responses.create(model="gpt-4o", input="/memory").output_text
            whole = anthropic.messages.create(model="claude-x", max_tokens=100, messages=asked)
            assert (whole.model, whole.stop_reason) == ("claude-x", "end_turn")
            message = whole.content[0].text  # type: ignore[union-attr]
        for text in (chat, response, message):
            assert MAGNET in text
        assert len(upstream.seen) == seen


def test_reply_chain_goes_on_behind_our_answer(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        own = speaker.http.post("/responses", json={"model": "gpt-4o", "input": "/memory"}).json()["id"]
        after = speaker.http.post(
            "/responses", json={"model": "gpt-4o", "input": "/memory", "previous_response_id": "resp_of_theirs"}
        )
        for id_, known in ((own, None), (after.json()["id"], "resp_of_theirs")):
            body = {"model": "gpt-4o", "input": "hello", "previous_response_id": id_}
            speaker.http.post("/responses", json=body)
            assert upstream.last.json["previous_response_id"] == known
        refused = speaker.http.post("/responses", json={"model": "gpt-4o", "input": "/memory off"}).json()
        assert "X-Memory-Session" in refused["output"][0]["content"][0]["text"]


@pytest.mark.parametrize("mode", ["off", "observe"])
def test_command_is_a_message_where_memory_is_off(alice: Speaker, upstream: FakeProvider, mode: str) -> None:
    alice.post([user("/memory")], x_memory_mode=mode)
    assert upstream.last.json["messages"] == [user("/memory")]


@pytest.mark.parametrize(
    "text", ["/memory forget " + "tea " * 700, "/memory " + "x" * 30_000, "/memory\n" + "x " * 2000]
)
def test_too_long_command_is_answered_here(alice: Speaker, upstream: FakeProvider, text: str) -> None:
    alice.tell(FACT)
    seen = len(upstream.seen)
    answer = told(alice, text)
    assert "at most 2000 characters" in answer
    assert len(upstream.seen) == seen
    alice.post([user(text), assistant(answer), user("Hello there.")])
    assert upstream.last.json["messages"][-1:] == [user("Hello there.")]
    assert text.strip() not in json.dumps(upstream.last.json)
    assert alice.texts() == BOTH


@pytest.mark.parametrize("text", ["/memoryforget", "what does /memory do?", "memory", "//memory"])
def test_what_is_no_command_goes_to_the_provider(alice: Speaker, upstream: FakeProvider, text: str) -> None:
    alice.post([user(text)])
    assert text in json.dumps(upstream.last.json["messages"][-1])


def test_commands_are_for_keys_that_have_them(tmp_path: Path, lasting_provider: FakeProvider) -> None:
    provider = {"url": lasting_provider.base_url, "api_key": "sk-provider"}
    lasting_provider.clear()
    lasting_provider.script(agreeing)
    with Running(tmp_path, upstream=provider, auth={"mode": "keys"}) as server:

        async def make() -> list[str]:
            keys = server.services.keys
            return [(await keys.create(now=Clock().now(), takes_commands=takes))[0] for takes in (True, False)]

        for key, takes in zip(server.call(make), (True, False), strict=True):
            with speaking(server, key) as speaker:
                seen = len(lasting_provider.seen)
                speaker.post([user("/memory")])
                assert len(lasting_provider.seen) - seen == (not takes)
