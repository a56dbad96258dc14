"""``/v1/memories`` over real sockets: create, list, search, change, undo, forget."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.running import Running
from tests.talking import BOTH, FACT, MAGNET, SHRAM, Message, Speaker, speaking


def create(speaker: Speaker, text: str, **fields: Any) -> Message:
    response = speaker.http.post("/memories", json={"text": text, **fields})
    assert response.status_code == 200, response.text
    return dict(response.json())


def history(speaker: Speaker, memory_id: str) -> list[Message]:
    return list(speaker.get(f"/memories/{memory_id}/history")["data"])


def refused(response: httpx.Response, status: int, code: str) -> Message:
    """Check that an error has OpenAI's shape, and return what it says."""
    assert response.status_code == status, response.text
    error = dict(response.json()["error"])
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["code"] == code
    assert response.headers["x-request-id"]
    return error


def test_learned_memory_has_every_field_of_the_contract(alice: Speaker) -> None:
    response = alice.tell(f"{FACT}.")
    page = alice.get("/memories")
    assert (page["object"], page["has_more"]) == ("list", False)
    magnet = next(memory for memory in page["data"] if memory["text"] == f"{MAGNET}.")
    assert (magnet["object"], magnet["kind"], magnet["status"]) == ("memory", "fact", "active")
    assert (magnet["quote"], magnet["provenance"], magnet["session"]) == (
        f"{FACT}.",
        "user",
        response.headers["x-memory-session"],
    )
    assert magnet["source"].startswith("turn:")
    assert 0 < magnet["confidence"] <= 1
    assert (magnet["earlier"], magnet["later"], magnet["metadata"]) == ([], [], {})
    for name in ("valid_to", "batch", "context", "context_by", "subject", "relation", "object_value", "agent"):
        assert magnet[name] is None
    for name in ("valid_from", "created_at", "updated_at"):
        assert magnet[name].endswith("Z")


def test_sentence_is_kept_with_what_it_refers_to(alice: Speaker) -> None:
    alice.tell("My brother lives in Oslo. He is a nurse.")
    nurse = next(memory for memory in alice.memories() if "nurse" in memory["text"])
    assert (nurse["text"], nurse["context"], nurse["context_by"]) == (
        "He is a nurse.",
        "My brother lives in Oslo.",
        "user",
    )


def test_created_memory_is_read_listed_and_searched(alice: Speaker) -> None:
    made = create(alice, "I play the harpsichord", kind="preference", pinned=True, metadata={"from": "a form"})
    assert made["source"] == "api"
    assert (made["kind"], made["pinned"], made["metadata"]["from"]) == ("preference", True, "a form")
    assert alice.get(f"/memories/{made['id']}") == made
    assert alice.memories() == [made]
    found = alice.http.post("/memories/search", json={"query": "which instrument do I play"}).json()["data"]
    assert found[0]["id"] == made["id"]


def test_created_memory_is_recalled_and_ended_by_words(alice: Speaker, upstream: Any) -> None:
    create(alice, "I use Zorbek as a drawing tool")
    alice.say("Which drawing tool do I use?", x_memory_mode="read")
    assert "Zorbek" in upstream.last.json["messages"][-1]["content"]
    alice.tell("I don't use Zorbek anymore")
    assert alice.memories() == []


def test_the_same_statement_twice_is_one_memory(alice: Speaker) -> None:
    first = create(alice, "I live in Oslo")
    assert create(alice, "I live in Oslo") == first
    assert len(alice.memories(status="all")) == 1


def test_pages_hold_everything_once_newest_first(alice: Speaker) -> None:
    made = [create(alice, f"I own kayak number {number}")["id"] for number in range(7)]
    seen: list[str] = []
    after = ""
    while True:
        page = alice.get("/memories", limit=3, after=after)
        assert page["first_id"] == page["data"][0]["id"]
        seen += [memory["id"] for memory in page["data"]]
        after = page["last_id"]
        if not page["has_more"]:
            break
        assert len(page["data"]) == 3
    assert seen == made[::-1]


