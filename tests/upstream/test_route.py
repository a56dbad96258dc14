"""The upstream that serves a model name, and the key that it gets."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.errors import ConfigError, ModelNotFound
from proxy.settings.sections import RouterSettings
from proxy.upstream.base import Target
from proxy.upstream.providers import elsewhere
from proxy.upstream.route import Routes

PLACEHOLDERS = ("EMPTY", "none", "sk-no-key-required")
OPENAI = "https://api.openai.com/v1"


def routes(environ: dict[str, str] | None = None, **more: Any) -> Routes:
    return Routes.from_settings(environ=environ or {}, placeholder_keys=PLACEHOLDERS, **more)


def listed(name: str, model: str, **params: Any) -> dict[str, Any]:
    return {"model_name": name, "litellm_params": {"model": model, **params}}


def place(target: Target) -> tuple[str, str, str | None]:
    return target.provider, target.base_url, target.model


def sent_key(target: Target, client_key: str | None) -> str | None:
    """Return the key that would be forwarded."""
    return target.api_key or (client_key if target.forwards_auth else None)


# Names


@pytest.mark.parametrize("model", ["gpt-4o", "claude-x", "gemini-x", "groq/x", "openai/gpt-4o", "anything"])
def test_fresh_machine_serves_only_the_demo(model):
    fresh = routes()
    assert (fresh.resolve("demo", None).provider, fresh.models(), fresh.is_configured) == ("demo", ["demo"], False)
    with pytest.raises(ModelNotFound, match=r"OPENAI_API_KEY.*--upstream URL.*model_list.*'demo'") as caught:
        fresh.resolve(model, "any-key")
    assert (caught.value.status, caught.value.body()["error"]["code"]) == (404, "model_not_found")
    assert fresh.default(None) is None


def test_one_upstream_gets_everything_under_its_own_name():
    one = routes(upstream_url="http://127.0.0.1:8000")
    for model in ("gpt-4o", "demo", "groq/x", "meta-llama/Llama-3"):
        assert place(one.resolve(model, None)) == ("openai_like", "http://127.0.0.1:8000/v1", None)
    assert one.models() == []
    assert one.default(None).base_url == "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize("url", ["http://h:1/api/v3", "http://h:1/api/v3/", " http://h:1/api/v3 "])
def test_base_url_with_a_path_is_unchanged(url):
    assert routes(upstream_url=url).resolve("m", None).base_url == "http://h:1/api/v3"


def test_narrowest_name_or_pattern_wins():
    several = routes(
        model_list=[
            listed("*", "openai/*", api_base="http://wide:1/v1"),
            listed("gpt-*", "openai/gpt-*", api_base="http://narrow:1/v1"),
            listed("gpt-4o", "openai/other", api_base="http://exact:1/v1"),
        ]
    )
    assert place(several.resolve("gpt-4o", None)) == ("openai", "http://exact:1/v1", "other")
    assert place(several.resolve("gpt-5", None)) == ("openai", "http://narrow:1/v1", None)
    assert place(several.resolve("x/y", None)) == ("openai", "http://wide:1/v1", None)
    assert several.models() == ["gpt-4o"]


def test_catch_all_pattern_takes_provider_from_the_name():
    any_model = routes({"GROQ_API_KEY": "gsk_1"}, model_list=[listed("*", "*")])
    assert place(any_model.resolve("groq/llama", None)) == ("groq", "https://api.groq.com/openai/v1", "llama")
    assert any_model.resolve("anthropic/claude-x", None).model == "anthropic/claude-x"


def test_the_list_comes_before_the_upstream():
    both = routes(upstream_url="http://all:1", model_list=[listed("mine", "groq/llama")])
    assert both.resolve("mine", None).provider == "groq"
    assert both.resolve("other", None).base_url == "http://all:1/v1"


def test_the_list_may_claim_the_demo():
    assert routes(model_list=[listed("demo", "groq/llama")]).resolve("demo", None).provider == "groq"
    assert routes(model_list=[listed("demo", "groq/llama")]).models() == ["demo"]


@pytest.mark.parametrize(
    ("variable", "model", "expected"),
    [
        ("GROQ_API_KEY", "groq/llama-3/8b", ("groq", "https://api.groq.com/openai/v1", "llama-3/8b")),
        ("OPENAI_API_KEY", "openai/gpt-4o", ("openai", OPENAI, "gpt-4o")),
        ("OPENAI_API_KEY", "gpt-4o", ("openai", OPENAI, None)),
        ("OPENAI_API_KEY", "o4-mini", ("openai", OPENAI, None)),
        ("OPENAI_API_KEY", "chatgpt-4o-latest", ("openai", OPENAI, None)),
        ("OPENAI_API_KEY", "text-embedding-3-small", ("openai", OPENAI, None)),
        ("ANTHROPIC_API_KEY", "claude-sonnet-4-5", ("anthropic", "", "anthropic/claude-sonnet-4-5")),
        ("GEMINI_API_KEY", "gemini-2.5-flash", ("gemini", "", "gemini/gemini-2.5-flash")),
        ("OPENROUTER_API_KEY", "openrouter/openai/gpt-4o", ("openrouter", "https://openrouter.ai/api/v1", "openai/gpt-4o")),
        (
            "FIREWORKS_API_KEY",
            "fireworks_ai/llama",
            ("fireworks_ai", "https://api.fireworks.ai/inference/v1", "accounts/fireworks/models/llama"),
        ),
        ("NEWCOMER_API_KEY", "newcomer/model-1", ("newcomer", "", "newcomer/model-1")),
    ],
)  # fmt: skip
def test_a_key_in_the_environment_is_enough(variable, model, expected):
    found = routes({variable: "k"}).resolve(model, "EMPTY")
    assert (place(found), found.api_key) == (expected, "k")


def test_an_empty_variable_is_no_key():
    with pytest.raises(ModelNotFound):
        routes({"OPENAI_API_KEY": ""}).resolve("gpt-4o", None)


PREFIXED = ["groq/llama", "anthropic/claude-x", "gemini/g", "ollama/llava", "lm_studio/x", "llamafile/x", "hosted_vllm/org/m",
            "bedrock/x", "huggingface/https://h.test/x", "newcomer/m", "openai/gpt-4o", "gpt-4o", "claude-x"]  # fmt: skip


@pytest.mark.parametrize("client_key", ["gsk_client", "sk-ant-client", "sk-proj-client", "ollama", None])
@pytest.mark.parametrize("auth_mode", ["passthrough", "keys"])
@pytest.mark.parametrize("model", PREFIXED)
def test_prefix_or_client_key_opens_no_route(model, auth_mode, client_key):
    listing = [listed("m", "openai/real", api_base="http://h:1/v1")]
    for made in (routes(auth_mode=auth_mode), routes(auth_mode=auth_mode, model_list=listing)):
        with pytest.raises(ModelNotFound):
            made.resolve(model, client_key)
        assert made.anthropic(client_key) is None


@pytest.mark.parametrize(
    ("environ", "model", "base_url"),
    [
        ({"OLLAMA_API_BASE": "http://localhost:11434"}, "ollama/llama3", "http://localhost:11434/v1"),
        ({"LM_STUDIO_API_BASE": "http://gpu:1234"}, "lm_studio/m", "http://gpu:1234/v1"),
        ({"HOSTED_VLLM_API_BASE": "http://gpu:8000"}, "hosted_vllm/org/m", "http://gpu:8000/v1"),
        ({"OPENAI_BASE_URL": OPENAI}, "gpt-4o", OPENAI),
        ({"GROQ_API_BASE": "https://api.groq.com/openai/v1"}, "groq/m", "https://api.groq.com/openai/v1"),
    ],
)
def test_base_url_variable_opens_its_providers_route(environ, model, base_url):
    target = routes(environ).resolve(model, "any")
    assert (target.base_url, target.api_key) == (base_url, None)


@pytest.mark.parametrize(
    "name",
    ["https://h.test/x", "http://h.test", "HTTPS:/h.test", "//h.test/x", "../files/f", "a/../b", "x?y=z", "x#y", "x%2fy",
     "x\\y", "x\r\ny", ".", "x/.."],
)  # fmt: skip
def test_address_as_a_model_goes_nowhere(name):
    environ = {"HF_TOKEN": "hf_1", "GEMINI_API_KEY": "k"}
    for made in (routes(environ), routes(environ, model_list=[listed("*", "*")])):
        for prefix in ("huggingface", "gemini"):
            with pytest.raises(ModelNotFound):
                made.resolve(f"{prefix}/{name}", "EMPTY")
    exact = routes(environ, model_list=[listed("tgi", "huggingface/https://own.test/x")])
    assert exact.resolve("tgi", "EMPTY").model == "huggingface/https://own.test/x"


def test_other_openai_url_takes_names_as_written():
    other = routes({"OPENAI_BASE_URL": "http://gateway:9/v1/", "OPENAI_API_KEY": "sk-env"})
    for model in ("gpt-4o", "openai/gpt-oss-20b", "qwen3", "anthropic/claude-x"):
        assert place(other.resolve(model, None)) == ("openai", "http://gateway:9/v1", None)
    assert other.resolve("demo", None).provider == "demo"
    assert other.default(None).base_url == "http://gateway:9/v1"


def test_openais_own_regional_host_is_no_other_server():
    regional = routes({"OPENAI_BASE_URL": "https://eu.api.openai.com/v1", "OPENAI_API_KEY": "sk-env"})
    assert regional.resolve("openai/gpt-4o", None).model == "gpt-4o"
    with pytest.raises(ModelNotFound):
        regional.resolve("qwen3", None)


# The model list, as LiteLLM writes it


def test_values_from_the_environment_are_resolved():
    entry = listed("m", "openai/x", api_base="os.environ/BASE", api_key="os.environ/KEY")
    target = routes({"BASE": "http://h:1", "KEY": "k"}, model_list=[entry]).resolve("m", "EMPTY")
    assert (target.base_url, target.api_key) == ("http://h:1/v1", "k")


def test_unset_key_variable_leaves_the_clients_key():
    target = routes(model_list=[listed("m", "openai/x", api_key="os.environ/KEY")]).resolve("m", "sk-client")
    assert sent_key(target, "sk-client") == "sk-client"


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"model_name": "m"},
        {"model_name": "m", "litellm_params": {}},
        {"model_name": "m", "litellm_params": {"model": "hosted_vllm/x"}},
        {"model_name": "m", "litellm_params": {"model": "openai/x", "api_base": "os.environ/NOT_SET"}},
    ],
)
def test_impossible_entry_is_refused_at_start(entry):
    with pytest.raises(ConfigError, match="model_list entry"):
        routes(model_list=[entry])


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (listed("m", "azure/dep", api_base="https://x.azure.com", api_version="v"), ("azure", "https://x.azure.com", "azure/dep")),
        (listed("m", "gpt-4o"), ("openai", OPENAI, "gpt-4o")),
        (listed("m", "claude-x"), ("anthropic", "", "anthropic/claude-x")),
        (listed("m", "mymodel", api_base="http://h:1"), ("openai", "http://h:1/v1", "mymodel")),
        (listed("m", "org/mymodel", api_base="http://h:1"), ("openai", "http://h:1/v1", "org/mymodel")),
        (listed("m", "org/x", custom_llm_provider="openai", base_url="http://h:1/v1"), ("openai", "http://h:1/v1", "org/x")),
        (listed("m", "bedrock/anthropic.claude"), ("bedrock", "", "bedrock/anthropic.claude")),
        (listed("m", "watsonx/ibm/granite"), ("watsonx", "", "watsonx/ibm/granite")),
        (listed("m", "anthropic/c", api_base="http://h:1"), ("anthropic", "http://h:1", "anthropic/c")),
    ],
)  # fmt: skip
def test_litellms_ways_to_name_a_model(entry, expected):
    assert place(routes(model_list=[entry]).resolve("m", None)) == expected


def test_other_params_come_along_and_the_timeout_counts():
    entry = listed("m", "azure/d", api_base="https://x", api_version="v1", timeout=7, api_key="k")
    target = routes(model_list=[entry], router=RouterSettings(timeout=99)).resolve("m", None)
    assert (dict(target.params), target.timeout_s) == ({"api_version": "v1", "timeout": 7}, 7)


def test_environment_key_goes_to_its_own_provider():
    environ = {"OPENAI_API_KEY": "sk-env"}
    foreign = listed("m", "openai/x", api_base="http://stranger:1/v1")
    own = listed("m", "openai/x", api_base="https://eu.api.openai.com/v1")
    assert routes(environ, model_list=[foreign]).resolve("m", "EMPTY").api_key is None
    assert routes(environ, model_list=[own]).resolve("m", "EMPTY").api_key == "sk-env"
    assert routes(environ, upstream_url="http://stranger:1").resolve("m", "EMPTY").api_key is None
    assert routes(environ, upstream_url=OPENAI).resolve("m", "EMPTY").api_key == "sk-env"
    redirected = {**environ, "OPENAI_BASE_URL": "http://stranger:1/v1"}
    assert routes(redirected, upstream_url="http://stranger:1").resolve("m", "EMPTY").api_key == "sk-env"


def test_list_of_one_server_routes_other_paths():
    base = "http://h:1/v1"
    one = routes(model_list=[listed("a", "openai/x", api_base=base), listed("b", "openai/y", api_base=base)])
    assert place(one.default(None)) == ("openai", base, None)
    two = routes(model_list=[listed("a", "openai/x", api_base=base), listed("b", "groq/y")])
    assert two.default(None) is None


# Keys: the contract's table, row by row


# Anthropic's wire


CLAUDE = "https://api.anthropic.com/v1"


def over_messages(made: Routes, model: str, client_key: str | None = None) -> Target:
    return made.spoken(made.plan(model, client_key), "/messages").first


@pytest.mark.parametrize("model", ["claude-x", "anthropic/claude-x"])
def test_anthropic_variable_gives_anthropic_its_own_wire(model):
    by_key, by_url = (
        routes({"ANTHROPIC_API_KEY": "sk-ant-1"}),
        routes({"ANTHROPIC_BASE_URL": "https://api.anthropic.com"}),
    )
    for made, key in ((by_key, "EMPTY"), (by_key, "sk-ant-mine"), (by_url, "sk-ant-mine")):
        target = over_messages(made, model, key)
        assert (target.upstream, *place(target)) == (made.wire, "anthropic", CLAUDE, "claude-x")
        assert target.key_header == "x-api-key"
        assert made.anthropic(key).base_url == CLAUDE
    with pytest.raises(ModelNotFound):
        over_messages(routes(auth_mode="keys"), model, "sk-ant-mine")
    assert routes(auth_mode="keys").anthropic("sk-ant-mine") is None
    assert routes().anthropic("sk-other") is None


def test_another_address_of_anthropics_needs_no_key_here():
    made = routes({"ANTHROPIC_BASE_URL": "http://gateway:9/"})
    target = over_messages(made, "claude-x", "any")
    assert place(target) == ("anthropic", "http://gateway:9/v1", "claude-x")
    assert sent_key(target, "any") == "any"


def test_single_server_is_asked_on_every_wire():
    one = routes({"ANTHROPIC_API_KEY": "sk-ant-1"}, upstream_url="http://h:1")
    target = over_messages(one, "claude-x", "EMPTY")
    assert (target.upstream, *place(target)) == (one.wire, "openai_like", "http://h:1/v1", None)
    assert one.anthropic("EMPTY").base_url == "http://h:1/v1"


def test_other_providers_are_asked_on_theirs():
    made = routes({"GROQ_API_KEY": "k"}, model_list=[listed("house", "gemini/gemini-x", api_key="g")])
    for model in ("groq/llama", "house", "demo"):
        assert over_messages(made, model, "EMPTY").upstream is not made.wire
        assert made.spoken(made.plan(model, "EMPTY"), "/chat/completions").first == made.resolve(model, "EMPTY")


def test_modelless_paths_go_to_the_only_anthropic_server():
    claude = listed("a", "anthropic/claude-x", api_key="sk-ant-1", api_base="http://one:1")
    other = listed("b", "anthropic/claude-y", api_key="sk-ant-2", api_base="http://two:1")
    mixed = [claude, listed("c", "groq/x", api_key="k")]
    assert routes(model_list=mixed).anthropic("EMPTY").base_url == "http://one:1/v1"
    assert routes(model_list=[claude, other]).anthropic("EMPTY") is None


def test_our_own_address_is_no_providers_url():
    """An environment variable for this machine's clients may name the proxy."""
    ours = {"ANTHROPIC_BASE_URL": "http://localhost:8787", "OPENAI_BASE_URL": "http://127.0.0.1:8787/v1"}
    others = {
        "GROQ_API_BASE": "http://127.0.0.1:9000",
        "XAI_API_BASE": "https://h:8787",
        "HOME": "http://localhost:8787",
    }
    assert elsewhere({**ours, **others, "MISTRAL_API_BASE": "http://[::1"}, 8787).keys() == {
        *others,
        "MISTRAL_API_BASE",
    }
