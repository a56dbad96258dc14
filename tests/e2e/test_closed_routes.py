"""Only configured routes exist, and a client's key goes only to the provider that it was meant for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.store.keys import Key
from tests.e2e.hostile import call
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.running import Running

PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/v1/images/generations"]
MODELS = ["ollama/llava", "ollama_chat/llava", "lm_studio/x", "llamafile/x", "openai/gpt-4o", "gpt-4o", "groq/x",
          "anthropic/claude-x", "claude-x", "huggingface/http://{trap}/x", "openai/http://{trap}", "http://{trap}/v1",
          "hosted_vllm/x", "litellm_proxy/x", "bedrock/x", "M", "m ", "m/x", "openai/m", "openai/real", "real"]  # fmt: skip
CLIENT_KEYS = ["sk-proj-client", "gsk_client", "sk-ant-client", "ollama"]


class Trap:
    """Listener on the default ports of local model servers; counts connections."""

    def __init__(self) -> None:
        self.hits = 0
        self._sockets = [found for port in (0, 11434, 1234, 8080) if (found := _listening(port)) is not None]
        self.port = self._sockets[0].getsockname()[1]
        for one in self._sockets:
            threading.Thread(target=self._accept, args=(one,), daemon=True).start()

    def close(self) -> None:
        for one in self._sockets:
            one.close()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            self.hits += 1
            connection.close()


def _listening(port: int) -> socket.socket | None:
    found = socket.socket()
    try:
        found.bind(("127.0.0.1", port))
    except OSError:  # used by another program
        found.close()
        return None
    found.listen()
    return found


@pytest.fixture(scope="module")
def trap() -> Iterator[Trap]:
    made = Trap()
    yield made
    made.close()


@pytest.fixture(scope="module", params=["passthrough", "keys"])
def closed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, lasting: FakeProvider
) -> Iterator[Running]:
    """Return a server with one configured model."""
    params = {"model": "openai/real", "api_base": lasting.base_url, "api_key": "sk-operator"}
    listed = [{"model_name": "m", "litellm_params": params}]
    auth = {"mode": request.param}
    with Running(tmp_path_factory.mktemp(request.param), models=listed, wait=False, auth=auth) as server:
        yield server


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


@pytest.mark.parametrize("path", PATHS)
def test_unconfigured_model_is_404_and_connects_nowhere(
    closed: Running, lasting: FakeProvider, trap: Trap, path: str
) -> None:
    lasting.clear()
    keys = CLIENT_KEYS if closed.settings.auth.mode == "passthrough" else [_made_key(closed)]
    before = trap.hits
    for key in keys:
        for model in MODELS:
            body: dict[str, Any] = {"model": model.format(trap=f"127.0.0.1:{trap.port}"), "max_tokens": 8}
            body |= {"messages": [{"role": "user", "content": "hi"}], "input": "hi", "prompt": "hi"}
            answer, parsed = call(closed, "POST", path, body, key=key)
            assert answer.status == 404, (model, parsed)
            error = parsed["error"]
            if path == "/v1/messages":
                assert (parsed["type"], error["type"]) == ("error", "not_found_error")
            else:
                assert (error["code"], error["type"]) == ("model_not_found", "invalid_request_error")
    assert trap.hits == before
    assert not lasting.seen


def test_what_is_configured_is_served(closed: Running, lasting: FakeProvider) -> None:
    lasting.clear()
    key = "EMPTY" if closed.settings.auth.mode == "passthrough" else _made_key(closed)
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    answer, _ = call(closed, "POST", "/v1/chat/completions", body, key=key)
    assert (answer.status, lasting.last.json["model"]) == (200, "real")
    assert lasting.last.header("authorization") == "Bearer sk-operator"


def test_providers_model_lists_see_only_their_own_keys(tmp_path: Path) -> None:
    """Each of several providers gets only keys in its format."""
    with FakeProvider() as groq, FakeProvider() as openai:
        for fake in (groq, openai):
            fake.script(lambda _: replies.json_reply({"object": "list", "data": []}))
        models = [
            {"model_name": f"{name}/*", "litellm_params": {"model": f"{name}/*", "api_base": fake.base_url}}
            for name, fake in (("groq", groq), ("openai", openai))
        ]
        with Running(tmp_path, models=models, wait=False) as server:
            assert call(server, "GET", "/v1/models", key="gsk_client")[0].status == 200
        assert [seen.header("authorization") for seen in groq.seen] == ["Bearer gsk_client"]
        assert [seen.header("authorization") for seen in openai.seen] == [None]


def _made_key(server: Running) -> str:
    services = server.services

    async def make() -> tuple[str, Key]:
        return await services.keys.create(now=services.clock.now())

    return server.call(make)[0]
