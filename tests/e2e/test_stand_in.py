"""A fallback model with a smaller window gets a request that fits it, and only when it is used."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.text import tokens
from tests.e2e.test_long import FILLER, WINDOW, history, refusing, text_of
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat, error
from tests.running import Running
from tests.talking import Speaker, assistant, speaking, user

QUESTION = "Where does the spare key of the allotment hang?"
KEY = "The spare key of the allotment hangs behind the blue watering can."


class Provider:
    """A large model that can be broken, and a small one that counts tokens."""

    def __init__(self) -> None:
        self.is_broken = True

    def __call__(self, seen: Seen) -> Reply:
        if seen.json["model"] == "small":
            return refusing(seen)
        return error(503, "out of order") if self.is_broken else chat("All right.", seen.json)


@pytest.fixture
def provider(upstream: FakeProvider) -> Provider:
    one = Provider()
    upstream.script(one)
    return one


@pytest.fixture
def speaker(tmp_path: Path, upstream: FakeProvider, provider: Provider) -> Iterator[Speaker]:
    tokens.load()
    models: list[dict[str, Any]] = [
        {
            "model_name": name,
            "litellm_params": {"model": f"openai/{name}", "api_base": upstream.base_url, "api_key": "k"},
        }
        for name in ("large", "small")
    ]
    with (
        Running(
            tmp_path,
            models=models,
            upstream={"context_windows": {"large": 40 * WINDOW, "small": WINDOW}},
            router_settings={"fallbacks": [{"large": ["small"]}], "cooldown_time": 0},
        ) as server,
        speaking(server) as one,
    ):
        yield one


def asked(upstream: FakeProvider, model: str) -> list[Seen]:
    return [one for one in upstream.seen if one.json["model"] == model]


def test_fallback_gets_a_request_cut_to_its_window(
    speaker: Speaker, upstream: FakeProvider, provider: Provider
) -> None:
    said = [*history(90, at33=KEY), user(QUESTION)]
    response = speaker.post(said, model="large")
    large, small = upstream.seen[-2:]
    assert len(large.json["messages"]) == len(said)
    assert len(small.json["messages"]) < len(said) / 2
    assert "behind the blue watering can" in small.json["messages"][-1]["content"]
    assert tokens.count(text_of(small)) < WINDOW
    receipt = speaker.receipt(response)
    assert receipt["compaction"]["messages_left_out"] == len(said) - len(small.json["messages"])


def test_requested_model_gets_the_whole_request_again(
    speaker: Speaker, upstream: FakeProvider, provider: Provider
) -> None:
    said = [*history(90), user("Go on.")]
    speaker.post(said, model="large")
    provider.is_broken = False
    speaker.post([*said, assistant("All right."), user("And then?")], model="large")
    assert upstream.last.json["model"] == "large"
    assert len(upstream.last.json["messages"]) == len(said) + 2


def test_while_it_stands_in_its_prefix_is_stable(speaker: Speaker, upstream: FakeProvider, provider: Provider) -> None:
    said = history(90)
    for turn in range(6):
        said = [*said, user(f"Question {turn}: what comes next in the plan?")]
        speaker.post(said, model="large")
        said = [*said, assistant(f"Answer {turn}. {FILLER}")]
    sent = [one.json["messages"] for one in asked(upstream, "small")]
    assert len(sent) == 6
    assert all(later[: len(now) - 1] == now[:-1] for now, later in itertools.pairwise(sent))


def test_fallback_with_room_gets_equal_bytes_but_name(
    speaker: Speaker, upstream: FakeProvider, provider: Provider
) -> None:
    speaker.post([*history(3), user("Go on.")], model="large")
    large, small = upstream.seen[-2:]
    assert small.body.replace(b'"small"', b'"large"') == large.body
