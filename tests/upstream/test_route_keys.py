"""The key that each provider gets."""

from __future__ import annotations

import pytest

from tests.upstream.test_route import listed, routes, sent_key


@pytest.mark.parametrize(
    ("route_key", "client_key", "expected"),
    [
        (None, "sk-client", "sk-client"),
        (None, "whatever", "whatever"),
        (None, "EMPTY", "EMPTY"),
        (None, None, None),
        ("sk-route", "sk-client", "sk-client"),
        ("sk-route", "EMPTY", "sk-route"),
        ("sk-route", "sk-no-key-required", "sk-route"),
        ("sk-route", "gsk_other_provider", "sk-route"),
        ("sk-route", "sk-ant-other-provider", "sk-route"),
        ("sk-route", "tl_ours", "sk-route"),
        ("sk-route", None, None),
    ],
)
def test_keys_in_passthrough(route_key, client_key, expected):
    given = {"api_key": route_key} if route_key else {}
    target = routes(model_list=[listed("m", "openai/x", **given)]).resolve("m", client_key)
    assert sent_key(target, client_key) == expected


@pytest.mark.parametrize(
    ("model", "client_key", "is_sent"),
    [
        ("groq/m", "gsk_client", True),
        ("groq/m", "sk-some-new-form", True),
        ("groq/m", "sk-proj-client", False),
        ("groq/m", "sk-ant-client", False),
        ("openai/m", "sk-proj-client", True),
        ("openai/m", "gsk_client", False),
        ("openai/m", "hf_client", False),
        ("anthropic/m", "AIza" + "x" * 35, False),
        ("gemini/m", "sk-or-client", False),
        ("ollama/m", "sk-proj-client", False),
        ("ollama/m", "anything", True),
    ],
)
def test_clients_key_goes_to_its_own_provider_only(model, client_key, is_sent):
    target = routes(model_list=[listed("m", model)]).resolve("m", client_key)
    assert (sent_key(target, client_key) == client_key) == is_sent
    behind = routes(model_list=[listed("m", model, api_base="http://gateway:1")]).resolve("m", client_key)
    assert (sent_key(behind, client_key) == client_key) == (is_sent or not model.startswith("ollama"))


@pytest.mark.parametrize("given", [{}, {"api_key": "sk-route"}])
def test_credentials_that_are_no_key_stay(given):
    model_list = [listed("m", "openai/x", **given)]
    target = routes(model_list=model_list).resolve("m", None)
    assert (target.api_key, target.forwards_auth) == (None, True)
    assert not routes(auth_mode="keys", model_list=model_list).resolve("m", None).forwards_auth
    assert not routes({"AWS_PROFILE": "p"}).resolve("bedrock/x", None).forwards_auth


@pytest.mark.parametrize("client_key", ["tl_ours", "sk-client", "EMPTY", None])
@pytest.mark.parametrize("route_key", ["sk-route", None])
def test_keys_of_ours_never_go_up(route_key, client_key):
    given = {"api_key": route_key} if route_key else {}
    target = routes(auth_mode="keys", model_list=[listed("m", "openai/x", **given)]).resolve("m", client_key)
    assert sent_key(target, client_key) == route_key


def test_upstreams_key_replaces_keys_of_another_form():
    target = routes(upstream_url="http://h:1", upstream_api_key="secret").resolve("m", "sk-anything")
    assert sent_key(target, "sk-anything") == "secret"


def test_hosts_credentials_need_a_clients_key():
    ambient = {"AWS_PROFILE": "p"}
    assert routes(ambient).resolve("bedrock/x", "any").uses_ambient
    assert not routes(ambient).resolve("bedrock/x", None).uses_ambient
    assert routes(ambient, auth_mode="keys").resolve("bedrock/x", None).uses_ambient
    assert sent_key(routes(ambient).resolve("bedrock/x", "any"), "any") is None


def test_keys_do_not_show():
    target = routes({"OPENAI_API_KEY": "sk-secret"}).resolve("gpt-4o", "EMPTY")
    assert target.api_key == "sk-secret"
    assert "sk-secret" not in repr(target)
