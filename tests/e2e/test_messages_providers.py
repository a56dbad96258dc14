"""``/v1/messages`` in front of Anthropic itself, of other providers, and of the demo model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from anthropic import APIStatusError

from proxy.store.keys import Key
from tests.fakes import messages as fake
from tests.fakes import replies
from tests.fakes.messages import Said
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply
from tests.running import Running
from tests.talking import outcome

pytestmark = pytest.mark.filterwarnings(
    "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
)

FACT = "I use Shram and Magnet as productivity tools"
QUESTION = "What are the productivity tools that I use?"
BODY = {"model": "claude-x", "max_tokens": 64, "messages": [{"role": "user", "content": QUESTION}]}
VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "OPENAI_API_KEY")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def claude(provider: FakeProvider) -> FakeProvider:
    """Return a provider that replies on Anthropic's wire without a word of the question."""
    provider.script(fake.agreeing)
    return provider


@pytest.fixture
def gateway(tmp_path: Path, provider: FakeProvider) -> Iterator[Running]:
    """Return a server whose one model is served on OpenAI's wire."""
    params = {"model": "hosted_vllm/llama", "api_key": "sk-operator", "api_base": provider.base_url}
    with Running(tmp_path, models=[{"model_name": "house", "litellm_params": params}]) as server:
        yield server


def ask(server: Running, text: str, key: str, *, model: str, stream: bool = False) -> str:
    body: dict[str, Any] = {"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": text}]}
    with server.anthropic(key) as client:
        if not stream:
            answer = client.messages.create(**body)
        else:
            with client.messages.stream(**body) as events:
                answer = events.get_final_message()
    assert answer.stop_reason == "end_turn"
    return "".join(block.text for block in answer.content if block.type == "text")


