"""Paths that read differently once decoded again are refused, and never go to the provider."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.api.passthrough import settled
from proxy.errors import NotFound
from proxy.store.keys import Key
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.wire.rawhttp import send

SHIFTY = [
    "/models/%252e%252e%252fbatches", "/models/%25252e%25252e/batches", "/models/..%2fbatches", "/models/%2e%2e/batches",
    "/models/x%2f..%2fbatches", "/models/x%2F%2Fy", "/models/..;/batches", "/models/..;x=1/batches", "/models/%2e%2e%3b/batches",
    "/models/.;/x", "/models/..%5cbatches", "/models/..\\batches", "/models/x%5c..%5cbatches", "/embeddings%2f..%2ffiles",
    "/audio%2Fspeech", "/embeddings/..;/files", "/models/%c0%ae%c0%ae/batches", "/models/%ef%bc%8e%ef%bc%8e/batches",
    "/models/..%ef%bc%8fbatches", "/models/%e2%80%a5/batches", "/models/%u002e%u002e/batches", "/models/%", "/models/%zz",
    "/models/x%00", "/models/x%0d%0aHost:%20y", "/models/.%e2%80%8b./batches", "/models/%20..%20/batches", "/./files",
    "/models/x%252Fy", "/completions%3Fx", "/completions%23", "/files/%2e", "/..", "/%2e%2e%2f",
]  # fmt: skip
PLAIN = ["/models/org%2Fname", "/models/org/name", "/models/org%2Fname%3Fx", "/models/a..b", "/models/...", "/models/a.b:c@d",
         "/models/%E6%A8%A1", "/models/ft:gpt-4o:org::x", "/models/x%20y", "/models"]  # fmt: skip


@pytest.fixture(scope="module", params=["passthrough", "keys"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider
) -> Iterator[tuple[Running, str]]:
    auth, folder = {"mode": request.param}, tmp_path_factory.mktemp(request.param)
    with Running(folder, upstream=lasting_provider.base_url, wait=False, auth=auth) as server:
        yield server, _key(server) if request.param == "keys" else "sk-client"


@pytest.mark.parametrize("path", SHIFTY)
def test_ambiguously_encoded_path_goes_nowhere(served: tuple[Running, str], upstream: FakeProvider, path: str) -> None:
    """It would read differently once decoded again."""
    server, key = served
    for method in ("GET", "POST", "DELETE"):
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        answer = send(
            server.origin, method, f"/v1{path}", headers.items(), b'{"model": "m"}' if method == "POST" else b""
        )
        assert answer.status in (400, 404), (method, path, answer.status)
    assert not upstream.seen


@pytest.mark.parametrize("path", PLAIN)
def test_plain_path_goes_up_as_written(served: tuple[Running, str], upstream: FakeProvider, path: str) -> None:
    server, key = served
    assert send(server.origin, "GET", f"/v1{path}", {"authorization": f"Bearer {key}"}.items(), b"").status == 200
    assert upstream.last.target == f"/v1{path}"


PIECES = st.sampled_from(
    [*"./\\;%?#", "..", "%2e", "%2F", "%25", "%5c", "%c0%ae", "%ef%bc%8e", "%00", "files", "models", "a"]
)


@given(st.lists(PIECES, max_size=10).map("".join), st.integers(0, 3))
def test_what_is_settled_stays_where_it_is(text: str, times: int) -> None:
    for _ in range(times):
        text = quote(text, safe="/")
    path = f"/files/{text}"
    try:
        segments = settled(path)
    except NotFound:
        return
    read = unquote(path)
    assert segments == tuple(read.split("/")[1:])
    assert unquote(read) == read
    assert posixpath.normpath(re.sub(r"(?<=/)\.\.;", "../", read.replace("\\", "/"))) == posixpath.normpath(read)
    assert posixpath.normpath(read).startswith("/files")


def _key(server: Running) -> str:
    services = server.services

    async def make() -> tuple[str, Key]:
        return await services.keys.create(now=services.clock.now())

    return server.call(make)[0]
