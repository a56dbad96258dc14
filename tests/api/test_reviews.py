"""``/v1/reviews`` over real sockets: list, approve, decline, edit, expire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.test_memories import create, refused
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import Message, Speaker, speaking

TRIP, ASKED = "My trip to Rome costs 900 euros.", "Forget the trip to Rome with Anna"


def uncertain(speaker: Speaker) -> Message:
    """Send an uncertain request to forget, and return its review."""
    speaker.tell(f"{TRIP} My landlord is Mr Brown.")
    speaker.tell(ASKED)
    (review,) = speaker.get("/reviews")["data"]
    return dict(review)


def decide(speaker: Speaker, review: Message, **body: Any) -> Message:
    response = speaker.http.post(f"/reviews/{review['id']}", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def injected(speaker: Speaker, upstream: Any, question: str) -> str:
    speaker.say(question, x_memory_mode="read")
    return str(upstream.last.json["messages"][-1]["content"]).replace(question, "")


def test_a_review_names_change_memory_and_sentence(alice: Speaker, upstream: Any) -> None:
    review = uncertain(alice)
    assert (review["object"], review["status"], review["change"]) == ("review", "open", "forget")
    assert (review["sentence"], review["decided_at"]) == (ASKED, None)
    assert [(memory["text"], memory["status"]) for memory in review["memories"]] == [(TRIP, "review")]
    assert review["expires_at"] > review["created_at"]
    assert alice.get(f"/reviews/{review['id']}") == review
    assert "900" not in injected(alice, upstream, "What does my trip to Rome cost?")


def test_an_approved_request_closes_and_can_be_undone(alice: Speaker, upstream: Any) -> None:
    review = uncertain(alice)
    decided = decide(alice, review, decision="approve")
    assert (decided["status"], decided["memories"][0]["status"]) == ("approved", "closed")
    assert decide(alice, review, decision="approve") == decided
    assert alice.get("/reviews")["data"] == []
    assert "900" not in injected(alice, upstream, "What does my trip to Rome cost?")
    refused(alice.http.post(f"/reviews/{review['id']}", json={"decision": "decline"}), 409, "conflict")
    alice.http.post("/memories/undo", json={"batch": review["id"]})
    assert "900" in injected(alice, upstream, "What does my trip to Rome cost?")
    assert alice.get(f"/reviews/{review['id']}")["status"] == "declined"


def test_a_declined_request_is_not_asked_again(alice: Speaker, upstream: Any) -> None:
    review = uncertain(alice)
    decided = decide(alice, review, decision="decline")
    assert (decided["status"], decided["memories"][0]["status"]) == ("declined", "active")
    assert "900" in injected(alice, upstream, "What does my trip to Rome cost?")
    alice.tell(ASKED, x_memory_session="another")
    assert alice.get("/reviews")["data"] == []
    assert TRIP in alice.texts()
    assert [row["id"] for row in alice.get("/reviews", status="all")["data"]] == [review["id"]]


def test_an_edited_request_forgets_what_its_text_names(alice: Speaker) -> None:
    review = uncertain(alice)
    decided = decide(alice, review, decision="edit", text="Brown")
    assert decided["status"] == "edited"
    assert alice.texts() == {TRIP}
    assert alice.texts(status="closed") == {"My landlord is Mr Brown."}


@pytest.mark.parametrize(
    "body", [{"decision": "edit", "text": "Rome"}, {"decision": "approve"}, {"decision": "decline"}], ids=str
)
def test_an_edited_review_refuses_every_decision(alice: Speaker, body: Message) -> None:
    review = uncertain(alice)
    decided = decide(alice, review, decision="edit", text="Brown")
    error = refused(alice.http.post(f"/reviews/{review['id']}", json=body), 409, "conflict")
    assert "is edited already" in error["message"]
    assert "/v1/memories/forget" in error["message"]
    assert alice.get(f"/reviews/{review['id']}") == decided
    assert alice.texts() == {TRIP}


def test_an_edit_that_names_nothing_changes_nothing(alice: Speaker) -> None:
    review = uncertain(alice)
    url = f"/reviews/{review['id']}"
    refused(alice.http.post(url, json={"decision": "edit", "text": "Zanzibar"}), 400, "invalid_request")
    refused(alice.http.post(url, json={"decision": "edit"}), 400, "invalid_request")
    refused(alice.http.post(url, json={"decision": "approve", "text": "x"}), 400, "invalid_request")
    assert alice.get(url) == review


@pytest.mark.parametrize("path", ["/reviews/end_{}", "/reviews?after=end_{}"])
def test_a_review_of_another_user_is_unknown(server: Running, alice: Speaker, path: str) -> None:
    review = uncertain(alice)
    with speaking(server) as bob:
        create(bob, "I live in Oslo")
        there, nowhere = (bob.http.get(path.format(id_)) for id_ in (review["id"][4:], "0" * 24))
        assert there.status_code == nowhere.status_code == 404
        assert there.text.replace(review["id"], "") == nowhere.text.replace("end_" + "0" * 24, "")
        refused(bob.http.post(f"/reviews/{review['id']}", json={"decision": "approve"}), 404, "not_found")
    assert alice.get(f"/reviews/{review['id']}") == review


def test_a_request_nobody_decided_stays_forgotten(tmp_path: Path, provider: FakeProvider) -> None:
    with Running(tmp_path, upstream=provider.base_url, memory={"review_days": 1e-9}) as server, speaking(server) as one:
        one.tell(TRIP)
        one.tell(ASKED)
        assert one.get("/reviews")["data"] == []
        (review,) = one.get("/reviews", status="expired")["data"]
        assert [memory["status"] for memory in review["memories"]] == ["closed"]
        assert one.texts() == set()
