"""``/openapi.json`` describes all of Throughline's own paths, and each of its examples works."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.test_memories import create
from tests.api.test_reviews import uncertain
from tests.e2e.test_tenants_keys import made as new_team_key
from tests.fakes.provider import FakeProvider
from tests.media.made import png
from tests.running import Running
from tests.talking import Message, Speaker, speaking

CHAT = {"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/models", "/v1/embeddings"}


def described(server: Running) -> Message:
    response = httpx.get(f"{server.origin}/openapi.json")
    assert response.status_code == 200
    return dict(response.json())


def made(speaker: Speaker) -> dict[str, str]:
    """Create one of each noun, and return ids by parameter name."""
    review = uncertain(speaker)["id"]
    told = speaker.tell("I have a cat called Minka")
    memory = create(speaker, "I play the clavichord")["id"]
    document = speaker.http.post("/documents", files={"file": ("notes.md", b"# Tides\n\nHigh at noon.")}).json()["id"]
    image = speaker.http.post("/documents", files={"file": ("sea.png", png(64, 64))}).json()["id"]
    job = speaker.http.post("/import", content=b"- I play the viol").json()["id"]
    speaker.wait()
    speaker.http.post("/memories", json={"text": "The mascot is an otter", "project": "zoo"})
    jest = create(speaker, "I play the kazoo")["id"]
    apart = speaker.http.post("/quarantine", json={"memory": jest, "reason": "told in jest"}).json()
    return {
        "job_id": job,
        "project_id": "zoo",
        "agent_id": speaker.http.post("/agents", json={"name": "gardener"}).json()["id"],
        "task_id": speaker.http.post("/tasks", json={"title": "post the letters"}).json()["id"],
        "entry_id": apart["id"],
        "memory_id": memory,
        "review_id": review,
        "session_id": told.headers["x-memory-session"],
        "receipt_id": told.headers["x-memory-receipt"],
        "document_id": document,
        "image_id": image,
        "team_id": "cooks",
    }


def task(speaker: Speaker) -> str:
    return str(speaker.http.post("/tasks", json={"title": "fold the maps"}).json()["id"])


def filled(speaker: Speaker, body: Message, ids: dict[str, str]) -> Message:
    """Return an example's body with existing ids."""
    if "id" in body or "ids" in body:
        other = create(speaker, "I play the clavichord on Sundays")["id"]
        body = {"id": other} if "id" in body else {"ids": [other]}
    if "request_id" in body:
        asked, at = {"question": "Which of both?"}, f"{speaker.server.origin}/memory-manager/human/request"
        body = {**body, "request_id": speaker.http.post(at, json=asked).json()["request_id"]}
    for name in ("item_id", "task_id"):
        if name in body:
            body = {
                **body,
                name: create(speaker, "I play the zither")["id"] if name == "item_id" else task(speaker),
            }
    if "memory" in body:
        body = {**body, "memory": ids["memory_id"]}
    if "batch" in body:
        gone = create(speaker, "I play chess")["id"]
        body = {"batch": speaker.http.post("/memories/forget", json={"ids": [gone]}).json()["batch"]}
    return body


def run(speaker: Speaker, sample: str, operation: Message, ids: dict[str, str]) -> httpx.Response:
    """Send the request of a curl line, with existing ids and this speaker's key."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            sample = sample.replace(parameter["example"], ids[parameter["name"]])
    words = shlex.split(sample)
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    url = next(word for word in words if word.startswith("http://")).removeprefix("http://127.0.0.1:8787")
    options: dict[str, Any] = {}
    if "-d" in words:
        options["json"] = filled(speaker, json.loads(words[words.index("-d") + 1]), ids)
    if "-F" in words:
        options["files"] = {"file": ("notes.md", b"Low tide at six.")}
    return speaker.http.request(method, f"{speaker.server.origin}{url}", **options)


@pytest.fixture
def keyed(tmp_path: Path, provider: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path, upstream=provider.base_url, auth={"mode": "keys"}) as running:
        yield running


def test_every_example_works_on_a_running_server(keyed: Running) -> None:
    document = described(keyed)
    paths = document["paths"]
    assert CHAT.isdisjoint(paths)
    assert {"/v1/memories", "/v1/reviews", "/v1/usage", "/v1/memories/{memory_id}/pin"} <= paths.keys()
    key, _ = new_team_key(keyed, teams=["cooks"])
    with speaking(keyed, key) as alice:
        ids = made(alice)
        operations = [(path, method, one) for path, found in paths.items() for method, one in found.items()]
        operations.sort(
            key=lambda each: (each[0] == "/v1/erase", each[1] == "delete", each[0])
        )  # deletions come last, erasing at the very end
        for path, method, operation in operations:
            if (method, path) == ("delete", "/v1/quarantine/{entry_id}"):  # it was already released
                made_anew = alice.http.post("/quarantine", json={"memory": create(alice, "I play the banjo")["id"]})
                ids["entry_id"] = made_anew.json()["id"]
            (sample,) = operation["x-codeSamples"]
            response = run(alice, sample["source"], operation, ids)
            assert response.status_code == (202 if path == "/v1/import" else 200), (method, path, response.text)
            assert "4XX" in operation["responses"]


def test_head_answers_like_every_get(keyed: Running) -> None:
    key, _ = new_team_key(keyed, teams=["cooks"])
    with speaking(keyed, key) as alice:
        ids = made(alice)
        for path, operations in described(keyed)["paths"].items():
            if "get" not in operations:
                continue
            (sample,) = operations["get"]["x-codeSamples"]
            got, head = (
                run(alice, f"{sample['source']} -X {method}", operations["get"], ids) for method in ("GET", "HEAD")
            )
            assert (head.status_code, head.content) == (got.status_code, b""), path
            assert head.headers["content-type"] == got.headers["content-type"]


def test_head_of_an_unknown_path_is_refused(alice: Speaker) -> None:
    for path in ("/memories/mem_none", "/memories/none/none/none", "/memories/search/none"):
        assert alice.http.head(path).status_code == 404
    assert alice.http.head("/erase").status_code == 405


def test_every_body_has_an_example(server: Running) -> None:
    for path, operations in described(server)["paths"].items():
        for method, operation in operations.items():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                assert content.get("example"), (method, path)