def test_filters_choose_by_kind_and_status(alice: Speaker) -> None:
    create(alice, "I like tea", kind="preference")
    gone = create(alice, "I play chess", kind="fact")
    kept = create(alice, "I play go", kind="fact")
    alice.http.delete(f"/memories/{gone['id']}")
    assert [memory["text"] for memory in alice.memories(kind="preference")] == ["I like tea"]
    assert [memory["id"] for memory in alice.memories(kind="fact")] == [kept["id"]]
    assert [memory["id"] for memory in alice.memories(status="closed")] == [gone["id"]]
    for old_name in ("superseded", "retracted"):
        assert alice.memories(status=old_name) == alice.memories(status="closed")
    assert len(alice.memories(status="all")) == 3
    assert alice.memories(kind="task") == []


def test_as_of_lists_what_held_then(alice: Speaker) -> None:
    alice.tell("I live in Oslo", x_memory_time="2024-01-01T00:00:00Z")
    alice.tell("I live in Lima now", x_memory_time="2025-01-01T00:00:00Z")
    assert alice.texts() == {"I live in Lima now"}
    assert alice.texts(as_of="2024-06-01T00:00:00Z") == {"I live in Oslo"}
    assert alice.texts(as_of="2025-06-01") == {"I live in Lima now"}
    assert alice.texts(as_of="2023-06-01T00:00:00Z") == set()


def test_a_query_ranks_the_list(alice: Speaker) -> None:
    for text in ("I play chess", "My dog is called Bronko", "I live in Oslo"):
        create(alice, text)
    assert alice.memories(query="what is my dog's name")[0]["text"] == "My dog is called Bronko"
    assert alice.memories(query="dog", kind="task") == []


def test_search_is_ranked_and_limited(alice: Speaker) -> None:
    alice.tell("My dog is called Bronko", "I live in Oslo", "I play chess")
    body = {"query": "what is my dog called", "limit": 3}
    found = alice.http.post("/memories/search", json=body).json()
    assert found["object"] == "list"
    assert len(found["data"]) == 3
    assert "Bronko" in found["data"][0]["text"]
    assert found["data"][0].keys() >= {"source", "id", "text", "score", "tokens", "when", "session"}
    scores = [entry["score"] for entry in found["data"]]
    assert scores == sorted(scores, reverse=True)
    for source in ("fact", "episode"):
        only = alice.http.post("/memories/search", json={**body, "sources": [source]}).json()["data"]
        assert {entry["source"] for entry in only} == {source}
    assert alice.http.post("/memories/search", json={**body, "sources": ["chunk"]}).json()["data"] == []


def test_a_search_shows_nothing_that_has_ended(alice: Speaker) -> None:
    alice.tell(FACT)
    alice.tell("I don't use Magnet anymore")
    now = alice.http.post("/memories/search", json={"query": "productivity tools", "limit": 50}).json()["data"]
    assert "Shram" in str(now)
    assert "Magnet" not in str(now)


def test_a_patch_corrects_and_leaves_the_rest(alice: Speaker) -> None:
    made = create(alice, "I live in Oslo", priority=3)
    patched = alice.http.patch(f"/memories/{made['id']}", json={"text": "I live in Bergen", "object_value": "Bergen"})
    assert patched.status_code == 200
    now = patched.json()
    assert (now["text"], now["object_value"], now["priority"]) == ("I live in Bergen", "Bergen", 3)
    assert (now["id"], now["created_at"]) == (made["id"], made["created_at"])
    assert alice.get(f"/memories/{made['id']}") == now
    found = alice.http.post("/memories/search", json={"query": "Bergen"}).json()["data"]
    assert [entry["text"] for entry in found] == ["I live in Bergen"]
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "edit"]


def test_corrected_memory_is_not_contradicted_by_old_turns(alice: Speaker, upstream: Any) -> None:
    alice.tell("I live in Oslo")
    (memory,) = alice.memories()
    alice.http.patch(f"/memories/{memory['id']}", json={"text": "I live in Bergen"})
    assert alice.texts(status="all") == {"I live in Bergen"}
    alice.say("In which city do I live?", x_memory_mode="read")
    assert "Bergen" in upstream.last.json["messages"][-1]["content"]
    assert "Oslo" not in upstream.last.json["messages"][-1]["content"]


