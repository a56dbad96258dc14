"""Conversations with a provider that refuses a thought behind anything but what stood before it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.store.tables import bindings, ledger
from tests.fakes.binding import BETA, BindingProvider
from tests.fakes.provider import FakeProvider
from tests.launch import process
from tests.running import TLS, Running
from tests.talking import FACT, new_key, outcome

TOOLS = [{"name": "look", "description": "d", "input_schema": {"type": "object", "properties": {}}}]
TOLD = (FACT, "My dog is called Bronko", "I live in Oslo", "My name is Robin")
QUESTIONS = (
    "Which productivity tools do I use?",
    "What is my dog called?",
    "In which city do I live?",
    "Use the tool: what do I use for productivity?",
    "What is a magnet made of?",
)
FORGET = {"text": "Magnet"}
_OPEN: list[httpx.Client] = []
CHOICE = {"prefix_mismatch_behavior": "drop_block"}


@dataclass
class Talk:
    """A conversation of a client of Anthropic's wire, which resends every reply as it came."""

    base_url: str
    key: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    last: httpx.Response | None = None

    def __post_init__(self) -> None:
        headers = {"x-api-key": self.key, "anthropic-version": "2023-06-01"}
        self.http = httpx.Client(base_url=self.base_url, headers=headers, timeout=30, verify=TLS)
        _OPEN.append(self.http)

    def ask(self, text: str, *, marked: bool = False) -> httpx.Response:
        """Say something; ``marked``: as a list with a cache mark, which is a string from the next turn on."""
        self.messages.append({"role": "user", "content": text})
        return self.send(marked=marked)

    def send(self, *, marked: bool = False) -> httpx.Response:
        """Send the conversation, and walk through the calls of tools in the reply."""
        response = self.post("/messages", marked=marked)
        if response.status_code == 200:
            content = response.json()["content"]
            self.messages.append({"role": "assistant", "content": content})
            calls = [one["id"] for one in content if one["type"] == "tool_use"]
            if calls:
                results = [{"type": "tool_result", "tool_use_id": one, "content": "42"} for one in calls]
                self.messages.append({"role": "user", "content": results})
                return self.send(marked=marked)
        return response

    def post(self, path: str, *, marked: bool = False) -> httpx.Response:
        messages = [dict(one) for one in self.messages]
        if marked and isinstance(messages[-1]["content"], str):
            block = {"type": "text", "text": messages[-1]["content"], "cache_control": {"type": "ephemeral"}}
            messages[-1]["content"] = [block]
        body = {"model": "claude-x", "max_tokens": 64, "thinking": {"type": "adaptive"}, "tools": TOOLS, **self.fields}
        self.last = self.http.post(path, json={**body, "messages": messages}, headers=self.headers)
        return self.last

    def back(self, turns: int = 1) -> list[dict[str, Any]]:
        """Take back the last turns but for the first one's question; return the branch that was left."""
        left = list(self.messages)
        asked = [i for i, one in enumerate(self.messages) if isinstance(one["content"], str)]
        del self.messages[asked[-turns] + 1 :]
        return left

    def receipt(self) -> dict[str, Any]:
        assert self.last is not None
        return dict(self.http.get(f"/receipts/{self.last.headers['x-memory-receipt']}").json())


@pytest.fixture(autouse=True)
def closed_clients() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("data"), upstream=lasting.base_url) as running:
        yield running


@pytest.fixture
def provider(lasting: FakeProvider) -> BindingProvider:
    lasting.clear()
    script = BindingProvider()
    lasting.script(script)
    return script


@pytest.fixture
def talk(server: Running, provider: BindingProvider) -> Talk:
    """A conversation of somebody of whom something is known."""
    made = Talk(server.base_url, new_key())
    tell(made, *TOLD)
    return made


def tell(talk: Talk, *texts: str) -> None:
    for text in texts:
        assert talk.http.post("/memories", json={"text": text}).status_code == 200


def sent(lasting: FakeProvider) -> str:
    return lasting.last.body.decode()


def wished(lasting: FakeProvider) -> bool:
    seen = lasting.last
    return BETA in (seen.header("anthropic-beta") or "") and (seen.json["thinking"].get("block_binding") == CHOICE)


