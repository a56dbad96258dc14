"""Images and files that a message names by URL, over real sockets, with fetching off and on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from proxy.media.fetch import fetch
from tests.fakes.provider import FakeProvider
from tests.running import WAIT_S, Running
from tests.shown.files import wait_read
from tests.shown.standins import public
from tests.shown.test_wires import PARTS
from tests.talking import Speaker, new_key, speaking

SHOT = public("images/images_ocr/devatest.png")
BLIND = "blind"


class Site:
    """A web server on this machine that counts its requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.changed = threading.Condition()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with site.changed:
                    site.asked.append(self.path)
                    site.changed.notify_all()
                data = SHOT.read_bytes() if self.path.endswith(".png") else b"The quay of Velorum opens at nine."
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}"

    def wait(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.asked) >= count, WAIT_S)

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(WAIT_S)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as one:
        yield one


def serving(folder: Path, provider: FakeProvider, *, fetches: bool = True) -> Running:
    media = {"fetch_urls": fetches, "text_only_models": [BLIND], "caption_deadline_ms": 60_000}
    return Running(folder, upstream=provider.base_url, media=media)


def permit_this_machine(server: Running) -> None:
    """Let a server fetch from 127.0.0.1, as if that were a public address.

    There is no setting for this: the test replaces the fetching part, as only code in the same process can.
    """
    for part in server.services.both():
        part.fetch = partial(fetch, allows=lambda address: address == "127.0.0.1")


def linked(url: str) -> list[dict[str, Any]]:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    return [{"role": "user", "content": parts}]


def told(speaker: Speaker, response: Any) -> list[tuple[str, str | None]]:
    return [(one["action"], one["reason"]) for one in speaker.receipt(response)["attachments"]]


def wait_shown(speaker: Speaker, noun: str) -> dict[str, Any]:
    """Wait until a file fetched beside the request is stored and ingested; return it."""
    deadline = time.monotonic() + WAIT_S
    while not (shown := speaker.get(f"/{noun}")["data"]):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    wait_read(speaker)
    return dict(speaker.get(f"/{noun}/{shown[0]['id']}"))


@pytest.mark.parametrize("name", PARTS)
def test_picture_by_url_is_fetched_on_every_wire(tmp_path: Path, provider: FakeProvider, site: Site, name: str) -> None:
    wire, parts = PARTS[name]
    path = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}[name]
    with serving(tmp_path, provider) as server, speaking(server, new_key()) as speaker:
        permit_this_machine(server)
        part = orjson.loads(orjson.dumps(parts[3]).replace(b"https://example.org/a.png", site.url("a.png").encode()))
        body = {"model": "gpt-4o", "max_tokens": 9,
                wire.key: [{"role": "user", "content": [{"type": wire.text_kind, "text": "What is this?"}, part]}]}  # fmt: skip
        raw = orjson.dumps(body)
        response = speaker.http.post(path, content=raw, headers={"content-type": "application/json"})
        assert response.status_code == 200, response.text
        if name != "messages":  # these are forwarded as a chat, the only wire of this server
            assert provider.last.body == raw
        image = wait_shown(speaker, "images")
        assert (image["name"], image["status"], site.asked) == ("a.png", "ready", ["/a.png"])
        assert image["ocr_text"]


def test_text_model_gets_fetched_images_in_words(tmp_path: Path, provider: FakeProvider, site: Site) -> None:
    with serving(tmp_path, provider) as server, speaking(server, new_key()) as speaker:
        permit_this_machine(server)
        response = speaker.post(linked(site.url("a.png")), model=BLIND)
        assert "Text in the image:" in provider.last.json["messages"][0]["content"][1]["text"]
        assert told(speaker, response) == [("described", None)]


def test_with_fetching_off_nobody_comes(tmp_path: Path, provider: FakeProvider, site: Site) -> None:
    with serving(tmp_path, provider, fetches=False) as server, speaking(server, new_key()) as speaker:
        permit_this_machine(server)
        for model in ("gpt-4o", BLIND):
            sent = linked(site.url(f"{model}.png"))
            response = speaker.post(sent, model=model)
            assert provider.last.json["messages"] == sent
            assert told(speaker, response) == [("left", "not_fetched")]
        assert (site.asked, speaker.get("/images")["data"]) == ([], [])


def test_fetching_never_reaches_this_machine(tmp_path: Path, provider: FakeProvider, site: Site) -> None:
    with serving(tmp_path, provider) as server, speaking(server, new_key()) as speaker:
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            sent = linked(site.url("a.png").replace("127.0.0.1", host))
            response = speaker.post(sent, model=BLIND)
            assert provider.last.json["messages"] == sent
            assert told(speaker, response) == [("refused", "forbidden_address")]
        assert (site.asked, speaker.get("/images")["data"]) == ([], [])


def test_file_by_url_is_read_and_found_later(tmp_path: Path, provider: FakeProvider, site: Site) -> None:
    with serving(tmp_path, provider) as server, speaking(server, new_key()) as speaker:
        permit_this_machine(server)
        part = {"type": "input_file", "filename": "quay.txt", "file_url": site.url("quay.txt")}
        content = [{"type": "input_text", "text": "Keep it."}, part]
        body = {"model": "gpt-4o", "input": [{"role": "user", "content": content}]}
        assert speaker.http.post("/responses", json=body).status_code == 200
        assert wait_shown(speaker, "documents")["name"] == "quay.txt"
        speaker.say("When does the quay of Velorum open?")
        assert b"opens at nine" in provider.last.body
