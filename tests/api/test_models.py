"""The list of models: configured ones and those that providers list, without any that cannot be requested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.running import Running


def listed(name: str, model: str, fake: FakeProvider, **params: Any) -> dict[str, Any]:
    return {
        "model_name": name,
        "litellm_params": {"model": model, "api_base": fake.base_url, "api_key": "sk-own", **params},
    }


def offering(fake: FakeProvider, *names: str) -> None:
    data = [{"id": name, "object": "model", "owned_by": "fake", "max_model_len": 8} for name in names]
    fake.script(lambda _: replies.json_reply({"object": "list", "data": data}))


def ids(server: Running) -> list[str]:
    with server.client("EMPTY") as client:
        return [model.id for model in client.models.list()]


def running(folder: Path, models: list[dict[str, Any]], **more: Any) -> Running:
    return Running(folder, models=models, wait=False, memory={"enabled": False}, **more)


def test_list_names_models_and_asks_about_patterns(tmp_path: Path, provider: FakeProvider) -> None:
    offering(provider, "llama", "qwen/2.5", "gpt-4o")
    models = [
        listed("gpt-4o", "openai/x", provider),
        listed("local/*", "hosted_vllm/*", provider),
        listed("qwen-*", "openai/qwen/*", provider),
        listed("claude-*", "anthropic/claude-*", provider),
    ]
    with running(tmp_path, models) as server, server.client("EMPTY") as client:
        found = {model.id: model for model in client.models.list()}
        one = client.models.retrieve("local/qwen/2.5")
        with pytest.raises(openai.NotFoundError) as caught:
            client.models.retrieve("llama")
    assert caught.value.code == "model_not_found"
    assert {"gpt-4o", "local/llama", "local/qwen/2.5", "local/gpt-4o", "qwen-2.5", "demo"} <= set(found)
    assert "claude-sonnet-4-5" in found
    assert "llama" not in found
    assert one.to_dict()["max_model_len"] == 8
    assert {seen.header("authorization") for seen in provider.seen} == {"Bearer sk-own"}
    assert [seen.path for seen in provider.seen] == ["/v1/models"] * len(provider.seen)


def test_silent_provider_hides_no_models_of_others(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(lambda _: replies.html(502))
    with running(
        tmp_path, [listed("mine", "openai/x", provider), listed("local/*", "hosted_vllm/*", provider)]
    ) as server:
        assert ids(server) == ["mine", "demo"]


def test_one_servers_own_list_comes_as_it_stands(tmp_path: Path, provider: FakeProvider) -> None:
    body = b'{"object": "list",  "data": [{"id": "a/b"}], "more": 1.0}'
    provider.script(lambda _: replies.Reply([body]))
    with Running(tmp_path, upstream=provider.base_url, wait=False, limits={"requests_per_minute": 1}) as server:
        for _ in range(3):
            assert httpx.get(f"{server.base_url}/models").content == body
        httpx.get(f"{server.base_url}/models/a%2Fb")
    assert [seen.target for seen in provider.seen[2:]] == ["/v1/models", "/v1/models/a%2Fb"]


def test_only_demo_is_listed_without_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Running(tmp_path, wait=False) as server:
        assert ids(server) == ["demo"]
        assert httpx.get(f"{server.base_url}/models/demo").json()["id"] == "demo"


def test_every_server_of_the_environment_is_asked(
    tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    offering(provider, "m")
    for name in ("GROQ", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", f"{name}-key")
        monkeypatch.setenv(f"{name}_API_BASE", provider.base_url)
    with Running(tmp_path, wait=False) as server:
        names = ids(server)
    assert names == ["demo", "m", "groq/m"]
    assert {seen.header("authorization") for seen in provider.seen} == {"Bearer GROQ-key", "Bearer OPENAI-key"}
