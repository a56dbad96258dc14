"""A memory, item, task or answer sent again: its fields are applied or refused, the rest stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.test_manager import manage
from tests.api.test_memories import create, history, refused
from tests.api.test_tasks import make, tasks
from tests.talking import Speaker

TEXT = "I play the bassoon"


def test_repeated_memory_takes_the_fields_given(alice: Speaker) -> None:
    made = create(alice, TEXT, priority=3, metadata={"from": "a form"})
    end = "2030-01-01T00:00:00Z"
    given = {"pinned": True, "kind": "preference", "expires_at": end, "metadata": {"team": "winds"}}
    again = create(alice, TEXT, **given)
    wanted = {**given, "priority": 3, "metadata": {"from": "a form", "team": "winds"}}
    assert {name: again[name] for name in wanted} == wanted
    assert alice.memories() == [again]
    assert again["id"] == made["id"]
    assert create(alice, TEXT, **given) == create(alice, TEXT) == again
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "edit"]
    assert create(alice, TEXT, expires_at=None)["expires_at"] is None


@pytest.mark.parametrize("path", ["/memories", "/memory-manager/items/add"])
def test_memory_that_is_over_holds_anew(alice: Speaker, path: str) -> None:
    first = create(alice, TEXT)
    alice.http.patch(f"/memories/{first['id']}", json={"expires_at": "2026-01-01T00:00:00Z"}).raise_for_status()
    assert alice.memories() == []
    before = alice.memories(status="all")
    for _ in range(2):
        is_item = path != "/memories"
        made = manage(alice, "items/add", content=TEXT)["item_id"] if is_item else create(alice, TEXT)["id"]
    (now,) = alice.memories()
    assert (now["id"], now["expires_at"]) == (made, None)
    assert made != first["id"]
    assert now["valid_from"] > first["valid_from"]
    assert alice.memories(status="all") == [now, *before]
    assert [step["action"] for step in history(alice, first["id"])] == ["add", "edit"]


def test_restored_memory_that_is_over_holds_again(alice: Speaker) -> None:
    made = create(alice, TEXT)
    path, end = f"/memories/{made['id']}", "2026-01-01T00:00:00Z"
    alice.http.patch(path, json={"expires_at": end}).raise_for_status()
    between = alice.memories(status="all")[0]["updated_at"]
    assert alice.http.post(f"{path}/restore").json()["expires_at"] is None
    assert alice.texts() == {TEXT}
    assert alice.texts(as_of=between) == set()
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "edit", "restore"]


def test_metadata_that_cannot_be_kept_is_refused(alice: Speaker) -> None:
    create(alice, TEXT)
    nested = "[" * 100 + "]" * 100
    for value in (nested, '"\\ud83d"', '{"\\ud83d": 1}'):
        for path, name in (("/memories", "text"), ("/memory-manager/items/add", "content")):
            body = f'{{"{name}": "{TEXT}", "metadata": {{"a": {value}}}}}'
            url = path if path == "/memories" else alice.server.origin + path
            answer = alice.http.post(url, content=body, headers={"content-type": "application/json"})
            assert refused(answer, 400, "invalid_request")["param"] == "metadata"


def test_repeated_item_takes_the_fields_given(alice: Speaker) -> None:
    for content in ("Lunch is at noon", "\n".join(f"Shift {number} starts at the gate." for number in range(200))):
        first = {"content_type": "note", "priority": 8, "metadata": {"team": "ui"}}
        item = manage(alice, "items/add", content=content, **first)["item_id"]
        assert manage(alice, "items/add", content=content, priority=2)["item_id"] == item
        kept = manage(alice, "items/retrieve", item_id=item)
        assert (kept["content_type"], kept["priority"], kept["metadata"]["team"]) == ("note", 2, "ui")


def test_repeated_task_takes_the_fields_given(alice: Speaker) -> None:
    made = make(alice, title="mend the roof", due="2030-02-01", description="the north side")
    assert make(alice, title="mend the roof", due="2030-03-01", priority=9)["id"] == made["id"]
    (task,) = tasks(alice)
    assert (task["due"], task["priority"], task["description"]) == ("2030-03-01", 9, "the north side")
    again = manage(alice, "tasks/create", title="mend the roof", due=None)
    assert (again["task_id"], again["due"], again["priority"]) == (made["id"], None, 9)
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "edit", "edit"]


@pytest.mark.parametrize("by", ["edit", "approve"])
def test_answered_question_takes_no_other_answer(alice: Speaker, by: str) -> None:
    asked = manage(alice, "human/request", question="Which region?")["request_id"]
    body: dict[str, Any] = {"decision": "edit", "text": "eu"} if by == "edit" else {"decision": "approve"}
    for _ in range(2):
        told = alice.http.post(f"/reviews/{asked}", json=body)
        assert told.status_code == 200
    answered = f"{alice.server.origin}/memory-manager/human/answer"
    error = refused(alice.http.post(answered, json={"request_id": asked, "answer": "us"}), 409, "conflict")
    assert told.json()["answer"] in error["message"]
    assert "human/request" in error["message"]
    assert alice.get(f"/reviews/{asked}") == told.json()
