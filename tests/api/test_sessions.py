"""``/v1/sessions`` over real sockets: conversations by Throughline's or the client's id, ended and destroyed."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.errors import StoreUnavailable
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Speaker, speaking


def test_a_conversation_shows_what_was_said_in_order(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("My dog is called Bronko")
    alice.tell("My dog is called Bronko", "He likes the sea")
    (session,) = alice.sessions()
    assert (session["object"], session["turns"], session["ended_at"]) == ("session", 2, None)
    whole = alice.get(f"/sessions/{session['id']}")
    said = [(message["role"], message["text"]) for message in whole["messages"]]
    assert said == [
        ("user", "My dog is called Bronko"),
        ("assistant", "All right."),
        ("user", "He likes the sea"),
        ("assistant", "All right."),
    ]


def test_conversation_is_found_by_the_clients_name(alice: Speaker) -> None:
    for name in ("chat-1", "a/b c", "überraschung"):
        response = alice.tell("hello there", x_memory_session=name.encode())
        found = alice.get(f"/sessions/{name}")
        assert found["name"] == name
        assert found["messages"][0]["text"] == "hello there"
        assert response.headers["x-memory-session"] in (name, found["id"])


def test_pages_hold_every_conversation_once_newest_first(alice: Speaker) -> None:
    for number in range(5):
        alice.say(f"hello number {number}", x_memory_session=f"chat-{number}")
    seen: list[str] = []
    after = ""
    while True:
        page = alice.get("/sessions", limit=2, after=after)
        seen += [session["name"] for session in page["data"]]
        after = page["last_id"]
        if not page["has_more"]:
            break
    assert seen == [f"chat-{number}" for number in range(4, -1, -1)]


def test_ended_conversation_is_reopened_by_a_turn(alice: Speaker) -> None:
    alice.tell("hello there", x_memory_session="chat")
    ended = alice.http.post("/sessions/chat/end")
    assert ended.status_code == 200
    assert ended.json()["ended_at"] is not None
    alice.tell("hello there", "and again", x_memory_session="chat")
    assert alice.get("/sessions/chat")["ended_at"] is None


def test_destroyed_conversation_leaves_no_turn_and_no_receipt(alice: Speaker, upstream: FakeProvider) -> None:
    response = alice.tell("The parrot next door recites Baudelaire at dawn", x_memory_session="chat")
    kept = alice.tell("The ferry to Nesodden was late", x_memory_session="other")
    gone = alice.http.delete("/sessions/chat")
    assert gone.json() == {"id": "chat", "object": "session.deleted", "deleted": True}
    assert alice.http.get("/sessions/chat").status_code == 404
    assert alice.http.get(f"/receipts/{response.headers['x-memory-receipt']}").status_code == 404
    assert alice.http.get(f"/receipts/{kept.headers['x-memory-receipt']}").status_code == 200
    assert [session["name"] for session in alice.sessions()] == ["other"]
    found = alice.http.post("/memories/search", json={"query": "parrot Baudelaire dawn", "sources": ["episode"]}).json()
    assert "Baudelaire" not in str(found)
    alice.say("What does the parrot next door recite?", x_memory_mode="read")
    assert "Baudelaire" not in upstream.last.json["messages"][-1]["content"]


def test_what_was_learned_outlives_its_conversation(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("My parrot recites Baudelaire at dawn", x_memory_session="chat")
    alice.http.delete("/sessions/chat")
    assert alice.texts() == {"My parrot recites Baudelaire at dawn"}
    alice.say("What does my parrot recite?", x_memory_mode="read")
    assert "Baudelaire" in upstream.last.json["messages"][-1]["content"]


def test_a_destroyed_conversation_leaves_the_disk(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        speaker.tell("The heron wore galoshes yesterday, said Xylophonia", x_memory_session="chat")
        assert speaker.memories(status="all") == []
        assert speaker.http.delete("/sessions/chat").status_code == 200
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"Xylophonia" in path.read_bytes() or b"xylophonia" in path.read_bytes()]


def test_destroyed_conversation_leaves_other_conversations(tmp_path: Path, provider: FakeProvider) -> None:
    """Its text in other conversations' blocks is not replayed any more, and is off the disk."""
    said, asked = "The heron wore galoshes yesterday, said Xylophonia", "Who told of the heron and its galoshes?"
    provider.script(agreeing)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        speaker.tell(said, x_memory_session="chat")
        speaker.tell(asked, x_memory_session="other")
        assert "Xylophonia" in str(provider.last.json["messages"])
        assert speaker.http.delete("/sessions/chat").status_code == 200
        speaker.tell(asked, "Thank you", x_memory_session="other")
        assert "Xylophonia" not in str(provider.last.json["messages"])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"Xylophonia" in path.read_bytes() or b"xylophonia" in path.read_bytes()]


def test_interrupted_destruction_is_finished_by_the_next_try(
    tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as speaker:
        speaker.tell("I keep bees", x_memory_session="chat")
        store = server.services.store

        async def broken(*_: object, **__: object) -> None:
            raise StoreUnavailable("away")

        with monkeypatch.context() as patch:
            patch.setattr(store, "remove_episodes", broken)
            assert speaker.http.delete("/sessions/chat").status_code == 503
        assert speaker.http.delete("/sessions/chat").status_code == 200
        assert speaker.http.get("/sessions/chat").status_code == 404
        found = speaker.http.post("/memories/search", json={"query": "bees", "sources": ["episode"]}).json()["data"]
        assert found == []


def test_a_destroyed_conversation_can_be_had_again(alice: Speaker) -> None:
    alice.tell("My dog is called Bronko", x_memory_session="chat")
    alice.http.delete("/sessions/chat")
    alice.tell("My dog is called Bronko", x_memory_session="chat")
    (session,) = alice.sessions()
    assert session["turns"] == 1
    assert [message["text"] for message in alice.get("/sessions/chat")["messages"]] == [
        "My dog is called Bronko",
        "All right.",
    ]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/sessions/ses_0"),
        ("DELETE", "/sessions/ses_0"),
        ("POST", "/sessions/ses_0/end"),
        ("GET", "/sessions?after=ses_0"),
    ],
)
def test_an_unknown_conversation_is_a_404_in_shape(alice: Speaker, method: str, path: str) -> None:
    response = alice.http.request(method, path)
    assert response.status_code == 404
    assert response.json()["error"].keys() == {"message", "type", "param", "code"}
    assert response.json()["error"]["code"] == "not_found"


def test_a_limit_that_is_none_is_refused(alice: Speaker) -> None:
    response = alice.http.get("/sessions", params={"limit": 0})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "limit"
