"""Context windows and prices from the model map, the model list and the settings."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from proxy.upstream import model_map
from proxy.upstream.model_map import UNKNOWN, Prices
from proxy.upstream.route import Routes


def routes(environ: dict[str, str] | None = None, **more: Any) -> Routes:
    return Routes.from_settings(environ=environ or {}, **more)


def listed(name: str, model: str, info: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    return {
        "model_name": name,
        "litellm_params": {"model": model, "api_base": "http://h:1", **params},
        "model_info": info,
    }


@pytest.mark.parametrize(
    ("name", "provider", "window"),
    [
        ("gpt-4o", "openai", 128_000),
        ("gpt-4o", "", 128_000),
        ("gemini-2.5-flash", "gemini", 1_048_576),
        ("gemini/gemini-2.5-flash", "gemini", 1_048_576),
        ("anthropic/claude-sonnet-4-5", "anthropic", 200_000),
        ("ft:gpt-4o-2024-08-06:acme::7p4", "openai", 128_000),
    ],
)
def test_the_map_knows_models_by_their_providers_names(name, provider, window):
    known = model_map.facts(name, provider)
    assert known.context_window == window
    assert known.prices is not None
    assert known.prices.input < known.prices.output
    assert known.sees


@pytest.mark.parametrize("name", ["", "nobody-knows-this", "someone/gpt-4o", "sample_spec"])
def test_of_others_nothing_is_known(name):
    assert model_map.facts(name) is UNKNOWN
    assert (routes().context_window(name), routes().prices(name)) == (None, None)


def test_the_map_is_read_without_litellm():
    code = "import sys; from proxy.upstream import model_map as m; m.load(); print('litellm' in sys.modules, m.facts('gpt-4o').context_window)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "128000"]


def test_what_the_list_says_comes_first():
    info = {"max_input_tokens": 4000, "input_cost_per_token": 1e-6, "supports_vision": False}
    mine = routes(model_list=[listed("mine", "openai/gpt-4o", info)])
    assert mine.context_window("mine") == 4000
    assert mine.prices("mine") == Prices(1e-6, 1e-5, 1.25e-6)
    assert mine.facts("mine").sees is False


def test_deployment_is_known_by_its_model():
    azure = routes(model_list=[listed("m", "azure/our-name", {"base_model": "azure/gpt-4o"})])
    assert azure.context_window("m") == 128_000
    assert routes(model_list=[listed("m", "azure/our-name")]).context_window("m") is None


def test_what_fits_everywhere_counts():
    both = routes(
        model_list=[
            listed("m", "openai/gpt-4o", {"max_input_tokens": 9000}),
            listed("m", "openai/gpt-4o", {"context_window": 5000}),
            listed("m", "openai/unknown"),
        ]
    )
    assert both.context_window("m") == 5000


def test_the_settings_have_the_last_word():
    said = routes(upstream_url="http://h:1", context_windows={"gpt-4*": 10, "*": 20})
    assert [said.context_window(name) for name in ("gpt-4o", "x/y")] == [10, 20]


def test_aliases_prefixes_and_wildcards_lead_to_the_model():
    from proxy.settings.sections import RouterSettings

    several = routes(
        {"GEMINI_API_KEY": "k"},
        model_list=[listed("openai/*", "openai/*")],
        router=RouterSettings(model_group_alias={"four": "openai/gpt-4o"}),
    )
    for name, window in (("openai/gpt-4o", 128_000), ("four", 128_000), ("gemini/gemini-2.5-flash", 1_048_576)):
        assert several.context_window(name) == window


def test_providers_names_are_those_of_text_models():
    names = model_map.names("gemini")
    assert "gemini-2.5-flash" in names
    assert not [name for name in names if name.startswith("gemini/") or "imagen" in name]
