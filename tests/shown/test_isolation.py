"""No scope sees files of another: keys, users, agents, and ephemeral memory."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Running
from tests.shown.files import show, upload, wait_read
from tests.shown.standins import public
from tests.shown.test_delete import on_disk
from tests.talking import Speaker, new_key, outcome, speaking

TEXT = b"The Brundelwick archive opens at half past seven in the morning, and Oskarine keeps its key."
QUESTION = "When does the Brundelwick archive open?"
PICTURE = public("images/images_screenshot/datasette-favicon.png")


@pytest.fixture(params=["keys", "users", "agents"])
def pair(server: Running, request: pytest.FixtureRequest) -> Iterator[tuple[Speaker, Speaker]]:
    named: dict[str, Sequence[dict[str, str]]] = {
        "keys": [{}, {}],
        "users": [{"x_memory_user": "user-1"}, {"x_memory_user": "user-10"}],
        "agents": [{"x_memory_agent": "coder"}, {"x_memory_agent": "coder2"}],
    }
    first = new_key()
    second = new_key() if request.param == "keys" else first
    one, two = named[request.param]
    with ExitStack() as stack:
        yield stack.enter_context(speaking(server, first, **one)), stack.enter_context(speaking(server, second, **two))


def test_another_scope_sees_nothing(pair: tuple[Speaker, Speaker], upstream: FakeProvider) -> None:
    mine, foreign = pair
    document, image = show(mine, ("archive.txt", TEXT)), show(mine, PICTURE)
    file = mine.get("/files")["data"][0]["id"]
    for noun in ("documents", "images"):
        assert foreign.get(f"/{noun}")["data"] == []
    paths = [f"/documents/{document['id']}{rest}" for rest in ("", "/chunks", "/content")]
    paths += [f"/images/{image['id']}{rest}" for rest in ("", "/content", "/thumbnail")]
    for path in paths:
        theirs, nowhere = foreign.http.get(path), foreign.http.get(path.replace("_", "_0"))
        assert theirs.status_code == nowhere.status_code == 404
        assert theirs.json()["error"]["code"] == nowhere.json()["error"]["code"]
    for path in (f"/documents/{document['id']}", f"/images/{image['id']}", f"/files/{file}"):
        assert foreign.http.delete(path).status_code == 404
    assert (
        foreign.http.get(f"/files/{file}").status_code == foreign.http.get(f"/files/{file}/content").status_code == 404
    )
    assert outcome(foreign.say(QUESTION))["n"] == "0"
    assert b"half past seven" not in upstream.last.body
    part: dict[str, Any] = {"type": "file", "file": {"file_id": file}}
    foreign.post([{"role": "user", "content": [{"type": "text", "text": "What is it?"}, part]}])
    assert b"half past seven" not in upstream.last.body
    assert mine.get(f"/documents/{document['id']}")["status"] == "ready"
    mine.say(QUESTION)
    assert b"half past seven" in upstream.last.body


def test_what_the_user_showed_is_every_agents(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with speaking(server, key) as user, speaking(server, key, x_memory_agent="coder") as agent:
        show(user, ("archive.txt", TEXT))
        agent.say(QUESTION)
        assert b"half past seven" in upstream.last.body


def test_equal_bytes_of_two_scopes_are_two_documents(pair: tuple[Speaker, Speaker]) -> None:
    mine, foreign = pair
    one, other = show(mine, ("archive.txt", TEXT)), show(foreign, ("archive.txt", TEXT))
    assert one["id"] != other["id"]
    assert mine.http.delete(f"/documents/{one['id']}").status_code == 200
    assert foreign.http.get(f"/documents/{other['id']}/content").content == TEXT


def test_ephemeral_files_are_recalled_and_leave_no_trace(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(lambda seen: chat("All right.", seen.json))
    with (
        Running(tmp_path, upstream=provider.base_url) as server,
        speaking(server, new_key(), x_memory_mode="ephemeral", x_memory_session="burn") as speaker,
    ):
        file = upload(speaker, ("archive.txt", TEXT))
        picture = base64.b64encode(PICTURE.read_bytes()).decode()
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
        speaker.post([{"role": "user", "content": [{"type": "text", "text": "Look at this."}, part]}])
        wait_read(speaker)
        assert speaker.get(f"/documents/{file['document_id']}")["status"] == "ready"
        speaker.say(QUESTION)
        assert b"half past seven" in provider.last.body
        with speaking(server, speaker.key) as lasting:
            assert lasting.get("/documents")["data"] == []
            lasting.say(QUESTION)
            assert b"half past seven" not in provider.last.body
        assert on_disk(tmp_path, b"Oskarine", PICTURE.read_bytes()[20:60]) == []
        assert not (tmp_path / "blobs").exists()
        assert speaker.http.delete("/sessions/burn").json()["deleted"]
        assert speaker.http.get(f"/documents/{file['document_id']}").status_code == 404
