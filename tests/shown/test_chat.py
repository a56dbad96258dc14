"""Images and files in chats, on every wire, for models that accept images and for others."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import show, upload, wait_read
from tests.shown.standins import public
from tests.talking import speaking, user

RECEIPT = public("images/images_scan/qr_bill_example.jpg")
SHOT = public("images/images_ocr/devatest.png")
PDF = public("documents/pdf/multi_page.pdf")
BLIND = "blind-model"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    media = {"text_only_models": ["demo", BLIND], "caption_deadline_ms": 60_000}
    folder = tmp_path_factory.mktemp("data")
    with Running(folder, upstream=lasting_provider.base_url, media=media) as running:
        yield running


def url_of(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def image_part(data: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url_of(data, media_type), "detail": "low"}}


def asked(question: str, *parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": question}, *parts]}]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_vision_model_gets_the_image_unchanged(server: Running, upstream: FakeProvider, stream: bool) -> None:
    with speaking(server) as speaker:
        body = {"model": "gpt-4o", "stream": stream, "messages": asked("What is this?", image_part(SHOT.read_bytes()))}
        raw = orjson.dumps(body)
        response = speaker.http.post("/chat/completions", content=raw)
        assert response.status_code == 200
        assert upstream.last.body == raw
        told = speaker.receipt(response)["attachments"]
        assert [(one["kind"], one["action"]) for one in told] == [("image", "kept")]
        wait_read(speaker)
        image = speaker.get(f"/images/{told[0]['id']}")
        assert image["status"] == "ready"
        assert image["used_in"] == [response.headers["x-memory-session"]]
        assert image["caption"] is None
        assert image["ocr_text"]


def test_text_model_gets_words_for_the_image(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        sent = asked("What does it say?", image_part(SHOT.read_bytes()))
        response = speaker.post(sent, model=BLIND)
        parts = upstream.last.json["messages"][0]["content"]
        assert [part["type"] for part in parts[:2]] == ["text", "text"]
        assert "Text in the image:" in parts[1]["text"]
        told = speaker.receipt(response)["attachments"]
        assert [(one["kind"], one["action"]) for one in told] == [("image", "described")]
        image = speaker.get(f"/images/{told[0]['id']}")
        assert image["used_in"] == [response.headers["x-memory-session"]]


def test_with_memory_off_the_body_is_the_clients(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        raw = orjson.dumps({"model": BLIND, "messages": asked("What is it?", image_part(SHOT.read_bytes()))})
        speaker.http.post("/chat/completions", content=raw, headers={"x-memory-mode": "off"})
        assert upstream.last.body == raw
        assert speaker.get("/images")["data"] == []


def test_the_same_image_again_is_one_image(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        for question in ("What is this?", "And once more?"):
            speaker.post(asked(question, image_part(SHOT.read_bytes())))
        wait_read(speaker)
        assert len(speaker.get("/images")["data"]) == 1
        assert len(speaker.get("/images")["data"][0]["used_in"]) == 2


def test_a_receipt_sent_last_week_is_found(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        speaker.post(asked("Please keep this.", image_part(RECEIPT.read_bytes(), "image/jpeg")),
                     x_memory_time="2026-11-12T10:00:00Z")  # fmt: skip
        wait_read(speaker)
        image = speaker.get("/images")["data"][0]
        assert image["uploaded_at"].startswith("2026-11-12")
        response = speaker.post([user("Which receipt did I send last week?")], x_memory_time="2026-11-19T10:00:00Z")
        entries = speaker.receipt(response)["injected"]
        assert [entry["id"].partition(".")[0] for entry in entries if entry["source"] == "image"][:1] == [image["id"]]
        assert "(2026-11-12)" in upstream.last.json["messages"][-1]["content"]


@pytest.mark.parametrize("model", ["gpt-4o", BLIND])
def test_an_upload_is_resolved(server: Running, upstream: FakeProvider, model: str) -> None:
    with speaking(server) as speaker:
        file = upload(speaker, PDF)
        wait_read(speaker)
        response = speaker.post(
            asked("What is it about?", {"type": "file", "file": {"file_id": file["id"]}}), model=model
        )
        part = upstream.last.json["messages"][0]["content"][1]
        told = speaker.receipt(response)["attachments"][0]
        if model == "gpt-4o":
            assert part["file"] == {
                "filename": "multi_page.pdf",
                "file_data": url_of(PDF.read_bytes(), "application/pdf"),
            }
            assert told["action"] == "data"
        else:
            assert part["type"] == "text"
            assert "IBM MT/ST" in part["text"]
            assert told["action"] == "text"
        assert told["id"] == file["document_id"]
        again = speaker.http.post("/chat/completions", headers={"x-memory-mode": "off"}, json={
            "model": model, "messages": asked("And?", {"type": "file", "file": {"file_id": file["id"]}})})  # fmt: skip
        assert again.status_code == 200
        assert file["id"].encode() not in upstream.last.body


def test_file_of_the_request_is_not_quoted_beside(server: Running, upstream: FakeProvider) -> None:
    text = b"The lamp at the north pier is called Velorum and burns for nineteen seconds."
    part = {"type": "file", "file": {"filename": "lamp.txt", "file_data": url_of(text, "text/plain")}}
    question = "How long does the lamp at the north pier burn?"
    with speaking(server) as speaker:
        sent = asked("What is in it?", part)
        speaker.post(sent)
        wait_read(speaker)
        speaker.post([*sent, {"role": "assistant", "content": "A lamp."}, user(question)])
        assert b"Velorum" not in upstream.last.body
        speaker.say(question)
        assert b"Velorum" in upstream.last.body


def test_text_of_a_file_is_no_user_statement(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        text = b"I live in Ulaanbaatar. I use Zeppelino as my notes app. Please remember that."
        part = {"type": "file", "file": {"filename": "me.txt", "file_data": url_of(text, "text/plain")}}
        speaker.post(asked("Summarise this, please.", part), model=BLIND)
        assert b"Zeppelino" in upstream.last.body
        speaker.wait()
        wait_read(speaker)
        assert speaker.memories(status="all") == []
        assert not any("Zeppelino" in episode["text"] for episode in speaker.all_episodes())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_page_of_a_document_is_recalled_later(server: Running, upstream: FakeProvider, stream: bool) -> None:
    with speaking(server) as speaker:
        document = show(speaker, PDF)
        assert document["pages"] > 3
        body = {"model": "gpt-4o", "stream": stream,
                "messages": [user("What does page 3 of the multi page document say about word processors?")]}  # fmt: skip
        response = speaker.http.post("/chat/completions", json=body)
        injected = speaker.receipt(response)["injected"]
        assert injected[0]["source"] == "chunk"
        assert "multi_page.pdf, page 3" in upstream.last.json["messages"][-1]["content"]


def test_file_of_a_history_seen_first_is_kept(server: Running, upstream: FakeProvider) -> None:
    part = {
        "type": "file",
        "file": {"filename": "lamp.txt", "file_data": url_of(b"The lamp is Velorum.", "text/plain")},
    }
    with speaking(server) as speaker:
        sent = [*asked("Keep it.", part), {"role": "assistant", "content": "Fine."}, user("Go on.")]
        response = speaker.post(sent, model=BLIND)
        assert "Velorum" in str(upstream.last.json)
        wait_read(speaker)
        [document] = speaker.get("/documents")["data"]
        [told] = speaker.receipt(response)["attachments"]
        assert (document["name"], document["id"], told["action"]) == ("lamp.txt", told["id"], "text")
