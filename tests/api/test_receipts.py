"""Receipts over HTTP: the additions to a request, its client, and the questions that got an entry."""

from __future__ import annotations

from tests.fakes.provider import FakeProvider
from tests.talking import Message, Speaker

QUESTION = "Where does my sister live?"


def test_receipt_holds_what_was_added_for_the_provider(upstream: FakeProvider, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.", x_memory_session="first")
    asked = alice.say(QUESTION, x_memory_session="second")
    alice.wait()
    receipt = alice.get(f"/receipts/{asked.headers['x-memory-receipt']}")
    got = upstream.seen[-1].json["messages"][-1]["content"]
    assert {one["said"] for one in receipt["additions"]} == {QUESTION}
    assert got == QUESTION + "".join(one["text"] for one in receipt["additions"])
    assert "Tromsø" in got
    assert {one["message"] for one in receipt["additions"]} == {receipt["message"]}
    session = alice.get(f"/sessions/{receipt['session']}")
    assert any(said["id"] == receipt["message"] and said["role"] == "user" for said in session["messages"])


def test_later_receipt_tells_what_each_message_carries(upstream: FakeProvider, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.", x_memory_session="first")
    alice.say(QUESTION, x_memory_session="second")
    asked = alice.say(QUESTION, "And do I like green tea?", x_memory_session="second")
    alice.wait()
    receipt = alice.get(f"/receipts/{asked.headers['x-memory-receipt']}")
    got = [one["content"] for one in upstream.seen[-1].json["messages"] if one["role"] == "user"]
    assert _rebuilt(receipt, [QUESTION, "And do I like green tea?"]) == got


def test_receipt_shows_no_text_changed_since(alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    before = alice.say(QUESTION, x_memory_session="one", x_memory_time="2026-03-01T10:00:00Z")
    alice.tell("My sister Ylva sings in the choir of Tromsø.")
    after = alice.say(QUESTION, x_memory_session="one", x_memory_time="2026-03-01T10:00:00Z")  # the question repeated
    first, second = (alice.get(f"/receipts/{one.headers['x-memory-receipt']}") for one in (before, after))
    assert first["additions"][-1]["text"] is None
    assert "choir" in second["additions"][-1]["text"]


def _rebuilt(receipt: Message, said: list[str]) -> list[str]:
    """Return the user's messages with the additions of a receipt at their places."""
    made = list(said)
    for one in receipt["additions"]:
        assert one["place"] == "after"
        made[said.index(one["said"])] += one["text"]
    return made


def test_what_is_destroyed_stands_in_no_receipt(alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    asked = alice.say(QUESTION)
    memory = alice.memories()[0]["id"]
    alice.http.delete(f"/memories/{memory}", params={"purge": "true"}).raise_for_status()
    receipt = alice.http.get(f"/receipts/{asked.headers['x-memory-receipt']}")
    assert "Tromsø" not in receipt.text
    assert receipt.json()["additions"][-1]["text"] is None


def test_receipts_are_listed_by_page_conversation_and_entry(alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.", x_memory_session="first")
    questions = {QUESTION, "Which town is my sister in?"}
    for question in sorted(questions):
        alice.say(question, x_memory_session=question[:5])
    whole = alice.get("/receipts")["data"]
    walked: list[str] = []
    while len(walked) < len(whole):
        page = alice.get("/receipts", limit=1, after=walked[-1] if walked else "")
        walked += [one["id"] for one in page["data"]]
        assert page["has_more"] == (len(walked) < len(whole))
    assert walked == [one["id"] for one in whole]
    assert [one["id"] for one in alice.get("/receipts", session=whole[0]["session"])["data"]] == [whole[0]["id"]]
    entry = whole[0]["injected"][0]["id"]
    used = alice.get("/receipts", entry=entry)["data"]
    assert {one["query"] for one in used} <= questions
    assert [one["id"] for one in used] == [b["id"] for b in whole if entry in {one["id"] for one in b["injected"]}]
    assert alice.get("/receipts", entry="mem_none")["data"] == []
    assert alice.http.get("/receipts", params={"after": "rcpt_none"}).status_code == 404


def test_conversations_tell_their_client_model_and_tokens(alice: Speaker) -> None:
    headers = {"user-agent": "chatter/1.2 (X11; Linux)", "x-memory-session": "one"}
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": QUESTION}]}
    alice.http.post("/chat/completions", json=body, headers=headers).raise_for_status()
    (one,) = alice.get("/sessions", usage=True)["data"]
    assert (one["usage"]["clients"], one["usage"]["models"]) == (["chatter/1.2"], ["gpt-4o"])
    assert one["usage"]["requests"] == 1
    assert one["usage"]["input_tokens"] > 0
    assert one["usage"]["question"] == QUESTION
    assert "usage" not in alice.get("/sessions")["data"][0]


def test_preview_is_what_a_first_message_would_carry(upstream: FakeProvider, alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    before = len(upstream.seen), len(alice.get("/receipts")["data"]), alice.memories()[0]["uses"]
    seen = alice.http.post("/memories/preview", json={"text": QUESTION}).json()
    assert before == (len(upstream.seen), len(alice.get("/receipts")["data"]), alice.memories()[0]["uses"])
    assert any("Tromsø" in one["text"] for one in seen["injected"])
    nothing = alice.http.post("/memories/preview", json={"text": QUESTION, "budget": 0}).json()
    assert (nothing["additions"], nothing["tokens"]) == ([], 0)
    alice.say(QUESTION)
    assert upstream.seen[-1].json["messages"][-1]["content"] == QUESTION + "".join(seen["additions"])


def test_usage_counts_requests_with_memory_and_their_price(alice: Speaker) -> None:
    alice.tell("My sister lives in Tromsø.")
    alice.say(QUESTION)
    (day,) = alice.get("/usage")["data"]
    assert (day["requests"], day["with_memory"], day["degraded"], day["unfinished"]) == (2, 1, 0, 0)
    assert day["usd"] > 0
