"""``/v1/state`` and the operator's pages: counts of stored and pending data."""

from __future__ import annotations

import httpx

from tests.running import Running
from tests.talking import BOTH, FACT, MAGNET, Speaker


def test_state_counts_what_the_scope_has(alice: Speaker) -> None:
    empty = alice.get("/state")
    assert (empty["object"], empty["pending_turns"], empty["dead_turns"]) == ("state", 0, 0)
    assert (empty["memories"], empty["episodes"]) == ({}, 0)
    assert empty["ready"] is True
    alice.tell(FACT)
    alice.tell("I don't use Magnet anymore")
    full = alice.get("/state")
    assert full["memories"] == {"active": 1, "closed": 1}
    assert alice.texts(status="closed") == {MAGNET}
    assert full["episodes"] == 4


def test_nothing_pending_means_all_is_recalled(alice: Speaker) -> None:
    alice.say(FACT)
    while alice.get("/state")["pending_turns"]:
        pass
    assert alice.texts() == BOTH
    assert len(alice.all_episodes()) == 2


def test_health_and_readiness_need_no_key(server: Running) -> None:
    for path in ("/healthz", "/health/liveliness"):
        assert httpx.get(server.origin + path).json() == {"status": "ok"}
    for path in ("/readyz", "/health/readiness"):
        assert httpx.get(server.origin + path).json() == {
            "status": "ready",
            "store": True,
            "embedder": True,
            "journal": True,
        }


def test_metrics_count_without_a_word_of_content(server: Running, alice: Speaker) -> None:
    alice.tell(FACT)
    page = httpx.get(f"{server.origin}/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    names = {line.split("{")[0].split(" ")[0] for line in page.text.splitlines() if not line.startswith("#")}
    assert {"throughline_requests_total", "throughline_journal_turns", "throughline_jobs_total"} <= names
    for word in ("Shram", "Magnet", alice.key):
        assert word not in page.text
