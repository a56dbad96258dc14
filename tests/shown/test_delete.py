"""What is deleted is gone from the disk: bytes, thumbnail, passages, captions, and what conversations carried."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from proxy.worker.destroy import scrub
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Running
from tests.shown.files import show, wait_read
from tests.shown.standins import public
from tests.talking import new_key, speaking, user

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
    """What the schedule does in its time, now."""
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
