"""Memory on ``/v1/messages``, through Anthropic's SDK and over raw HTTP, with a provider of that wire."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.fakes import messages as fake
from tests.fakes.messages import Said
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate, gated
from tests.launch import wait_until
from tests.running import TLS, WAIT_S, Running
from tests.talking import BOTH, FACT, SHRAM, new_key, outcome

QUESTION = "What are the productivity tools that I use?"
MARK = {"type": "ephemeral"}
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
TOOLS = [{"name": "weather", "description": "d", "input_schema": {"type": "object", "properties": {}}}]
ADDED = re.compile(rb',\{"type":"text","text":"\\n\\n<memory(?: kind=\\"profile\\")?>(?:[^"\\]|\\.)*"\}')
GROWN = re.compile(rb"\\n\\n<memory(?: kind=\\\"profile\\\")?>(?:[^\"\\]|\\.)*(?=\")")


class Claude:
    """An Anthropic client with its own key."""

    def __init__(self, server: Running, key: str = "", **headers: str) -> None:
        self.server, self.key = server, key or new_key()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.sdk = server.anthropic(self.key, **headers)
        self.http = httpx.Client(
            base_url=server.base_url,
            headers={"x-api-key": self.key, "anthropic-version": "2023-06-01", **named},
            timeout=WAIT_S,
            verify=TLS,
        )

    def __enter__(self) -> Claude:
        return self

    def __exit__(self, *_: object) -> None:
        self.sdk.close()
        self.http.close()

    def post(self, *turns: Any, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
        """Post the user's turns with answers between them."""
        sent = {"model": "claude-x", "max_tokens": 64, "messages": conversation(*turns), **body}
        response = self.http.post("/messages", json=sent, headers=headers)
        assert response.status_code == 200, response.text
        return response

    def tell(self, *turns: Any, **body: Any) -> httpx.Response:
        """Post and wait until the turn is learned."""
        response = self.post(*turns, **body)
        self.server.wait_learned(self.key)
        return response

    def get(self, path: str, **params: Any) -> Any:
        response = self.http.get(path, params=params)
        assert response.status_code == 200, response.text
        return response.json()

    def texts(self) -> set[str]:
        return {memory["text"] for memory in self.get("/memories")["data"]}

    def said(self) -> list[tuple[str, str]]:
        sessions = self.get("/sessions", limit=1000)["data"]
        told = [one for session in sessions for one in self.get(f"/sessions/{session['id']}")["messages"]]
        return [(one["role"], one["text"]) for one in told]


def conversation(*turns: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for turn in turns:
        made += [{"role": "user", "content": turn}, {"role": "assistant", "content": "All right."}]
    return made[:-1]


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("data"), upstream=lasting.base_url) as running:
        yield running


@pytest.fixture
def upstream(lasting: FakeProvider) -> FakeProvider:
    lasting.clear()
    lasting.script(fake.agreeing)
    return lasting


@pytest.fixture
def alice(server: Running, upstream: FakeProvider) -> Iterator[Claude]:
    with Claude(server) as claude:
        yield claude


