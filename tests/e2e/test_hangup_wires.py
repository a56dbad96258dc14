"""Client disconnects where the provider uses another wire format: its connection is closed at once as well."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Gate, Hang, Reply
from tests.running import Running
from tests.wire.rawhttp import Wiretap

pytestmark = pytest.mark.filterwarnings(
    "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
)

_SOON_S = 20.0  # on a busy machine; without the disconnect it would never end
_MESSAGES = [{"role": "user", "content": "Tell me of the ferry"}]
_SAID = "one two three four"
_BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": _MESSAGES},
    "/v1/responses": {"input": "Tell me of the ferry"},
    "/v1/messages": {"messages": _MESSAGES, "max_tokens": 9},
}
# The client's wire, the requested model, and the part of the stream sent before the provider pauses.
_CROSSINGS = [
    ("/v1/chat/completions", "claude", 4),
    ("/v1/chat/completions", "gemini", 1),
    ("/v1/responses", "claude", 4),
    ("/v1/messages", "gemini", 1),
    ("/v1/messages", "llama", 3),
]
crossings = pytest.mark.parametrize(("path", "model", "held_after"), _CROSSINGS)


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeProvider]:
    with FakeProvider() as one:
        yield one


@pytest.fixture(scope="module")
def translating(tmp_path_factory: pytest.TempPathFactory, fake: FakeProvider) -> Iterator[Running]:
    served = {
        "claude": ("anthropic/claude-sonnet-4-5", fake.url),
        "gemini": ("gemini/gemini-2.5-flash", fake.url),
        "llama": ("hosted_vllm/llama", fake.base_url),
    }
    models = [
        {"model_name": name, "litellm_params": {"model": model, "api_base": base, "api_key": "sk-operator"}}
        for name, (model, base) in served.items()
    ]
    with Running(tmp_path_factory.mktemp("crossing"), models=models) as server:
        with server.client() as client:  # LiteLLM takes seconds to load
            client.with_options(timeout=120).chat.completions.create(model="claude", messages=_MESSAGES)  # type: ignore[arg-type]
        yield server


def _paused(model: str, held_after: int) -> Reply:
    whole = {
        "claude": lambda: replies.anthropic(_SAID, stream_asked=True),
        "gemini": lambda: replies.gemini(_SAID, stream_asked=True),
        "llama": lambda: replies.stream(_SAID),
    }[model]()
    return replies.gated(whole, Gate(), after=held_after)


def _tap(server: Running, path: str, model: str, mode: str, *, stream: bool) -> Wiretap:
    body = orjson.dumps({"model": model, "stream": stream, **_BODIES[path]})
    named = [("Authorization", "Bearer sk-test-alice"), ("X-Memory-Mode", mode), ("Content-Type", "application/json")]
    return Wiretap(server.origin, "POST", path, named, body)


def _let_go_s(fake: FakeProvider, seen: Seen, closed_at: float) -> float:
    fake.wait(lambda: seen.hung_up_at is not None)
    assert seen.hung_up_at is not None
    return seen.hung_up_at - closed_at


@crossings
@pytest.mark.parametrize("mode", ["off", "full"])
def test_in_the_middle_of_a_stream(
    translating: Running, fake: FakeProvider, path: str, model: str, held_after: int, mode: str
) -> None:
    fake.clear()
    fake.then(_paused(model, held_after))
    tap = _tap(translating, path, model, mode, stream=True)
    tap.until(b"one")
    tap.close()
    assert _let_go_s(fake, fake.last, time.monotonic()) < _SOON_S


@crossings
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("mode", ["off", "full"])
def test_before_the_first_byte(
    translating: Running, fake: FakeProvider, path: str, model: str, held_after: int, stream: bool, mode: str
) -> None:
    del held_after
    fake.clear()
    fake.then(Hang())
    tap = _tap(translating, path, model, mode, stream=stream)
    fake.wait(lambda: bool(fake.seen))
    seen = fake.last
    tap.close()
    assert _let_go_s(fake, seen, time.monotonic()) < _SOON_S