def test_a_patch_sets_and_clears_an_expiry(alice: Speaker) -> None:
    made = create(alice, "I am on leave")
    past = {"expires_at": "2020-01-01T00:00:00Z"}
    assert alice.http.patch(f"/memories/{made['id']}", json=past).json()["expires_at"] == "2020-01-01T00:00:00Z"
    assert alice.memories() == []
    assert alice.http.patch(f"/memories/{made['id']}", json={"expires_at": None}).json()["expires_at"] is None
    assert len(alice.memories()) == 1


def injected(speaker: Speaker, upstream: Any, question: str) -> str:
    speaker.say(question, x_memory_mode="read")
    return str(upstream.last.json["messages"][-1]["content"]).replace(question, "")


def test_a_deletion_is_undone_by_restore(alice: Speaker, upstream: Any) -> None:
    made = create(alice, "I use Zorbek as a drawing tool")
    deleted = alice.http.delete(f"/memories/{made['id']}")
    assert deleted.json() == {"id": made["id"], "object": "memory.deleted", "deleted": True}
    assert alice.get(f"/memories/{made['id']}")["status"] == "closed"
    assert alice.memories() == []
    assert "Zorbek" not in injected(alice, upstream, "Which drawing tool do I use?")
    restored = alice.http.post(f"/memories/{made['id']}/restore").json()
    assert (restored["status"], restored["valid_to"], restored["batch"]) == ("active", None, None)
    assert "Zorbek" in injected(alice, upstream, "Which drawing tool do I use?")
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "close", "restore"]


def test_deleted_statement_is_not_quoted_from_its_turn(alice: Speaker, upstream: Any) -> None:
    alice.tell("I use Zorbek as a drawing tool. My cat is called Minka.")
    zorbek = next(memory for memory in alice.memories() if "Zorbek" in memory["text"])
    alice.http.delete(f"/memories/{zorbek['id']}")
    assert "Zorbek" not in injected(alice, upstream, "Which drawing tool do I use?")
    assert "Minka" in injected(alice, upstream, "What is my cat called?")
    alice.http.post(f"/memories/{zorbek['id']}/restore")
    assert "Zorbek" in injected(alice, upstream, "Which drawing tool do I use?")


def test_ending_by_words_is_undone_by_restore(alice: Speaker, upstream: Any) -> None:
    alice.tell(FACT)
    alice.tell("I don't use Magnet anymore")
    magnet = next(memory for memory in alice.memories(status="closed") if memory["text"] == MAGNET)
    assert alice.texts() == {SHRAM}
    alice.http.post(f"/memories/{magnet['id']}/restore")
    assert alice.texts() == BOTH
    assert "Magnet" in injected(alice, upstream, "What are the productivity tools that I use")
    assert [step["action"] for step in history(alice, magnet["id"])] == ["add", "close", "restore"]


def test_ending_by_words_is_undone_by_batch(alice: Speaker, upstream: Any) -> None:
    alice.tell(FACT)
    alice.tell("I don't use Magnet anymore")
    (batch,) = {memory["batch"] for memory in alice.memories(status="closed")}
    undone = alice.http.post("/memories/undo", json={"batch": batch}).json()
    assert (undone["object"], undone["batch"]) == ("memory.undo", batch)
    assert {memory["text"] for memory in undone["restored"]} == {MAGNET}
    assert alice.texts() == BOTH
    assert FACT in injected(alice, upstream, "What are the productivity tools that I use")


def test_history_tells_each_step_and_its_cause(alice: Speaker) -> None:
    alice.tell(MAGNET)
    (magnet,) = alice.memories()
    alice.tell(MAGNET, x_memory_session="another")
    alice.http.patch(f"/memories/{magnet['id']}", json={"pinned": True})
    alice.tell("I don't use Magnet anymore")
    steps = history(alice, magnet["id"])
    assert [step["action"] for step in steps] == ["add", "reinforce", "edit", "close"]
    assert steps[0]["before"] is None
    assert steps[0]["turn"] == magnet["source"].removeprefix("turn:")
    for earlier, later in itertools.pairwise(steps):
        assert later["before"] == earlier["after"]
        assert datetime.fromisoformat(later["at"]) >= datetime.fromisoformat(earlier["at"])
    assert steps[-2]["turn"] is None
    assert steps[-1]["turn"].startswith("turn_")
    now = alice.get(f"/memories/{magnet['id']}")
    assert steps[-1]["after"] == {**now, "uses": 0, "last_used_at": None}  # which are no steps in its life