def sent_last(upstream: FakeProvider) -> str:
    """Return the text of the last forwarded message."""
    content = upstream.last.json["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def test_statement_is_recalled_retracted_and_kept_apart(alice: Claude, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    used = alice.post(QUESTION)
    assert outcome(used)["outcome"] == "used"
    assert "Shram" in sent_last(upstream)
    assert "Magnet" in sent_last(upstream)
    alice.tell("I don't use Magnet anymore")
    alice.post(f"{QUESTION} Tell me.")
    assert "Shram" in sent_last(upstream)
    assert "Magnet" not in sent_last(upstream)
    assert alice.texts() == {SHRAM}
    with Claude(alice.server) as bob:
        assert outcome(bob.post(QUESTION))["outcome"] == "none"
    assert sent_last(upstream) == QUESTION


def test_the_sdk_sees_its_provider(alice: Claude, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    upstream.then(fake.reply(Said("Shram, I think.", thought="Hm."), {"model": "claude-x"}))
    answer = alice.sdk.messages.create(
        model="claude-x", max_tokens=64, messages=[{"role": "user", "content": QUESTION}]
    )
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert (answer.stop_reason, answer.usage.output_tokens, answer._request_id) == (
        "end_turn",
        7,
        f"req_{answer.id}",
    )
    assert "Shram" in sent_last(upstream)


def test_sdk_reads_streams_and_turns_are_kept(alice: Claude, upstream: FakeProvider) -> None:
    upstream.then(fake.reply(Said("Good to know.", thought="Hm."), {"model": "claude-x", "stream": True}))
    with alice.sdk.messages.stream(
        model="claude-x", max_tokens=64, messages=[{"role": "user", "content": FACT}]
    ) as stream:
        assert "".join(stream.text_stream) == "Good to know."
        assert stream.get_final_message().content[0].type == "thinking"
    alice.server.wait_learned(alice.key)
    assert alice.texts() == BOTH
    assert alice.said() == [("user", FACT), ("assistant", "Good to know.")]


def test_stream_is_verbatim_and_ends_behind_the_journal(alice: Claude, upstream: FakeProvider) -> None:
    reply = fake.reply(Said("Good to know."), {"stream": True})
    gate = Gate()
    upstream.then(gated(reply, gate, after=len(reply.chunks)))
    body = {"model": "c", "max_tokens": 9, "stream": True, "messages": conversation(FACT)}
    with alice.http.stream("POST", "/messages", json=body) as response:
        received = b""
        for piece in response.iter_raw():
            received += piece
            if b"message_stop" in received:
                break
        # The provider's connection is still open; the turn is stored nevertheless.
        alice.server.wait_learned(alice.key)
        assert alice.said() == [("user", FACT), ("assistant", "Good to know.")]
        gate.open()
    assert received == b"".join(chunk for chunk in reply.chunks if isinstance(chunk, bytes))


def test_off_leaves_every_byte_alone(alice: Claude, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    raw = b'{ "model":"claude-x","max_tokens":9, "big":123456789012345678901, "messages":[ {"role":"user",\n"content":"hi"}]}'
    head = {
        "content-type": "application/json",
        "anthropic-beta": "context-1m-2025-08-07",
        "x-memory-mode": "off",
    }
    response = alice.http.post("/messages", content=raw, headers=head)
    seen = upstream.last
    assert (seen.body, seen.path) == (raw, "/v1/messages")
    assert (seen.header("x-api-key"), seen.header("authorization")) == (alice.key, None)
    assert (seen.header("anthropic-version"), seen.header("anthropic-beta")) == (
        "2023-06-01",
        "context-1m-2025-08-07",
    )
    assert not [name for name, _ in seen.headers if name.lower().startswith("x-memory")]
    for name, value in fake.LIMITS:
        assert response.headers[name] == value
    assert response.headers["request-id"] == f"req_{response.json()['id']}"
    assert outcome(response)["outcome"] == "off"


@pytest.mark.parametrize(
    ("content", "added"),
    [
        (QUESTION, GROWN),
        ([{"type": "text", "text": QUESTION, "cache_control": MARK}], ADDED),
        ([PNG, {"type": "text", "text": QUESTION}], ADDED),
        ([{"type": "text", "text": QUESTION}, {**PNG, "cache_control": MARK}], ADDED),
    ],
    ids=["string", "marked", "image first", "image last"],
)
def test_memory_adds_one_block_behind_the_users_words(
    alice: Claude, upstream: FakeProvider, content: Any, added: re.Pattern[bytes]
) -> None:
    alice.tell(FACT)
    body = {
        "model": "claude-x",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Be kind.", "cache_control": MARK}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            {"role": "user", "content": "Hello there"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "s/="}]},
            {"role": "user", "content": content},
        ],
    }
    raw = json.dumps(body, indent=1).encode()
    alice.http.post("/messages", content=raw, headers={"content-type": "application/json"})
    assert upstream.last.body != raw
    assert len(added.findall(upstream.last.body)) == 1
    assert b"Shram" in upstream.last.body
    assert added.sub(b"", upstream.last.body) == raw


def test_prefix_holds_although_the_cache_mark_moved(alice: Claude, upstream: FakeProvider) -> None:
    alice.tell(FACT)

    def turn(text: str, *, marked: bool) -> list[dict[str, Any]]:
        return [{"type": "text", "text": text, **({"cache_control": MARK} if marked else {})}]

    first = alice.post(turn(QUESTION, marked=True))
    carried = upstream.last.json["messages"][0]["content"][1:]
    second = alice.post(turn(QUESTION, marked=False), turn("And which of them is older?", marked=True))
    again = upstream.last.json["messages"]
    assert carried
    assert again[0]["content"][1:] == carried
    assert first.headers["x-memory-session"] == second.headers["x-memory-session"]
    assert again[2]["content"][0] == {"type": "text", "text": "And which of them is older?", "cache_control": MARK}


def test_tool_loop_keeps_its_block_beside_no_result(alice: Claude, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    call = {"id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}}
    upstream.then(fake.reply(Said("Let me look.", calls=[call]), {}))
    question = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
    first = alice.sdk.messages.create(model="claude-x", max_tokens=64, messages=[question], tools=TOOLS)  # type: ignore[list-item,arg-type]
    block = upstream.last.json["messages"][0]["content"][1]
    assert first.stop_reason == "tool_use"
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "I use Slack every day", "is_error": False}
    step = {"role": "user", "content": [result]}
    called = {"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in first.content]}
    alice.sdk.messages.create(model="claude-x", max_tokens=64, messages=[question, called, step], tools=TOOLS)  # type: ignore[list-item,arg-type]
    sent = upstream.last.json["messages"]
    assert sent[0]["content"][1] == block
    assert sent[1:] == [called, step]
    alice.server.wait_learned(alice.key)
    assert "Slack" not in str(alice.get("/memories", status="all"))


def test_what_follows_results_of_tools_stays_behind_them(alice: Claude, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    called = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "weather", "input": {}}]}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "21"}
    messages = [
        {"role": "user", "content": "Hello"},
        called,
        {"role": "user", "content": [result, {"type": "text", "text": QUESTION}]},
    ]
    alice.post("", messages=messages)
    kinds = [block["type"] for block in upstream.last.json["messages"][2]["content"]]
    assert kinds == ["tool_result", "text", "text"]
    assert "Shram" in sent_last(upstream)


def test_hang_up_reaches_provider_and_turn_is_kept(alice: Claude, upstream: FakeProvider) -> None:
    reply = fake.reply(Said("Good to know.", pieces=3), {"stream": True})
    upstream.then(gated(reply, Gate(), after=5))
    body = {"model": "c", "max_tokens": 9, "stream": True, "messages": conversation(FACT)}
    with alice.http.stream("POST", "/messages", json=body) as response:
        received = b""
        for piece in response.iter_raw():
            received += piece
            if received.count(b"text_delta") == 2:
                break
    upstream.wait(lambda: upstream.last.hung_up_at is not None)
    wait_until(lambda: bool(alice.said()))  # the journal is written after the provider's connection was closed
    alice.server.wait_learned(alice.key)
    assert alice.said() == [("user", FACT), ("assistant", "Good to kn")]
    assert alice.texts() == BOTH


def test_tokens_and_batches_go_to_the_server_untouched(alice: Claude, upstream: FakeProvider) -> None:
    raw = b'{"model": "claude-x",  "messages": [{"role": "user", "content": "hi"}]}'
    for path in ("/messages/count_tokens", "/messages/batches"):
        assert alice.http.post(path, content=raw).status_code == 200
        assert (upstream.last.path, upstream.last.body) == (f"/v1{path}", raw)
        assert upstream.last.header("x-api-key") == alice.key
