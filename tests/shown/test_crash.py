"""``kill -9`` during ingestion of a document: the next start continues, and every chunk is stored once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.test_crash import Served, wait_for
from tests.fakes.provider import FakeProvider
from tests.running import TLS

LINES = "\n\n".join(
    f"# Station {number}\n\nThe lamp at station {number} burns for {number % 50 + 3} seconds, as the keeper of pier "
    f"{number * 7 % 91} wrote into the book of the year {1500 + number}." * 3
    for number in range(260)
)


def test_a_document_is_read_once_over_several_deaths(tmp_path: Path, provider: FakeProvider) -> None:
    served = Served(tmp_path, provider.base_url, THROUGHLINE_WORKER__LEASE_S="4")  # leases of the killed process
    served.start()
    try:
        http = httpx.Client(
            base_url=served.base_url, headers={"authorization": "Bearer sk-crash-reader"}, timeout=30, verify=TLS
        )
        with http:
            wait_for(lambda: is_ready(served), "the server did not become ready")
            answer = http.post("/documents", files={"file": ("stations.md", LINES.encode())}).json()
            assert (answer["status"], answer["fraction"]) == ("processing", 0.0)
            fractions = []
            for goal in (0.35, 0.6):
                wait_for(lambda goal=goal: document(http, answer["id"])["fraction"] > goal, "nothing was read")  # type: ignore[misc]
                fractions.append(document(http, answer["id"])["fraction"])
                served.kill()
                served.start()
            wait_for(lambda: document(http, answer["id"])["status"] == "ready", "it was not read to its end")
            done = document(http, answer["id"])
            assert done["fraction"] == 1.0
            chunks: list[dict[str, Any]] = []
            while True:
                page = http.get(
                    f"/documents/{answer['id']}/chunks",
                    params={"limit": 100, "after": chunks[-1]["id"] if chunks else ""},
                ).json()
                chunks += page["data"]
                if not page["has_more"]:
                    break
            assert [chunk["seq"] for chunk in chunks] == list(range(done["chunks"]))
            found = http.post(
                "/memories/search", json={"query": "lamp at station 217", "sources": ["chunk"], "limit": 5}
            ).json()["data"]
            assert "station 217 " in found[0]["text"]
    finally:
        served.close()


def is_ready(served: Served) -> bool:
    return served.http("").get(f"{served.base_url.removesuffix('/v1')}/readyz").status_code == 200


def document(http: httpx.Client, document_id: str) -> dict[str, Any]:
    for _ in range(50):
        try:
            return dict(http.get(f"/documents/{document_id}").json())
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError
