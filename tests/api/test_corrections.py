"""A correction over ``/v1/memories`` closes the memory that it corrects, and lets no secret through."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.test_memories import create, history, refused
from tests.talking import Message, Speaker

KEY = "sk-" + "a1B2c3D4e5" * 4


def patch(speaker: Speaker, memory_id: str, **fields: Any) -> Message:
    response = speaker.http.patch(f"/memories/{memory_id}", json=fields)
    assert response.status_code == 200, response.text
    return dict(response.json())


def injected(speaker: Speaker, upstream: Any, question: str) -> str:
    speaker.say(question, x_memory_mode="read")
    return str(upstream.last.json["messages"][-1]["content"])


@pytest.mark.parametrize("text", ["Munich is where to find me", "My mother took me in again"])
def test_correction_replaces_what_was_said(alice: Speaker, upstream: Any, text: str) -> None:
    alice.tell("I live in Berlin")
    (memory,) = alice.memories()
    now = patch(alice, memory["id"], text=text)
    assert (now["text"], now["quote"], now["confidence"]) == (text, text, 1.0)
    assert alice.texts(status="all") == {text}
    shown = injected(alice, upstream, "In which city do I live?")
    assert text in shown
    assert "Berlin" not in shown


@pytest.mark.parametrize("then", ["I moved to Hull last week.", "I live in Berlin now."])
def test_corrected_memory_is_ended_by_the_users_words(alice: Speaker, then: str) -> None:
    made = create(alice, "I live in Berlin")
    patch(alice, made["id"], text="I live in Munich")
    alice.tell(then)
    assert alice.texts() == {then}


def test_a_running_conversation_loses_the_corrected_value(alice: Speaker, upstream: Any) -> None:
    made = create(alice, "I live in Berlin")
    talk = [{"role": "user", "content": "In which city do I live?"}]
    speak = alice.http
    speak.post("/chat/completions", json={"model": "demo", "messages": talk})
    assert "Berlin" in str(upstream.last.json["messages"])
    patch(alice, made["id"], object_value="Munich", text="I live in Munich")
    talk += [{"role": "assistant", "content": "There."}, {"role": "user", "content": "Name the city where I live"}]
    speak.post("/chat/completions", json={"model": "demo", "messages": talk})
    sent = str(upstream.last.json["messages"])
    assert "Munich" in sent
    assert "Berlin" not in sent


def test_a_text_that_is_put_back_is_shown(alice: Speaker, upstream: Any) -> None:
    made = create(alice, "I live in Berlin")
    patch(alice, made["id"], text="I live in Munich")
    patch(alice, made["id"], text="I live in Berlin")
    assert alice.texts() == {"I live in Berlin"}
    assert "Berlin" in injected(alice, upstream, "In which city do I live?")
    assert [step["action"] for step in history(alice, made["id"])] == ["add", "edit", "edit"]


def test_no_secret_is_stored(alice: Speaker) -> None:
    metadata = {"note": f"key {KEY}", "password": "hunter22", "deep": [{"api_key": "abcd1234"}, 5, None], "kept": "yes"}
    made = create(alice, f"I use {KEY} for the shop", object_value=KEY, subject=KEY, metadata=metadata)
    patched = patch(alice, made["id"], text="My password is hunter22!x", object_value=f"{KEY}")
    for shown in (made, patched, alice.get("/memories", status="all"), history(alice, made["id"])):
        assert not any(secret in str(shown) for secret in (KEY, "hunter22", "abcd1234"))
    assert made["metadata"]["kept"] == "yes"
    assert made["metadata"]["deep"][1:] == [5, None]


def test_redacted_statement_is_forgotten_by_its_own_words(alice: Speaker) -> None:
    create(alice, "My wifi password is Tannenbaum77")
    gone = alice.http.post("/memories/forget", json={"text": "My wifi password is Tannenbaum77"}).json()["closed"]
    assert len(gone) == 1


@pytest.mark.parametrize("name", ["ending", "slot", "hides", "texts", "profile"])
def test_metadata_that_memory_itself_uses_is_refused(alice: Speaker, name: str) -> None:
    refused(alice.http.post("/memories", json={"text": "tea", "metadata": {name: "x"}}), 400, "invalid_request")
    assert alice.memories(status="all") == []


def test_metadata_of_any_depth_is_answered(alice: Speaker) -> None:
    nested: Any = "x"
    for _ in range(300):
        nested = [nested]
    response = alice.http.post("/memories", json={"text": "deep", "metadata": {"a": nested}})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "metadata"
