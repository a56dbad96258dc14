"""Requests that go to the provider unchanged, and those that never do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Speaker


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "path",
    ["/import/x", "/export/x", "/jobs/a/b", "/tasks/t1/x", "/agents/a/b", "/quarantine/a/b", "/projects/a/b", "/memories/a/b/c", "/Import"],
)  # fmt: skip
def test_memory_paths_never_reach_the_provider(alice: Speaker, upstream: FakeProvider, method: str, path: str) -> None:
    response = alice.http.request(method, path, content=b'{"text": "I am allergic to nuts"}')
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert "There is no" in response.json()["error"]["message"]
    assert not upstream.seen


@pytest.mark.parametrize(
    "path", ["/images/generations", "/images/edits", "/images/variations", "/imports", "/exporter"]
)
def test_what_only_sounds_like_it_goes_on(alice: Speaker, upstream: FakeProvider, path: str) -> None:
    assert alice.http.post(path, json={"model": "m"}).status_code == 200
    assert upstream.last.target == f"/v1{path}"


@pytest.mark.parametrize("path", ["/memories/m1/nothing", "/Memories", "/images/img_1/x", "/Images/made2", "/Teams"])
def test_strange_memory_paths_never_reach_it(alice: Speaker, upstream: FakeProvider, path: str) -> None:
    response = alice.http.put(path, json={"text": "I am allergic to nuts"})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert "/openapi.json" in response.json()["error"]["message"]
    assert not upstream.seen


def test_wrong_method_of_a_memory_path_is_405(server: Running, alice: Speaker, upstream: FakeProvider) -> None:
    """Text meant for memory must not go to a provider because of a wrong method."""
    paths = httpx.get(f"{server.origin}/openapi.json").json()["paths"]
    for path, operations in paths.items():
        allowed = {method.upper() for method in operations} | ({"HEAD"} if "get" in operations else set())
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - allowed:
            url = server.origin + re.sub(r"{\w+(?::path)?}", "x1", path)
            response = alice.http.request(method, url, content=b'{"text": "I am allergic to nuts"}')
            told = response.json()["error"]
            if method == "PATCH" and path.removeprefix("/v1/memories/") in ("search", "forget", "undo", "preview"):
                continue  # it could be an id: its body is read first
            if path.endswith("/end") and response.status_code == 404:
                continue  # it could be a conversation of that name
            assert (response.status_code, told["code"]) == (405, "method_not_allowed"), (method, path)
            assert allowed - {"HEAD"} <= set(response.headers["allow"].split(", "))
            assert all(one in told["message"] for one in allowed)
    for path in ("/%6Demories", "/images%2Fimg_1"):
        assert alice.http.put(path, json={"text": "I am allergic to nuts"}).status_code in (404, 405)
    assert not upstream.seen


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    """Return a server with Throughline keys."""
    folder = tmp_path_factory.mktemp("tenants")
    with Running(folder, upstream=lasting_provider.base_url, auth={"mode": "keys"}) as running:
        yield running


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/files"), ("GET", "/batches"), ("POST", "/batches"), ("GET", "/chat/completions"),
        ("GET", "/vector_stores"), ("GET", "/fine_tuning/jobs"), ("GET", "/something/new"), ("POST", "/conversations"),
        ("DELETE", "/models/ft:mine"), ("GET", "/embeddings"), ("GET", "/modelsx"), ("POST", "/responses/compact"),
        ("POST", "/audio/voices"), ("POST", "/images/generations/g1"),
    ],
)  # fmt: skip
def test_our_keys_do_not_open_the_operators_account(
    tenants: Running, upstream: FakeProvider, method: str, path: str
) -> None:
    with tenants.http(made_key(tenants)) as http:
        response = http.request(method, path, content=b"{}")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (403, "forbidden")
    assert "auth.share_provider_account" in error["message"]
    assert not upstream.seen


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/embeddings"), ("POST", "/completions"), ("POST", "/moderations"), ("POST", "/rerank"),
        ("POST", "/audio/speech"), ("POST", "/audio/transcriptions"), ("POST", "/audio/translations"),
        ("POST", "/images/generations"), ("POST", "/images/edits"), ("POST", "/images/variations"),
        ("GET", "/models"), ("GET", "/models/org%2Fname"), ("GET", "/models/org/name"), ("HEAD", "/models"),
    ],
)  # fmt: skip
def test_our_keys_may_use_stateless_paths(tenants: Running, upstream: FakeProvider, method: str, path: str) -> None:
    """These paths leave no data in the operator's account."""
    with tenants.http(made_key(tenants)) as http:
        assert http.request(method, path, content=b'{"model": "m"}').status_code == 200
    asked = "GET" if path == "/models" else method  # a list without its body
    assert (upstream.last.method, upstream.last.target) == (asked, f"/v1{path}")


def test_the_operator_may_share_the_account(tmp_path: Path, provider: FakeProvider) -> None:
    sharing = {"mode": "keys", "share_provider_account": True}
    with Running(tmp_path, upstream=provider.base_url, wait=False, auth=sharing) as server:
        answer = httpx.get(f"{server.base_url}/files", headers={"authorization": f"Bearer {made_key(server)}"})
    assert answer.status_code == 200
    assert provider.last.target == "/v1/files"


def made_key(server: Running) -> str:
    services = server.services
    text, _ = server.call(lambda: services.keys.create(now=services.clock.now()))
    return text
