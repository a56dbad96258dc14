"""A client whose memory was told on the responses wire, and a provider that agrees there."""

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
    """The shared provider, agreeing on this wire as well."""
    upstream.script(agreeing)
    return upstream


@pytest.fixture
def knowing(alice: Speaker, provider_of_replies: FakeProvider) -> Iterator[Speaker]:
    """A client whose memory has something for every question, told on this wire."""
    for fact in FACTS:
        post(alice, fact)
        alice.wait()
    provider_of_replies.seen.clear()
    return alice


def agreeing(seen: Seen) -> Reply | None:
    """Answer without a word of the question."""
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
