"""The number of label values is bounded for any requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.telemetry.names import OTHER, Names, method_of, provider_name, route_of, word


def test_ids_are_left_out_of_routes() -> None:
    assert route_of("/v1/memories/mem_1/history") == "/v1/memories/{id}/history"
    assert route_of("/v1/models/meta-llama%2FLlama") == "/v1/models/{id}"
    assert route_of("/v1/chat/completions") == "/v1/chat/completions"
    assert route_of("/") == "/"


@given(st.text(max_size=80))
def test_route_label_holds_only_our_words(path: str) -> None:
    segments = route_of(path).split("/")[1:]
    assert len(segments) <= 4
    assert all(segment in ("", "{id}") or route_of(segment) == f"/{segment}" for segment in segments)


@given(st.lists(st.text(min_size=1, max_size=120), max_size=40), st.integers(0, 5))
def test_names_are_few_and_shaped_like_names(given_names: list[str], most: int) -> None:
    names = Names(most)
    labels = {names.label(name, lambda: True) for name in given_names}
    assert len(labels - {OTHER}) <= most
    assert all(word(label) == label for label in labels)


def test_a_name_counts_only_once_somebody_took_it() -> None:
    names = Names()
    assert names.label("gpt-5", lambda: False) == OTHER
    assert names.label("gpt-5", lambda: True) == "gpt-5"
    assert names.label("gpt-5", lambda: False) == "gpt-5"
    assert names.label("", lambda: False) == ""


def test_words_and_methods_are_of_a_closed_set() -> None:
    assert (word("chatcmpl-1"), word("two words"), word(None), word(["x"])) == ("chatcmpl-1", "", "", "")
    assert (method_of("POST"), method_of("SECRET")) == ("POST", OTHER)


def test_providers_have_the_names_of_the_conventions() -> None:
    assert [provider_name(name) for name in ("bedrock", "vertex_ai", "anthropic")] == [
        "aws.bedrock",
        "gcp.vertex_ai",
        "anthropic",
    ]
