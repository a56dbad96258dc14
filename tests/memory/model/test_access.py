"""Timeouts of the operator's model."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.memory.model.access import model_access
from proxy.settings.memory import MemorySettings


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
