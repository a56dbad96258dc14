"""Images without readable text say so, in the record and to a model that accepts no images."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.running import Running
from tests.shown.files import show, wait_read
from tests.shown.standins import photo, written
from tests.talking import new_key, speaking


def asked(data: bytes) -> list[dict[str, object]]:
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]


@pytest.mark.parametrize("ocr", ["auto", "off"])
def test_missing_text_is_said_and_not_searched(tmp_path: Path, provider: FakeProvider, ocr: str) -> None:
    provider.script(lambda seen: chat("All right.", seen.json))
    media = {"ocr": ocr, "text_only_models": ["blind"], "caption_deadline_ms": 60_000}
    data = photo(300, 200)
    with (
        Running(tmp_path, upstream=provider.base_url, media=media) as server,
        speaking(server, new_key()) as speaker,
    ):
        image = show(speaker, ("cup.png", data))
        note = "no text was read off it; what is read is" if ocr == "auto" else "text was not looked for: OCR is"
        assert image["ocr_text"] == ""
        assert image["notes"][0].startswith(note)
        speaker.post(asked(data), model="blind")
        assert note[1:] in provider.last.json["messages"][0]["content"][0]["text"]
        written_on = show(speaker, ("words.png", written("Kelmsund ferry leaves")))
        assert bool(written_on["notes"]) == (ocr == "off")


def test_picture_with_slow_ocr_is_still_known(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url) as server, speaking(server, new_key()) as speaker:
        server.services.reading = replace(server.services.reading, ocr_s=0.001)
        image = show(speaker, ("words.png", written("Kelmsund ferry leaves")))
        wait_read(speaker)
        assert (image["status"], image["width"], image["ocr_text"]) == ("ready", 900, "")
        assert image["notes"][0].startswith("its text was not read: Reading the file took longer than")
