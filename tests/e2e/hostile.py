"""Sending of hostile requests, and the checks of a refusal."""

from __future__ import annotations

import json
import time
from typing import Any

import orjson

from tests.fakes import replies
from tests.fakes.provider import Seen
from tests.running import WAIT_S, Running
from tests.wire.rawhttp import Answer, send

KEY = "sk-test-hostile"
CHAT = "/v1/chat/completions"


def call(
    server: Running, method: str, path: str, body: Any = None, *, key: str = KEY, **headers: str
) -> tuple[Answer, Any]:
    """Send bytes, or any other value as JSON; return the response and its JSON."""
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    answer = send(server.origin, method, path, named.items(), raw)
    return answer, orjson.loads(answer.body)


def chat(text: Any = "Hello", **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


def assert_refused(answer: Answer, parsed: Any, *statuses: int) -> None:
    assert answer.status in statuses, (answer.status, answer.body[:300])
    assert set(parsed) == {"error"}
    error = parsed["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["message"]
    assert len(error["message"]) < 2000
    assert answer.header("content-type") == "application/json"
    assert answer.header("x-request-id")


def wait_learned(server: Running, key: str, **headers: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while call(server, "GET", "/v1/state", key=key, **headers)[1]["pending_turns"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def answer_anything(_: Seen) -> replies.Reply:
    return replies.json_reply(replies.completion("ok"))
