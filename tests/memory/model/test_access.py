"""With whose key the operator's model is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from proxy.errors import ConfigError
from proxy.memory.model.access import model_access
from proxy.memory.model.call import ModelAccess
from proxy.settings.memory import MemorySettings


def choose(environ: Mapping[str, str], **fields: Any) -> ModelAccess:
    return model_access(MemorySettings(**fields), environ)


KEYS = {"OPENAI_API_KEY": "sk-operator", "GROQ_API_KEY": "gsk_operator"}


@pytest.mark.parametrize(
    ("environ", "fields"),
    [
        ({}, {}),
        (KEYS, {}),
        ({}, {"extraction_model": "gpt-4o-mini"}),
        (KEYS, {"extraction_model": "anthropic/claude-haiku-4-5"}),
        (KEYS, {"extraction_model": "openai/qwen3", "extraction_base_url": "https://elsewhere.example/v1"}),
        ({}, {"extraction_model": "gpt-4o-mini", "extraction_api_key": "  "}),
    ],
)
def test_no_access_without_a_model_and_its_key(environ: Mapping[str, str], fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        choose(environ, **fields)


@pytest.mark.parametrize(
    ("environ", "fields", "expected"),
    [
        (KEYS, {"extraction_model": "gpt-4o-mini"}, ("sk-operator", "https://api.openai.com/v1")),
        (KEYS, {"extraction_model": "groq/llama-3.3-70b"}, ("gsk_operator", "https://api.groq.com/openai/v1")),
        (
            KEYS,
            {"extraction_model": "gpt-4o-mini", "extraction_api_key": "sk-own"},
            ("sk-own", "https://api.openai.com/v1"),
        ),
        (
            KEYS,
            {"extraction_model": "qwen3", "extraction_base_url": "http://127.0.0.1:9/v1"},
            (None, "http://127.0.0.1:9/v1"),
        ),
        (
            KEYS | {"OPENAI_BASE_URL": "https://gate.example/v1"},
            {"extraction_model": "gpt-4o-mini", "extraction_base_url": "https://gate.example/v1"},
            ("sk-operator", "https://gate.example/v1"),
        ),
        ({}, {"extraction_model": "ollama/qwen3"}, (None, "http://localhost:11434/v1")),
        ({"AWS_PROFILE": "ops"}, {"extraction_model": "bedrock/amazon.nova-lite-v1:0"}, (None, None)),
        ({"ANTHROPIC_API_KEY": "sk-ant-x"}, {"extraction_model": "claude-haiku-4-5"}, ("sk-ant-x", None)),
    ],
)
def test_the_model_is_called_with_the_operators_key(
    environ: Mapping[str, str], fields: dict[str, Any], expected: Any
) -> None:
    access = choose(environ, **fields)
    assert (access.api_key, access.base_url) == expected
    assert "operator" not in repr(access)


def test_model_without_a_key_is_refused_with_the_mend() -> None:
    with pytest.raises(ConfigError, match=r"memory.extraction_api_key, or GROQ_API_KEY"):
        choose({"OPENAI_API_KEY": "sk-x"}, extraction_model="groq/llama-3.3-70b")


def test_model_without_a_name_is_refused_with_the_mend() -> None:
    with pytest.raises(ConfigError, match=r"memory.extraction_model"):
        model_access(MemorySettings(), KEYS)


@pytest.mark.parametrize(
    ("fields", "timeout_s"),
    [
        ({}, 60.0),
        ({"extraction_base_url": "https://models.example/v1"}, 60.0),
        ({"extraction_base_url": "http://192.168.1.20:8080/v1"}, 60.0),
        ({"extraction_base_url": "http://127.0.0.1:8080/v1"}, 300.0),
        ({"extraction_base_url": "http://localhost:1234/v1"}, 300.0),
        ({"extraction_base_url": "http://[::1]:8080/v1"}, 300.0),
        ({"extraction_model": "ollama/qwen3"}, 300.0),
        ({"extraction_base_url": "http://127.0.0.1:8080/v1", "extraction_timeout_s": 60.0}, 60.0),
        ({"extraction_timeout_s": 5.0}, 5.0),
    ],
)
def test_timeout_is_longer_on_loopback_unless_set(fields: dict[str, Any], timeout_s: float) -> None:
    settings = MemorySettings(**{"extraction_model": "openai/small", "extraction_api_key": "sk-x", **fields})
    assert model_access(settings, {}).timeout_s == timeout_s
