"""Requests that ``/v1/memories`` refuses, and its error messages."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.test_memories import create, refused
from tests.running import Running
from tests.talking import Speaker, speaking

MEND = "GET /v1/memories?status=all lists yours."


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/memories/mem_{}", None),
        ("PATCH", "/memories/mem_{}", {"text": "x"}),
        ("DELETE", "/memories/mem_{}", None),
        ("GET", "/memories/mem_{}/history", None),
        ("POST", "/memories/mem_{}/restore", None),
        ("POST", "/memories/undo", {"batch": "end_{}"}),
        ("GET", "/memories?after=mem_{}", None),
        ("GET", "/sessions?after=ses_{}", None),
        ("GET", "/agents?after={}", None),
        ("GET", "/projects?after={}", None),
        ("GET", "/memories/'%20OR%201=1%20--", None),
        ("GET", "/receipts/rcpt_{}", None),
        ("GET", "/sessions/ses_{}", None),
        ("GET", "/documents/doc_{}", None),
        ("DELETE", "/images/img_{}", None),
        ("GET", "/jobs/job_{}", None),
        ("GET", "/tasks/mem_{}", None),
        ("POST", "/reviews/end_{}", {"decision": "approve"}),
        ("PATCH", "/agents/{}", {"private": True}),
        ("GET", "/projects/{}", None),
        ("POST", "/quarantine/qua_{}/release", None),
    ],
)
def test_an_unknown_id_is_a_404(alice: Speaker, method: str, path: str, body: Any) -> None:
    create(alice, "I live in Oslo")
    error = refused(alice.http.request(method, path.format("0" * 24), json=body), 404, "not_found")
    assert error["message"].startswith("There is no ")
    mends = (" lists yours.", "Ask for the first page again.", "A request to forget answers with its `batch`")
    assert any(mend in error["message"] for mend in mends)
    assert ("after" in path) == (error["param"] == "after")
    assert len(alice.memories()) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "param"),
    [
        ("POST", "/memories", {}, "text"),
        ("POST", "/memories", {"text": ""}, "text"),
        ("POST", "/memories", {"text": " \n"}, "text"),
        ("POST", "/tasks", {"title": "\u3000"}, "title"),
        ("POST", "/memories", {"text": "x", "kind": "gossip"}, "kind"),
        ("POST", "/memories", {"text": "x", "colour": "red"}, "colour"),
        ("POST", "/memories", {"text": "x", "expires_at": "soon"}, "expires_at"),
        ("POST", "/memories", {"text": "x", "confidence": 2}, "confidence"),
        ("POST", "/memories", [], None),
        ("POST", "/memories/search", {}, "query"),
        ("POST", "/agents", {"name": " "}, "name"),
        ("POST", "/agents", {"name": "a\nb"}, "name"),
        ("POST", "/memories", {"text": "x", "project": " "}, "project"),
        ("POST", "/memories", {"text": "x", "project": ""}, "project"),
        ("POST", "/tasks", {"title": "x", "project": "\0"}, "project"),
        ("POST", "/memories/search", {"query": "x", "limit": 0}, "limit"),
        ("POST", "/memories/search", {"query": "x", "sources": ["rumour"]}, "sources.0"),
        ("POST", "/memories/forget", {"text": ""}, "text"),
        ("POST", "/memories/forget", {}, "text"),
        ("POST", "/memories/forget", {"text": "x", "ids": ["mem_1"]}, "text"),
        ("POST", "/memories/undo", {}, "batch"),
        ("GET", "/memories?limit=0", None, "limit"),
        ("GET", "/memories?limit=many", None, "limit"),
        ("GET", "/agents?limit=0", None, "limit"),
        ("GET", "/projects?limit=many", None, "limit"),
        ("GET", "/memories?kind=gossip", None, "kind"),
        ("GET", "/memories?status=gone", None, "status"),
        ("GET", "/memories?as_of=yesterday", None, "as_of"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(
    alice: Speaker, method: str, path: str, body: Any, param: str | None
) -> None:
    error = refused(alice.http.request(method, path, json=body), 400, "invalid_request")
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param


@pytest.mark.parametrize(
    ("body", "mend"),
    [
        (b'{"text": "x", "colour": "red"}', "look up the fields in /openapi.json"),
        (b'{"text": "x", "expires_at": "soon"}', "such as 2026-03-01T09:30:00Z"),
        (b'{"text": "x", "expires_at": "2030-01-01T00:00:00"}', "such as 2026-03-01T09:30:00Z"),
        (b'{"text": "\\ud83d"}', "send whole ones"),
        (b'{"text": "x", "project": " "}', "send a name that can be read"),
    ],
)
def test_refusal_of_a_field_names_its_mend(alice: Speaker, body: bytes, mend: str) -> None:
    answer = alice.http.post("/memories", content=body, headers={"content-type": "application/json"})
    assert mend in refused(answer, 400, "invalid_request")["message"]


@pytest.mark.parametrize("path", ["/documents", "/import"])
@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=a"])
def test_broken_form_is_refused_with_the_mend(alice: Speaker, path: str, kind: str) -> None:
    answer = alice.http.post(path, content=b"x", headers={"content-type": kind})
    message = refused(answer, 400, "invalid_request")["message"]
    assert ".." not in message
    assert "Send " in message


def test_a_patch_of_nothing_is_refused(alice: Speaker) -> None:
    made = create(alice, "I live in Oslo")
    refused(alice.http.patch(f"/memories/{made['id']}", json={}), 400, "invalid_request")
    assert alice.get(f"/memories/{made['id']}") == made


def test_null_for_a_required_value_is_refused(alice: Speaker) -> None:
    made = create(alice, "I live in Oslo")
    for name in ("text", "kind", "pinned", "priority"):
        alice.http.patch(f"/memories/{made['id']}", json={name: None})
        assert alice.get(f"/memories/{made['id']}")[name] == made[name]


def test_broken_json_is_refused(alice: Speaker) -> None:
    response = alice.http.post("/memories", content=b'{"text": ', headers={"content-type": "application/json"})
    refused(response, 400, "invalid_request")


def test_unknown_method_is_refused_in_shape(alice: Speaker) -> None:
    response = alice.http.put("/memories", json={"text": "x"})
    assert "GET or POST" in refused(response, 405, "method_not_allowed")["message"]


def test_without_a_key_there_is_nothing_to_see(server: Running) -> None:
    refused(httpx.get(f"{server.base_url}/memories"), 401, "invalid_api_key")


def test_an_error_names_no_text_of_the_user(alice: Speaker) -> None:
    error = refused(
        alice.http.post("/memories", json={"text": "my unmistakable secret", "kind": "gossip"}), 400, "invalid_request"
    )
    assert "unmistakable" not in str(error)


@pytest.mark.parametrize("dry_run", [True, False])
def test_forgetting_an_unknown_id_forgets_nothing(server: Running, alice: Speaker, dry_run: bool) -> None:
    mine = create(alice, "I live in Oslo")
    with speaking(server) as bob:
        theirs = create(bob, "I live in Hull")["id"]
    for id_ in (theirs, "mem_0", ""):
        body = {"ids": [mine["id"], id_], "dry_run": dry_run}
        error = refused(alice.http.post("/memories/forget", json=body), 404, "not_found")
        assert (error["message"], error["param"]) == (
            f"There is no memory {id_!r}; nothing is forgotten. {MEND}",
            "ids",
        )
    assert alice.memories() == [mine]


def test_batch_of_purged_memories_is_unknown(alice: Speaker) -> None:
    alice.tell("I play the Zorbekophone. My cat sleeps on the Zorbekophone.")
    gone = alice.http.post("/memories/forget", json={"text": "Zorbekophone"}).json()
    for memory in gone["closed"]:
        alice.http.delete(f"/memories/{memory['id']}", params={"purge": "true"}).raise_for_status()
    error = refused(alice.http.post("/memories/undo", json={"batch": gone["batch"]}), 404, "not_found")
    assert error["param"] == "batch"
