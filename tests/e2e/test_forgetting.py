"""Ways in which a forgotten statement must not return, and a stored one must not be lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from openai import OpenAI

from tests.e2e.test_scenarios import ask
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, gated, json_reply
from tests.running import Running

MODEL = "gpt-4o"


def sent_last(provider: FakeProvider) -> str:
    return provider.seen[-1].body.decode()


def learn(server: Running, client: OpenAI, *turns: str) -> None:
    for turn in turns:
        ask(client, turn, model=MODEL)
        server.wait_learned()


def test_request_in_flight_does_not_keep_forgotten_values(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server:
        client = server.client()
        learn(server, client, "I use Magnet as a productivity tool")
        gate = Gate()
        provider.then(gated(replies.stream(), gate, after=1))
        stream = client.chat.completions.create(
            model=MODEL, stream=True, messages=[{"role": "user", "content": "Which productivity tool do I use?"}]
        )
        assert "Magnet" in sent_last(provider)
        with server.http() as http:
            (memory,) = http.get("/memories").json()["data"]
            http.delete(f"/memories/{memory['id']}")
        gate.open()
        for _ in stream:
            pass
        ask(client, "Which productivity tool do I use?", "And what is the capital of France?", model=MODEL)
        assert "Magnet" not in sent_last(provider)


def test_later_history_is_not_quoted_with_ended_values(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server:
        client = server.client()
        learn(server, client, "I use Magnet as a productivity tool", "I don't use Magnet anymore")
        ask(client, "On my Mac I use Magnet, the window manager, for work", "Thanks. Nice weather today.", model=MODEL)
        server.wait_learned()
        ask(client, "Which window manager do I use on my Mac for work?", model=MODEL)
        assert "Magnet" not in sent_last(provider)


def test_reply_does_not_bring_back_ended_values(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server:
        client = server.client()
        learn(server, client, "I use Magnet and Shram as productivity tools", "I don't use Magnet anymore")
        provider.then(json_reply(replies.completion("Your productivity tools are Magnet and Shram.")))
        learn(server, client, "Remind me of the productivity tools that I have")
        ask(client, "Which productivity tools do I use?", model=MODEL)
        assert "Shram" in sent_last(provider)
        assert "Magnet" not in sent_last(provider)


def test_old_history_does_not_end_what_was_restated(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server:
        client = server.client()
        statements = (
            "I use Magnet as a productivity tool",
            "I don't use Magnet anymore",
            "I started using Magnet again",
        )
        learn(server, client, *statements)
        ask(client, "Hello there!", *statements[:2], "How are you?", model=MODEL)
        server.wait_learned()
        ask(client, "Which productivity tool do I use?", model=MODEL)
        assert "Magnet" in sent_last(provider)


def test_failed_profile_is_not_frozen_as_empty(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server:
        with server.http() as http:
            http.post("/memories", json={"text": "Always answer in Latin.", "kind": "instruction", "pinned": True})
        ask(server.client(X_Memory_Budget="0"), "What is two plus two?", model=MODEL)
        assert "Latin" not in sent_last(provider)
        ask(server.client(), "What is two plus two?", "And three plus three?", model=MODEL)
        assert "Latin" in sent_last(provider)


def test_retry_of_a_cut_reply_keeps_its_history(tmp_path: Path, provider: FakeProvider) -> None:
    slow = {"worker": {"enabled": False}}
    history = ("My dog is called Bronko", "I live in Oslo", "Which city do I live in?")
    with Running(tmp_path, upstream=provider.base_url, **slow) as server:
        provider.then(replace(replies.stream(), cut=True, chunks=replies.stream().chunks[:2]))
        with pytest.raises(httpx.RemoteProtocolError):
            ask(server.client(), *history, model=MODEL, stream=True)
        ask(server.client(), *history, model=MODEL, stream=True)
    with Running(tmp_path, upstream=provider.base_url) as server:
        server.wait_learned()
        with server.http() as http:
            known = " ".join(row["text"] for row in http.get("/memories").json()["data"])
        assert "Bronko" in known
        assert "Oslo" in known
