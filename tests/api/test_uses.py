"""Use counts of a memory over the API."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from proxy.clock import Clock
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.serving import agreeing
from tests.talking import Message, Speaker, new_key, speaking

QUESTION = "What is my dog called?"


def told(speaker: Speaker) -> Message:
    (found,) = speaker.memories()
    return found


def test_memory_tells_how_often_and_when_used(alice: Speaker) -> None:
    alice.tell("My dog is called Bronko")
    assert (told(alice)["uses"], told(alice)["last_used_at"]) == (0, None)
    before = Clock().now()
    for session in ("one", "two"):
        alice.tell(QUESTION, x_memory_session=session)
    found = told(alice)
    assert found["uses"] == 2
    assert abs(datetime.fromisoformat(found["last_used_at"]) - before).total_seconds() < 60
    assert alice.get(f"/memories/{found['id']}") == found
    patched = alice.http.patch(f"/memories/{found['id']}", json={"pinned": True}).json()
    assert patched["uses"] == 2


def test_what_leaves_no_trace_counts_as_no_use(alice: Speaker) -> None:
    alice.tell("My dog is called Bronko")
    alice.say(QUESTION, x_memory_session="one", x_memory_mode="observe")
    alice.say(QUESTION, x_memory_session="two", x_memory_mode="off")
    alice.say(QUESTION, x_memory_session="three", x_memory_mode="read")
    assert told(alice)["uses"] == 0


def test_uses_outlive_the_process(tmp_path: Path, provider: FakeProvider) -> None:
    key = new_key()
    provider.script(agreeing)
    for uses in (1, 2):
        with (
            Running(tmp_path, upstream=provider.base_url) as server,
            speaking(server, key) as speaker,
        ):
            if uses == 1:
                speaker.tell("My dog is called Bronko")
            speaker.tell(QUESTION, x_memory_session=f"asked {uses}")
            assert told(speaker)["uses"] == uses
