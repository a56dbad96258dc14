"""The ``recall`` tool: for clients that request it, answered inside one reply and never visible to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import DONE, SSE_HEADERS, Reply, json_reply
from tests.running import Running
from tests.talking import Speaker, assistant, speaking, user

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 2}}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


def call(name: str, arguments: str, id_: str = "call_1") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def reply(seen: Seen, text: str | None, calls: list[dict[str, Any]], number: int) -> Reply:
    """Return one reply, whole or streamed in small pieces, each with its own id."""
    frame = {"id": f"chatcmpl-{number}", "created": 1000 + number, "model": "m"}
    finish = "tool_calls" if calls else "stop"
    if not seen.json.get("stream"):
        message = {"role": "assistant", "content": text, "refusal": None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        return json_reply({**frame, "object": "chat.completion", "choices": [choice], "usage": USAGE})
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "" if text else None}]
    deltas += [{"content": word} for word in (text or "").split(" ")] if text else []
    for index, one in enumerate(calls):
        half = len(one["function"]["arguments"]) // 2
        head = {**one, "index": index, "function": {"name": one["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [head]})
        for part in (one["function"]["arguments"][:half], one["function"]["arguments"][half:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    frame["object"] = "chat.completion.chunk"
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks = [{**frame, "choices": [one], "usage": None} for one in choices] + [
        {**frame, "choices": [], "usage": USAGE}
    ]
    return Reply([b"data: " + orjson.dumps(one) + b"\n\n" for one in chunks] + [DONE], headers=SSE_HEADERS)


class Model:
    """A model that makes scripted calls of the recall tool, then repeats their results."""

    def __init__(self) -> None:
        self.rounds: list[list[dict[str, Any]]] = []
        self.asked = 0

    def __call__(self, seen: Seen) -> Reply | None:
        if not seen.path.endswith("/chat/completions"):
            return None
        self.asked += 1
        tools = [one["function"]["name"] for one in seen.json.get("tools") or ()]
        if self.rounds and "recall" in tools:
            return reply(seen, None, self.rounds.pop(0), self.asked)
        results = [one["content"] for one in seen.json["messages"] if one["role"] == "tool"]
        return reply(seen, "You said: " + ("; ".join(results) or "nothing."), [], self.asked)


@pytest.fixture
def model(upstream: FakeProvider) -> Model:
    one = Model()
    upstream.script(one)
    return one


@pytest.fixture
def client(server: Running, model: Model) -> Iterator[Speaker]:
    with speaking(server) as speaker:
        speaker.tell("The spare key of the allotment hangs behind the blue watering can.")
        model.asked = 0
        yield speaker


def streamed(speaker: Speaker, **body: Any) -> tuple[str, list[dict[str, Any]]]:
    sent = {"model": "m", "messages": [user("Where is it?")], "stream": True, "stream_options": {"include_usage": True}}
    response = speaker.http.post("/chat/completions", json={**sent, **body}, headers={"X-Memory-Tools": "on"})
    assert response.status_code == 200
    events = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    assert events.count("[DONE]") == 1
    return response.text, [orjson.loads(one) for one in events[:-1]]


def test_a_call_is_answered_inside_the_one_reply(client: Speaker, model: Model, upstream: FakeProvider) -> None:
    model.rounds = [[call("recall", '{"query": "spare key of the allotment"}')]]
    response = client.post([user("Where is it?")], model="m", X_Memory_Tools="on", X_Memory_Budget="0")
    body = response.json()
    assert "blue watering can" in body["choices"][0]["message"]["content"]
    assert body["id"] == "chatcmpl-1"
    assert "tool_calls" not in body["choices"][0]["message"]
    assert body["usage"]["prompt_tokens"] == 20
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 4
    assert [one["role"] for one in upstream.last.json["messages"]] == ["user", "assistant", "tool"]
    assert client.receipt(response)["recall_calls"] == 1


def test_it_is_streamed_as_one(client: Speaker, model: Model) -> None:
    model.rounds = [[call("recall", '{"query": "spare key of the allotment"}')]] * 2
    text, chunks = streamed(client)
    said = "".join(one["choices"][0]["delta"].get("content") or "" for one in chunks if one["choices"])
    assert "bluewateringcan" in said.replace(" ", "")
    assert '"recall"' not in text
    assert {one["id"] for one in chunks} == {"chatcmpl-1"}
    roles = [one for one in chunks if one["choices"] and one["choices"][0]["delta"].get("role")]
    assert len(roles) == 1
    finishes = [one["choices"][0]["finish_reason"] for one in chunks if one["choices"]]
    assert [one for one in finishes if one] == ["stop"]
    usages = [one["usage"] for one in chunks if one.get("usage")]
    assert len(usages) == 1
    assert usages[0]["total_tokens"] == 45
    assert chunks[-1]["choices"] == []


def test_only_the_clients_own_calls_come_through(client: Speaker, model: Model) -> None:
    model.rounds = [[call("recall", '{"query": "key"}'), call("weather", '{"city": "Linz"}', "call_2")]]
    text, chunks = streamed(client, tools=[WEATHER])
    calls = [part for one in chunks if one["choices"] for part in one["choices"][0]["delta"].get("tool_calls", ())]
    assert calls[0]["function"]["name"] == "weather"
    assert {one["index"] for one in calls} == {0}
    assert "".join(one["function"]["arguments"] for one in calls) == '{"city": "Linz"}'
    assert '"recall"' not in text
    assert model.asked == 1


def test_calls_are_capped(client: Speaker, model: Model) -> None:
    model.rounds = [[call("recall", '{"query": "key"}')]] * 9
    _, chunks = streamed(client)
    assert model.asked == 5
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["total_tokens"] == 75


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, {}),
        ({"X-Memory-Tools": "on"}, {"tools": [WEATHER], "tool_choice": "required"}),
        ({"X-Memory-Tools": "on"}, {"tools": [WEATHER], "tool_choice": "none"}),
        ({"X-Memory-Tools": "on", "X-Memory-Mode": "off"}, {}),
    ],
)
def test_otherwise_it_is_never_there(
    client: Speaker, model: Model, upstream: FakeProvider, headers: dict[str, str], body: dict[str, Any]
) -> None:
    client.http.post("/chat/completions", json={"model": "m", "messages": [user("x")], **body}, headers=headers)
    assert upstream.last.json.get("tools") == body.get("tools")
    assert upstream.last.header("x-memory-tools") is None


def test_messages_are_given_by_number_without_what_ended(client: Speaker, model: Model) -> None:
    model.rounds = [[call("recall", '{"messages": "#0-#2"}')]]
    said = [user("The shed is green."), assistant("Noted."), user("And the roof?")]
    response = client.post(said, model="m", X_Memory_Tools="on")
    assert "#0 user: The shed is green." in response.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize(("header", "is_offered"), [(None, True), ("off", False), ("on", True)])
def test_a_key_may_opt_in_for_its_client(
    tmp_path: Path, upstream: FakeProvider, header: str | None, is_offered: bool
) -> None:
    upstream.script(Model())
    with Running(tmp_path, upstream={"url": upstream.base_url, "api_key": "sk-own"}, auth={"mode": "keys"}) as server:
        services = server.services
        key, _ = server.call(lambda: services.keys.create(now=services.clock.now(), offers_recall=True))
        named = {"X-Memory-Tools": header} if header else {}
        with server.http(key) as http:
            http.post("/chat/completions", json={"model": "m", "messages": [user("x")]}, headers=named)
    assert bool(upstream.last.json.get("tools")) == is_offered
