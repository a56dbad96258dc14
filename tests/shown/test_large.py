"""A document that exceeds the model's window is replaced by its outline and the chunks relevant to the question."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import upload, wait_read
from tests.talking import Speaker, speaking

BOOK = "\n\n".join(
    f"# Station {number}\n\nThe lamp at station {number} burns for {number % 50 + 3} seconds, as the keeper of pier "
    f"{number * 7 % 91} wrote into the book of the year {1500 + number}. Nobody else was there at the time."
    for number in range(400)
).encode()
WINDOWS = {"small-*": 8000}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    upstream = {"url": lasting_provider.base_url, "context_windows": WINDOWS}
    with Running(tmp_path_factory.mktemp("data"), upstream=upstream, media={"caption_deadline_ms": 60_000}) as running:
        yield running


def asking(speaker: Speaker, file: dict[str, Any], model: str, **headers: str) -> tuple[bytes, dict[str, Any]]:
    question = {"type": "text", "text": "How long does the lamp at station 217 burn?"}
    content = [question, {"type": "file", "file": file}]
    raw = orjson.dumps({"model": model, "messages": [{"role": "user", "content": content}]})
    response = speaker.http.post("/chat/completions", content=raw, headers=headers)
    assert response.status_code == 200
    return raw, speaker.receipt(response)


@pytest.mark.parametrize("is_upload", [False, True], ids=["sent", "uploaded"])
def test_it_gives_way_where_the_window_is_known(server: Running, upstream: FakeProvider, is_upload: bool) -> None:
    with speaking(server) as speaker:
        if is_upload:
            file = {"file_id": upload(speaker, ("stations.md", BOOK))["id"]}
            wait_read(speaker)
        else:
            file = {
                "filename": "stations.md",
                "file_data": f"data:text/markdown;base64,{base64.b64encode(BOOK).decode()}",
            }
        _, receipt = asking(speaker, file, "small-model")
        text = upstream.last.json["messages"][0]["content"][1]["text"]
        assert "station 217 burns for 20 seconds" in text
        assert "Outline:\nStation 0" in text
        assert len(text) < 20_000
        assert receipt["attachments"][0]["action"] == "outline"
        wait_read(speaker)


def test_large_file_goes_up_to_unknown_windows(server: Running, upstream: FakeProvider) -> None:
    data = f"data:text/markdown;base64,{base64.b64encode(BOOK).decode()}"
    with speaking(server) as speaker:
        raw, receipt = asking(speaker, {"filename": "stations.md", "file_data": data}, "some-model")
        assert upstream.last.body == raw
        assert receipt["attachments"][0]["action"] == "kept"
        wait_read(speaker)


@pytest.mark.parametrize("mode", ["off", "observe"])
def test_large_file_goes_up_where_memory_is_off(server: Running, upstream: FakeProvider, mode: str) -> None:
    data = f"data:text/markdown;base64,{base64.b64encode(BOOK).decode()}"
    with speaking(server) as speaker:
        part = {"type": "file", "file": {"filename": "stations.md", "file_data": data}}
        raw = orjson.dumps({"model": "small-model", "messages": [{"role": "user", "content": [part]}]})
        assert speaker.http.post("/chat/completions", content=raw, headers={"x-memory-mode": mode}).status_code == 200
        assert upstream.last.body == raw
        assert speaker.get("/documents")["data"] == []
