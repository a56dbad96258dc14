"""``/memory-manager`` over real sockets: items, state, tasks, agents, quarantine and reviews."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, cast

import pytest
import sqlalchemy as sa

from proxy.services import Services
from proxy.store import tables
from proxy.types import Document, Scope
from tests.api.test_transfer import bring, taken_out
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import wait_read
from tests.talking import Message, Speaker, speaking

TOPICS = {
    "frontend": "The settings page renders a form with tabs, and each tab keeps its scroll position.",
    "backend": "Tokens are checked by verifying the RS256 signature of the JWT, its issuer and its expiry claim.",
    "docs": "Release notes are written on Thursdays and reviewed by two people.",
}


def manage(speaker: Speaker, path: str, **body: Any) -> Any:
    response = speaker.http.post(f"{speaker.server.origin}/memory-manager/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def look(speaker: Speaker, path: str, **params: Any) -> Any:
    response = speaker.http.get(f"{speaker.server.origin}/memory-manager/{path}", params=params)
    assert response.status_code == 200, response.text
    return response.json()


def long_text(seed: int, sentence: str, words: int = 4000) -> str:
    """Return paragraphs of common words around one given sentence."""
    chance = random.Random(seed)
    common = [
        "house",
        "river",
        "table",
        "market",
        "winter",
        "letter",
        "garden",
        "window",
        "paper",
        "music",
        "number",
        "story",
        "light",
        "road",
    ]
    lines = [" ".join(chance.choice(common) for _ in range(12)).capitalize() + "." for _ in range(words // 12)]
    lines.insert(len(lines) // 2, sentence)
    return "\n\n".join(" ".join(lines[at : at + 5]) for at in range(0, len(lines), 5))


def test_large_item_shows_as_summary_and_returns_whole(alice: Speaker) -> None:
    content = long_text(1, TOPICS["backend"])
    added = manage(alice, "items/add", content=content, content_type="backend", priority=8, metadata={"team": "core"})
    assert added["compressed"] is True
    assert added["tokens"] > 4000
    assert 0 < len(added["summary"]) < 1000
    whole = manage(alice, "items/retrieve", item_id=added["item_id"])
    assert whole["content"] == content
    assert (whole["content_type"], whole["priority"], whole["metadata"]) == ("backend", 8, {"team": "core"})
    short = manage(alice, "items/retrieve", item_id=added["item_id"], decompress=False)
    assert (short["content"], short["compressed"]) == (added["summary"], True)
    (found, *_) = manage(alice, "items/search", query="JWT authentication validation")
    assert found.keys() == {"item_id", "content_type", "priority", "score", "excerpt", "tokens"}
    assert (found["item_id"], found["tokens"]) == (added["item_id"], added["tokens"])
    assert "RS256" in found["excerpt"]
    (item,) = look(alice, "state/export")["items"]
    assert item["last_used_at"] > item["created_at"]


@pytest.mark.parametrize("line", ["x{0} = f({0})", "| {0} | {0} |", "item {0}", "第{0}行 吾輩は猫である"])
def test_compressed_item_without_sentences_has_a_summary(alice: Speaker, line: str) -> None:
    added = manage(alice, "items/add", content="\n".join(line.format(at) for at in range(900)))
    assert (added["compressed"], added["summary"].splitlines()[0]) == (True, line.format(0))
    assert manage(alice, "items/retrieve", item_id=added["item_id"], decompress=False)["content"] == added["summary"]


def test_a_short_item_is_a_memory(alice: Speaker) -> None:
    added = manage(
        alice, "items/add", content="The staging database runs on port 6543", content_type="note", priority=2
    )
    assert added.keys() == {"item_id", "tokens", "compressed"}
    (memory,) = alice.memories()
    assert (memory["id"], memory["source"], memory["priority"]) == (added["item_id"], "api", 2)
    assert memory["metadata"] == {"content_type": "note"}
    assert manage(alice, "items/add", content="The staging database runs on port 6543")["item_id"] == added["item_id"]
    (found,) = manage(alice, "items/search", query="which port does staging use")
    assert (found["item_id"], found["content_type"]) == (added["item_id"], "note")


def test_a_search_may_be_for_one_content_type(alice: Speaker) -> None:
    ids = {
        kind: manage(alice, "items/add", content=long_text(at, sentence, 600), content_type=kind)["item_id"]
        for at, (kind, sentence) in enumerate(TOPICS.items())
    }
    for kind, sentence in TOPICS.items():
        hits = manage(alice, "items/search", query=sentence, limit=3)
        assert hits[0]["item_id"] == ids[kind]
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
        only = manage(alice, "items/search", query=sentence, content_type="docs")
        assert [hit["item_id"] for hit in only] == [ids["docs"]]


def test_state_tells_what_items_take_of_a_window(alice: Speaker) -> None:
    for at in range(3):
        manage(alice, "items/add", content=long_text(at, f"Plan {at} is to move the archive."), content_type="plan")
    manage(alice, "items/add", content="Lunch is at noon")
    state = look(alice, "state", model="gpt-4o")
    assert (state["model"], state["context_window"]) == ("gpt-4o", 128000)
    assert state["items"] == {"total": 4, "full": 1, "compressed": 3, "archived": 0}
    tokens = state["tokens"]
    assert tokens["saved"] == tokens["stored"] - tokens["in_context"]
    assert state["context_tokens"] == tokens["in_context"] < 1500
    assert state["context_utilization_percentage"] == round(100 * tokens["in_context"] / 128000, 2)
    assert state["cost"]["input"] == pytest.approx(0.0025)
    assert look(alice, "state", model="nobody/knows-it")["context_window"] is None


def test_low_priority_is_dropped_first_in_small_windows(tmp_path: Any) -> None:
    providers = {"context_windows": {"tiny": 2000}}
    with Running(tmp_path, upstream={"url": None, **providers}) as server, speaking(server) as alice:
        ids = [
            manage(alice, "items/add", content=long_text(at, f"Item {at}.", 500), priority=priority)["item_id"]
            for at, priority in enumerate((10, 3, 7, 3))
        ]
        exported = look(alice, "state/export", model="tiny")
        forms = {item["item_id"]: item["state"] for item in exported["items"]}
        assert [forms[one] for one in ids] == ["full", "compressed", "full", "compressed"]
        assert exported["context_tokens"] <= exported["trigger_tokens"] == 1500


def test_tasks_and_agents_are_those_of_v1(alice: Speaker) -> None:
    late = manage(alice, "tasks/create", title="write the report", priority=5, due="2030-03-01")
    urgent = manage(
        alice, "tasks/create", title="call the bank", description="about the card", priority=9, agent="clerk"
    )
    assert [task["task_id"] for task in look(alice, "tasks")] == [urgent["task_id"], late["task_id"]]
    waiting = manage(alice, "tasks/update", task_id=urgent["task_id"], status="waiting_for_human")
    assert waiting["status"] == "waiting_for_human"
    manage(alice, "tasks/update", task_id=late["task_id"], status="done")
    assert [task["title"] for task in alice.get("/tasks")["data"]] == ["call the bank"]
    assert [task["title"] for task in look(alice, "tasks", status="done")] == ["write the report"]
    agent = manage(alice, "agents/create", name="clerk", capabilities=["banking", "letters"])
    assert (agent["name"], agent["capabilities"]) == ("clerk", ["banking", "letters"])
    assert [one["agent_id"] for one in look(alice, "agents")] == [alice.get("/agents")["data"][0]["id"]]
    state = look(alice, "state")
    assert (state["tasks"]["total"], state["tasks"]["done"], state["agents"]["total"]) == (2, 1, 1)
    exported = look(alice, "state/export")
    assert {task["title"] for task in exported["tasks"]} == {"write the report", "call the bank"}
    assert [one["name"] for one in exported["agents"]] == ["clerk"]


@pytest.mark.parametrize("length", ["short", "long"])
def test_quarantined_thread_is_found_only_inside_itself(alice: Speaker, length: str) -> None:
    sentence = "The zeppelin hangar code is Quillfeather."
    content = sentence if length == "short" else long_text(7, sentence)
    outside = manage(alice, "items/add", content="The weather balloon is in the shed")["item_id"]
    apart = manage(alice, "quarantine", content=content, context_type="bug_report", reason="unchecked")
    question = "what is the zeppelin hangar code"
    assert all("Quillfeather" not in hit["excerpt"] for hit in manage(alice, "items/search", query=question))
    inside = manage(alice, "items/search", query=question, thread_id=apart["thread_id"])
    assert "Quillfeather" in inside[0]["excerpt"]
    found = alice.http.post("/memories/search", json={"query": question}).json()
    assert "Quillfeather" not in str(found)
    assert [item["item_id"] for item in look(alice, "state/export")["items"]] == [outside]
    (entry,) = alice.get("/quarantine")["data"]
    assert (entry["id"], entry["reason"]) == (apart["quarantine_id"], "unchecked")
    alice.http.post(f"/quarantine/{entry['id']}/release").raise_for_status()
    assert "Quillfeather" in manage(alice, "items/search", query=question)[0]["excerpt"]


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("length", ["short", "long"])
def test_mark_of_a_thread_is_never_shown(
    server: Running, alice: Speaker, upstream: FakeProvider, length: str, *, is_old: bool
) -> None:
    """Earlier versions stored the mark in the last chunk and in the summary."""
    sentence = "The zeppelin hangar code is Quillfeather."
    content = sentence if length == "short" else long_text(7, sentence)
    apart = manage(alice, "quarantine", content=content, context_type="bug_report", reason="unchecked")
    path, mark = f"/documents/{apart['item_id']}", f"\n\n({apart['thread_id']})"
    if is_old:
        server.call(_as_earlier_versions_kept_it, server.services, apart["item_id"], mark)
    shown = [alice.get(path), alice.get(f"{path}/chunks"), manage(alice, "items/retrieve", item_id=apart["item_id"])]
    shown += [manage(alice, "items/search", query="hangar code", thread_id=apart["thread_id"])]
    shown += [alice.http.get(f"{path}/content").text]
    alice.say("What is the zeppelin hangar code?", x_memory_session=apart["thread_id"])
    assert "Quillfeather" in str(upstream.last.json["messages"])
    shown += [upstream.last.json["messages"]]
    assert apart["thread_id"] not in str(shown)
    assert shown[-2] == content


async def _as_earlier_versions_kept_it(services: Services, id_: str, mark: str) -> None:
    owner = sa.select(tables.media.c.tenant, tables.media.c.owner).where(tables.media.c.id == id_)
    scope = Scope(*await services.database.query(lambda connection: connection.execute(owner).one()))
    last = max(await services.store.chunks(scope), key=lambda row: row.seq)
    await services.store.put_chunks(scope, [replace(last, text=last.text + mark)], {}, "")
    await services.media.change(scope, id_, lambda one: replace(cast("Document", one), summary=f"It is.{mark}"))


@pytest.mark.parametrize("length", ["short", "long"])
def test_destroyed_quarantine_leaves_no_document(server: Running, alice: Speaker, length: str) -> None:
    sentence = "The zeppelin hangar code is Brambleknott."
    content = sentence if length == "short" else long_text(7, sentence)
    outside = manage(alice, "items/add", content=long_text(3, "The weather balloon is in the shed."))["item_id"]
    apart = manage(alice, "quarantine", content=content, context_type="bug_report", reason="unchecked")
    assert manage(alice, "items/retrieve", item_id=apart["item_id"])["content"] == content
    gone = alice.http.delete(f"/quarantine/{apart['quarantine_id']}")
    assert (gone.status_code, gone.json()["deleted"]) == (200, True)
    assert alice.get("/quarantine")["data"] == []
    retrieved = alice.http.post(f"{server.origin}/memory-manager/items/retrieve", json={"item_id": apart["item_id"]})
    assert retrieved.status_code == 404
    assert alice.http.get(f"/documents/{apart['item_id']}").status_code == 404
    found = manage(alice, "items/search", query="what is the zeppelin hangar code", thread_id=apart["thread_id"])
    assert "Brambleknott" not in str(found)
    assert "Brambleknott" not in taken_out(alice).decode()
    assert [item["item_id"] for item in look(alice, "state/export")["items"]] == [outside]
    folder = server.settings.server.data_dir
    assert not [path for path in folder.glob("blobs/*/*") if b"Brambleknott" in path.read_bytes()]


def test_question_waits_in_reviews_until_answered(alice: Speaker) -> None:
    asked = manage(alice, "human/request", question="Which region?", choices=["eu", "us"], context="For the new bucket")
    assert (asked["status"], asked["choices"], asked["answer"]) == ("open", ["eu", "us"], None)
    assert [one["request_id"] for one in look(alice, "human")] == [asked["request_id"]]
    (review,) = alice.get("/reviews")["data"]
    assert (review["id"], review["question"], review["change"]) == (asked["request_id"], "Which region?", "answer")
    assert alice.memories(status="all") == []
    assert manage(alice, "human/answer", request_id=asked["request_id"], answer="eu")["answer"] == "eu"
    assert look(alice, "human") == []
    again = alice.http.post(
        f"{alice.server.origin}/memory-manager/human/answer", json={"request_id": asked["request_id"], "answer": "eu"}
    )
    assert (again.status_code, again.json()["answer"]) == (200, "eu")
    other = manage(alice, "human/request", question="Ship it?")
    decided: Message = alice.http.post(f"/reviews/{other['request_id']}", json={"decision": "decline"}).json()
    assert (decided["status"], decided["answer"]) == ("declined", "declined")


def test_items_are_of_their_owner_alone(server: Running) -> None:
    with speaking(server) as alice, speaking(server) as ben:
        ids = [
            manage(alice, "items/add", content=content)["item_id"]
            for content in ("I keep bees in Aarhus", long_text(3, TOPICS["docs"]))
        ]
        for item_id in (*ids, "mem_0123456789abcdef01234567", "doc_0123456789abcdef01234567", "x"):
            url = f"{ben.server.origin}/memory-manager/items/retrieve"
            refused = ben.http.post(url, json={"item_id": item_id})
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
        assert manage(ben, "items/search", query="bees in Aarhus") == []
        assert look(ben, "state")["items"]["total"] == 0


def test_secrets_are_left_out_and_bad_bodies_refused(alice: Speaker) -> None:
    secret = "My password is hunter2-Zebra-91!"
    for content in (f"{secret} for the router", long_text(4, f"{secret} for the router.")):
        item = manage(alice, "items/add", content=content)
        assert "hunter2" not in manage(alice, "items/retrieve", item_id=item["item_id"])["content"]
    for path, body in [
        ("items/add", {"content": "   "}),
        ("items/add", {"content": "x", "priority": 11}),
        ("items/add", {}),
        ("items/search", {"query": "", "limit": 5}),
        ("tasks/update", {"task_id": "mem_0"}),
        ("human/request", {}),
    ]:
        refused = alice.http.post(f"{alice.server.origin}/memory-manager/{path}", json=body)
        assert refused.status_code == 400, (path, refused.text)
        assert refused.json()["error"]["message"]


def test_items_and_questions_move_with_an_export(server: Running) -> None:
    with speaking(server) as alice:
        content = long_text(9, TOPICS["frontend"])
        large = manage(
            alice, "items/add", content=content, content_type="frontend", priority=9, metadata={"team": "ui"}
        )
        small = manage(alice, "items/add", content="Lunch is at noon", content_type="note", priority=2)
        asked = manage(alice, "human/request", question="Which region?", choices=["eu", "us"])
        before = look(alice, "state/export")
        exported = taken_out(alice)
        alice.http.post("/erase").raise_for_status()
        assert look(alice, "state")["items"]["total"] == 0
        assert bring(alice, exported)["status"] == "done"
        wait_read(alice)
        after = look(alice, "state/export")
        for one in ("counts", "tokens", "items"):
            assert after[one] == before[one]
        assert manage(alice, "items/retrieve", item_id=large["item_id"])["content"] == content
        assert manage(alice, "items/search", query="when is lunch")[0]["item_id"] == small["item_id"]
        assert [one["request_id"] for one in look(alice, "human")] == [asked["request_id"]]
