"""What goes to the provider as it is, and what never does."""

from __future__ import annotations

import pytest

from tests.fakes.provider import FakeProvider
from tests.talking import Speaker


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "path",
    ["/import", "/erase?verify=true", "/documents", "/documents/d1", "/export", "/tasks", "/reviews/r1", "/agents",
     "/images", "/images/img_1", "/images/", "/Import", "/%69mport", "/images%2Fimg_1", "/images/generations2"],
)  # fmt: skip
def test_what_is_meant_for_memory_never_goes_to_the_provider(
    alice: Speaker, upstream: FakeProvider, method: str, path: str
) -> None:
    response = alice.http.request(method, path, content=b'{"text": "I am allergic to nuts"}')
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert "not available in this version" in response.json()["error"]["message"]
    assert not upstream.seen


@pytest.mark.parametrize(
    "path", ["/images/generations", "/images/edits", "/images/variations", "/imports", "/exporter"]
)
def test_what_only_sounds_like_it_goes_on(alice: Speaker, upstream: FakeProvider, path: str) -> None:
    assert alice.http.post(path, json={"model": "m"}).status_code == 200
    assert upstream.last.target == f"/v1{path}"


def test_a_wrong_method_of_the_memory_side_never_goes_to_the_provider(alice: Speaker, upstream: FakeProvider) -> None:
    for path in ("/memories/m1/nothing", "/receipts", "/sessions", "/state", "/%6Demories", "/Memories"):
        response = alice.http.put(path, json={"text": "I am allergic to nuts"})
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert not upstream.seen