def test_the_environment_serves_anthropics_models_by_bytes(
    tmp_path: Path, claude: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-operator")
    raw = json.dumps(BODY, indent=1).encode()
    with Running(tmp_path) as server, server.http("none", x_memory_mode="off") as http:
        response = http.post("/messages", content=raw, headers={"content-type": "application/json"})
        assert (response.status_code, claude.last.path, claude.last.body) == (200, "/v1/messages", raw)
        assert (claude.last.header("x-api-key"), claude.last.header("authorization")) == ("sk-ant-operator", None)
        http.post("/messages/count_tokens", json={**BODY, "model": "anthropic/claude-x"})
        assert (claude.last.path, claude.last.json["model"]) == ("/v1/messages/count_tokens", "claude-x")
        http.get("/messages/batches/b-1")
        assert (claude.last.method, claude.last.path) == ("GET", "/v1/messages/batches/b-1")
        http.get("/models", headers={"anthropic-version": "2023-06-01"})
        assert claude.last.path == "/v1/models"


def test_anthropic_key_is_all_that_is_needed(
    tmp_path: Path, claude: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
    with Running(tmp_path) as server:
        ask(server, FACT, "sk-ant-mine", model="claude-x")
        server.wait_learned("sk-ant-mine")
        ask(server, QUESTION, "sk-ant-mine", model="claude-x", stream=True)
        assert b"Shram" in claude.last.body
        assert claude.last.header("authorization") == "Bearer sk-ant-mine"  # this SDK's place for it
        assert claude.last.header("x-api-key") is None
        # The same memory, requested on the other wire.
        assert "Shram" in asked_by_chat(server, claude)


def asked_by_chat(server: Running, claude: FakeProvider) -> str:
    with server.client("sk-ant-mine") as client:
        client.chat.completions.create(model="claude-x", messages=[{"role": "user", "content": QUESTION}])
    return claude.last.body.decode()


def test_keys_of_ours_never_go_up(tmp_path: Path, claude: FakeProvider) -> None:
    params = {"model": "anthropic/claude-x", "api_key": "sk-ant-operator", "api_base": claude.url}
    models = [{"model_name": "house", "litellm_params": params}]
    with Running(tmp_path, models=models, auth={"mode": "keys"}) as server:
        secret, _ = server.call(_new_key, server)
        ask(server, FACT, secret, model="house")
        assert claude.last.header("x-api-key") == "sk-ant-operator"
        assert claude.last.json["model"] == "claude-x"
        assert secret not in str(claude.last.headers)
        with server.anthropic("sk-wrong") as client, pytest.raises(APIStatusError) as refused:
            client.messages.create(**BODY)  # type: ignore[call-overload]
        assert (refused.value.status_code, refused.value.type) == (401, "authentication_error")
        assert refused.value.request_id
        response = httpx.post(f"{server.base_url}/messages/batches", json={}, headers={"x-api-key": secret})
        assert (response.status_code, response.json()["error"]["type"]) == (403, "permission_error")


async def _new_key(server: Running) -> tuple[str, Key]:
    return await server.services.keys.create(now=server.services.clock.now())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_other_providers_get_memory_on_their_own_wire(gateway: Running, provider: FakeProvider, stream: bool) -> None:
    ask(gateway, FACT, "sk-any", model="house", stream=stream)
    gateway.wait_learned("sk-any")
    answer = ask(gateway, QUESTION, "sk-any", model="house", stream=stream)
    assert {seen.path for seen in provider.seen} == {"/v1/chat/completions"}
    assert provider.last.json["model"] == "llama"
    assert provider.last.header("authorization") == "Bearer sk-operator"
    # The fake echoes the last message: the question, followed by memory's block.
    assert QUESTION in answer
    assert "Magnet" in answer
    told = gateway.http("sk-any")
    with told:
        sessions = told.get("/sessions").json()["data"]
        assert [session["turns"] for session in sessions] == [1, 1]


def test_tools_go_round_through_another_provider(gateway: Running, provider: FakeProvider) -> None:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"a": 1}'}}

    def script(seen: Seen) -> Reply:
        if seen.json["messages"][-1]["role"] == "tool":
            return replies.chat("21 degrees.", seen.json)
        made = replies.completion("Let me look.")
        made["choices"][0]["message"]["tool_calls"] = [call]
        made["choices"][0]["finish_reason"] = "tool_calls"
        return replies.json_reply(made)

    provider.script(script)
    tools: Any = [{"name": "weather", "description": "d", "input_schema": {"type": "object", "properties": {}}}]
    turns: list[Any] = [{"role": "user", "content": "How warm is it?"}]
    with gateway.anthropic("sk-any") as client:
        first = client.messages.create(model="house", max_tokens=64, messages=turns, tools=tools)
        assert (first.stop_reason, first.content[1].type) == ("tool_use", "tool_use")
        turns.append({"role": "assistant", "content": [one.model_dump() for one in first.content]})
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": "21"}
        turns.append({"role": "user", "content": [result]})
        last = client.messages.create(model="house", max_tokens=64, messages=turns, tools=tools)
    assert last.content[0].text == "21 degrees."  # type: ignore[union-attr]
    assert provider.last.json["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'


def test_errors_of_other_providers_have_anthropics_shape(gateway: Running, provider: FakeProvider) -> None:
    provider.then(replies.error(400, "too long", "context_length_exceeded"))
    with gateway.anthropic("sk-any") as client, pytest.raises(APIStatusError) as refused:
        client.messages.create(**{**BODY, "model": "house"})  # type: ignore[call-overload]
    assert (refused.value.status_code, refused.value.type) == (400, "invalid_request_error")
    assert "too long" in str(refused.value)


def test_what_only_anthropic_has_is_an_honest_404(gateway: Running, provider: FakeProvider) -> None:
    with gateway.http("sk-any") as http:
        for path in ("/messages/count_tokens", "/messages/batches"):
            response = http.post(path, json={**BODY, "model": "house"})
            assert (response.status_code, response.json()["error"]["type"]) == (404, "not_found_error")
        response = http.post("/messages", json=BODY)
        assert (response.status_code, response.json()["error"]["type"]) == (404, "not_found_error")
    assert not provider.seen


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_demo_answers_from_memory(tmp_path: Path, stream: bool) -> None:
    with Running(tmp_path) as server:
        ask(server, FACT, "no-key", model="demo", stream=stream)
        server.wait_learned("no-key")
        answer = ask(server, QUESTION, "no-key", model="demo", stream=stream)
        assert answer.startswith("[demo, no model]")
        assert "Shram" in answer
        assert "Magnet" in answer
        ask(server, "I don't use Magnet anymore", "no-key", model="demo", stream=stream)
        server.wait_learned("no-key")
        answer = ask(server, f"{QUESTION} Tell me.", "no-key", model="demo", stream=stream)
        assert "Shram" in answer
        assert "Magnet" not in answer


def test_without_a_key_there_is_no_memory(tmp_path: Path) -> None:
    with Running(tmp_path) as server:
        response = httpx.post(f"{server.base_url}/messages", json={**BODY, "model": "demo"})
    assert response.status_code == 200
    assert outcome(response) == {"outcome": "off", "n": "0", "tokens": "0", "reason": "no-identity"}


def test_said_shapes_are_whole() -> None:
    reply = fake.reply(Said("a b", thought="hm", calls=[{"id": "t", "name": "n", "input": {"a": 1}}]), {"stream": True})
    assert b"".join(chunk for chunk in reply.chunks if isinstance(chunk, bytes)).count(b"content_block_start") == 6
