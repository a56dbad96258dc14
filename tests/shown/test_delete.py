"""Deleted files are gone from the disk: bytes, thumbnail, chunks, captions, and copies in conversations' blocks."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from proxy.worker.destroy import scrub
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Running
from tests.shown.files import show, upload, wait_read
from tests.shown.standins import public
from tests.talking import Speaker, new_key, speaking, user

SECRET = "Quillondrac"
TEXT = f"# Access\n\nThe door code of the {SECRET} vault is kept by the warden of the north tower.\n" * 3
SHOT = public("images/images_ocr/devatest.png")


def on_disk(folder: Path, *needles: bytes) -> list[str]:
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found += [f"{path.relative_to(folder)}: {needle[:20]!r}" for needle in needles if needle in data]
    return found


def scrubbed(server: Running) -> None:
    """Run the scheduled scrub now."""
    assert server.call(server.services.destructions.awaits_scrub)
    assert server.call(scrub, server.services)


@pytest.mark.parametrize("noun", ["documents", "files"])
def test_a_deleted_document_leaves_nothing(tmp_path: Path, provider: FakeProvider, noun: str) -> None:
    provider.script(lambda seen: chat("All right.", seen.json))
    with (
        Running(tmp_path, upstream=provider.base_url) as server,
        speaking(server, new_key()) as speaker,
    ):
        document = show(speaker, ("vault.md", TEXT.encode()))
        history = [user("Who keeps the door code of the vault?")]
        first = speaker.post(history)
        assert SECRET.encode() in provider.last.body
        assert speaker.receipt(first)["injected"][0]["text"]
        speaker.wait()
        before = on_disk(tmp_path, SECRET.encode(), b"warden of the north")
        assert before
        file = speaker.get("/files")["data"][0]["id"]
        assert speaker.http.delete(f"/{noun}/{document['id'] if noun == 'documents' else file}").json()["deleted"]
        scrubbed(server)
        assert on_disk(tmp_path, SECRET.encode(), b"warden of the north", document["sha256"].encode()) == []
        for path in (f"/documents/{document['id']}", f"/files/{file}", f"/documents/{document['id']}/chunks"):
            assert speaker.http.get(path).status_code == 404
        assert speaker.receipt(first)["injected"][0]["text"] is None
        speaker.post(
            [*history, {"role": "assistant", "content": "All right."}, user("And who keeps the vault's code?")]
        )
        assert SECRET.encode() not in provider.last.body
    assert on_disk(tmp_path, SECRET.encode(), b"warden of the north") == []


def test_a_deleted_image_leaves_nothing(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(lambda seen: chat("All right.", seen.json))
    data = SHOT.read_bytes()
    with (
        Running(tmp_path, upstream=provider.base_url) as server,
        speaking(server, new_key()) as speaker,
    ):
        url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
        parts: list[dict[str, Any]] = [
            {"type": "text", "text": "Keep it."},
            {"type": "image_url", "image_url": {"url": url}},
        ]
        speaker.post([{"role": "user", "content": parts}])
        wait_read(speaker)
        speaker.wait()
        image = speaker.get("/images")["data"][0]
        words = [word.encode() for word in image["ocr_text"].split() if len(word) > 6][:3]
        thumbnail = speaker.http.get(f"/images/{image['id']}/thumbnail").content
        needles = [data[100:140], thumbnail[40:80], *words]
        assert len(on_disk(tmp_path, *needles)) >= len(needles)
        assert speaker.http.get(f"/images/{image['id']}/content").content == data
        assert speaker.http.delete(f"/images/{image['id']}").json()["deleted"]
        scrubbed(server)
        assert on_disk(tmp_path, *needles, image["sha256"].encode()) == []
        assert not list((tmp_path / "blobs").rglob("*.*"))
    assert on_disk(tmp_path, *needles) == []


def test_bytes_that_another_agent_showed_too_stay(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with speaking(server, key, x_memory_agent="one") as one, speaking(server, key, x_memory_agent="two") as two:
        mine, theirs = show(one, ("vault.md", TEXT.encode())), show(two, ("vault.md", TEXT.encode()))
        assert mine["id"] != theirs["id"]
        assert one.http.delete(f"/documents/{mine['id']}").json()["deleted"]
        assert two.http.get(f"/documents/{theirs['id']}/content").content == TEXT.encode()


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_deleted_upload_is_told_to_the_model(alice: Speaker, upstream: FakeProvider, wire: str) -> None:
    """A conversation with a deleted file continues; a provider would refuse its every later request."""
    file = upload(alice, ("vault.md", TEXT.encode()))
    wait_read(alice)
    alice.http.delete(f"/files/{file['id']}")
    part: dict[str, Any] = {
        "chat": {"type": "file", "file": {"file_id": file["id"]}},
        "responses": {"type": "input_file", "file_id": file["id"]},
        "messages": {"type": "document", "source": {"type": "file", "file_id": file["id"]}},
    }[wire]
    messages = [
        {
            "role": "user",
            "content": [{"type": "input_text" if wire == "responses" else "text", "text": "Sum up."}, part],
        }
    ]
    key = "input" if wire == "responses" else "messages"
    path = {"chat": "/chat/completions"}.get(wire, f"/{wire}")
    for headers in ({}, {"x-memory-mode": "off"}):
        response = alice.http.post(path, json={"model": "gpt-4o", "max_tokens": 9, key: messages}, headers=headers)
        told = upstream.last.json[key][0]["content"][1]["text"]
        assert "was deleted" in told
        assert "Upload it again" in told
        assert SECRET not in str(upstream.last.json)
        if not headers:
            [one] = alice.receipt(response)["attachments"]
            assert (one["action"], one["reason"]) == ("refused", "not_here")


def test_id_of_another_user_reads_as_deleted(server: Running, alice: Speaker, upstream: FakeProvider) -> None:
    file = upload(alice, ("vault.md", TEXT.encode()))
    wait_read(alice)
    told = []
    with speaking(server) as bob:
        for id_ in (file["id"], "file-thr" + "0" * 24):
            bob.post([{"role": "user", "content": [{"type": "file", "file": {"file_id": id_}}]}])
            told.append(upstream.last.json["messages"][0]["content"][0]["text"].replace(id_, ""))
    assert told[0] == told[1]
    assert SECRET not in str(told)


def test_id_of_the_providers_own_file_goes_up(alice: Speaker, upstream: FakeProvider) -> None:
    sent = [{"role": "user", "content": [{"type": "file", "file": {"file_id": "file-abc123"}}]}]
    alice.post(sent)
    assert upstream.last.json["messages"] == sent


def test_deleted_file_of_the_history_stays_deleted(tmp_path: Path, provider: FakeProvider) -> None:
    """A client resends it with each request; for a model that accepts no files it becomes text, and is not stored."""
    provider.script(lambda seen: chat("All right.", seen.json))
    url = f"data:text/markdown;base64,{base64.b64encode(TEXT.encode()).decode()}"
    part = {"type": "file", "file": {"filename": "vault.md", "file_data": url}}
    history: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Keep it."}, part]}]
    media = {"text_only_models": ["blind"], "caption_deadline_ms": 60_000}
    with (
        Running(tmp_path, upstream=provider.base_url, media=media) as server,
        speaking(server, new_key()) as speaker,
    ):
        speaker.post(history, model="blind")
        wait_read(speaker)
        [document] = speaker.get("/documents")["data"]
        speaker.http.delete(f"/documents/{document['id']}")
        speaker.post([*history, {"role": "assistant", "content": "All right."}, user("Go on.")], model="blind")
        assert SECRET in str(provider.last.json)
        wait_read(speaker)
        assert speaker.get("/documents")["data"] == []
        speaker.post([user("Who keeps the door code of the vault?")])
        assert SECRET not in str(provider.last.json)
