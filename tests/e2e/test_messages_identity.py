"""Anthropic's wire: the requesting user, and errors in its shape."""

from __future__ import annotations

import json

import pytest

from tests.e2e.test_messages import QUESTION, Claude, alice, conversation, lasting, sent_last, server, upstream
from tests.fakes import messages as fake
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import FACT, outcome

__all__ = ["alice", "lasting", "server", "upstream"]


def test_either_header_names_the_tenant_on_every_wire(alice: Claude, upstream: FakeProvider) -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": FACT}]}
    body = {"model": "claude-x", "max_tokens": 9, "messages": conversation("Which tools do I use?")}
    with alice.server.http(alice.key) as bearer:
        assert bearer.post("/chat/completions", json=chat).status_code == 200
        alice.server.wait_learned(alice.key)
        alice.post(QUESTION)
        assert "Shram" in sent_last(upstream)
        assert outcome(bearer.post("/messages", json=body))["outcome"] == "used"
    assert upstream.last.header("authorization") == f"Bearer {alice.key}"


def test_body_names_users_of_one_key(alice: Claude, upstream: FakeProvider) -> None:
    alice.post(FACT, metadata={"user_id": "u-1"})
    named = {"x-memory-user": "u-1"}
    alice.server.wait_learned(alice.key, **named)
    assert outcome(alice.post(QUESTION, metadata={"user_id": "u-2"}))["outcome"] == "none"
    assert outcome(alice.post(QUESTION, metadata={"user_id": "u-1"}))["outcome"] == "used"
    assert outcome(alice.post(QUESTION))["outcome"] == "none"


def test_session_inside_user_id_leaves_one_user(alice: Claude, upstream: FakeProvider) -> None:
    """Some agents put user and session into ``metadata.user_id``."""

    def metadata(session: str) -> dict[str, str]:
        return {"user_id": json.dumps({"device_id": "d", "account_uuid": "acc-1", "session_id": session})}

    first = alice.post(FACT, metadata=metadata("s-1"))
    alice.server.wait_learned(alice.key)
    second = alice.post(QUESTION, metadata=metadata("s-2"))
    assert outcome(second)["outcome"] == "used"
    assert (first.headers["x-memory-session"], second.headers["x-memory-session"]) == ("s-1", "s-2")
    assert upstream.last.json["metadata"] == metadata("s-2")


def test_provider_errors_come_back_unchanged(alice: Claude, upstream: FakeProvider) -> None:
    for status, kind in ((400, "invalid_request_error"), (429, "rate_limit_error"), (529, "overloaded_error")):
        reply = fake.error(status, kind, retry_after="2")
        upstream.then(reply)
        response = alice.http.post("/messages", json={"model": "c", "messages": conversation("hi")})
        assert (response.status_code, response.content) == (status, reply.chunks[0])
        assert (response.headers["retry-after"], response.headers["request-id"]) == ("2", "req_error")


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"{", 400, "invalid_request_error"),
        (b"[]", 400, "invalid_request_error"),
        (b'{"messages":[]}', 400, "invalid_request_error"),
        (b'{"model":"m","pad":"' + b"x" * 70_000 + b'"}', 413, "request_too_large"),
    ],
)
def test_errors_of_ours_have_anthropics_shape(
    tmp_path_factory: pytest.TempPathFactory, upstream: FakeProvider, body: bytes, status: int, kind: str
) -> None:
    sections = {"server": {"max_body_bytes": 65536}}
    small = Running(tmp_path_factory.mktemp("small"), upstream=upstream.base_url, wait=False, **sections)
    with small as server, Claude(server) as client:
        response = client.http.post("/messages", content=body)
    shaped = response.json()
    assert (response.status_code, shaped["type"], shaped["error"]["type"]) == (status, "error", kind)
    assert shaped["request_id"] == response.headers["request-id"]
    assert not upstream.seen
