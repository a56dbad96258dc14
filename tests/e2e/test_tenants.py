"""No scope sees data of another: keys, users and agents with near-identical facts and equal histories."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Speaker, conversation, new_key, outcome, speaking, user

SHARED = "I live in Oslo"
TOOL, OTHER_TOOL = "I use Zorbek as a drawing tool", "I use Quabble as a drawing tool"
QUESTION = "Which drawing tool do I use?"


@pytest.fixture
def pair(server: Running, request: pytest.FixtureRequest) -> Iterator[tuple[Speaker, Speaker]]:
    """Return two scopes that differ in one thing: the key, or the user that one key names."""
    by_key = request.param == "keys"
    first, second = (new_key(), new_key()) if by_key else (new_key(),) * 2
    users = [{"x_memory_user": "user-1"}, {"x_memory_user": "user-10"}]
    named: Sequence[dict[str, str]] = [{}, {}] if by_key else users
    with ExitStack() as stack:
        yield (
            stack.enter_context(speaking(server, first, **named[0])),
            stack.enter_context(speaking(server, second, **named[1])),
        )


both = pytest.mark.parametrize("pair", ["keys", "users"], indirect=True)


@both
def test_equal_conversations_are_kept_apart(pair: tuple[Speaker, Speaker], upstream: FakeProvider) -> None:
    one, two = pair
    history = conversation(SHARED, "I use Zorbek1 as a drawing tool")
    first = one.post(history)
    assert two.memories() == []
    assert two.sessions() == []
    second = two.post([*history[:-1], user("I use Zorbek2 as a drawing tool")])
    one.wait()
    two.wait()
    assert one.texts() == {SHARED, "I use Zorbek1 as a drawing tool"}
    assert two.texts() == {SHARED, "I use Zorbek2 as a drawing tool"}
    assert first.headers["x-memory-session"] != second.headers["x-memory-session"]
    assert {memory["id"] for memory in one.memories()}.isdisjoint(memory["id"] for memory in two.memories())
    assert len(one.all_episodes()) == len(two.all_episodes()) == 4

    for speaker, mine, foreign in ((one, "Zorbek1", "Zorbek2"), (two, "Zorbek2", "Zorbek1")):
        response = speaker.say(QUESTION, x_memory_mode="read")
        sent = upstream.last.json["messages"][-1]["content"]
        assert mine in sent
        assert foreign not in sent
        assert foreign not in str(speaker.receipt(response))
        found = speaker.http.post("/memories/search", json={"query": "drawing tool", "limit": 50}).json()
        assert mine in str(found)
        assert foreign not in str(found)
        assert foreign not in str(speaker.get("/memories", status="all", query="drawing tool"))
        assert foreign not in str(
            speaker.http.post("/memories/forget", json={"text": "Zorbek", "dry_run": True}).json()
        )


@both
def test_an_equal_statement_is_learned_in_both(pair: tuple[Speaker, Speaker]) -> None:
    one, two = pair
    assert one.tell(SHARED).headers["x-memory"].startswith("none")
    assert two.tell(SHARED).headers["x-memory"].startswith("none")
    for speaker in pair:
        (memory,) = speaker.memories()
        assert memory["text"] == SHARED
        assert len(speaker.get(f"/memories/{memory['id']}/history")["data"]) == 1
        assert [session["turns"] for session in speaker.sessions()] == [1]
        state = speaker.get("/state")
        assert (state["memories"], state["episodes"], state["pending_turns"]) == ({"active": 1}, 2, 0)


@both
def test_conversation_of_equal_name_is_another_per_tenant(pair: tuple[Speaker, Speaker]) -> None:
    one, two = pair
    one.tell(SHARED, x_memory_session="chat-1")
    two.tell("hello", x_memory_session="chat-1")
    assert [episode["text"] for episode in two.episodes("chat-1") if episode["role"] == "user"] == ["hello"]
    assert two.http.delete("/sessions/chat-1").status_code == 200
    assert [episode["text"] for episode in one.episodes("chat-1") if episode["role"] == "user"] == [SHARED]


@both
def test_foreign_id_answers_like_one_that_never_existed(pair: tuple[Speaker, Speaker]) -> None:
    one, two = pair
    response = one.tell(SHARED)
    (memory,) = one.memories()
    (session,) = one.sessions()
    receipt = response.headers["x-memory-receipt"]
    ids = {
        "memory": (memory["id"], "mem_" + "0" * 24),
        "session": (session["id"], "ses_" + "0" * 24),
        "receipt": (receipt, "rcpt_" + "0" * 24),
    }
    asked = [
        ("GET", "/memories/{memory}", None),
        ("PATCH", "/memories/{memory}", {"text": "taken over"}),
        ("DELETE", "/memories/{memory}", None),
        ("GET", "/memories/{memory}/history", None),
        ("POST", "/memories/{memory}/restore", None),
        ("GET", "/memories?after={memory}", None),
        ("GET", "/sessions/{session}", None),
        ("POST", "/sessions/{session}/end", None),
        ("DELETE", "/sessions/{session}", None),
        ("GET", "/sessions?after={session}", None),
        ("GET", "/receipts/{receipt}", None),
    ]
    for method, path, body in asked:
        real, invented = (
            two.http.request(method, path.format(**{kind: pair[at] for kind, pair in ids.items()}), json=body)
            for at in (0, 1)
        )
        assert real.status_code == 404, (method, path)
        assert _shape(real, ids) == _shape(invented, ids), (method, path)
    assert one.memories() == [memory]
    assert one.sessions() == [session]
    assert len(one.get(f"/memories/{memory['id']}/history")["data"]) == 1
    assert one.get(f"/receipts/{receipt}")["id"] == receipt


@both
def test_forgetting_and_retracting_stay_within_the_scope(pair: tuple[Speaker, Speaker]) -> None:
    one, two = pair
    for speaker in pair:
        speaker.tell(TOOL)
    two.tell("I don't use Zorbek anymore")
    assert two.memories() == []
    assert one.texts() == {TOOL}
    gone = two.http.post("/memories/forget", json={"text": "Zorbek"}).json()
    assert (gone["closed"], gone["review"], gone["batch"]) == ([], [], None)
    assert one.texts() == {TOOL}


@both
def test_retracting_leaves_the_others_running_conversation_alone(
    pair: tuple[Speaker, Speaker], upstream: FakeProvider
) -> None:
    one, two = pair
    for speaker in pair:
        speaker.tell(TOOL)
    one.say(QUESTION)
    before = upstream.last.json["messages"][0]
    two.tell("I don't use Zorbek anymore")
    one.say(QUESTION, "Thanks")
    assert upstream.last.json["messages"][0] == before


def test_key_without_a_user_is_not_its_users(server: Running, alice: Speaker) -> None:
    alice.tell(SHARED)
    with speaking(server, alice.key, x_memory_user="ann") as ann:
        assert ann.memories() == []
        ann.tell(TOOL)
    assert alice.texts() == {SHARED}


def test_agent_sees_common_memory_and_its_own(server: Running, alice: Speaker) -> None:
    with (
        speaking(server, alice.key, x_memory_agent="coder") as coder,
        speaking(server, alice.key, x_memory_agent="cook") as cook,
    ):
        alice.tell(SHARED)
        coder.tell(TOOL)
        cook.tell(OTHER_TOOL)
        assert alice.texts() == {SHARED}
        assert coder.texts() == {SHARED, TOOL}
        assert cook.texts() == {SHARED, OTHER_TOOL}
        (zorbek,) = [memory for memory in coder.memories() if memory["text"] == TOOL]
        for stranger in (cook, alice):
            assert stranger.http.get(f"/memories/{zorbek['id']}").status_code == 404
            assert stranger.http.delete(f"/memories/{zorbek['id']}").status_code == 404
            assert stranger.http.get(f"/memories/{zorbek['id']}/history").status_code == 404
            assert "Zorbek" not in str(stranger.http.post("/memories/search", json={"query": "drawing tool"}).json())
            assert "Zorbek" not in str(stranger.all_episodes())
        assert cook.get("/state")["memories"] == {"active": 2}
        assert cook.get("/state")["episodes"] == len(cook.all_episodes())


def test_what_an_agent_injects_is_its_own(server: Running, alice: Speaker, upstream: FakeProvider) -> None:
    with (
        speaking(server, alice.key, x_memory_agent="coder") as coder,
        speaking(server, alice.key, x_memory_agent="cook") as cook,
    ):
        coder.tell(TOOL)
        cook.tell(OTHER_TOOL)
        for speaker, mine, foreign in ((coder, "Zorbek", "Quabble"), (cook, "Quabble", "Zorbek")):
            speaker.say(QUESTION, x_memory_mode="read")
            sent = upstream.last.json["messages"][-1]["content"]
            assert mine in sent
            assert foreign not in sent
        alice.say(QUESTION, x_memory_mode="read")
        assert upstream.last.json["messages"][-1]["content"] == QUESTION


def test_placeholder_keys_on_loopback_are_one_local_tenant(server: Running) -> None:
    with speaking(server, "ollama", x_memory_user="local-1") as one, speaking(server, "EMPTY") as other:
        one.tell(SHARED)
        assert other.memories() == []
    with speaking(server, "no-key", x_memory_user="local-1") as same:
        assert same.texts() == {SHARED}


def test_placeholder_keys_elsewhere_have_no_memory(tmp_path: Path, provider: FakeProvider) -> None:
    sections = {"server": {"host": "0.0.0.0", "allow_insecure_bind": True}}
    with (
        Running(tmp_path, upstream=provider.base_url, **sections) as server,
        speaking(server, "ollama") as placeholder,
        speaking(server) as real,
    ):
        response = placeholder.say(SHARED)
        assert outcome(response) == {"outcome": "off", "n": "0", "tokens": "0", "reason": "no-identity"}
        assert placeholder.http.get("/memories").status_code == 401
        real.tell(SHARED)
        assert real.texts() == {SHARED}


def test_keyless_request_has_no_memory_and_goes_up(server: Running, upstream: FakeProvider) -> None:
    body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"I live in Oslo"}],"user":"ann"}'
    headers = {"content-type": "application/json", "x-memory-user": "ann"}
    response = httpx.post(f"{server.base_url}/chat/completions", content=body, headers=headers)
    assert response.status_code == 200
    assert outcome(response) == {"outcome": "off", "n": "0", "tokens": "0", "reason": "no-identity"}
    assert "x-memory-receipt" not in response.headers
    assert upstream.last.body == body
    assert upstream.last.header("authorization") is None
    refused = httpx.get(f"{server.base_url}/memories")
    assert refused.status_code == 401
    assert refused.json()["error"].keys() == {"message", "type", "param", "code"}


def test_no_user_id_or_key_is_on_disk(tmp_path: Path, provider: FakeProvider) -> None:
    key, name, agent = "sk-very-own-key-0123456789", "robin.unmistakable@example.org", "agent-unmistakable"
    with Running(tmp_path, upstream=provider.base_url) as server:
        headers = {"x_memory_user": name, "x_memory_agent": agent}
        with speaking(server, key, **headers) as speaker:
            speaker.tell(SHARED, body={"user": name, "metadata": {"user_id": name}, "safety_identifier": name})
            assert speaker.http.post("/memories", json={"text": "I play chess"}).status_code == 200
            speaker.say(QUESTION)
            speaker.http.post("/memories/search", json={"query": "chess"})
    with sqlite3.connect(tmp_path / "throughline.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    needles = [text.encode() for text in (key, name, agent)]
    for path in files:
        content = path.read_bytes() + str(path.relative_to(tmp_path)).encode()
        assert not [needle for needle in needles if needle in content], path
    assert any(b"Oslo" in path.read_bytes() for path in files)


def _shape(response: httpx.Response, ids: dict[str, tuple[str, str]]) -> object:
    """Return a response without the requested id."""
    text = response.text
    for kind, pair in ids.items():
        for id_ in pair:
            text = text.replace(id_, kind)
    names = sorted(name for name in response.headers if name not in ("content-length", "x-request-id"))
    return response.status_code, text, names
