"""On fallback to a model with other capabilities, a request with an image gets a body that this model accepts."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, error
from tests.running import Running
from tests.shown.files import upload, wait_read
from tests.shown.standins import written
from tests.shown.test_wires import PARTS
from tests.talking import Speaker, new_key, speaking

DATA = base64.b64encode(written("Kelmsund ferry", "leaves at noon")).decode()
URL = f"data:image/png;base64,{DATA}"
PATHS = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}
IMAGES: dict[str, dict[str, Any]] = {
    "chat": {"type": "image_url", "image_url": {"url": URL}},
    "responses": {"type": "input_image", "image_url": URL},
    "messages": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
}
LEARNED = "My dog is called Barnaby."


def entry(name: str, base: str, provider: str = "openai", *, sends: str = "", **info: Any) -> dict[str, Any]:
    params = {"model": f"{provider}/{sends or name}", "api_base": base, "api_key": "k"}
    return {"model_name": name, "litellm_params": params, "model_info": info}


def failing(*models: str) -> Any:
    """Return a script in which some models fail."""

    def script(seen: Seen) -> Reply | None:
        return error(503, "broken") if seen.json.get("model") in models else None

    return script


@contextmanager
def serving(folder: Path, provider: FakeProvider, models: list[dict[str, Any]], **router: Any) -> Iterator[Speaker]:
    media = {"text_only_models": ["blind*"], "caption_deadline_ms": 60_000}
    settings = {"num_retries": 0, "retry_after": 0, **router}
    with (
        Running(folder, models=models, media=media, router_settings=settings) as server,
        speaking(server, new_key()) as speaker,
    ):
        yield speaker


def pair(base: str, provider: str = "openai") -> list[dict[str, Any]]:
    return [entry("seeing", base, provider), entry("blind", base, provider)]


def ask(speaker: Speaker, model: str, name: str = "chat", *, stream: bool = False, part: Any = None) -> Any:
    wire, _ = PARTS[name]
    text = {"type": wire.text_kind, "text": "What was my dog called, and what is this?"}
    body = {"model": model, "stream": stream, wire.key: [{"role": "user", "content": [text, part or IMAGES[name]]}],
            **({"max_tokens": 50} if name == "messages" else {})}  # fmt: skip
    response = speaker.http.post(PATHS[name], json=body, headers={"anthropic-version": "2023-06-01"})
    assert response.status_code == 200, response.text
    return response


def sent(provider: FakeProvider, name: str = "chat") -> tuple[str, list[dict[str, Any]]]:
    body = orjson.loads(provider.last.body)
    return body["model"], body[PARTS[name][0].key][-1]["content"]


def actions(speaker: Speaker, response: Any) -> list[str]:
    return [one["action"] for one in speaker.receipt(response)["attachments"]]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", PARTS)
def test_a_text_only_stand_in_gets_words(tmp_path: Path, provider: FakeProvider, name: str, stream: bool) -> None:
    is_messages = name == "messages"
    models = pair(provider.url if is_messages else provider.base_url, "anthropic" if is_messages else "openai")
    with serving(tmp_path, provider, models, fallbacks=[{"seeing": ["blind"]}]) as speaker:
        if name == "chat":
            speaker.tell(LEARNED, model="seeing")
        provider.script(failing("seeing"))
        response = ask(speaker, "seeing", name, stream=stream)
        assert DATA.encode() in provider.seen[-2].body
        model, content = sent(provider, name)
        assert model == "blind"
        assert DATA.encode() not in provider.last.body
        assert "ferry" in str(content)
        assert "Text in the image:" in str(content)
        assert actions(speaker, response) == ["described"]
        if name == "chat":
            assert all(b"Barnaby" in one.body for one in provider.seen[-2:])
            assert response.headers["x-memory"].startswith("used")


def test_a_stand_in_that_sees_gets_the_image(tmp_path: Path, provider: FakeProvider) -> None:
    with serving(tmp_path, provider, pair(provider.base_url), fallbacks=[{"blind": ["seeing"]}]) as speaker:
        speaker.tell(LEARNED, model="seeing")
        provider.script(failing("blind"))
        response = ask(speaker, "blind")
        assert b"Text in the image:" in provider.seen[-2].body
        model, content = sent(provider)
        assert model == "seeing"
        assert IMAGES["chat"] in content
        assert b"Text in the image:" not in provider.last.body
        assert b"Barnaby" in provider.last.body
        assert actions(speaker, response) == ["kept"]


def test_it_goes_back_and_forth(tmp_path: Path, provider: FakeProvider) -> None:
    with serving(
        tmp_path, provider, pair(provider.base_url), num_retries=1, fallbacks=[{"seeing": ["blind"]}]
    ) as speaker:
        provider.script(failing("seeing", "blind"))
        wire = PARTS["chat"][0]
        body = {"model": "seeing", wire.key: [{"role": "user", "content": [IMAGES["chat"]]}]}
        assert speaker.http.post("/chat/completions", json=body).status_code == 503
        assert {(one.json["model"], DATA.encode() in one.body) for one in provider.seen} == {
            ("seeing", True),
            ("blind", False),
        }


def test_deployments_of_one_name_may_differ_in_sight(tmp_path: Path, provider: FakeProvider) -> None:
    models = [
        entry("both", provider.base_url, sends="m-eyes", supports_vision=True),
        entry("both", provider.base_url, sends="m-none", supports_vision=False),
    ]
    with serving(tmp_path, provider, models) as speaker:
        for broken, asked, sees in (("m-none", "m-eyes", True), ("m-eyes", "m-none", False)):
            provider.script(failing(broken))
            ask(speaker, "both")
            assert sent(provider)[0] == asked
            assert (DATA.encode() in provider.last.body) == sees


def test_an_upload_becomes_what_the_stand_in_takes(tmp_path: Path, provider: FakeProvider) -> None:
    with serving(tmp_path, provider, pair(provider.base_url), fallbacks=[{"seeing": ["blind"]}]) as speaker:
        file = upload(speaker, ("ferry.png", base64.b64decode(DATA)))
        wait_read(speaker)
        provider.script(failing("seeing"))
        ask(speaker, "seeing", part={"type": "file", "file": {"file_id": file["id"]}})
        assert DATA.encode() in provider.seen[-2].body
        assert "Text in the image:" in sent(provider)[1][1]["text"]


def test_body_is_unchanged_for_the_first_deployment(tmp_path: Path, provider: FakeProvider) -> None:
    with serving(tmp_path, provider, pair(provider.base_url), fallbacks=[{"seeing": ["blind"]}]) as speaker:
        raw = orjson.dumps({"model": "seeing", "messages": [{"role": "user", "content": [IMAGES["chat"]]}]})
        speaker.http.post("/chat/completions", content=raw)
        assert provider.last.body == raw
        assert len(provider.seen) == 1
