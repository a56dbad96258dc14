"""A client whose memories came through the Responses API, and a provider that replies there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply
from tests.fakes.responses import Said, new_id, reply
from tests.talking import Speaker

FACTS = ("I use Shram and Magnet as productivity tools", "My dog is called Bronko", "I live in Oslo")
TOOLS_QUESTION = "What are the productivity tools that I use"
DOG_QUESTION = "What is my dog called?"
MODEL = "gpt-4o"


@pytest.fixture
def provider_of_replies(upstream: FakeProvider) -> FakeProvider:
    """Return the shared provider, which also replies on the Responses API."""
    upstream.script(agreeing)
    return upstream


@pytest.fixture
def knowing(alice: Speaker, provider_of_replies: FakeProvider) -> Iterator[Speaker]:
    """Return a client with a memory for every question, stated through the Responses API."""
    for fact in FACTS:
        post(alice, fact)
        alice.wait()
    provider_of_replies.seen.clear()
    return alice


def agreeing(seen: Seen) -> Reply | None:
    """Reply without a word of the question."""
    if not seen.path.endswith("/responses") or seen.method != "POST":
        return None
    return reply(Said("All right.", new_id(), MODEL, asked=seen.json))


def post(speaker: Speaker, given: Any, *, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    """Post a request and return the whole reply."""
    response = speaker.http.post("/responses", json={"model": MODEL, "input": given, **body}, headers=headers or {})
    assert response.status_code == 200, response.text
    return response


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}
