"""A typical configuration of LiteLLM's proxy starts here and keeps its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from structlog.typing import EventDict

from proxy.errors import ConfigError
from proxy.services.opening import open_services
from proxy.settings.litellm import adopt
from proxy.settings.load import load_settings
from tests.fakes.provider import FakeProvider
from tests.running import Running

pytestmark = pytest.mark.anyio

CONFIG = """
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: os.environ/AZURE_API_BASE_EU
      api_key: "os.environ/AZURE_API_KEY_EU"
      api_version: "2025-01-01-preview"
      rpm: 900
      tpm: 120000
    model_info: {id: azure-eu, base_model: azure/gpt-4o, mode: chat}
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: "os.environ/OPENAI_API_KEY_2", rpm: 100, timeout: 30, stream_timeout: 5}
  - model_name: claude
    litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY_2, max_tokens: 8192}
    model_info: {max_input_tokens: 180000, input_cost_per_token: 0.000001}
  - model_name: "groq/*"
    litellm_params: {model: "groq/*", api_key: os.environ/GROQ_API_KEY_2}
  - model_name: "*"
    litellm_params: {model: "*"}

litellm_settings:
  drop_params: true
  num_retries: 2
  request_timeout: 45
  fallbacks: [{"gpt-4o": ["claude"]}]
  context_window_fallbacks: [{"gpt-4o": ["claude"]}]
  default_fallbacks: ["claude"]
  set_verbose: false
  success_callback: ["langfuse"]
  cache: true
  cache_params: {type: redis}

router_settings:
  routing_strategy: usage-based-routing-v2
  model_group_alias: {"gpt-4": "gpt-4o", "gpt-4-hidden": {"model": "gpt-4o", "hidden": true}}
  allowed_fails: 3
  cooldown_time: 30
  redis_host: os.environ/REDIS_HOST
  enable_pre_call_checks: true
  retry_policy: {TimeoutErrorRetries: 3}

general_settings:
  master_key: sk-1234
  database_url: "postgresql://user:password@host:5432/db"
  alerting: ["slack"]

environment_variables:
  AZURE_API_BASE_EU: https://eu.openai.azure.com/
  OPENAI_API_KEY_2: sk-from-the-file

guardrails:
  - guardrail_name: pii
    litellm_params: {guardrail: presidio, mode: pre_call}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "config.yaml"
    written.write_text(CONFIG)
    return written


async def test_it_starts_and_says_what_has_no_effect(file: Path, tmp_path: Path, log_lines: list[EventDict]) -> None:
    settings = load_settings(file, {"server": {"data_dir": tmp_path / "data"}})
    services = await open_services(settings)
    routes = services.routes
    plan = routes.plan("gpt-4", "sk-1234")
    await services.close()
    assert [one.target.provider for one in plan.tries[:2]] in (["azure", "openai"], ["openai", "azure"])
    assert {one.target.model for one in plan.tries[:3]} == {"azure/gpt-4o-eu", "gpt-4o"}
    assert {one.target.model for one in plan.tries[3:]} == {"anthropic/claude-sonnet-4-5"}
    by_provider = {one.target.provider: one.target for one in plan.tries[:2]}
    assert by_provider["azure"].base_url == "https://eu.openai.azure.com"
    openai = by_provider["openai"]
    assert (openai.api_key, openai.timeout_s, openai.stream_timeout_s) == ("sk-from-the-file", 30, 5)
    assert by_provider["azure"].timeout_s == 45
    assert (routes.context_window("gpt-4o"), routes.context_window("claude")) == (128_000, 180_000)
    assert routes.resolve("groq/llama", "x").provider == "groq"
    told = next(line["names"] for line in log_lines if "no effect" in line["event"])
    assert {"router_settings.routing_strategy", "general_settings.database_url", "guardrails"} <= set(told.split(", "))
    assert "password" not in told


def test_its_words_are_the_routers(file: Path) -> None:
    router = load_settings(file).router_settings
    assert (router.num_retries, router.timeout, router.allowed_fails, router.cooldown_time) == (2, 45, 3, 30)
    assert router.fallbacks == router.context_window_fallbacks == [{"gpt-4o": ["claude"]}]
    assert router.default_fallbacks == ["claude"]


def test_environment_wins_over_router_and_router_over_library(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(CONFIG.replace("allowed_fails: 3", "allowed_fails: 3\n  num_retries: 5"))
    assert load_settings(file).router_settings.num_retries == 5
    monkeypatch.setenv("THROUGHLINE_ROUTER_SETTINGS__NUM_RETRIES", "7")
    assert load_settings(file).router_settings.num_retries == 7


def test_litellms_setting_switches_cool_down_off() -> None:
    adopted = adopt({"router_settings": {"disable_cooldowns": True}}, {"cooldown_time": 5.0})
    assert adopted["router_settings"] == {"cooldown_time": 0}


def test_named_credentials_are_written_where_they_are_named() -> None:
    file = {
        "credential_list": [
            {"credential_name": "mine", "credential_values": {"api_key": "k", "api_base": "http://h:1"}}
        ],
        "model_list": [
            {
                "model_name": "a",
                "litellm_params": {"model": "openai/x", "litellm_credential_name": "mine", "api_base": "http://own:1"},
            },
            {"model_name": "b", "litellm_params": {"model": "openai/x"}},
        ],
    }
    adopted = adopt(file, {})
    assert "credential_list" not in adopted
    assert [one["litellm_params"] for one in adopted["model_list"]] == [
        {"model": "openai/x", "api_key": "k", "api_base": "http://own:1"},
        {"model": "openai/x"},
    ]


@pytest.mark.parametrize(
    "section", ["general_settings", "litellm_settings", "router_settings", "environment_variables"]
)
def test_an_empty_section_is_no_obstacle(tmp_path: Path, section: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"{section}:\n")
    assert load_settings(file).without_effect == ()


@pytest.mark.parametrize("section", ["general_settings", "litellm_settings", "router_settings"])
@pytest.mark.parametrize("value", ["fast", "[num_retries]", "3"])
def test_a_section_without_settings_is_refused(tmp_path: Path, section: str, value: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"model_list: []\n{section}: {value}\n")
    with pytest.raises(ConfigError, match=f"{section} .*line 2.*Settings are wanted below this name"):
        load_settings(file)


@pytest.mark.parametrize("name", ["config_folder", "litellm_callbacks", "litellm_master_key", "without_effect"])
def test_a_name_that_no_file_sets_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"{name}: x\n")
    with pytest.raises(ConfigError, match=f"{name} .*line 1.*no such setting"):
        load_settings(file)


def test_its_master_key_goes_to_no_provider(tmp_path: Path, provider: FakeProvider) -> None:
    params = {"model": "openai/m", "api_base": provider.base_url, "api_key": "sk-route"}
    models: list[dict[str, Any]] = [{"model_name": "m", "litellm_params": params}]
    general = {"master_key": "sk-1234"}
    server = Running(tmp_path, models=models, wait=False, general_settings=general)
    with server, server.client("sk-1234") as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    assert provider.last.header("authorization") == "Bearer sk-route"
