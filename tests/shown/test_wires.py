"""Attachments on every wire: found, replaced in place, all other bytes unchanged."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects.attachments import CHAT, MESSAGES, RESPONSES, Attachment, Wire
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import upload, wait_read
from tests.shown.standins import public
from tests.talking import speaking

SHOT = base64.b64encode(public("images/images_screenshot/datasette-favicon.png").read_bytes()).decode()
PDF = public("documents/pdf/minimal-document.pdf")
URL = f"data:image/png;base64,{SHOT}"
NOTE = base64.b64encode(b"The ferry to Kelmsund leaves at noon.").decode()

PARTS: dict[str, tuple[Wire, list[dict[str, Any]]]] = {
    "chat": (
        CHAT,
        [
            {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
            {"type": "file", "file": {"filename": "a.txt", "file_data": f"data:text/plain;base64,{NOTE}"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ],
    ),
    "responses": (
        RESPONSES,
        [
            {"type": "input_image", "image_url": URL},
            {"type": "input_file", "filename": "a.txt", "file_data": f"data:text/plain;base64,{NOTE}"},
            {"type": "input_file", "file_id": "file-1"},
            {"type": "input_image", "image_url": "https://example.org/a.png"},
        ],
    ),
    "messages": (
        MESSAGES,
        [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": SHOT}},
            {"type": "document", "title": "a.txt", "source": {"type": "base64", "media_type": "text/plain", "data": NOTE}},
            {"type": "document", "source": {"type": "file", "file_id": "file-1"}, "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_attachments_are_found(name: str) -> None:
    wire, parts = PARTS[name]
    text = {"type": wire.text_kind, "text": "What is it?"}
    system = {"role": "system", "content": [parts[0]]}
    found = wire.attachments({wire.key: [system, {"role": "user", "content": [text, *parts]}, {"role": "user"}]})
    assert [one.place for one in found] == [(1, 1), (1, 2), (1, 3), (1, 4)]
    image, file, upload_, link = found
    assert (image.kind, image.data, image.declared) == ("image", SHOT, "image/png")
    assert (file.kind, file.name, file.data, file.declared) == ("file", "a.txt", NOTE, "text/plain")
    assert (upload_.file_id, link.url) == ("file-1", "https://example.org/a.png")


@pytest.mark.parametrize("name", PARTS)
def test_replaced_part_leaves_every_other_byte(name: str) -> None:
    wire, parts = PARTS[name]
    written = [orjson.dumps(part) for part in parts]
    head = b'{ "model":"m", "x":1.10, "%s" : [ {"content":"%s", "role":"user"} , {"role":"user","content":[ ' % (
        wire.key.encode(),
        "ä".encode(),
    )
    body = head + b" , ".join(written) + b' ]}], "y":[{"content":[1]}] }'
    place = wire.attachments(orjson.loads(body))[1]
    part = wire.text_part('says "so"', place)
    expected = head + b" , ".join([written[0], orjson.dumps(part), *written[2:]]) + b' ]}], "y":[{"content":[1]}] }'
    assert wire.replace(body, {place.place: part}) == expected
    assert wire.replace(body, {}) is body
    assert wire.replace(body, {place.place: part, (9, 9): part}) is body


@given(st.recursive(st.none() | st.booleans() | st.text() | st.floats(allow_nan=False), lambda inner: (
    st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "source", "image_url", "file", "url", "data"]), inner)
), max_leaves=12))  # fmt: skip
def test_whatever_a_part_is_it_is_read(part: Any) -> None:
    kinds = ["image_url", "file", "input_image", "input_file", "image", "document"]
    for kind in kinds:
        shaped = {**part, "type": kind} if isinstance(part, dict) else part
        for wire in (CHAT, RESPONSES, MESSAGES):
            for one in wire.attachments({wire.key: [{"role": "user", "content": [shaped]}]}):
                assert isinstance(one, Attachment)


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    """Return a server that treats all models as text-only; it also supports Anthropic's wire."""
    models = [
        {"model_name": name, "litellm_params": {"model": f"{provider}/{name}", "api_base": base, "api_key": "k"}}
        for name, provider, base in (
            ("m-openai", "openai", lasting_provider.base_url),
            ("m-anthropic", "anthropic", lasting_provider.url),
        )
    ]
    media = {"text_only_models": ["m-*"], "caption_deadline_ms": 60_000}
    with Running(tmp_path_factory.mktemp("blind"), models=models, media=media) as running:
        yield running


@pytest.mark.parametrize("name", PARTS)
def test_blind_models_get_words_on_every_wire(blind: Running, upstream: FakeProvider, name: str) -> None:
    wire, parts = PARTS[name]
    path = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}[name]
    upstream.script(None)
    with speaking(blind) as speaker:
        file = upload(speaker, PDF)
        wait_read(speaker)
        sent = orjson.loads(orjson.dumps(parts[:3]).replace(b"file-1", file["id"].encode()))
        body = {
            "model": "m-anthropic" if name == "messages" else "m-openai",
            wire.key: [{"role": "user", "content": [*sent, {"type": wire.text_kind, "text": "What is it?"}]}],
            **({"max_tokens": 100} if name == "messages" else {}),
        }
        response = speaker.http.post(path, json=body, headers={"anthropic-version": "2023-06-01"})
        assert response.status_code == 200, response.text
        content = orjson.loads(upstream.last.body)[wire.key][0]["content"]
        assert {part["type"] for part in content} == {wire.text_kind}
        assert content[0]["text"].startswith("[Image 'image of ")
        assert "The ferry to Kelmsund leaves at noon." in content[1]["text"]
        assert "Lorem ipsum" in content[2]["text"]
        told = speaker.receipt(response)["attachments"]
        assert [one["action"] for one in told] == ["described", "text", "text"]
