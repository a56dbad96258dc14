"""Limits of a key as the SDK sees them, on every wire and every other path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from proxy.clock import ManualClock
from proxy.types import Allowance
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Gate
from tests.running import Running

MESSAGES = [{"role": "user", "content": "hi"}]
CHAT = {"model": "gpt-4o", "messages": MESSAGES}
PATHS = {
    "/chat/completions": CHAT,
    "/responses": {"model": "gpt-4o", "input": "hi"},
    "/messages": {**CHAT, "max_tokens": 10},
    "/embeddings": {"model": "gpt-4o", "input": "hi"},
    "/completions": {"model": "gpt-4o", "prompt": "hi"},
}


@contextmanager
def limiting(
    folder: Path, provider: FakeProvider, clock: ManualClock | None = None, **sections: Any
) -> Iterator[Running]:
    off = {"memory": {"enabled": False}, **sections}
    with Running(folder, upstream=provider.base_url, clock=clock or ManualClock(), wait=False, **off) as server:
        yield server


def made_key(server: Running, **given: Any) -> str:
    services = server.services
    text, _ = server.call(lambda: services.keys.create(now=services.clock.now(), **given))
    return text


def say(server: Running, key: str = "sk-test-alice", **more: Any) -> Any:
    with server.client(key) as client:
        return client.chat.completions.create(**{**CHAT, **more})


def test_sdk_sees_a_rate_limit_and_its_length(tmp_path: Path, provider: FakeProvider) -> None:
    clock = ManualClock()
    with limiting(tmp_path, provider, clock, limits={"requests_per_minute": 2}) as server:
        for _ in range(2):
            say(server)
        with pytest.raises(openai.RateLimitError) as caught:
            say(server)
        error = caught.value
        assert (error.code, error.type) == ("rate_limit_exceeded", "rate_limit_error")
        assert "2 requests a minute" in error.message
        assert error.response.headers["retry-after"] == "30"
        assert error.response.headers["x-request-id"]
        say(server, "sk-test-bob")
        clock.advance(timedelta(seconds=30))
        say(server)
    assert len(provider.seen) == 4


@pytest.mark.parametrize("path", list(PATHS))
def test_every_path_is_counted(tmp_path: Path, provider: FakeProvider, path: str) -> None:
    with limiting(tmp_path, provider, limits={"requests_per_minute": 1}) as server, server.http() as http:
        assert http.post(path, json=PATHS[path]).status_code == 200
        refused = http.post(path, json=PATHS[path])
        assert http.get("/models").status_code == 200
    assert refused.status_code == 429
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert int(refused.headers["retry-after"]) <= 60


def test_remaining_allowance_is_told_unless_provider_tells(tmp_path: Path, provider: FakeProvider) -> None:
    limits = {"requests_per_minute": 60, "tokens_per_minute": 1000}
    with limiting(tmp_path, provider, limits=limits) as server, server.http() as http:
        ours = http.post("/chat/completions", json=CHAT).headers
        own = (("x-ratelimit-remaining-requests", "9"), ("x-ratelimit-limit-requests", "10"))
        provider.then(replies.json_reply(replies.completion(), headers=(*replies.JSON_HEADERS, *own)))
        theirs = http.post("/chat/completions", json=CHAT).headers
    assert ours["x-ratelimit-limit-requests"] == "60"
    assert ours["x-ratelimit-remaining-requests"] == "59"
    assert ours["x-ratelimit-limit-tokens"] == "1000"
    assert {name: theirs.get_list(name) for name, _ in own} == {name: [value] for name, value in own}
    assert "x-ratelimit-reset-requests" not in theirs
    assert theirs["x-ratelimit-limit-tokens"] == "1000"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_tokens_are_those_that_the_provider_counted(tmp_path: Path, provider: FakeProvider, stream: bool) -> None:
    clock = ManualClock()
    usage = {"prompt_tokens": 50, "completion_tokens": 70, "total_tokens": 120}
    said = replies.Text(usage=usage)
    provider.script(
        lambda _: replies.stream(said, include_usage=True) if stream else replies.json_reply(replies.completion(said))
    )
    body = {**CHAT, "stream": stream}
    with limiting(tmp_path, provider, clock, limits={"tokens_per_minute": 100}) as server, server.http() as http:
        assert http.post("/chat/completions", json=body).status_code == 200
        refused = http.post("/chat/completions", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert "100 tokens a minute" in refused.json()["error"]["message"]
        clock.advance(timedelta(seconds=13))
        assert http.post("/chat/completions", json=body).status_code == 200


def test_stream_slot_is_freed_at_its_end(tmp_path: Path, provider: FakeProvider) -> None:
    """It is freed at the end of the stream and at a disconnect of its client."""
    gate = Gate()
    provider.then(replies.gated(replies.stream(), gate, 1))
    body = {**CHAT, "stream": True}
    with limiting(tmp_path, provider, limits={"concurrent_streams": 1}) as server, server.http() as http:
        with http.stream("POST", "/chat/completions", json=body) as first:
            pieces = first.iter_raw()
            next(pieces)
            with server.http() as other:
                refused = other.post("/chat/completions", json=body)
                assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
                assert other.post("/chat/completions", json=CHAT).status_code == 200
            gate.open()
            list(pieces)
        provider.then(replies.gated(replies.stream(), Gate(), 1))
        with http.stream("POST", "/chat/completions", json=body) as second:
            next(second.iter_raw())
        provider.wait(lambda: provider.seen[2].hung_up_at is not None)
        assert http.post("/chat/completions", json=body).status_code == 200


@pytest.mark.parametrize("path", list(PATHS))
def test_body_over_the_keys_limit_is_refused(tmp_path: Path, provider: FakeProvider, path: str) -> None:
    with limiting(tmp_path, provider, auth={"mode": "keys"}) as server:
        small, free = made_key(server, allowance=Allowance(body_bytes=200)), made_key(server)
        body = {**PATHS[path], "user": "x" * 300}
        with server.http(small) as http:
            refused = http.post(path, json=body)
            chunked = http.post(path, content=iter([b'{"model": "', b"x" * 300, b'"}']))
            assert http.post(path, json=PATHS[path]).status_code == 200
        with server.http(free) as http:
            assert http.post(path, json=body).status_code == 200
    for answer in (refused, chunked):
        assert answer.status_code == 413
        assert "200 bytes" in answer.json()["error"]["message"]
    if path != "/messages":
        assert refused.json()["error"]["code"] == "body_too_large"


def test_a_keys_own_limits_win_over_the_settings(tmp_path: Path, provider: FakeProvider) -> None:
    default = {"requests_per_minute": 1}
    with limiting(tmp_path, provider, auth={"mode": "keys"}, limits=default) as server:
        unlimited = made_key(server, allowance=Allowance(requests_per_minute=0))
        three = made_key(server, allowance=Allowance(requests_per_minute=3))
        for _ in range(5):
            say(server, unlimited)
        for _ in range(3):
            say(server, three)
        with pytest.raises(openai.RateLimitError):
            say(server, three)


def test_a_changed_key_counts_from_its_next_request(tmp_path: Path, provider: FakeProvider) -> None:
    with limiting(tmp_path, provider, auth={"mode": "keys"}) as server:
        services = server.services
        text, key = server.call(lambda: services.keys.create(now=services.clock.now()))
        say(server, text)
        server.call(lambda: services.keys.update(key.id, limits={"requests_per_minute": 1}, models=["gpt-*"]))
        say(server, text)
        with pytest.raises(openai.RateLimitError):
            say(server, text)
        server.call(lambda: services.keys.update(key.id, limits={"requests_per_minute": 0}))
        with pytest.raises(openai.NotFoundError):
            say(server, text, model="claude-x")


@pytest.mark.parametrize("path", [path for path in PATHS if path != "/messages"])
def test_forbidden_model_looks_unknown(tmp_path: Path, provider: FakeProvider, path: str) -> None:
    keys = {"mode": "keys"}
    with limiting(tmp_path, provider, auth=keys) as server, server.http(made_key(server, models=["gpt-*"])) as http:
        assert http.post(path, json=PATHS[path]).status_code == 200
        answers = [http.post(path, json={**PATHS[path], "model": name}) for name in ("openai/gpt-4o", "GPT-4o")]
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")
        assert "OPENAI_API_KEY" not in answer.text
    assert len(provider.seen) == 1


def test_restricted_key_cannot_probe_for_other_models(tmp_path: Path, provider: FakeProvider) -> None:
    models = [
        {"model_name": name, "litellm_params": {"model": "openai/x", "api_base": provider.base_url}}
        for name in ("gpt-4o", "secret")
    ]
    server = Running(tmp_path, models=models, wait=False, auth={"mode": "keys"}, memory={"enabled": False})
    with server, server.client(made_key(server, models=["gpt-*"])) as client:
        told = []
        for name in ("secret", "nothing"):
            with pytest.raises(openai.NotFoundError) as caught:
                client.chat.completions.create(model=name, messages=MESSAGES)
            told.append(caught.value.message.replace(name, "…"))
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="gpt-none", messages=MESSAGES)
        assert [model.id for model in client.models.list()] == ["gpt-4o"]
        assert client.models.retrieve("gpt-4o").id == "gpt-4o"
        with pytest.raises(openai.NotFoundError) as caught:
            client.models.retrieve("secret")
        assert caught.value.code == "model_not_found"
    assert told[0] == told[1]
    assert "secret" not in told[1]


def test_a_key_of_certain_models_must_name_one(tmp_path: Path, provider: FakeProvider) -> None:
    account = {"mode": "keys", "share_provider_account": True}
    with limiting(tmp_path, provider, auth=account) as server, server.http(made_key(server, models=["gpt-*"])) as http:
        for method, path in (("GET", "/files"), ("POST", "/batches"), ("POST", "/audio/transcriptions")):
            answer = http.request(method, path, content=b"{}")
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert not provider.seen


def test_without_limits_nothing_is_added(tmp_path: Path, provider: FakeProvider) -> None:
    with limiting(tmp_path, provider) as server:
        answer = httpx.post(f"{server.base_url}/chat/completions", json=CHAT)
    assert not [name for name in answer.headers if name.startswith("x-ratelimit")]