def forget(speaker: Speaker, **body: Any) -> Message:
    response = speaker.http.post("/memories/forget", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_forget_previews_what_it_then_closes(alice: Speaker) -> None:
    create(alice, "I use Zorbek as a drawing tool")
    create(alice, "My cat sleeps on Zorbek manuals")
    kept = create(alice, "I live in Oslo")
    dry = forget(alice, text="zorbek", dry_run=True)
    assert (dry["object"], dry["dry_run"], dry["batch"], dry["review"]) == ("memory.forget", True, None, [])
    assert len(dry["closed"]) == 2
    assert len(alice.memories()) == 3
    wet = forget(alice, text="zorbek")
    assert {memory["id"] for memory in wet["closed"]} == {memory["id"] for memory in dry["closed"]}
    assert [memory["id"] for memory in alice.memories()] == [kept["id"]]
    assert forget(alice, text="zorbek") == {**dry, "dry_run": False, "closed": []}


def test_what_was_forgotten_comes_back_with_its_batch(alice: Speaker, upstream: Any) -> None:
    alice.tell("I use Zorbek as a drawing tool. Strange thing, that Zorbek! I live in Oslo.")
    forgotten = forget(alice, text="Zorbek")
    assert "Zorbek" not in injected(alice, upstream, "Which drawing tool do I use?")
    undone = alice.http.post("/memories/undo", json={"batch": forgotten["batch"]}).json()
    assert [memory["id"] for memory in undone["restored"]] == [memory["id"] for memory in forgotten["closed"]]
    assert "Zorbek" in injected(alice, upstream, "Which drawing tool do I use?")
    refused(alice.http.post("/memories/undo", json={"batch": forgotten["batch"]}), 404, "not_found")


@pytest.mark.parametrize("by", ["text", "ids"])
def test_forgotten_statement_is_gone_from_old_turns(alice: Speaker, upstream: Any, by: str) -> None:
    alice.tell(FACT)
    magnet = next(memory for memory in alice.memories() if memory["text"] == MAGNET)
    forget(alice, **{"text": {"text": "Magnet"}, "ids": {"ids": [magnet["id"]]}}[by])
    assert alice.texts() == {SHRAM}
    shown = injected(alice, upstream, "What are the productivity tools that I use")
    assert "Shram" in shown
    assert "Magnet" not in shown


def test_forget_reaches_what_never_became_a_memory(alice: Speaker, upstream: Any) -> None:
    alice.tell("Konrad would have liked the soup")
    assert alice.memories() == []
    answer = forget(alice, text="Konrad")
    assert (answer["closed"], answer["review"]) == ([], [])
    assert answer["batch"].startswith("end_")
    assert "Konrad" not in injected(alice, upstream, "Who would have liked the soup?")


def test_forget_reaches_what_was_just_said(alice: Speaker) -> None:
    alice.say("I live in Oslo")
    assert [memory["text"] for memory in forget(alice, text="Oslo")["closed"]] == ["I live in Oslo"]
    alice.wait()
    assert alice.memories() == []


def test_a_record_of_an_ending_is_no_memory(alice: Speaker) -> None:
    create(alice, "I use Zorbek as a drawing tool")
    batch = forget(alice, text="zorbek")["batch"]
    assert [memory["id"] for memory in alice.memories(status="all") if memory["id"].startswith("end_")] == []
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/history"), ("POST", "/restore")):
        refused(alice.http.request(method, f"/memories/{batch}{path}"), 404, "not_found")
    refused(alice.http.patch(f"/memories/{batch}", json={"pinned": True}), 404, "not_found")


def test_writes_are_there_when_they_are_answered(server: Running, alice: Speaker) -> None:
    with speaking(server, alice.key) as second:
        for number in range(5):
            made = create(alice, f"I own kayak number {number}")
            assert second.get(f"/memories/{made['id']}")["status"] == "active"
            alice.http.delete(f"/memories/{made['id']}")
            assert second.get(f"/memories/{made['id']}")["status"] == "closed"
