"""Requests of tests to a running server, and reads of its data."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from tests.running import Running

Message = dict[str, Any]

FACT = "I use Shram and Magnet as productivity tools"
SHRAM, MAGNET = "I use Shram as productivity tools", "I use Magnet as productivity tools"
BOTH = {SHRAM, MAGNET}  # the memories learned from it


def new_key() -> str:
    """Return an unused key: a separate tenant on a server that several tests share."""
    return f"sk-test-{secrets.token_hex(12)}"


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str = "Noted.") -> Message:
    return {"role": "assistant", "content": text}


def conversation(*texts: str) -> list[Message]:
    """Return user turns with answers between them, as a client resends them."""
    messages: list[Message] = []
    for text in texts:
        messages += [user(text), assistant()]
    return messages[:-1]


class Speaker:
    """One client with its own key and headers."""

    def __init__(self, server: Running, key: str, **headers: str) -> None:
        self.server, self.key, self.named = server, key, headers
        self.http = server.http(key, **headers)

    def post(
        self, messages: Sequence[Message], *, model: str = "gpt-4o", body: Message | None = None, **headers: str | bytes
    ) -> httpx.Response:
        """Post a chat request and return the whole response."""
        sent = {"model": model, "messages": list(messages), **(body or {})}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.http.post("/chat/completions", json=sent, headers=named)
        assert response.status_code == 200, response.text
        return response

    def say(self, *texts: str, **options: Any) -> httpx.Response:
        """Post user turns with answers between them."""
        return self.post(conversation(*texts), **options)

    def tell(self, *texts: str, **options: Any) -> httpx.Response:
        """Post the turns and wait until they are learned."""
        response = self.say(*texts, **options)
        self.wait()
        return response

    def wait(self) -> None:
        self.server.wait_learned(self.key, **self.named)

    def get(self, path: str, **params: Any) -> Any:
        response = self.http.get(path, params=params)
        assert response.status_code == 200, response.text
        return response.json()

    def memories(self, **params: Any) -> list[Message]:
        return list(self.get("/memories", **params)["data"])

    def texts(self, **params: Any) -> set[str]:
        """Return the memories' texts."""
        return {memory["text"] for memory in self.memories(**params)}

    def sessions(self) -> list[Message]:
        return list(self.get("/sessions", limit=1000)["data"])

    def episodes(self, session: str) -> list[Message]:
        return list(self.get(f"/sessions/{session}")["messages"])

    def all_episodes(self) -> list[Message]:
        return [episode for session in self.sessions() for episode in self.episodes(session["id"])]

    def receipt(self, response: httpx.Response) -> Message:
        return dict(self.get(f"/receipts/{response.headers['x-memory-receipt']}"))

    def close(self) -> None:
        self.http.close()


@contextmanager
def speaking(server: Running, key: str = "", **headers: str) -> Iterator[Speaker]:
    """Yield a client for the length of a block."""
    speaker = Speaker(server, key or new_key(), **headers)
    try:
        yield speaker
    finally:
        speaker.close()


def outcome(response: httpx.Response) -> dict[str, str]:
    """Return the parts of ``X-Memory``: ``outcome``, ``n``, ``tokens`` and, if present, ``reason``."""
    first, *rest = response.headers["x-memory"].split("; ")
    return {"outcome": first, **dict(part.split("=", 1) for part in rest)}
