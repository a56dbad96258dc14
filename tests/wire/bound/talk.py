"""A conversation with a provider that refuses a thought whose preceding text has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.fakes.binding import BETA
from tests.fakes.provider import FakeProvider
from tests.running import TLS
from tests.talking import FACT

TOOLS = [{"name": "look", "description": "d", "input_schema": {"type": "object", "properties": {}}}]
TOLD = (FACT, "My dog is called Bronko", "I live in Oslo", "My name is Robin")
QUESTIONS = (
    "Which productivity tools do I use?",
    "What is my dog called?",
    "In which city do I live?",
    "Use the tool: what do I use for productivity?",
    "What is a magnet made of?",
)
FORGET = {"text": "Magnet"}
OPEN: list[httpx.Client] = []
CHOICE = {"prefix_mismatch_behavior": "drop_block"}


@dataclass
class Talk:
    """A conversation of an Anthropic client, which resends every reply unchanged."""

    base_url: str
    key: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    last: httpx.Response | None = None

    def __post_init__(self) -> None:
        headers = {"x-api-key": self.key, "anthropic-version": "2023-06-01"}
        self.http = httpx.Client(base_url=self.base_url, headers=headers, timeout=30, verify=TLS)
        OPEN.append(self.http)

    def ask(self, text: str, *, marked: bool = False) -> httpx.Response:
        """Send a text; ``marked``: as a list with a cache mark, which becomes a string from the next turn on."""
        self.messages.append({"role": "user", "content": text})
        return self.send(marked=marked)

    def send(self, *, marked: bool = False) -> httpx.Response:
        """Send the conversation, and answer the tool calls of the reply until there are none."""
        response = self.post("/messages", marked=marked)
        if response.status_code == 200:
            content = response.json()["content"]
            self.messages.append({"role": "assistant", "content": content})
            calls = [one["id"] for one in content if one["type"] == "tool_use"]
            if calls:
                results = [{"type": "tool_result", "tool_use_id": one, "content": "42"} for one in calls]
                self.messages.append({"role": "user", "content": results})
                return self.send(marked=marked)
        return response

    def post(self, path: str, *, marked: bool = False) -> httpx.Response:
        messages = [dict(one) for one in self.messages]
        if marked and isinstance(messages[-1]["content"], str):
            block = {"type": "text", "text": messages[-1]["content"], "cache_control": {"type": "ephemeral"}}
            messages[-1]["content"] = [block]
        body = {"model": "claude-x", "max_tokens": 64, "thinking": {"type": "adaptive"}, "tools": TOOLS, **self.fields}
        self.last = self.http.post(path, json={**body, "messages": messages}, headers=self.headers)
        return self.last

    def back(self, turns: int = 1) -> list[dict[str, Any]]:
        """Remove the last turns except the first one's question; return the abandoned branch."""
        left = list(self.messages)
        asked = [i for i, one in enumerate(self.messages) if isinstance(one["content"], str)]
        del self.messages[asked[-turns] + 1 :]
        return left

    def receipt(self) -> dict[str, Any]:
        assert self.last is not None
        return dict(self.http.get(f"/receipts/{self.last.headers['x-memory-receipt']}").json())


def tell(talk: Talk, *texts: str) -> None:
    for text in texts:
        assert talk.http.post("/memories", json={"text": text}).status_code == 200


def sent(lasting: FakeProvider) -> str:
    return lasting.last.body.decode()


def wished(lasting: FakeProvider) -> bool:
    seen = lasting.last
    return BETA in (seen.header("anthropic-beta") or "") and (seen.json["thinking"].get("block_binding") == CHOICE)
