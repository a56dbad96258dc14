"""Effects of each mode, budget, time and name on the request, on memory and on the response."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import BOTH, FACT, Speaker, assistant, outcome, speaking, user

QUESTION = "What are the productivity tools that I use"
OTHER = "I use Zorbek as a drawing tool"


def chores() -> list[str]:
    """Return many statements that match the question, of one conversation."""
    return [
        f"I use Tool{n}x as a productivity tool for the long list of chores number {n} on Mondays" for n in range(40)
    ]


def counts(speaker: Speaker) -> tuple[int, int, int]:
    """Return the numbers of one client's memories, conversations and messages."""
    return len(speaker.memories()), len(speaker.sessions()), len(speaker.all_episodes())


def test_full_uses_and_learns(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    response = alice.tell(QUESTION)
    shown = outcome(response)
    assert shown["outcome"] == "used"
    assert int(shown["n"]) >= 1
    assert 0 < int(shown["tokens"]) <= 600
    assert "Magnet" in upstream.last.json["messages"][-1]["content"]
    assert alice.texts() == BOTH
    assert len(alice.sessions()) == 2


def test_read_uses_and_learns_nothing(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    before = alice.memories(), len(alice.all_episodes())
    response = alice.tell(f"{OTHER}. {QUESTION}?", x_memory_mode="read")
    assert outcome(response)["outcome"] == "used"
    assert "Magnet" in upstream.last.json["messages"][-1]["content"]
    assert (alice.memories(), len(alice.all_episodes())) == before


def test_read_mode_turns_are_learned_once_in_full(alice: Speaker) -> None:
    alice.tell(FACT, x_memory_mode="read")
    assert alice.memories() == []
    alice.tell(FACT, "Thank you for that")
    assert alice.texts() == BOTH


def test_write_learns_and_sends_the_same_bytes(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    body = b'{ "model":"gpt-4o", "messages" : [ {"role":"user","content":"' + QUESTION.encode() + b'"} ] }'
    response = alice.http.post(
        "/chat/completions", content=body, headers={"x-memory-mode": "write", "content-type": "application/json"}
    )
    assert upstream.last.body == body
    assert outcome(response) == {"outcome": "none", "n": "0", "tokens": "0"}
    alice.tell(OTHER, x_memory_mode="write")
    assert OTHER in alice.texts()


def test_observe_tells_and_touches_nothing(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    before = alice.memories(), alice.sessions(), alice.all_episodes()
    body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"' + QUESTION.encode() + b'"}]}'
    response = alice.http.post(
        "/chat/completions", content=body, headers={"x-memory-mode": "observe", "content-type": "application/json"}
    )
    assert upstream.last.body == body
    assert outcome(response) == {"outcome": "none", "n": "0", "tokens": "0", "reason": "observe"}
    receipt = alice.receipt(response)
    assert {"Shram", "Magnet"} <= {word for entry in receipt["injected"] for word in entry["text"].split()}
    alice.wait()
    assert (alice.memories(), alice.sessions(), alice.all_episodes()) == before


def test_observe_does_not_learn_a_statement(alice: Speaker) -> None:
    alice.tell(FACT, x_memory_mode="observe")
    assert counts(alice) == (0, 0, 0)


def test_off_is_the_same_bytes_and_leaves_nothing(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    before = counts(alice)
    body = b'{"messages":[{"content":"' + QUESTION.encode() + b'","role":"user"}],"model":"gpt-4o","x":1.50}'
    response = alice.http.post(
        "/chat/completions", content=body, headers={"x-memory-mode": "off", "content-type": "application/json"}
    )
    assert upstream.last.body == body
    assert outcome(response) == {"outcome": "off", "n": "0", "tokens": "0"}
    assert "x-memory-receipt" not in response.headers
    alice.tell(OTHER, x_memory_mode="off")
    assert counts(alice) == before


def test_unknown_mode_is_refused_by_name(alice: Speaker, upstream: FakeProvider) -> None:
    response = alice.http.post(
        "/chat/completions", json={"model": "gpt-4o", "messages": [user("hi")]}, headers={"x-memory-mode": "on"}
    )
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_header"
    assert "X-Memory-Mode" in response.json()["error"]["message"]
    assert upstream.seen == []


@pytest.mark.parametrize("budget", ["-1", "many", "1e3", "٣"])
def test_a_budget_that_is_no_number_is_refused(alice: Speaker, budget: str) -> None:
    response = alice.http.post(
        "/chat/completions",
        json={"model": "gpt-4o", "messages": [user("hi")]},
        headers={"x-memory-budget": budget.encode()},
    )
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_header"


def test_a_budget_of_nothing_injects_nothing(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT)
    alice.tell("My name is Robin")
    body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"' + QUESTION.encode() + b'"}]}'
    response = alice.http.post(
        "/chat/completions", content=body, headers={"x-memory-budget": "0", "content-type": "application/json"}
    )
    assert upstream.last.body == body
    assert outcome(response) == {"outcome": "none", "n": "0", "tokens": "0"}


