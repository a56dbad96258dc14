"""Behind and in front of other gateways: the request that each receives, and the source of errors.

The entries are those of ``deploy/bridges.md``, with a fake's address.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.fakes import bedrock
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, default, json_reply
from tests.running import Running
from tests.talking import FACT, Speaker, new_key, outcome, user

pytestmark = pytest.mark.filterwarnings(
    "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning",
    "ignore:Accessing the .* attribute on the instance is deprecated:DeprecationWarning",
)
QUESTION = "What are the productivity tools that I use?"
CLAUDE = "anthropic.claude-3-haiku-20240307-v1:0"


@dataclass(frozen=True)
class Bridge:
    """One upstream: its entry in the list, and the request that it must receive.

    Args:
        params: ``litellm_params``; ``{url}`` is the fake's address.
        target: Path and query.
        key: Header and value with the provider's key.
        model: Name in the body, "" where the path has it.
        is_wire: It accepts OpenAI's wire format and gets the client's own bytes.
    """

    params: dict[str, str]
    target: str
    key: tuple[str, str]
    model: str
    is_wire: bool = True


CHAT = "/v1/chat/completions"
BRIDGES = {
    "LiteLLM": Bridge(
        {"model": "litellm_proxy/gpt-4o", "api_base": "{url}", "api_key": "sk-litellm"},
        CHAT, ("authorization", "Bearer sk-litellm"), "gpt-4o",
    ),
    "OpenRouter": Bridge(
        {"model": "openrouter/anthropic/claude-x", "api_base": "{url}/api/v1", "api_key": "sk-or-v1-a"},
        "/api/v1/chat/completions", ("authorization", "Bearer sk-or-v1-a"), "anthropic/claude-x",
    ),
    "Azure": Bridge(
        {"model": "azure/my-gpt", "api_base": "{url}", "api_key": "az-key", "api_version": "2024-10-21"},
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21", ("api-key", "az-key"), "my-gpt",
        is_wire=False,
    ),
    "Azure v1": Bridge(
        {"model": "hosted_vllm/my-gpt", "api_base": "{url}/openai/v1", "api_key": "az-key"},
        "/openai/v1/chat/completions", ("authorization", "Bearer az-key"), "my-gpt",
    ),
    "Bedrock": Bridge(
        {"model": f"bedrock/{CLAUDE}", "api_base": "{url}", "aws_region_name": "us-east-1"},
        "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse", ("authorization", "Bearer aws-token"), "",
        is_wire=False,
    ),
    "Vertex": Bridge(
        {"model": "hosted_vllm/google/gemini-2.5-flash", "api_key": "ya29.token",
         "api_base": "{url}/v1/projects/p/locations/us-central1/endpoints/openapi"},
        "/v1/projects/p/locations/us-central1/endpoints/openapi/chat/completions",
        ("authorization", "Bearer ya29.token"), "google/gemini-2.5-flash",
    ),
    "Ollama": Bridge({"model": "ollama_chat/llama3", "api_base": "{url}"}, CHAT, ("authorization", ""), "llama3"),
    "vLLM": Bridge(
        {"model": "hosted_vllm/org/llama", "api_base": "{url}/v1", "api_key": "vllm-key"},
        CHAT, ("authorization", "Bearer vllm-key"), "org/llama",
    ),
    "llama.cpp": Bridge(
        {"model": "hosted_vllm/llama", "api_base": "{url}/v1", "api_key": "none"}, CHAT, ("authorization", "Bearer none"), "llama",
    ),
}  # fmt: skip
NAMES = sorted(BRIDGES)


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, lasting: FakeProvider) -> Iterator[Running]:
    models = [
        {
            "model_name": name,
            "litellm_params": {key: value.replace("{url}", lasting.url) for key, value in bridge.params.items()},
        }
        for name, bridge in BRIDGES.items()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_BEARER_TOKEN_BEDROCK", "aws-token")
        with Running(tmp_path_factory.mktemp("data"), models=models) as running:
            yield running


@pytest.fixture
def upstream(lasting: FakeProvider) -> FakeProvider:
    lasting.clear()
    lasting.script(answering)
    return lasting


@pytest.fixture
def ana(server: Running, upstream: FakeProvider) -> Iterator[Speaker]:
    speaker = Speaker(server, new_key())
    assert speaker.http.post("/memories", json={"text": FACT}).status_code == 200
    yield speaker
    speaker.close()


def answering(seen: Seen) -> Reply | None:
    """Reply as Bedrock on its paths, and as chat completions on other paths with their ending."""
    if seen.path.endswith("/chat/completions"):
        return default(seen.method, CHAT, "", seen.body)
    return bedrock.agreeing(seen)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", NAMES)
def test_a_request_arrives_as_each_upstream_wants_it(
    ana: Speaker, upstream: FakeProvider, name: str, *, stream: bool
) -> None:
    bridge = BRIDGES[name]
    response = ana.post([user(QUESTION)], model=name, body={"stream": stream, "new_field": [1.0, None]})
    assert outcome(response)["outcome"] == "used"
    seen = upstream.last
    assert seen.target == (f"{bridge.target}-stream" if stream and name == "Bedrock" else bridge.target)
    header, value = bridge.key
    assert (seen.header(header) or "").startswith(value)
    assert ana.key not in str(seen.headers) or name == "Ollama"  # Ollama needs none, so the client's is forwarded
    assert seen.json.get("model", "") == bridge.model
    assert b"Shram" in seen.body
    assert not [key for key, _ in seen.headers if key.lower().startswith("x-memory")]
    if bridge.is_wire:
        assert seen.json["new_field"] == [1.0, None]
    if stream:
        assert response.text.endswith("data: [DONE]\n\n")
    else:
        assert response.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("path", ["/responses", "/messages"])
@pytest.mark.parametrize("name", ["LiteLLM", "OpenRouter", "Azure", "Bedrock", "vLLM"])
def test_every_wire_reaches_each_upstream_with_memory(
    ana: Speaker, upstream: FakeProvider, name: str, path: str
) -> None:
    said = {"input": QUESTION} if path == "/responses" else {"messages": [user(QUESTION)], "max_tokens": 9}
    response = ana.http.post(path, json={"model": name, **said})
    assert response.status_code == 200, response.text
    assert b"Shram" in upstream.last.body


@pytest.mark.parametrize("status", [400, 401, 404, 429, 503])
@pytest.mark.parametrize("name", NAMES)
def test_errors_of_each_upstream_come_back(ana: Speaker, upstream: FakeProvider, name: str, status: int) -> None:
    body = {"error": {"message": "Not now, says the house.", "type": "house_error", "code": "house", "param": None}}
    headers = (("Content-Type", "application/json"), ("retry-after", "7"), ("x-request-id", "req_house"))
    failing = (
        bedrock.error(status, "HouseException", "Not now, says the house.")
        if name == "Bedrock"
        else json_reply(body, status, headers)
    )
    upstream.then(failing)
    before = len(upstream.seen)
    response = ana.http.post("/chat/completions", json={"model": name, "messages": [user(QUESTION)]})
    assert (response.status_code, len(upstream.seen) - before) == (status, 1)
    assert "Not now, says the house." in response.json()["error"]["message"]
    if name != "Bedrock":
        assert response.headers["retry-after"] == "7"
    if BRIDGES[name].is_wire:
        assert response.json() == body


def test_bedrock_request_is_signed_where_there_are_keys(
    tmp_path: Any, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    keys = {"aws_access_key_id": "AKIAEXAMPLE", "aws_secret_access_key": "s", "aws_region_name": "eu-west-1"}
    params = {"model": f"bedrock/{CLAUDE}", "api_base": upstream.url, **keys}
    models = [{"model_name": "claude", "litellm_params": params}]
    with Running(tmp_path, models=models, memory={"enabled": False}) as server, server.http("EMPTY") as http:
        asked = {"model": "claude", "messages": [user(QUESTION)]}
        assert http.post("/chat/completions", json=asked).status_code == 200
    signature = upstream.last.header("authorization") or ""
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/")
    assert "/eu-west-1/bedrock/aws4_request" in signature


def test_a_package_that_is_missing_is_named(tmp_path: Any, upstream: FakeProvider) -> None:
    pytest.importorskip("litellm")
    params = {"model": "vertex_ai/gemini-2.5-flash", "vertex_project": "p", "vertex_location": "us-central1"}
    models = [{"model_name": "vertex", "litellm_params": {**params, "api_base": upstream.url}}]
    with Running(tmp_path, models=models, memory={"enabled": False}) as server, server.http("EMPTY") as http:
        answer = http.post("/chat/completions", json={"model": "vertex", "messages": [user(QUESTION)]})
    assert answer.status_code == 502
    assert "needs the Python package 'google'" in answer.json()["error"]["message"]


IN_FRONT = """
import sys, litellm
base, key, question = sys.argv[1:]
asked = dict(messages=[{"role": "user", "content": question}], api_base=base, api_key=key)
litellm.completion(model="openai/vLLM", extra_headers={"X-Memory-User": "ana"}, **asked)
"""


def test_litellm_in_front_says_whose_memory_it_is(server: Running, upstream: FakeProvider) -> None:
    key = new_key()
    with server.http(key, x_memory_user="ana") as http:
        assert http.post("/memories", json={"text": FACT}).status_code == 200
    command = [sys.executable, "-W", "ignore", "-c", IN_FRONT, server.base_url, key, QUESTION]
    quiet = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # noqa: TID251 - of a process of its own
    subprocess.run(command, check=True, timeout=120, env=quiet, capture_output=True)
    asked = [seen for seen in upstream.seen if seen.path == CHAT]
    assert [b"Shram" in seen.body for seen in asked] == [True]


def test_headers_forwarded_by_a_gateway_count(ana: Speaker, upstream: FakeProvider) -> None:
    """A gateway forwards a client's request with its own key, the client's headers and its own additions."""
    added = {"x-forwarded-for": "10.0.0.1", "x-litellm-call-id": "c", "x-stainless-lang": "python"}
    response = httpx.post(
        f"{ana.server.base_url}/chat/completions",
        json={"model": "vLLM", "messages": [user(QUESTION)], "user": "ignored", "metadata": {"user_id": "ignored"}},
        headers={"authorization": f"Bearer {ana.key}", "x-memory-mode": "write", **added},
    )
    assert (response.status_code, outcome(response)["outcome"]) == (200, "none")
    assert upstream.last.header("x-forwarded-for") is None
