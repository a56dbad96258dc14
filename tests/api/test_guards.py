"""Headers of Throughline's own responses: no caching, no framing, no guessed type."""

from __future__ import annotations

import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.running import Running

GUARDS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "frame-ancestors 'none'",
}
PATHS = [
    "/v1/memories", "/v1/memories/nothing", "/v1/sessions", "/v1/sessions/nothing", "/v1/receipts/nothing", "/v1/state",
    "/v1/documents", "/v1/images", "/v1/export", "/", "/healthz", "/metrics", "/v1/memories?limit=x",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_own_responses_are_guarded(server: Running, path: str) -> None:
    with server.http() as http:
        answer = http.get(f"{server.origin}{path}")
    assert {name: answer.headers.get(name) for name in GUARDS} == GUARDS


@pytest.mark.parametrize("path", ["/v1/memories/search", "/v1/memories"])
def test_answers_to_posts_are_guarded(server: Running, path: str) -> None:
    with server.http() as http:
        answer = http.post(f"{server.origin}{path}", json={"query": "tea", "text": "I like tea"})
    assert {name: answer.headers.get(name) for name in GUARDS} == GUARDS


@pytest.mark.parametrize("path", ["/chat/completions", "/embeddings"])
def test_headers_of_a_provider_stay_as_they_are(server: Running, upstream: FakeProvider, path: str) -> None:
    own = (*replies.JSON_HEADERS, ("Cache-Control", "max-age=60"))
    upstream.script(lambda _: replies.json_reply(replies.completion(), headers=own))
    with server.http() as http:
        answer = http.post(path, json={"model": "m", "messages": [{"role": "user", "content": "hi"}], "input": "hi"})
    assert answer.headers.get_list("cache-control") == ["max-age=60"]
    assert "content-security-policy" not in answer.headers
    assert "x-content-type-options" not in answer.headers