def test_budget_bounds_injection_and_may_exceed_default(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(*chores())
    tokens = {}
    for budget in (60, 150, 600, 2000):
        response = alice.say(QUESTION, x_memory_budget=str(budget), x_memory_mode="read")
        tokens[budget] = int(outcome(response)["tokens"])
        assert tokens[budget] <= budget
    assert tokens[60] <= tokens[150] < tokens[600] < tokens[2000]
    assert tokens[2000] > 600


def test_a_budget_above_the_cap_is_the_cap(alice: Speaker) -> None:
    response = alice.say(QUESTION, x_memory_budget="999999")
    assert alice.receipt(response)["budget"] == 8000


def test_turn_is_dated_by_the_clients_time(alice: Speaker) -> None:
    alice.tell(FACT, x_memory_time="2024-03-01T09:30:00+02:00")
    assert {memory["valid_from"] for memory in alice.memories()} == {"2024-03-01T07:30:00Z"}
    assert {episode["at"] for episode in alice.all_episodes()} == {"2024-03-01T07:30:00Z"}
    assert alice.sessions()[0]["created_at"] == "2024-03-01T07:30:00Z"


def test_relative_date_counts_from_the_clients_time(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACT, x_memory_time="2024-03-01T09:30:00Z")
    alice.say(QUESTION, x_memory_time="2024-04-01T00:00:00Z")
    assert "2024-03-01" in upstream.last.json["messages"][-1]["content"]


def test_turn_is_shown_on_its_local_day(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("Which bee species live in Recife?", x_memory_time="2024-03-01T22:06:00-03:00")
    alice.say("Which bee species live in Recife again?", x_memory_time="2024-04-01T00:00:00Z")
    shown = upstream.last.json["messages"][-1]["content"]
    assert "2024-03-01" in shown
    assert "2024-03-02" not in shown


def test_a_time_that_is_none_is_refused(alice: Speaker) -> None:
    response = alice.http.post(
        "/chat/completions", json={"model": "gpt-4o", "messages": [user("hi")]}, headers={"x-memory-time": "yesterday"}
    )
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "X-Memory-Time"


SESSION_ALIASES: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({"x_memory_session": "one"}, {}),
    ({"x_openwebui_chat_id": "two"}, {}),
    ({"x_sm_conversation_id": "three"}, {}),
    ({}, {"metadata": {"conversation_id": "four"}}),
    ({}, {"prompt_cache_key": "five"}),
]


@pytest.mark.parametrize("first", range(len(SESSION_ALIASES)))
def test_first_alias_names_the_conversation(alice: Speaker, first: int) -> None:
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    for named, in_body in SESSION_ALIASES[first:]:
        headers |= named
        body |= in_body
    response = alice.say(FACT, body=body, **headers)
    expected = ("one", "two", "three", "four", "five")[first]
    assert response.headers["x-memory-session"] == expected
    assert [session["name"] for session in alice.sessions()] == [expected]


USER_ALIASES: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({"x_memory_user": "u1"}, {}),
    ({"x_openwebui_user_id": "u2"}, {}),
    ({"x_sm_user_id": "u3"}, {}),
    ({}, {"safety_identifier": "u4"}),
    ({}, {"metadata": {"user_id": "u5"}}),
    ({}, {"user": "u6"}),
]


@pytest.mark.parametrize("first", range(len(USER_ALIASES)))
def test_first_alias_names_the_user(server: Running, alice: Speaker, first: int) -> None:
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    for named, in_body in USER_ALIASES[first:]:
        headers |= named
        body |= in_body
    alice.say(FACT, body=body, **headers)
    for number in range(1, 7):
        with speaking(server, alice.key, x_memory_user=f"u{number}") as other:
            other.wait()
            assert len(other.memories()) == (2 if number == first + 1 else 0)
    assert alice.memories() == []


def test_only_the_clients_own_headers_go_up(alice: Speaker, upstream: FakeProvider) -> None:
    ours = {
        "x_memory_user": "robin",
        "x_memory_session": "s",
        "x_memory_agent": "a",
        "x_memory_mode": "full",
        "x_memory_budget": "300",
        "x_memory_tools": "off",
        "x_memory_time": "2026-01-01T00:00:00Z",
        "x_memory_anything": "1",
    }
    alice.say(FACT, x_openwebui_chat_id="chat", openai_organization="org", x_client_request_id="rid", **ours)
    names = {name.lower() for name, _ in upstream.last.headers}
    assert not [name for name in names if name.startswith("x-memory")]
    assert upstream.last.header("openai-organization") == "org"
    assert upstream.last.header("x-client-request-id") == "rid"
    assert upstream.last.header("authorization") == f"Bearer {alice.key}"


def test_errand_of_a_front_end_is_no_turn(alice: Speaker, upstream: FakeProvider) -> None:
    task = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n" + FACT
    response = alice.tell(task)
    assert outcome(response)["outcome"] == "off"
    assert counts(alice) == (0, 0, 0)
    assert upstream.last.json["messages"][-1]["content"] == task


def test_only_new_parts_of_edited_history_are_learned(alice: Speaker) -> None:
    alice.tell(FACT)
    alice.tell(FACT, OTHER)
    alice.post([user(FACT), assistant(), user("I play the harpsichord")])
    alice.wait()
    assert alice.texts() == {*BOTH, OTHER, "I play the harpsichord"}
    texts = [episode["text"] for episode in alice.all_episodes() if episode["role"] == "user"]
    assert texts.count(FACT) == 1
