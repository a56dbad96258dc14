"""The key for calls to the operator's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import structlog
from pydantic import SecretStr

from proxy.errors import ConfigError
from proxy.memory.model.access import ChosenModel, model_access
from proxy.memory.model.call import ModelAccess, connect
from proxy.memory.model.judge import select_judge
from proxy.settings.memory import MemorySettings


def choose(
    environ: Mapping[str, str],
    name: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout_s: float | None = None,
) -> ModelAccess:
    key = SecretStr(api_key) if api_key is not None else None
    chosen = ChosenModel(name, key, base_url, timeout_s, setting="memory.summary", otherwise="leave it out")
    return model_access(chosen, environ)


KEYS = {"OPENAI_API_KEY": "sk-operator", "GROQ_API_KEY": "gsk_operator"}


@pytest.mark.parametrize(
    ("environ", "fields"),
    [
        ({}, {"name": "gpt-4o-mini"}),
        (KEYS, {"name": "anthropic/claude-haiku-4-5"}),
        (KEYS, {"name": "openai/qwen3", "base_url": "https://elsewhere.example/v1"}),
        ({}, {"name": "gpt-4o-mini", "api_key": "  "}),
    ],
)
def test_no_access_without_a_key(environ: Mapping[str, str], fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        choose(environ, **fields)


@pytest.mark.parametrize(
    ("environ", "fields", "expected"),
    [
        (KEYS, {"name": "gpt-4o-mini"}, ("sk-operator", "https://api.openai.com/v1")),
        (KEYS, {"name": "groq/llama-3.3-70b"}, ("gsk_operator", "https://api.groq.com/openai/v1")),
        (
            KEYS,
            {"name": "gpt-4o-mini", "api_key": "sk-own"},
            ("sk-own", "https://api.openai.com/v1"),
        ),
        (
            KEYS,
            {"name": "qwen3", "base_url": "http://127.0.0.1:9/v1"},
            (None, "http://127.0.0.1:9/v1"),
        ),
        (
            KEYS | {"OPENAI_BASE_URL": "https://gate.example/v1"},
            {"name": "gpt-4o-mini", "base_url": "https://gate.example/v1"},
            ("sk-operator", "https://gate.example/v1"),
        ),
        ({}, {"name": "ollama/qwen3"}, (None, "http://localhost:11434/v1")),
        ({"AWS_PROFILE": "ops"}, {"name": "bedrock/amazon.nova-lite-v1:0"}, (None, None)),
        ({"ANTHROPIC_API_KEY": "sk-ant-x"}, {"name": "claude-haiku-4-5"}, ("sk-ant-x", None)),
    ],
)
def test_the_model_is_called_with_the_operators_key(
    environ: Mapping[str, str], fields: dict[str, Any], expected: Any
) -> None:
    access = choose(environ, **fields)
    assert (access.api_key, access.base_url) == expected
    assert "operator" not in repr(access)


def test_model_without_a_key_is_refused_with_mend() -> None:
    with pytest.raises(ConfigError, match=r"memory.summary_api_key, or GROQ_API_KEY .* or leave it out"):
        choose({"OPENAI_API_KEY": "sk-x"}, "groq/llama-3.3-70b")


@pytest.mark.parametrize(
    ("fields", "mend"),
    [({}, "memory.extraction_model"), ({"extraction_model": "groq/llama"}, "memory.extraction_api_key")],
)
def test_required_judge_is_refused_with_the_mend(fields: dict[str, str], mend: str) -> None:
    settings = MemorySettings(extractor="model", **fields)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=mend):
        select_judge(settings, {}, connect)


def test_builtin_asks_no_model_whatever_is_set() -> None:
    settings = MemorySettings(extractor="builtin", extraction_model="groq/llama")
    assert select_judge(settings, {"GROQ_API_KEY": "gsk_x"}, connect) is None


@pytest.mark.parametrize(
    ("fields", "environ", "mend"),
    [
        ({}, {}, ""),
        ({"extraction_model": "groq/llama"}, {}, "memory.extraction_api_key, or GROQ_API_KEY"),
        ({"extraction_model": "groq/llama"}, {"GROQ_API_KEY": "gsk_x"}, None),
    ],
)
def test_without_model_or_key_there_is_no_judge(
    fields: dict[str, str],
    environ: dict[str, str],
    mend: str | None,
    log_lines: list[structlog.typing.EventDict],
) -> None:
    judge = select_judge(MemorySettings(**fields), environ, connect)  # type: ignore[arg-type]
    assert (judge is None) == (mend is not None)
    assert [mend in line["reason"] for line in log_lines] == [True] * bool(mend)


@pytest.mark.parametrize(
    ("fields", "timeout_s"),
    [
        ({}, 60.0),
        ({"base_url": "https://models.example/v1"}, 60.0),
        ({"base_url": "http://192.168.1.20:8080/v1"}, 60.0),
        ({"base_url": "http://127.0.0.1:8080/v1"}, 300.0),
        ({"base_url": "http://localhost:1234/v1"}, 300.0),
        ({"base_url": "http://[::1]:8080/v1"}, 300.0),
        ({"name": "ollama/qwen3"}, 300.0),
        ({"base_url": "http://127.0.0.1:8080/v1", "timeout_s": 60.0}, 60.0),
        ({"timeout_s": 5.0}, 5.0),
    ],
)
def test_timeout_is_longer_on_loopback_unless_set(fields: dict[str, Any], timeout_s: float) -> None:
    assert choose({}, **{"name": "openai/small", "api_key": "sk-x", **fields}).timeout_s == timeout_s
