"""``files.handling``: uploads that only the provider stores, and uploads stored on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat, error, json_reply
from tests.running import Running
from tests.shown.files import upload, wait_read
from tests.talking import Speaker, speaking

BLIND = "blind"
TEXT = b"The ferry to Kelmsund leaves at noon from the eastern pier."


class Store:
    """The provider's file store, with its own ids."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.bytes: dict[str, bytes] = {}

    def __call__(self, seen: Seen) -> Reply | None:
        """Reply as a provider with files does."""
        if seen.path.endswith("/chat/completions"):
            return chat("All right.", seen.json)
        _, _, rest = seen.path.partition("/files")
        file_id, _, what = rest.strip("/").partition("/")
        if not file_id:
            return json_reply(self._added(seen.body) if seen.method == "POST" else self._listed())
        if file_id not in self.files:
            return error(404, f"No such File object: {file_id}")
        if seen.method == "DELETE":
            del self.files[file_id]
            return json_reply({"id": file_id, "object": "file", "deleted": True})
        if what == "content":
            return Reply([self.bytes[file_id]], headers=[("Content-Type", "application/octet-stream")])
        return json_reply(self.files[file_id])

    def _added(self, body: bytes) -> dict[str, Any]:
        head, data = re.search(rb'name="file"(.*?)\r\n\r\n(.*?)\r\n--', body, re.DOTALL).groups()  # type: ignore[union-attr]
        name = re.search(rb'filename="([^"]*)"', head)[1].decode()  # type: ignore[index]
        purpose = re.search(rb'name="purpose"\r\n\r\n(\w+)', body)[1].decode()  # type: ignore[index]
        file_id = f"file-theirs{len(self.bytes)}"
        self.bytes[file_id] = data
        self.files[file_id] = {"id": file_id, "object": "file", "filename": name, "bytes": len(data),
                               "purpose": purpose, "created_at": 1, "status": "processed"}  # fmt: skip
        return self.files[file_id]

    def _listed(self) -> dict[str, Any]:
        return {"object": "list", "data": list(self.files.values()), "has_more": False}


@pytest.fixture
def theirs(provider: FakeProvider) -> Store:
    store = Store()
    provider.script(store)
    return store


@pytest.fixture(params=["both", "forward"])
def handling(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def speaker(tmp_path: Path, provider: FakeProvider, theirs: Store, handling: str) -> Iterator[Speaker]:
    settings: dict[str, Any] = {
        "media": {"text_only_models": [BLIND], "caption_deadline_ms": 60_000},
    }
    with (
        Running(tmp_path, upstream=provider.base_url, files={"handling": handling}, **settings) as server,
        speaking(server) as one,
    ):
        yield one


def asked(file_id: str) -> list[dict[str, Any]]:
    parts = [{"type": "text", "text": "What is it?"}, {"type": "file", "file": {"file_id": file_id}}]
    return [{"role": "user", "content": parts}]


def test_upload_list_get_and_content_are_the_providers(speaker: Speaker, theirs: Store, handling: str) -> None:
    file = upload(speaker, ("ferry.txt", TEXT))
    assert file == theirs.files[file["id"]]
    assert theirs.bytes[file["id"]] == TEXT
    assert speaker.get("/files")["data"] == [file]
    assert speaker.get(f"/files/{file['id']}") == file
    content = speaker.http.get(f"/files/{file['id']}/content")
    assert content.content == TEXT
    wait_read(speaker)
    kept = speaker.get("/documents")["data"]
    assert [one["name"] for one in kept] == (["ferry.txt"] if handling == "both" else [])


def test_deletion_reaches_the_provider_and_us(speaker: Speaker, theirs: Store, handling: str) -> None:
    file = upload(speaker, ("ferry.txt", TEXT))
    wait_read(speaker)
    kept = speaker.get("/documents")["data"]
    assert len(kept) == (handling == "both")
    gone = speaker.http.delete(f"/files/{file['id']}")
    assert gone.json() == {"id": file["id"], "object": "file", "deleted": True}
    assert theirs.files == {}
    assert speaker.get("/documents")["data"] == []
    assert speaker.http.get(f"/files/{file['id']}").status_code == 404
    for one in kept:
        assert speaker.http.get(f"/documents/{one['id']}/content").status_code == 404


def test_chat_names_the_file_as_the_provider_does(
    speaker: Speaker, provider: FakeProvider, theirs: Store, handling: str
) -> None:
    file = upload(speaker, ("ferry.txt", TEXT))
    wait_read(speaker)
    sent = asked(file["id"])
    speaker.post(sent)
    assert provider.last.json["messages"] == sent
    speaker.post(sent, model=BLIND)
    part = provider.last.json["messages"][0]["content"][1]
    if handling == "both":  # the local copy can be sent as text to a model that accepts no files
        assert "leaves at noon" in part["text"]
    else:
        assert part == sent[0]["content"][1]


def test_only_what_is_kept_is_recalled(speaker: Speaker, provider: FakeProvider, theirs: Store, handling: str) -> None:
    upload(speaker, ("ferry.txt", TEXT))
    upload(speaker, ("tuning.jsonl", b'{"messages": ["Quillondrac"]}'), purpose="fine_tune")
    wait_read(speaker)
    assert len(theirs.files) == 2
    speaker.say("When does the ferry to Kelmsund leave?")
    assert (b"leaves at noon" in provider.last.body) == (handling == "both")
    speaker.say("What is Quillondrac in the tuning file?")
    assert provider.last.body.count(b"Quillondrac") == 1


def test_a_refused_upload_is_kept_nowhere(speaker: Speaker, provider: FakeProvider) -> None:
    provider.script(lambda seen: error(413, "too large"))
    response = speaker.http.post("/files", files={"file": ("a.txt", TEXT)}, data={"purpose": "user_data"})
    assert (response.status_code, response.json()["error"]["message"]) == (413, "too large")
    assert speaker.get("/documents")["data"] == []


def test_unreadable_file_still_reaches_the_provider(speaker: Speaker, theirs: Store, handling: str) -> None:
    file = upload(speaker, ("program.bin", b"\x7fELF" + bytes(200)))
    assert theirs.bytes[file["id"]].startswith(b"\x7fELF")
    assert speaker.get(f"/files/{file['id']}") == theirs.files[file["id"]]
    assert speaker.get("/documents")["data"] == []


@pytest.mark.parametrize(("size", "status"), [(12, "uploaded"), (200_000, "processing")])
def test_small_upload_has_a_state_of_openais(tmp_path: Path, provider: FakeProvider, size: int, status: str) -> None:
    """The worker is off, so that nothing is ingested meanwhile."""
    with Running(tmp_path, upstream=provider.base_url, worker={"enabled": False}) as server:
        made = server.client().files.create(file=("a.txt", b"x" * size), purpose="assistants")
        again = server.client().files.retrieve(made.id)
    assert (made.status, again.status) == (status, status)
    assert made.to_dict()["fraction"] == 0.0
