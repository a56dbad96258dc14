"""``X-Memory`` and receipts: memory's effect on a request, and the reasons."""

from __future__ import annotations

from tests.e2e.test_modes import QUESTION, chores, counts
from tests.fakes.provider import FakeProvider
from tests.fakes.replies import error
from tests.talking import BOTH, FACT, MAGNET, SHRAM, Speaker, outcome, user


def test_every_response_says_what_memory_did(alice: Speaker) -> None:
    alice.tell(FACT)
    response = alice.say(QUESTION)
    assert outcome(response).keys() == {"outcome", "n", "tokens"}
    assert response.headers["x-memory-receipt"].startswith("rcpt_")
    assert response.headers["x-memory-session"].startswith("ses_")
    steps = {part.split(";")[0].strip(): part for part in response.headers["server-timing"].split(",")}
    assert {"identify", "recall", "embed", "search", "assemble", "upstream", "journal"} <= steps.keys()
    assert all(float(part.split("dur=")[1]) >= 0 for part in steps.values())
    assert response.headers["x-request-id"] == "req_fake"


def test_a_stream_says_the_same_in_its_head(alice: Speaker) -> None:
    alice.tell(FACT)
    response = alice.say(QUESTION, body={"stream": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert outcome(response)["outcome"] == "used"
    assert {"x-memory-receipt", "x-memory-session", "server-timing"} <= set(response.headers)
    assert alice.receipt(response)["injected"]


def test_provider_error_has_our_headers_and_teaches_nothing(alice: Speaker, upstream: FakeProvider) -> None:
    upstream.then(error(429, "slow down", "rate_limit_exceeded", retry_after="2"))
    response = alice.http.post("/chat/completions", json={"model": "gpt-4o", "messages": [user(FACT)]})
    assert response.status_code == 429
    assert response.json()["error"]["code"] == "rate_limit_exceeded"
    assert response.headers["retry-after"] == "2"
    assert response.headers["x-memory"].startswith("none")
    alice.wait()
    assert counts(alice) == (0, 0, 0)
    alice.tell(FACT)
    assert alice.texts() == BOTH


def test_the_header_counts_each_memory_once(alice: Speaker) -> None:
    alice.tell("My name is Robin")
    response = alice.say("What is the boiling point of tungsten?")
    assert outcome(response)["n"] == "1"
    again = alice.say("What is the boiling point of tungsten?", "And of lead?")
    assert outcome(again)["n"] == "1"


def test_receipt_tells_injected_and_considered(alice: Speaker) -> None:
    alice.tell("My name is Robin")
    alice.tell(*chores())
    response = alice.say(QUESTION, x_memory_budget="200")
    receipt = alice.receipt(response)
    assert receipt["id"] == response.headers["x-memory-receipt"]
    assert (receipt["query"], receipt["budget"], receipt["mode"]) == (QUESTION, 200, "full")
    assert receipt["tokens"] == int(outcome(response)["tokens"])
    assert {"recall", "upstream"} <= receipt["timings"].keys()
    assert receipt["degraded"] == []
    for entry in (*receipt["injected"], *receipt["considered"]):
        assert entry.keys() >= {"source", "id", "text", "score", "tokens", "when", "session"}
        assert entry["text"]
    assert receipt["injected"]
    assert receipt["considered"]
    injected = [entry["id"] for entry in receipt["injected"]]
    considered = [entry["id"] for entry in receipt["considered"]]
    assert not set(injected) & set(considered)
    assert len(set(injected)) == len(injected)
    assert len(set(considered)) == len(considered)


def test_profile_is_not_called_considered(alice: Speaker) -> None:
    alice.tell("My name is Robin")
    receipt = alice.receipt(alice.say("What is the boiling point of tungsten?"))
    (injected,) = receipt["injected"]
    assert injected["text"] == "My name is Robin"
    assert injected["id"] not in [entry["id"] for entry in receipt["considered"]]


def test_receipt_tells_later_what_was_learned(alice: Speaker) -> None:
    first = alice.tell(FACT)
    learned = alice.receipt(first)["learned"]
    assert {(entry["action"], entry["text"]) for entry in learned} == {
        ("add", SHRAM),
        ("add", MAGNET),
    }
    assert {entry["id"] for entry in learned} == {memory["id"] for memory in alice.memories()}
    second = alice.tell("I don't use Magnet anymore")
    receipt = alice.receipt(second)
    assert [(entry["action"], entry["text"]) for entry in receipt["closed"]] == [("close", MAGNET)]
    assert (receipt["learned"], receipt["linked"], receipt["review"]) == ([], [], [])
    undone = alice.http.post("/memories/undo", json={"batch": receipt["closed"][0]["batch"]}).json()
    assert [memory["text"] for memory in undone["restored"]] == [MAGNET]


def test_a_receipt_is_complete_before_anything_is_learned(alice: Speaker) -> None:
    receipt = alice.receipt(alice.say("hello there"))
    assert receipt.keys() >= {"injected", "considered", "query", "budget", "tokens", "timings"}
    assert [receipt[name] for name in ("learned", "closed", "linked", "review")] == [[], [], [], []]
