"""The same memory in front of providers with other wire formats, through a LiteLLM model list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_scenarios import QUESTION, ask
from tests.fakes.provider import FakeProvider
from tests.running import Running

pytestmark = pytest.mark.filterwarnings(
    "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"])
def test_memory_reaches_other_wires_and_replies_are_translated(
    tmp_path: Path, provider: FakeProvider, model: str, stream: bool
) -> None:
    params = {"model": model, "api_key": "sk-ant-operator", "api_base": provider.url}
    models = [{"model_name": "house-model", "litellm_params": params}]
    with Running(tmp_path, models=models) as server:
        client = server.client()
        first = ask(client, "I use Shram and Magnet as productivity tools", model="house-model", stream=stream)
        assert "Shram" in first
        server.wait_learned()
        answer = ask(client, QUESTION, model="house-model", stream=stream)
        # The fake echoes the last message: the question, followed by memory's block.
        assert QUESTION in answer
        assert "Shram" in answer
        assert "Magnet" in answer
    assert {seen.path.partition(":")[0] for seen in provider.seen} <= {
        "/v1/messages",
        "/models/gemini-2.5-flash",
        "/v1beta/models/gemini-2.5-flash",
    }
    assert b"sk-test-alice" not in b"".join(str(seen.headers).encode() + seen.body for seen in provider.seen)
