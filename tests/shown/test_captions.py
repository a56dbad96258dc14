"""Captions by the operator's vision model, with the operator's key; without a caption, the text says so."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat, error
from tests.running import Running
from tests.shown.files import show
from tests.shown.standins import public
from tests.talking import new_key, speaking, user

COFFEE = public("images/images_photo/coffee.png")
CAPTION = {"caption": "A cup of espresso with a spoon on a wooden table.", "objects": ["cup", "spoon", "saucer"]}


@pytest.fixture
def seeing(tmp_path: Path, provider: FakeProvider) -> Iterator[Running]:
    media = {
        "caption_model": "openai/eyes",
        "caption_base_url": provider.base_url,
        "caption_api_key": "sk-operator",
        "text_only_models": ["blind"],
        "caption_deadline_ms": 60_000,
        "ocr": "off",
    }
    with Running(tmp_path, upstream=provider.base_url, media=media) as running:
        yield running


def answering(text: str) -> object:
    def answer(seen: Seen) -> Reply | None:
        if seen.path.endswith("/chat/completions"):
            return chat(text if seen.json["model"] == "eyes" else "All right.", seen.json)
        return None

    return answer


@pytest.mark.parametrize(
    "text",
    [
        orjson.dumps(CAPTION).decode(),
        f"<think>hm, {{}}</think>\n```json\n{orjson.dumps(CAPTION).decode()}\n```",
        orjson.dumps(CAPTION).decode()[:-1],
    ],
    ids=["plain", "wrapped", "cut"],
)
def test_the_model_describes(seeing: Running, provider: FakeProvider, text: str) -> None:
    provider.script(answering(text))  # type: ignore[arg-type]
    with speaking(seeing, new_key()) as speaker:
        image = show(speaker, COFFEE)
        assert (image["caption"], image["objects"]) == (CAPTION["caption"], CAPTION["objects"])
        assert image["captioned_by"] == "openai/eyes"
        assert speaker.get("/state")["costs"]["captions"]["tokens"] > 0
        asked = provider.last
        assert asked.header("authorization") == "Bearer sk-operator"
        assert asked.json["messages"][0]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
        speaker.say("What picture with a cup of espresso did I show you?")
        assert "A cup of espresso" in provider.last.json["messages"][-1]["content"]


def test_the_same_picture_again_is_not_described_again(seeing: Running, provider: FakeProvider) -> None:
    from PIL import Image

    provider.script(answering(orjson.dumps(CAPTION).decode()))  # type: ignore[arg-type]
    small = COFFEE
    path = Path(seeing.settings.server.data_dir) / ".." / "smaller.jpg"
    with Image.open(small) as picture:
        picture.convert("RGB").resize((300, 200)).save(path, quality=80)
    with speaking(seeing, new_key()) as speaker:
        first = show(speaker, COFFEE)
        calls = len(provider.seen)
        second = show(speaker, path)
        assert len(provider.seen) == calls
        assert (second["same_as"], second["caption"]) == (first["id"], first["caption"])
        assert second["id"] != first["id"]


def test_failed_caption_leaves_the_image_known_by_name(seeing: Running, provider: FakeProvider) -> None:
    provider.script(lambda seen: error(500, "no") if seen.json["model"] == "eyes" else chat("Ok.", seen.json))
    with speaking(seeing, new_key()) as speaker:
        image = show(speaker, COFFEE)
        assert (image["status"], image["caption"], image["captioned_by"]) == ("ready", None, None)
        part = {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{base64.b64encode(COFFEE.read_bytes()).decode()}"},
        }
        speaker.post([{"role": "user", "content": [part, {"type": "text", "text": "What is it?"}]}], model="blind")
        said = provider.last.json["messages"][0]["content"][0]["text"]
        assert "600×400" in said
        assert "not described by a model" in said


def test_a_clients_key_is_never_used(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(answering(orjson.dumps(CAPTION).decode()))  # type: ignore[arg-type]
    with Running(tmp_path, upstream=provider.base_url, media={"ocr": "off"}) as server, speaking(server) as speaker:
        assert show(speaker, COFFEE)["caption"] is None
        speaker.post([user("Hello")])
    assert [seen.json.get("model") for seen in provider.seen] == ["gpt-4o"]
