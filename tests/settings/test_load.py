"""Settings: their sources, their documentation, and refusals at start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from proxy.errors import ConfigError
from proxy.settings.explain import GONE
from proxy.settings.load import Settings, every_setting, load_settings

EXAMPLE = Path(__file__).resolve().parents[2] / "config.example.yaml"


def test_example_names_every_setting_default_and_description() -> None:
    text = EXAMPLE.read_text()
    values = yaml.safe_load(text)
    defaults = Settings().model_dump(mode="json")
    assert {section: set(fields) for section, fields in values.items() if isinstance(fields, dict)} == {
        section: set(fields) for section, fields in defaults.items() if isinstance(fields, dict)
    }
    for section, name, description in every_setting():
        assert description, f"{section}.{name} has no description"
        assert f"  # {description}\n  {name}: " in text
        if name != "data_dir":
            assert values[section][name] == defaults[section][name], f"{section}.{name}"


def test_example_is_accepted_as_it_stands() -> None:
    assert load_settings(EXAMPLE).model_dump() == load_settings().model_dump()


def test_flags_win_over_environment_over_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("server: {port: 1001, workers: 3}\nmemory: {budget_tokens: 111}\n")
    monkeypatch.setenv("THROUGHLINE_SERVER__PORT", "1002")
    monkeypatch.setenv("THROUGHLINE_MEMORY__BUDGET_TOKENS", "222")
    settings = load_settings(file, {"server": {"port": 1003, "host": None}})
    assert (settings.server.port, settings.server.workers, settings.memory.budget_tokens) == (1003, 3, 222)


def test_unknown_setting_in_file_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("memory: {budget: 5}\n")
    with pytest.raises(
        ConfigError,
        match=r"memory\.budget \(.*line 1\): there is no such setting \(did you mean .memory.budget_tokens.\?\)",
    ):
        load_settings(file)


@pytest.mark.parametrize("name", sorted(GONE))
def test_removed_setting_is_named_with_its_replacement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    section, field = name.split(".")
    assert name not in {f"{section}.{field}" for section, field, _ in every_setting()}
    file = tmp_path / "config.yaml"
    file.write_text(f"{section}: {{{field}: 5}}\n")
    with pytest.raises(ConfigError, match=f"{name} .*line 1.*gone: {re.escape(GONE[name])}; remove it"):
        load_settings(file)
    monkeypatch.setenv(f"THROUGHLINE_{section}__{field}".upper(), "5")
    with pytest.raises(ConfigError, match=f"variable.*gone: {re.escape(GONE[name])}"):
        load_settings()


@pytest.mark.parametrize("size", ["small", "normal", "large"])
def test_replacement_of_a_setting_is_a_setting(size: str) -> None:
    assert load_settings(flags={"media": {"limits": size}}).media.limits == size
    known = {f"{section}.{field}" for section, field, _ in every_setting()}
    for text in GONE.values():
        assert set(re.findall(r"[a-z_]+\.[a-z_]+", text)) <= known


def test_unknown_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THROUGHLINE_MEMORY__BUGDET", "5")
    with pytest.raises(ConfigError, match="THROUGHLINE_MEMORY__BUGDET"):
        load_settings()


@pytest.mark.parametrize("variable", ["THROUGHLINE_URL", "THROUGHLINE_API_KEY", "THROUGHLINE_USER"])
def test_mcp_variables_may_be_set_for_servers(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "x")
    load_settings()


def test_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        load_settings(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_address_than_loopback_needs_a_safe_setting(host: str) -> None:
    with pytest.raises(ConfigError, match="allow_insecure_bind"):
        load_settings(flags={"server": {"host": host}})
    assert load_settings(flags={"server": {"host": host}, "auth": {"mode": "keys"}}).server.host == host
    assert load_settings(flags={"server": {"host": host, "allow_insecure_bind": True}}).server.host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_loopback_is_served_without_more(host: str) -> None:
    assert load_settings(flags={"server": {"host": host}}).server.host == host


def test_model_list_is_taken_as_litellm_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "model_list:\n  - model_name: x\n    litellm_params: {model: openai/x, api_key: os.environ/KEY}\n    model_info: {id: 7}\n"
    )
    assert load_settings(file).model_list[0]["model_info"] == {"id": 7}
