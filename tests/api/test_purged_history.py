"""History of other memories after a purge of one."""

from __future__ import annotations

from typing import Any

from tests.talking import FACT, Message, Speaker


def history(speaker: Speaker, memory: str) -> list[Message]:
    return list(speaker.get(f"/memories/{memory}/history")["data"])


def create(speaker: Speaker, text: str) -> str:
    return str(speaker.http.post("/memories", json={"text": text}).json()["id"])


def purge(speaker: Speaker, memory: str) -> None:
    speaker.http.delete(f"/memories/{memory}", params={"purge": "true"}).raise_for_status()


def test_a_linked_memory_keeps_its_history(alice: Speaker) -> None:
    gone, kept = create(alice, "I keep bees"), create(alice, "I play chess")
    alice.http.patch(f"/memories/{kept}", json={"text": "I play chess on Sundays"}).raise_for_status()
    alice.http.post(f"/memories/{kept}/link", json={"id": gone}).raise_for_status()
    before = history(alice, kept)
    purge(alice, gone)
    after = history(alice, kept)
    assert [step["action"] for step in after] == [step["action"] for step in before]
    assert after[0] == before[0]
    assert gone not in str(after)


def test_former_quotes_of_others_lose_the_words(alice: Speaker, upstream: Any) -> None:
    """Of two memories of one sentence, the corrected one had the purged one's text in its history."""
    alice.tell(FACT)
    ids = {one["text"]: one["id"] for one in alice.memories()}
    (gone,) = [id_ for text, id_ in ids.items() if "Shram" in text]
    (kept,) = [id_ for text, id_ in ids.items() if "Magnet" in text]
    alice.http.patch(f"/memories/{kept}", json={"text": "I use Magnet at work"}).raise_for_status()
    assert "Shram" in str(history(alice, kept))
    purge(alice, gone)
    assert [step["action"] for step in history(alice, kept)] == ["add", "edit"]
    assert "Shram" not in str(history(alice, kept))
