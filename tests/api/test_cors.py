"""Origins of pages that the CORS headers admit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import Reply
from tests.running import Running

PAGE = "https://chat.example.org"
OTHERS = ["https://evil.example", f"{PAGE}.evil.example", f"{PAGE}:8443", "http://chat.example.org", "null", ""]


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    yield from serving(tmp_path_factory.mktemp("listing"), lasting_provider, [PAGE])


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    yield from serving(tmp_path_factory.mktemp("closed"), lasting_provider, [])


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    yield from serving(tmp_path_factory.mktemp("wide"), lasting_provider, ["*"])


def serving(folder: Path, provider: FakeProvider, origins: list[str]) -> Iterator[Running]:
    with Running(folder, upstream=provider.base_url, wait=False, server={"cors_origins": origins}) as running:
        yield running


def preflight(server: Running, origin: str) -> httpx.Response:
    asked = {"origin": origin, "access-control-request-method": "POST"}
    return httpx.options(f"{server.base_url}/embeddings", headers=asked)


def ask(server: Running, origin: str, key: str = "made-up") -> httpx.Response:
    named = {"origin": origin, "authorization": f"Bearer {key}"}
    return httpx.post(f"{server.base_url}/embeddings", headers=named, json={"model": "m", "input": "hi"})


def allowances(response: httpx.Response) -> list[str]:
    return [name for name in response.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("origin", [*OTHERS, PAGE, "http://localhost:3000"])
def test_only_listed_pages_are_let_in(closed: Running, upstream: FakeProvider, origin: str) -> None:
    answer = preflight(closed, origin)
    assert (answer.status_code, allowances(answer), upstream.seen) == (403, [], [])
    assert "server.cors_origins" in answer.json()["error"]["message"]
    assert answer.headers["x-request-id"]
    assert allowances(ask(closed, origin)) == []


@pytest.mark.parametrize("origin", OTHERS)
def test_a_list_lets_in_nobody_else(listing: Running, upstream: FakeProvider, origin: str) -> None:
    answer = preflight(listing, origin)
    assert (answer.status_code, allowances(answer), upstream.seen) == (403, [], [])
    assert allowances(ask(listing, origin)) == []


def test_providers_cors_headers_let_no_page_in(listing: Running, upstream: FakeProvider) -> None:
    allowing = (("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Credentials", "true"))
    upstream.then(Reply([b"{}"], headers=(*replies.JSON_HEADERS, *allowing)))
    assert allowances(ask(listing, "https://evil.example")) == []


def test_a_listed_page_may_ask_and_read(listing: Running) -> None:
    assert preflight(listing, PAGE).headers["access-control-allow-origin"] == PAGE
    answer = ask(listing, PAGE)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, PAGE)
    assert {"x-request-id", "x-memory", "x-memory-receipt", "x-memory-session"} <= set(
        answer.headers["access-control-expose-headers"].split(", ")
    )


def test_listed_page_can_read_our_errors(listing: Running) -> None:
    answer = httpx.get(f"{listing.base_url}/memories", headers={"origin": PAGE})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, PAGE)


@pytest.mark.parametrize("origin", OTHERS)
def test_star_lets_pages_in_with_their_own_key(wide: Running, origin: str) -> None:
    assert (preflight(wide, origin).status_code, ask(wide, origin).headers["access-control-allow-origin"]) == (204, "*")


@pytest.mark.parametrize("origin", [*OTHERS, "http://localhost:3000", "app://notes"])
def test_a_star_does_not_open_the_local_tenant(wide: Running, origin: str) -> None:
    assert allowances(ask(wide, origin, "EMPTY")) == []