@pytest.mark.parametrize("marked", [False, True], ids=["strings", "marked"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_row_84_no_turn_and_no_tool_loop_is_ever_refused(
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


class Streamed(Talk):
    """The same over a stream of events."""

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


def test_row_84_branches_carry_what_stood_in_each(talk: Talk, provider: BindingProvider) -> None:
    """A regenerated reply is told what is known by then; whoever goes back to the first reply goes back to its block."""
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


def test_row_84_a_regenerated_reply_knows_what_was_learned_meanwhile(talk: Talk, lasting: FakeProvider) -> None:
    talk.ask("What do I play on Sundays?")
    tell(talk, "I play the harpsichord on Sundays")
    talk.back()
    talk.send()
    assert "harpsichord" in sent(lasting)
    shown = [one for one in talk.receipt()["additions"] if one["kind"] == "block"]
    assert "harpsichord" in shown[-1]["text"]  # kept by the name of the reply, shown at the message
    assert shown[-1]["message"] == talk.receipt()["message"]


def test_row_84_an_edited_question_is_a_branch(talk: Talk, provider: BindingProvider) -> None:
    for question in QUESTIONS[:3]:
        talk.ask(question)
    talk.back(2)
    talk.messages[-1]["content"] = "Which instrument is mine?"
    talk.send()
    talk.ask("And which dog?")
    assert (provider.refusals, provider.dropped) == (0, 0)


def test_row_84_a_conversation_begun_elsewhere_gets_nothing_before_its_thoughts(
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


def test_row_84_tokens_are_counted_with_what_memory_puts_in(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
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
def test_row_84_errands_of_a_client_carry_what_stood_in_its_conversation(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider, header: dict[str, str]
) -> None:
    talk.ask(QUESTIONS[0])
    talk.headers = header
    errand = "Write a summary of this conversation for whoever goes on with it."
    response = talk.ask(errand)
    assert (response.status_code, outcome(response)["reason"]) == (200, "errand")
    assert lasting.last.json["messages"][-1]["content"] == errand
    assert provider.refusals == 0


@pytest.mark.parametrize("how", ["forget", "erase", "ledger", "session", "everything"])
def test_row_85_where_what_stood_there_must_go_thoughts_are_dropped(
    server: Running, talk: Talk, provider: BindingProvider, lasting: FakeProvider, how: str
) -> None:
    talk.ask(QUESTIONS[0])
    talk.ask(QUESTIONS[1])
    lose(server, talk, how)
    response = talk.ask("Which of them would you open first?")
    assert response.status_code == 200
    assert "Use Magnet" not in sent(lasting)
    assert how not in ("forget", "erase") or "Magnet" not in sent(lasting)
    assert wished(lasting)
    assert provider.dropped > 0
    assert talk.receipt()["thoughts"] == "dropped"
    assert "input_transformations" in response.json()
    refusals = provider.refusals
    for question in QUESTIONS[2:]:
        assert talk.ask(question).status_code == 200
    assert provider.refusals == refusals
    assert refusals == (1 if how in ("erase", "session", "everything") else 0)


def lose(server: Running, talk: Talk, how: str) -> None:
    if how == "forget":
        assert talk.http.post("/memories/forget", json=FORGET).json()["closed"]
    elif how == "erase":
        server.wait_learned(talk.key)
        assert talk.http.post("/erase?verify=true").status_code == 200
    elif how == "session":
        server.wait_learned(talk.key)
        for session in talk.http.get("/sessions").json()["data"]:
            talk.http.delete(f"/sessions/{session['id']}")
    else:
        for table in (ledger, bindings) if how == "everything" else (ledger,):
            server.call(server.services.database.submit, lambda connection, one=table: connection.execute(one.delete()))


def test_row_85_a_refusal_that_the_client_caused_comes_back_unchanged(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    talk.ask(QUESTIONS[0])
    talk.ask(QUESTIONS[1])
    talk.messages[0]["content"] = "Which tools are mine?"
    before = len(lasting.seen)
    response = talk.ask(QUESTIONS[2])
    assert (response.status_code, len(lasting.seen) - before, provider.refusals) == (400, 1, 1)
    assert "bound to a different conversation" in response.json()["error"]["message"]
    assert not wished(lasting)


@pytest.mark.parametrize("field", ["system", "tools", "assistant"])
def test_row_85_other_edits_of_the_client_come_back_unchanged(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider, field: str
) -> None:
    talk.fields["system"] = "You are terse."
    talk.ask(QUESTIONS[0])
    talk.ask(QUESTIONS[1])
    if field == "assistant":
        talk.messages[1] = {"role": "assistant", "content": "Another answer."}
    else:
        talk.fields[field] = "You are verbose." if field == "system" else [{**TOOLS[0], "name": "find"}]
    before = len(lasting.seen)
    assert talk.ask(QUESTIONS[2]).status_code == 400
    assert len(lasting.seen) - before == 1


def test_row_85_a_client_that_has_chosen_is_left_alone(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    talk.headers["anthropic-beta"] = f"context-1m-2025-08-07,{BETA}"
    talk.fields["thinking"] = {"type": "enabled", "budget_tokens": 9, "block_binding": CHOICE}
    talk.ask(QUESTIONS[0])
    talk.http.post("/memories/forget", json=FORGET)
    assert talk.ask(QUESTIONS[1]).status_code == 200
    assert lasting.last.header("anthropic-beta") == talk.headers["anthropic-beta"]
    assert lasting.last.json["thinking"] == talk.fields["thinking"]
    assert provider.refusals == 0


def test_row_85_a_request_that_does_not_think_goes_without_thoughts(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    talk.ask(QUESTIONS[0])
    talk.http.post("/memories/forget", json=FORGET)
    talk.fields["thinking"] = {"type": "disabled"}
    assert talk.ask(QUESTIONS[1]).status_code == 200
    assert '"signature"' not in sent(lasting)
    assert lasting.last.json["thinking"] == {"type": "disabled"}


def test_row_85_a_provider_without_the_wish_is_asked_without_it(talk: Talk, provider: BindingProvider) -> None:
    talk.fields["tools"] = []
    talk.ask(QUESTIONS[0])
    provider.knows_the_wish = False
    provider.bound = Anything()
    talk.http.post("/memories/forget", json=FORGET)
    response = talk.ask(QUESTIONS[1])
    assert (response.status_code, outcome(response)["reason"]) == (200, "prefix")


class Anything(dict[str, str]):
    """Takes every thought behind every prefix."""

    def get(self, *_: Any) -> Any:
        return Same()


class Same:
    def __eq__(self, _: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_row_84_what_stood_there_is_put_back_where_recall_is_too_slow(
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


def test_row_84_conversations_go_on_after_the_server_was_killed(
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


@pytest.mark.parametrize("seed", range(4))
def test_row_85_whatever_happens_between_turns_the_client_sees_no_refusal(
    server: Running, talk: Talk, provider: BindingProvider, seed: int
) -> None:
    chance = random.Random(seed)
    branches: list[list[dict[str, Any]]] = []
    for step in range(14):
        what = chance.choice(["ask", "ask", "tool", "again", "branch", "tell", "forget", "ledger"])
        if what == "again" and talk.messages:
            branches.append(talk.back())
            response: httpx.Response | None = talk.send()
        elif what == "branch" and branches:
            talk.messages = list(chance.choice(branches))
            response = talk.ask(f"Which tools do I use, number {step}?")
        elif what == "tell":
            tell(talk, f"I use Tool{step} for drawing")
            response = None
        elif what == "forget":
            talk.http.post("/memories/forget", json={"text": chance.choice(["Magnet", "Shram", "Bronko", "Tool"])})
            response = None
        elif what == "ledger":
            lose(server, talk, "ledger")
            response = None
        else:
            text = "Use the tool: what do I draw with?" if what == "tool" else chance.choice(QUESTIONS)
            response = talk.ask(text, marked=chance.random() < 0.5)
        assert response is None or response.status_code == 200, (step, what, response.text)
    assert provider.refusals == 0


def test_row_85_where_the_wire_is_another_the_request_goes_without_thoughts(
    tmp_path: Path, provider: BindingProvider, lasting: FakeProvider
) -> None:
    """Claude behind OpenRouter: the field would arrive there without its header, and be refused."""
    params = {"model": "openrouter/anthropic/claude-x", "api_base": f"{lasting.url}/api/v1", "api_key": "sk-or-v1-a"}
    models = [{"model_name": "claude-x", "litellm_params": params}]
    told = {"model": "m", "messages": [{"role": "user", "content": FACT}]}
    with Running(tmp_path, models=models, upstream=lasting.base_url) as server:
        talk = Talk(server.base_url, key := new_key(), fields={"model": "elsewhere"})
        talk.http.post("/chat/completions", json=told)
        server.wait_learned(key)
        talk.ask(QUESTIONS[0])
        talk.http.post("/memories/forget", json=FORGET)
        talk.fields["model"] = "claude-x"
        assert talk.ask(QUESTIONS[1]).status_code == 200
    assert lasting.last.path.endswith("/chat/completions")
    assert "block_binding" not in sent(lasting)
    assert "signature" not in sent(lasting)
    assert provider.refusals == 0
