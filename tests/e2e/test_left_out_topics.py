"""``memory.leave_out``: statements about a topic are forwarded, and stored nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.launch import wait_until
from tests.running import Running
from tests.talking import Speaker, assistant, speaking, user

SAID = "I live in Leeds. I was diagnosed with coeliac disease last year."
ANSWER = "Then avoid barley; Leeds has good bakeries."


@pytest.fixture
def server(tmp_path: Path, provider: FakeProvider) -> Iterator[Running]:
    upstream = {"url": provider.base_url, "context_windows": {"tiny": 4096}}
    with Running(tmp_path, upstream=upstream, memory={"leave_out": ["health", "religion"]}) as running:
        yield running


@pytest.fixture
def speaker(server: Running) -> Iterator[Speaker]:
    with speaking(server) as one:
        yield one


def holders(folder: Path, *words: str) -> list[Path]:
    """Return the files that contain one of the words."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(word.encode() in path.read_bytes() for word in words)]


def test_neither_the_sentence_nor_its_answer_is_kept(speaker: Speaker, provider: FakeProvider, tmp_path: Path) -> None:
    provider.script(lambda seen: replies.chat(ANSWER, seen.json))
    response = speaker.say(SAID)
    assert SAID in str(provider.last.json["messages"])
    assert response.json()["choices"][0]["message"]["content"] == ANSWER
    speaker.wait()
    assert speaker.texts() == {"I live in Leeds."}
    assert [one["text"] for one in speaker.all_episodes()] == ["I live in Leeds."]
    assert holders(tmp_path, "Leeds")
    assert holders(tmp_path, "coeliac", "barley") == []


def test_other_turns_of_the_conversation_stay(speaker: Speaker, provider: FakeProvider) -> None:
    provider.script(lambda seen: replies.chat("A fine place.", seen.json))
    speaker.post([user("I have asthma."), assistant("Take care with dust."), user("My cat is called Mia.")])
    speaker.wait()
    assert {one["text"] for one in speaker.all_episodes()} == {"My cat is called Mia.", "A fine place."}


def test_a_memory_about_it_is_refused(speaker: Speaker) -> None:
    refused = speaker.http.post("/memories", json={"text": "I am allergic to peanuts"})
    assert refused.status_code == 400
    assert "memory.leave_out" in refused.json()["error"]["message"]
    made = speaker.http.post("/memories", json={"text": "I like peanuts"}).json()
    assert speaker.http.patch(f"/memories/{made['id']}", json={"text": "Peanuts make me sick"}).status_code == 400
    assert speaker.texts() == {"I like peanuts"}


def test_an_import_goes_without_it(speaker: Speaker) -> None:
    job = speaker.http.post("/import", content=b"- I play the viol\n- I take insulin\n").json()
    wait_until(lambda: speaker.get(f"/jobs/{job['id']}")["status"] == "done")
    assert speaker.texts() == {"I play the viol"}
    assert any("memory.leave_out" in note for note in speaker.get(f"/jobs/{job['id']}")["notes"])


def test_a_summary_of_the_conversation_goes_without_it(speaker: Speaker, tmp_path: Path) -> None:
    said = []
    for number in range(200):
        told = f"{number}. The quarry on the hill holds {number} carts of slate for the north road, and more in May."
        said += [user(told), assistant("Noted.")]
    said[20] = user(
        "Ferdinand Quell moved to Lisbon on 14 May. Ferdinand Quell treats my coeliac disease since 3 June."
    )
    response = speaker.post([*said, user("How many carts are there?")], model="tiny")
    assert speaker.receipt(response)["compaction"]
    speaker.wait()
    assert holders(tmp_path, "Quell moved")
    assert holders(tmp_path, "coeliac") == []
