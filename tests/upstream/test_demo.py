"""The built-in model: extractive, labelled, in a provider's shape."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from proxy.dialects import chat
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.demo import DemoUpstream, answer

pytestmark = pytest.mark.anyio

QUESTION = "What are the productivity tools that I use"
SHRAM = "- uses Shram as a productivity tool (2026-01-02)"
MAGNET = "- uses Magnet as a productivity tool"


def block(*lines: str) -> str:
    frame = "Background recalled from earlier conversations, no instructions. Use it where it helps."
    return "\n".join(["", "", "<memory>", frame, "[facts]", *lines, "</memory>"])


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def send(method: str = "POST", path: str = "/chat/completions", **body: Any) -> tuple[int, dict[str, str], bytes]:
    demo = DemoUpstream()
    request = UpstreamRequest(method, path, body=orjson.dumps(body) if body else b"")
    response = await demo.send(request, Target(upstream=demo))
    return response.status, dict(response.headers), b"".join([chunk async for chunk in response.chunks()])


@pytest.mark.parametrize("role", ["user", "system"])
def test_every_remembered_tool_is_named(role):
    memory = block(SHRAM, MAGNET, "- likes hiking")
    messages = [user(QUESTION + memory)] if role == "user" else [{"role": role, "content": memory}, user(QUESTION)]
    said = answer(messages)
    assert said.startswith("[demo, no model] ")
    assert "Shram" in said
    assert "Magnet" in said
    assert "hiking" not in said
    assert "Background" not in said


def test_only_what_is_remembered_is_named():
    said = answer([user(QUESTION + block(SHRAM))])
    assert "Shram" in said
    assert "Magnet" not in said


def test_demo_without_memory_tells_how_to_configure():
    for messages in ([user(QUESTION)], [user("What is the capital of France?" + block(SHRAM))]):
        said = answer(messages)
        assert "OPENAI_API_KEY" in said
        assert "Shram" not in said


@pytest.mark.parametrize(
    "statement",
    ["I use Shram and Magnet as productivity tools", "I don't use Magnet anymore", "My name is Anna.", "hola", ""],
)
def test_statements_are_acknowledged_without_an_echo(statement):
    assert answer([user(statement + block(SHRAM, MAGNET))]) == "[demo, no model] Noted."


def test_without_memory_the_conversation_itself_is_looked_at():
    said = answer(
        [user("I use Shram for my tasks."), {"role": "assistant", "content": "ok"}, user("Which tasks tool do I use?")]
    )
    assert "Shram" in said


def test_what_was_taken_back_is_not_said():
    told = "I use Shram as a productivity tool. I use Magnet as a productivity tool."
    said = answer([user(told), user("I don't use Magnet anymore"), user(QUESTION + block(SHRAM, MAGNET))])
    assert "Shram" in said
    assert "Magnet" not in said


def test_quoted_conversations_count_users_only():
    lines = ["[past conversations]", "2026-01-02:", "User: I live in Oslo", "Assistant: You live in Rome, I think"]
    said = answer([user("Where do I live?" + block(*lines))])
    assert "Oslo" in said
    assert "Rome" not in said


def test_asked_what_it_knows_it_tells_everything():
    said = answer([user("What do you know about me?" + block(SHRAM, "- likes hiking"))])
    assert "hiking" in said
    assert "Shram" in said


def test_content_parts_and_other_scripts():
    parts = [{"type": "text", "text": "我住在哪里？"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    said = answer([{"role": "user", "content": [*parts, {"type": "text", "text": block("- 用户住在柏林")}]}])
    assert "柏林" in said


async def test_whole_reply_has_a_providers_shape():
    status, headers, raw = await send(model="demo", messages=[user(QUESTION)])
    body = orjson.loads(raw)
    assert (status, headers["content-type"], body["object"]) == (200, "application/json", "chat.completion")
    assert headers["x-request-id"]
    assert (body["model"], body["system_fingerprint"]) == ("demo", "throughline-demo")
    choice = body["choices"][0]
    assert (choice["finish_reason"], choice["logprobs"], choice["message"]["refusal"]) == ("stop", None, None)
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]


@pytest.mark.parametrize("include_usage", [True, False])
async def test_stream_has_a_providers_shape(include_usage):
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    _, headers, raw = await send(model="demo", messages=[user(QUESTION)], stream=True, **options)
    events = [event.removeprefix(b"data: ") for event in raw.split(b"\n\n") if event]
    chunks = [orjson.loads(event) for event in events[:-1]]
    assert (events[-1], headers["content-type"]) == (b"[DONE]", "text/event-stream; charset=utf-8")
    assert len(chunks) > 4
    assert [chunk["choices"] for chunk in chunks if not chunk["choices"]] == ([[]] if include_usage else [])
    assert all(("usage" in chunk) == include_usage for chunk in chunks)
    accumulator = chat.accumulator()
    accumulator.feed(raw)
    reply = accumulator.result(content_type=headers["content-type"])
    assert (reply.text, reply.complete) == (answer([user(QUESTION)]), True)
    assert (reply.usage is not None) == include_usage


async def test_models_list_names_it():
    _, _, raw = await send("GET", "/models")
    assert [one["id"] for one in orjson.loads(raw)["data"]] == ["demo"]
    _, _, raw = await send("GET", "/models/demo")
    assert orjson.loads(raw)["id"] == "demo"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/chat/completions", {"model": "demo"}, 400),
        ("/chat/completions", {"model": "demo", "messages": []}, 400),
        ("/chat/completions", {"model": "other", "messages": [user("hi")]}, 404),
        ("/chat/completions", {}, 400),
        ("/audio/speech", {"model": "demo"}, 404),
    ],
)
async def test_errors_have_openais_shape(path, body, status):
    got, _, raw = await send(path=path, **body)
    assert got == status
    assert set(orjson.loads(raw)["error"]) == {"message", "type", "param", "code"}


def test_questions_and_own_replies_are_no_answers():
    said = answer(
        [user(QUESTION + block(SHRAM, "- Which productivity tools do I use", "- assistant: [demo, no model] tools"))]
    )
    assert said.splitlines()[1:] == [SHRAM]
