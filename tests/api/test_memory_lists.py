"""Lists of memories by filter and time; pins, links and purges of single memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.test_memories import create, history, refused
from tests.api.test_reviews import injected
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, speaking


def posted(speaker: Speaker, path: str, body: Any = None) -> Message:
    response = speaker.http.post(path, json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_a_list_is_filtered_by_source_and_agent(alice: Speaker) -> None:
    alice.tell("I live in Oslo")
    made = create(alice, "I play chess")
    (told,) = alice.memories(source="turn")
    assert told["text"] == "I live in Oslo"
    assert alice.memories(source=told["source"]) == [told]
    assert alice.memories(source="api") == [made]
    assert alice.memories(source="import") == []
    assert alice.memories(agent="0" * 32) == []
    assert (alice.memories(project="atlas"), made["project"]) == ([], None)


def test_paging_goes_on_behind_a_removed_memory(alice: Speaker) -> None:
    made = [create(alice, f"I own kayak number {number}")["id"] for number in range(6)]
    first = alice.get("/memories", limit=2)
    alice.http.delete(f"/memories/{first['last_id']}")
    create(alice, "I own a seventh kayak")
    rest = alice.get("/memories", limit=10, after=first["last_id"])
    assert [memory["id"] for memory in rest["data"]] == made[3::-1]


def test_a_search_gives_as_many_memories_as_asked(alice: Speaker) -> None:
    rooms = ("kitchen", "cellar", "attic", "garage", "garden", "hall", "bathroom", "balcony")
    things = ("lamp", "shelf", "rug", "clock", "vase")
    made = {create(alice, f"The item for the {room} is a {thing}")["id"] for room in rooms for thing in things}
    body = {"query": "item", "sources": ["fact"]}
    found = posted(alice, "/memories/search", {**body, "limit": 200})
    assert ({hit["id"] for hit in found["data"]}, found["has_more"]) == (made, False)
    first = posted(alice, "/memories/search", {**body, "limit": 30})
    assert (len(first["data"]), first["has_more"]) == (30, True)
    walked = alice.get("/memories", query="item", limit=25)
    rest = alice.get("/memories", query="item", limit=25, after=walked["last_id"])
    assert {row["id"] for row in [*walked["data"], *rest["data"]]} == made


def test_as_of_tells_words_and_status_of_then(alice: Speaker) -> None:
    made = create(alice, "I live in Oslo")
    at = f"/memories/{made['id']}"
    edited = alice.http.patch(at, json={"text": "I live in Bergen"}).json()
    assert alice.texts(as_of=made["created_at"]) == {"I live in Oslo"}
    assert alice.texts(as_of=edited["updated_at"]) == {"I live in Bergen"}
    alice.http.delete(at)
    closed = alice.get(at)["valid_to"]
    restored = posted(alice, f"{at}/restore")["updated_at"]
    assert alice.texts(as_of=edited["updated_at"]) == {"I live in Bergen"}
    assert alice.texts(as_of=restored) == {"I live in Bergen"}
    assert closed == restored or alice.texts(as_of=closed) == set()


def test_a_pin_is_set_and_taken_out(alice: Speaker) -> None:
    made = create(alice, "I live in Oslo")
    at = f"/memories/{made['id']}"
    assert posted(alice, f"{at}/pin")["pinned"] is True
    assert posted(alice, f"{at}/pin") == alice.get(at)
    assert posted(alice, f"{at}/unpin")["pinned"] is False
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "edit", "edit"]


@pytest.mark.parametrize("as_list", [True, False])
def test_linked_memories_name_each_other_until_unlinked(alice: Speaker, as_list: bool) -> None:
    old, new = create(alice, "I play chess"), create(alice, "I play chess twice a week")
    body = {"ids": [old["id"]]} if as_list else {"id": old["id"]}
    linked = posted(alice, f"/memories/{new['id']}/link", body)
    assert (linked["earlier"], linked["later"]) == ([old["id"]], [])
    assert alice.get(f"/memories/{old['id']}")["later"] == [new["id"]]
    assert posted(alice, f"/memories/{new['id']}/link", body) == linked
    posted(alice, f"/memories/{new['id']}/unlink", body)
    for memory in (old, new):
        now = alice.get(f"/memories/{memory['id']}")
        assert (now["earlier"], now["later"]) == ([], [])


def test_links_that_cannot_be_are_refused(alice: Speaker) -> None:
    made, gone = create(alice, "I play chess"), create(alice, "I play go")
    alice.http.delete(f"/memories/{gone['id']}")
    url = f"/memories/{made['id']}/link"
    for body in ({}, {"ids": [made["id"]]}, {"ids": [gone["id"]]}, {"names": ["x"]}):
        refused(alice.http.post(url, json=body), 400, "invalid_request")
    refused(alice.http.post(url, json={"id": "mem_0"}), 404, "not_found")
    assert alice.get(f"/memories/{made['id']}") == made


def held_in(folder: Path, word: str) -> list[str]:
    return [str(file.name) for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


def test_purge_leaves_no_words_in_any_file(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(agreeing)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as alice:
        alice.tell("I play the Zorbekophone. My cat is called Minka.")
        alice.say("Which instrument do I play, is it the Zorbekophone?", x_memory_mode="read")
        zorbek = next(row for row in alice.memories() if "Zorbek" in row["text"])
        gone = alice.http.delete(f"/memories/{zorbek['id']}", params={"purge": "true"}).json()
        assert (gone["deleted"], gone["purged"]) == (True, True)
        for path in ("", "/history"):
            refused(alice.http.get(f"/memories/{zorbek['id']}{path}"), 404, "not_found")
        refused(alice.http.post(f"/memories/{zorbek['id']}/restore"), 404, "not_found")
        assert "I play" not in str(alice.memories(status="all")) + str(alice.all_episodes())
        assert alice.texts() == {"My cat is called Minka."}
        assert "Minka" in injected(alice, provider, "What is my cat called?")
    assert held_in(tmp_path, "I play the Zorbekophone") == []
    assert held_in(tmp_path, "My cat is called Minka") != []  # the search would find it


def test_a_purge_after_forgetting_takes_its_record_too(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(agreeing)
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server) as alice:
        made = create(alice, "I play the Zorbekophone")
        posted(alice, "/memories/forget", {"text": "Zorbekophone"})
        alice.http.delete(f"/memories/{made['id']}", params={"purge": "true"})
        assert alice.memories(status="all") == []
    assert held_in(tmp_path, "Zorbekophone") == held_in(tmp_path, "zorbekophone") == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/memories/{}", None),
        ("PATCH", "/memories/{}", {"pinned": True}),
        ("DELETE", "/memories/{}", None),
        ("DELETE", "/memories/{}?purge=true", None),
        ("GET", "/memories/{}/history", None),
        ("POST", "/memories/{}/restore", None),
        ("POST", "/memories/{}/pin", None),
        ("POST", "/memories/{}/unpin", None),
        ("POST", "/memories/{}/link", {"id": "{mine}"}),
        ("POST", "/memories/{}/unlink", {"id": "{mine}"}),
        ("POST", "/memories/{mine}/link", {"id": "{}"}),
        ("GET", "/memories?after={}", None),
    ],
)
def test_id_of_another_user_is_unknown(server: Running, alice: Speaker, method: str, path: str, body: Any) -> None:
    theirs = create(alice, "I live in Oslo")
    with speaking(server) as bob:
        mine, nobody = create(bob, "I live in Oslo")["id"], "mem_" + "0" * 24

        def answer(id_: str) -> tuple[int, str]:
            named = {
                key: value.replace("{}", id_).replace("{mine}", mine)
                for key, value in (body or {}).items()
                if isinstance(value, str)
            }
            sent = {**(body or {}), **named} if body else None
            response = bob.http.request(method, path.replace("{mine}", mine).replace("{}", id_), json=sent)
            return response.status_code, response.text.replace(id_, "ID")

        assert answer(theirs["id"]) == answer(nobody)
        assert answer(nobody)[0] == 404
    assert alice.get(f"/memories/{theirs['id']}") == theirs
