"""Images and files in tool results are ingested like the user's, but are never a statement of the user."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from proxy.dialects.attachments import CHAT, MESSAGES, RESPONSES, Wire
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import wait_read
from tests.shown.standins import written
from tests.talking import Message, Speaker, speaking

DATA = base64.b64encode(written("I live in Ulaanbaatar", "My door code is Zeppelino")).decode()
URL = f"data:image/png;base64,{DATA}"
QUESTION = "Please look at the screen for me."
_CALL = {"name": "screenshot", "arguments": "{}"}
_NAME, _PATHS = "m", {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}
_CHAT_TOOL = {"type": "function", "function": {"name": "screenshot", "parameters": {"type": "object"}}}

# The wire, the client's messages after its tool's result, the image's place, and the tools.
LOOPS: dict[str, tuple[Wire, list[Message], tuple[int, ...], list[Message]]] = {
    "chat": (
        CHAT,
        [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": _CALL}]},
            {"role": "tool", "tool_call_id": "c1", "content": [
                {"type": "text", "text": "Done."}, {"type": "image_url", "image_url": {"url": URL}}]},
        ],
        (2, 1),
        [_CHAT_TOOL],
    ),
    "responses": (
        RESPONSES,
        [
            {"role": "user", "content": QUESTION},
            {"type": "function_call", "call_id": "c1", **_CALL},
            {"type": "function_call_output", "call_id": "c1", "output": [
                {"type": "input_text", "text": "Done."}, {"type": "input_image", "image_url": URL}]},
        ],
        (2, 1),
        [{"type": "function", **_CHAT_TOOL["function"]}],
    ),
    "messages": (
        MESSAGES,
        [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "screenshot", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [
                    {"type": "text", "text": "Done."},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}]}]},
        ],
        (2, 0, 1),
        [{"name": "screenshot", "input_schema": {"type": "object"}}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_files_in_tool_results_are_replaced_in_place(name: str) -> None:
    wire, messages, place, _ = LOOPS[name]
    body = orjson.dumps({"model": "m", wire.key: messages, "x": 1})
    (image,) = wire.attachments(orjson.loads(body))
    assert (image.place, image.is_of_tool, image.data, image.kind) == (place, True, DATA, "image")
    part = wire.text_part("A screen.", image)
    head, tail = body.split(orjson.dumps(image.part))
    assert wire.replace(body, {place: part}) == head + orjson.dumps(part) + tail


def test_parts_around_a_result_keep_their_places() -> None:
    shown = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [shown, shown]}
    body = orjson.dumps({"messages": [{"role": "user", "content": [result, shown, {**result, "content": "none"}]}]})
    found = MESSAGES.attachments(orjson.loads(body))
    assert [(one.place, one.is_of_tool) for one in found] == [((0, 0, 0), True), ((0, 0, 1), True), ((0, 1), False)]
    parts = {one.place: {"type": "text", "text": str(number)} for number, one in enumerate(found)}
    content = orjson.loads(MESSAGES.replace(body, parts))["messages"][0]["content"]
    assert [one["text"] for one in content[0]["content"]] == ["0", "1"]
    assert (content[1]["text"], content[2]["content"]) == ("2", "none")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    """Return a server with two models on each wire: one accepts images, one does not."""
    models = [
        {"model_name": f"{sight}-{wire}", "litellm_params": {"model": f"{wire}/m", "api_base": base, "api_key": "k"}}
        for sight in ("seeing", "blind")
        for wire, base in (("openai", lasting_provider.base_url), ("anthropic", lasting_provider.url))
    ]
    media = {"text_only_models": ["blind-*"], "caption_deadline_ms": 60_000}
    with Running(tmp_path_factory.mktemp("tools"), models=models, media=media) as running:
        yield running


def post(speaker: Speaker, name: str, model: str) -> Any:
    wire, messages, _, tools = LOOPS[name]
    provider = "anthropic" if name == "messages" else "openai"
    body = {"model": f"{model}-{provider}", wire.key: messages, "tools": tools,
            **({"max_tokens": 100} if name == "messages" else {})}  # fmt: skip
    response = speaker.http.post(_PATHS[name], json=body, headers={"anthropic-version": "2023-06-01"})
    assert response.status_code == 200, response.text
    return response


@pytest.mark.parametrize("name", LOOPS)
def test_tools_image_is_read_but_states_nothing(server: Running, upstream: FakeProvider, name: str) -> None:
    upstream.script(None)
    with speaking(server) as speaker:
        response = post(speaker, name, "seeing")
        assert DATA.encode() in upstream.last.body
        wait_read(speaker)
        speaker.wait()
        (image,) = speaker.get("/images")["data"]
        assert (image["source"], image["status"]) == ("tool", "ready")
        assert image["name"].startswith("image from a tool of ")
        assert "Zeppelino" in image["ocr_text"]
        told = speaker.receipt(response)["attachments"]
        assert [(one["id"], one["source"], one["action"]) for one in told] == [(image["id"], "tool", "kept")]
        assert speaker.memories(status="all") == []
        assert not any("Zeppelino" in episode["text"] for episode in speaker.all_episodes())
        post(speaker, name, "seeing")
        wait_read(speaker)
        assert len(speaker.get("/images")["data"]) == 1


@pytest.mark.parametrize("name", LOOPS)
def test_text_model_gets_a_tools_image_in_words(server: Running, upstream: FakeProvider, name: str) -> None:
    upstream.script(None)
    wire, _, place, _ = LOOPS[name]
    with speaking(server) as speaker:
        response = post(speaker, name, "blind")
        sent = orjson.loads(upstream.last.body)[wire.key]
        listed = sent[place[0]].get("content") or sent[place[0]]["output"]
        part = listed[place[1]] if len(place) == 2 else listed[place[1]]["content"][place[2]]
        assert part["type"] == wire.text_kind
        assert part["text"].startswith("[Image 'image from a tool of ")
        assert "Zeppelino" in part["text"]
        assert DATA.encode() not in upstream.last.body
        assert [one["action"] for one in speaker.receipt(response)["attachments"]] == ["described"]


def test_it_can_be_asked_for_later(server: Running, upstream: FakeProvider) -> None:
    with speaking(server) as speaker:
        post(speaker, "chat", "seeing")
        wait_read(speaker)
        speaker.say("What door code was on the screen?", model="seeing-openai")
        said = upstream.last.json["messages"][-1]["content"]
        assert "Zeppelino" in said
        assert "image from a tool" in said


def test_with_the_setting_off_they_only_go_up(tmp_path_factory: pytest.TempPathFactory, upstream: FakeProvider) -> None:
    folder, media = tmp_path_factory.mktemp("off"), {"tool_results": False, "text_only_models": ["gpt-4o"]}
    with Running(folder, upstream=upstream.base_url, media=media) as running, speaking(running) as one:
        response = one.post(LOOPS["chat"][1], body={"tools": LOOPS["chat"][3]})
        assert DATA.encode() in upstream.last.body
        one.wait()
        wait_read(one)
        assert one.get("/images")["data"] == []
        assert "attachments" not in one.receipt(response)
