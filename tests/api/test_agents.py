"""Agents over real sockets: registered with their capabilities, each common or private by its own setting."""

from __future__ import annotations

import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Message, Speaker, new_key, speaking


def sent(upstream: FakeProvider) -> str:
    return str(upstream.last.json["messages"])


def register(speaker: Speaker, name: str, **settings: object) -> Message:
    response = speaker.http.post("/agents", json={"name": name, **settings})
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_they_are_registered_changed_and_taken_off(alice: Speaker) -> None:
    cook = register(alice, "cook", capabilities=["recipes", "shopping"])
    assert (cook["object"], cook["capabilities"], cook["private"]) == ("agent", ["recipes", "shopping"], False)
    register(alice, "accountant", private=True)
    assert [one["name"] for one in alice.get("/agents")["data"]] == ["accountant", "cook"]
    assert alice.get("/agents/cook")["id"] == cook["id"]
    changed = alice.http.patch(f"/agents/{cook['id']}", json={"private": True, "capabilities": ["recipes"]}).json()
    assert (changed["private"], changed["capabilities"]) == (True, ["recipes"])
    assert register(alice, "cook")["id"] == cook["id"]
    assert alice.http.delete("/agents/cook").json()["deleted"] is True
    assert alice.http.get("/agents/cook").status_code == 404
    for body in ({}, {"name": ""}, {"name": "a", "capabilities": "b"}, {"name": "a", "power": 1}):
        assert alice.http.post("/agents", json=body).status_code == 400
    assert alice.http.patch("/agents/accountant", json={}).status_code == 400


def test_pages_hold_every_agent_once(alice: Speaker) -> None:
    for name in ("cook", "coder", "clerk"):
        register(alice, name)
    first = alice.get("/agents", limit=2)
    rest = alice.get("/agents", limit=2, after=first["last_id"])
    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert [one["name"] for one in (*first["data"], *rest["data"])] == ["clerk", "coder", "cook"]


def test_what_a_common_agent_learns_all_know(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with (
        speaking(server, key) as anna,
        speaking(server, key, x_memory_agent="cook") as cook,
        speaking(server, key, x_memory_agent="coder") as coder,
    ):
        register(anna, "cook")
        register(anna, "coder", private=True)
        cook.tell("I keep the good saffron in the blue tin")
        coder.tell("I keep the release notes in the attic folder")
        for speaker in (anna, cook, coder):
            assert "I keep the good saffron in the blue tin" in speaker.texts()
        for speaker, sees in ((anna, False), (cook, False), (coder, True)):
            assert ("I keep the release notes in the attic folder" in speaker.texts()) is sees
            speaker.say("Where do I keep the release notes?", x_memory_mode="read")
            assert ("attic" in sent(upstream)) is sees
        cook.tell("Remind me to buy saffron", x_memory_session="tasks")
        (task,) = anna.get("/tasks")["data"]
        assert (task["agent"], task["title"]) == ("cook", "buy saffron")
        assert anna.get("/agents/cook")["tasks"] == 1
        assert anna.get("/agents/cook")["last_at"] is not None
        assert anna.get("/agents/coder")["memories"] == 1


def test_an_agent_that_nobody_registered_keeps_to_itself(server: Running) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, x_memory_agent="stray") as stray:
        stray.tell("I keep the good saffron in the blue tin")
        assert anna.texts() == set()
        assert len(stray.texts()) == 1


def test_memories_from_before_sharing_stay_the_agents_own(server: Running, upstream: FakeProvider) -> None:
    """An agent became common after it had learned them."""
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, x_memory_agent="cook") as cook:
        cook.tell("I keep the good saffron in the blue tin")
        register(anna, "cook")
        assert len(cook.texts()) == 1
        assert anna.texts() == set()
        cook.say("Where do I keep the good saffron?", x_memory_mode="read")
        assert "blue tin" in sent(upstream)
        cook.tell("I drink my coffee black")
        assert anna.texts() == {"I drink my coffee black"}
        anna.http.patch("/agents/cook", json={"private": True})
        cook.tell("I never eat celery")
        assert anna.texts() == {"I drink my coffee black"}
        assert len(cook.texts()) == 3
        anna.say("Where do I keep the good saffron?", x_memory_mode="read")
        assert "blue tin" not in sent(upstream)


def test_nobody_else_sees_them(server: Running) -> None:
    with speaking(server) as anna, speaking(server) as ben:
        cook = register(anna, "cook", capabilities=["recipes"])
        assert ben.get("/agents")["data"] == []
        assert ben.http.get(f"/agents/{cook['id']}").status_code == 404
        assert ben.http.patch(f"/agents/{cook['id']}", json={"private": True}).status_code == 404
        assert ben.http.delete(f"/agents/{cook['id']}").status_code == 404
        assert register(ben, "cook")["id"] != cook["id"]


@pytest.mark.parametrize("private", [False, True], ids=["common", "private"])
@pytest.mark.parametrize("path", ["/files", "/documents"])
def test_upload_belongs_where_its_agent_learns(server: Running, path: str, private: bool) -> None:
    key = new_key()
    with speaking(server, key) as anna, speaking(server, key, x_memory_agent="coder") as coder:
        register(anna, "coder", private=private)
        upload = {"file": ("lathe.md", b"The lathe stands in the cellar.")}
        coder.http.post(path, files=upload, data={"purpose": "assistants"}).raise_for_status()
        assert len(coder.get(path)["data"]) == 1
        assert len(anna.get("/documents")["data"]) == (0 if private else 1)
