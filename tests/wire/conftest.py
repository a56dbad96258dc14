"""One server and one scripted provider for all rows; each test uses its own user."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson
import pytest
from openai import OpenAI

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Hang, Raw, Reply
from tests.running import Running
from tests.wire.rawhttp import Answer, Wiretap, send

KEY = "sk-test-wire"
PAGE = "https://app.example"
FACT = "I use Shram and Magnet as productivity tools"
QUESTION = "What are the productivity tools that I use?"

_BLOCK = re.compile(rb'\\n\\n<memory(?: kind=\\"profile\\")?>.*?</memory>', re.DOTALL)
_EMPTY_PART = re.compile(rb',?\{"type":"(?:input_)?text","text":""\}')


@dataclass
class Wire:
    """The proxy between a client and the scripted provider, with memory off or on."""

    server: Running
    provider: FakeProvider
    memory: str = "off"
    user: str = field(default_factory=lambda: f"user-{secrets.token_hex(6)}")

    @property
    def headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {KEY}",
            "content-type": "application/json",
            "x-memory-user": self.user,
            "x-memory-mode": "off" if self.memory == "off" else "full",
        }

    @property
    def openai(self) -> OpenAI:
        named = {name: value for name, value in self.headers.items() if name.startswith("x-memory")}
        return self.server.client(KEY, **named)

    @property
    def api(self) -> httpx.Client:
        return self.server.http(KEY, x_memory_user=self.user)

    def learn(self, text: str = FACT) -> None:
        """Store a memory of this test's user."""
        with self.api as api:
            assert api.post("/memories", json={"text": text}).status_code == 200

    def send(self, body: Any, path: str = "/v1/chat/completions", method: str = "POST", **headers: str) -> Answer:
        """Send bytes, or any other value as JSON."""
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        named = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return send(self.server.origin, method, path, named.items(), raw)

    def tap(self, body: Any, path: str = "/v1/chat/completions", **headers: str) -> Wiretap:
        """Send a request on a raw socket."""
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        named = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return Wiretap(self.server.origin, "POST", path, named.items(), raw)

    def through(self, reply: Reply | Raw | Hang, body: Any) -> Answer:
        """Send a request that the provider answers with ``reply``."""
        self.provider.then(reply)
        return self.send(body)

    @property
    def seen(self) -> Seen:
        return self.provider.last


def without_memory(body: bytes) -> bytes:
    """Return a request body without its injected blocks."""
    return _EMPTY_PART.sub(b"", _BLOCK.sub(b"", body))


def ask(text: str = QUESTION, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


WIRES = ["/v1/chat/completions", "/v1/responses", "/v1/messages"]
PATHS = [*WIRES, "/v1/completions", "/v1/embeddings"]


def asked_anywhere(**more: Any) -> dict[str, Any]:
    """Return a body that all these paths accept."""
    return ask(input=QUESTION, prompt=QUESTION, max_tokens=9, **more)


def learned_or_not(wire: Wire, memory: str) -> Wire:
    """Set memory ``off``, on without hits (``empty``), or on with a hit to inject (``full``)."""
    wire.memory = memory
    if memory == "full":
        wire.learn()
    return wire


@pytest.fixture(scope="session")
def shared_provider() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory, shared_provider: FakeProvider) -> Iterator[Running]:
    data_dir = tmp_path_factory.mktemp("wire")
    open_to = {"cors_origins": [PAGE]}
    with Running(data_dir, upstream=shared_provider.base_url, server=open_to) as server:
        yield server


@pytest.fixture
def plain(shared_server: Running, shared_provider: FakeProvider) -> Wire:
    """Return a wire with memory off."""
    shared_provider.clear()
    return Wire(shared_server, shared_provider)


@pytest.fixture(params=["off", "empty", "full"])
def wire(request: pytest.FixtureRequest, plain: Wire) -> Wire:
    """Return a wire with memory off, on without hits, and on with a hit to inject."""
    return learned_or_not(plain, request.param)


@pytest.fixture
def remembering(plain: Wire) -> Wire:
    """Return a wire with memory on and a hit to inject."""
    return learned_or_not(plain, "full")
