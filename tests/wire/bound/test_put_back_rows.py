"""The text before a bound thought is restored byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.binding import BindingProvider
from tests.fakes.provider import FakeProvider
from tests.launch import process
from tests.running import Running
from tests.talking import new_key, outcome
from tests.wire.bound.talk import QUESTIONS, TOLD, Talk, sent, tell, wished


@pytest.mark.parametrize("marked", [False, True], ids=["strings", "marked"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_84_no_turn_or_tool_loop_is_refused(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider, *, marked: bool, stream: bool
) -> None:
    if stream:
        talk = Streamed(talk.base_url, talk.key)
    for question in QUESTIONS:
        assert outcome(talk.ask(question, marked=marked))["outcome"] == "used"
        tell(talk, f"I like {question.split()[-1]}")
    assert (provider.refusals, provider.dropped) == (0, 0)
    assert not wished(lasting)
    assert sent(lasting).count("Bronko") == 1


def test_row_84_branches_carry_what_stood_in_each(talk: Talk, provider: BindingProvider) -> None:
    """A regenerated reply gets the memory of its time; returning to the first reply restores its block."""
    talk.ask("What do I play on Sundays?")
    tell(talk, "I play the harpsichord on Sundays")
    first = talk.back()
    talk.send()
    second = list(talk.messages)
    for branch in (first, second, first):
        talk.messages = list(branch)
        talk.ask("And what else do I play?")
        talk.ask("Use the tool: which city is mine?")
    assert (provider.refusals, provider.dropped) == (0, 0)


def test_row_84_regenerated_reply_knows_what_was_learned_meanwhile(talk: Talk, lasting: FakeProvider) -> None:
    talk.ask("What do I play on Sundays?")
    tell(talk, "I play the harpsichord on Sundays")
    talk.back()
    talk.send()
    assert "harpsichord" in sent(lasting)
    shown = [one for one in talk.receipt()["additions"] if one["kind"] == "block"]
    assert "harpsichord" in shown[-1]["text"]  # stored under the reply's id, shown at the message
    assert shown[-1]["message"] == talk.receipt()["message"]


def test_row_84_an_edited_question_is_a_branch(talk: Talk, provider: BindingProvider) -> None:
    for question in QUESTIONS[:3]:
        talk.ask(question)
    talk.back(2)
    talk.messages[-1]["content"] = "Which instrument is mine?"
    talk.send()
    talk.ask("And which dog?")
    assert (provider.refusals, provider.dropped) == (0, 0)


def test_row_84_foreign_conversation_gets_nothing_before_its_thoughts(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    elsewhere = Talk(lasting.base_url, "sk-provider")
    elsewhere.ask("Hello there")
    elsewhere.ask("What is a monopole?")
    talk.messages = elsewhere.messages
    for question in QUESTIONS[:4]:
        talk.ask(question)
    assert (provider.refusals, provider.dropped) == (0, 0)
    assert "Robin" in sent(lasting)
    assert "Bronko" in sent(lasting)


def test_row_84_tokens_are_counted_with_memory(talk: Talk, provider: BindingProvider, lasting: FakeProvider) -> None:
    talk.ask(QUESTIONS[0])
    talk.messages.append({"role": "user", "content": QUESTIONS[1]})
    counted = talk.post("/messages/count_tokens")
    assert counted.status_code == 200, counted.text
    assert "Bronko" in sent(lasting)
    assert "Shram" in sent(lasting)
    body = lasting.last.json["messages"]
    talk.send()
    assert lasting.last.json["messages"] == body
    assert len(talk.http.get("/sessions").json()["data"]) == 1


@pytest.mark.parametrize("header", [{"x-claude-code-request-class": "compaction"}, {"x-openai-subagent": "review"}])
def test_row_84_errands_carry_the_conversations_blocks(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider, header: dict[str, str]
) -> None:
    talk.ask(QUESTIONS[0])
    talk.headers = header
    errand = "Write a summary of this conversation for whoever goes on with it."
    response = talk.ask(errand)
    assert (response.status_code, outcome(response)["reason"]) == (200, "errand")
    assert lasting.last.json["messages"][-1]["content"] == errand
    assert provider.refusals == 0


def test_row_84_earlier_blocks_return_when_recall_is_slow(
    tmp_path: Path, provider: BindingProvider, lasting: FakeProvider
) -> None:
    with Running(tmp_path, upstream=lasting.base_url) as server:
        talk = Talk(server.base_url, key := new_key())
        tell(talk, *TOLD)
        talk.ask(QUESTIONS[0])
        server.wait_learned(key)
        server.services.settings.memory.deadline_ms = 1
        for question in QUESTIONS[1:]:
            assert talk.ask(question).status_code == 200
        assert "Shram" in sent(lasting)
    assert (provider.refusals, provider.dropped) == (0, 0)


def test_row_84_conversations_go_on_after_a_kill(
    tmp_path: Path, provider: BindingProvider, lasting: FakeProvider
) -> None:
    key, messages = new_key(), []
    for turn in range(2):
        with process(tmp_path, lasting, THROUGHLINE_MEMORY__DEADLINE_MS="10000") as (_, origin):
            talk = Talk(f"{origin}/v1", key, messages)
            if not turn:
                tell(talk, *TOLD)
            for question in QUESTIONS[2 * turn : 2 * turn + 2]:
                assert talk.ask(question).status_code == 200
            messages = talk.messages
    assert (provider.refusals, provider.dropped) == (0, 0)
    assert "Shram" in sent(lasting)


class Streamed(Talk):
    """The same conversation over an event stream."""

    def post(self, path: str, *, marked: bool = False) -> httpx.Response:
        self.fields["stream"] = True
        response = super().post(path, marked=marked)
        if response.status_code == 200:
            response._content = folded(response.text)
        return response


def folded(text: str) -> bytes:
    blocks: list[dict[str, Any]] = []
    for line in text.splitlines():
        event = json.loads(line[6:]) if line.startswith("data: ") else {}
        if event.get("type") == "content_block_start":
            blocks.append(event["content_block"])
        elif event.get("type") == "content_block_delta":
            delta = event["delta"]
            key = next(one for one in ("text", "thinking", "signature", "partial_json") if one in delta)
            if key != "partial_json":
                blocks[-1][key] += delta[key]
    return json.dumps({"content": blocks}).encode()
