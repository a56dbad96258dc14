"""The README's scenarios, with the real SDK over real sockets, stream and non-stream."""

from __future__ import annotations

from pathlib import Path

import pytest
from openai import OpenAI

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import speaking

QUESTION = "What are the productivity tools that I use"


def ask(client: OpenAI, *history: str, model: str = "demo", stream: bool = False, answers: tuple[str, ...] = ()) -> str:
    """Post a conversation as clients do, user turns with answers between them, and return the reply."""
    messages: list = []
    for at, text in enumerate(history):
        messages.append({"role": "user", "content": text})
        if at < len(history) - 1:
            messages.append({"role": "assistant", "content": answers[at] if at < len(answers) else "Noted."})
    if not stream:
        return client.chat.completions.create(model=model, messages=messages).choices[0].message.content or ""
    chunks = client.chat.completions.create(model=model, messages=messages, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_tools_are_remembered_forgotten_and_remembered_again(tmp_path: Path, stream: bool) -> None:
    with Running(tmp_path) as server:
        client = server.client()
        said = "I use Shram and Magnet as productivity tools"
        first_reply = ask(client, said, stream=stream)
        server.wait_learned()
        answer = ask(client, QUESTION, stream=stream)
        assert "Shram" in answer
        assert "Magnet" in answer

        ask(client, "I don't use Magnet anymore", stream=stream)
        server.wait_learned()
        answer = ask(client, QUESTION + "?", stream=stream)
        assert "Shram" in answer
        assert "Magnet" not in answer

        ask(client, said, "thanks!", stream=stream, answers=(first_reply,))
        server.wait_learned()
        answer = ask(client, "Which productivity tools do I use?", stream=stream)
        assert "Shram" in answer
        assert "Magnet" not in answer

        ask(client, "I started using Magnet again", stream=stream)
        server.wait_learned()
        answer = ask(client, "Tell me the productivity tools I use", stream=stream)
        assert "Shram" in answer
        assert "Magnet" in answer


def test_upstream_gets_both_tools_on_last_user_turn(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server:
        client = server.client()
        ask(client, "I use Shram and Magnet as productivity tools", model="gpt-4o")
        server.wait_learned()
        ask(client, QUESTION, model="gpt-4o")
        sent = provider.seen[-1].json["messages"]
        assert len(sent) == 1
        assert sent[0]["content"].startswith(QUESTION)
        assert "Shram" in sent[0]["content"]
        assert "Magnet" in sent[0]["content"]


def test_turn_stands_beside_the_date_it_means(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        speaker.tell("My driving test is next Thursday.", X_Memory_Time="2026-05-12T10:00:00Z")
        speaker.say("When is my driving test?", X_Memory_Time="2026-05-13T09:00:00Z")
        asked = provider.seen[-1].json["messages"][-1]["content"]
        assert "next Thursday. [2026-05-21]" in asked
