"""Conversations stored by the provider: turns that name the previous reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI

from tests.e2e.responding import DOG_QUESTION, FACTS, MODEL, TOOLS_QUESTION, knowing, message, post, provider_of_replies
from tests.fakes.provider import FakeProvider
from tests.fakes.responses import last_text
from tests.running import Running
from tests.talking import BOTH, Speaker, outcome, speaking

__all__ = ["knowing", "provider_of_replies"]


def id_of(response: httpx.Response) -> str:
    return str(response.json()["id"])


def injected(speaker: Speaker, response: httpx.Response) -> set[str]:
    return {entry["id"] for entry in speaker.receipt(response)["injected"]}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_three_turns_are_one_conversation(
    server: Running, alice: Speaker, provider_of_replies: FakeProvider, stream: bool
) -> None:
    client, previous = server.client(alice.key), openai.omit
    for fact in FACTS:
        _, previous = _turn(client, fact, previous, stream=stream)
    alice.wait()
    (session,) = alice.sessions()
    assert session["turns"] == 3
    said = [one["text"] for one in alice.episodes(session["id"])]
    assert said == [FACTS[0], "All right.", FACTS[1], "All right.", FACTS[2], "All right."]
    assert alice.texts() == {*BOTH, *FACTS[1:]}


def _turn(client: OpenAI, text: str, previous: Any, *, stream: bool) -> tuple[str, str]:
    if stream:
        with client.responses.stream(model=MODEL, input=text, previous_response_id=previous) as events:
            final = events.get_final_response()
        return final.output_text, final.id
    whole = client.responses.create(model=MODEL, input=text, previous_response_id=previous)
    return whole.output_text, whole.id


def test_what_the_provider_keeps_is_not_injected_again(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(knowing, DOG_QUESTION)
    shown = injected(knowing, first)
    inputs = [provider_of_replies.last.json["input"]]
    assert "Bronko" in inputs[0]
    knowing.wait()
    second = post(knowing, "Say again, what is my dog called?", previous_response_id=id_of(first))
    assert provider_of_replies.last.json["input"] == "Say again, what is my dog called?"
    assert shown <= set(knowing.receipt(second)["carried"])
    assert outcome(second) == {"outcome": "used", "n": str(len(shown)), "tokens": "0"}
    third = post(knowing, TOOLS_QUESTION, previous_response_id=id_of(second))
    inputs.append(provider_of_replies.last.json["input"])
    assert ["".join(inputs).count(name) > 0 for name in ("Bronko", "Shram")] == [True, True]
    assert "Bronko" not in inputs[1]
    assert sum("Shram" in text for text in inputs) == 1  # with the first question, or with the question about it
    assert len({one.headers["x-memory-session"] for one in (first, second, third)}) == 1


def test_another_branch_gets_what_it_has_not_got(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    root = post(knowing, "Good morning, how do magnets work?")
    post(knowing, DOG_QUESTION, previous_response_id=id_of(root))
    assert "Bronko" in provider_of_replies.last.json["input"]
    post(knowing, "Well then, what is my dog called?", previous_response_id=id_of(root))
    assert "Bronko" in provider_of_replies.last.json["input"]


def test_the_profile_goes_with_the_first_turn_only(alice: Speaker, provider_of_replies: FakeProvider) -> None:
    post(alice, "My name is Robin")
    alice.wait()
    first = post(alice, "Good morning, how do magnets work?")
    assert "Robin" in provider_of_replies.last.json["input"]
    second = post(alice, "And what is a monopole?", previous_response_id=id_of(first))
    assert provider_of_replies.last.json["input"] == "And what is a monopole?"
    alice.http.post("/memories/forget", json={"text": "Robin"})
    post(alice, "My name is Rowan, and what is a dipole?")
    alice.wait()
    post(alice, "And what is a field?", previous_response_id=id_of(second))
    assert "Rowan" in provider_of_replies.last.json["input"]


def test_a_retraction_in_a_kept_conversation_counts(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(knowing, "Good morning, how do magnets work?")
    post(knowing, "I don't use Magnet anymore", previous_response_id=id_of(first))
    knowing.wait()
    post(knowing, TOOLS_QUESTION)
    assert "Shram" in provider_of_replies.last.json["input"]
    assert "Magnet" not in provider_of_replies.last.json["input"]


def test_a_retried_turn_adds_nothing(knowing: Speaker) -> None:
    first = post(knowing, "Good morning, how do magnets work?")
    for _ in range(3):
        post(knowing, "My cat is called Minka", previous_response_id=id_of(first))
        knowing.wait()
    said = [one["text"] for one in knowing.all_episodes()]
    assert said.count("My cat is called Minka") == 1
    assert first.headers["x-memory-session"] in {one["id"] for one in knowing.sessions() if one["turns"] == 2}


def test_equal_words_later_are_said_again(alice: Speaker, provider_of_replies: FakeProvider) -> None:
    previous = id_of(post(alice, "My cat is called Minka"))
    for _ in range(2):
        previous = id_of(post(alice, "Thank you, and good night.", previous_response_id=previous))
    alice.wait()
    (session,) = alice.sessions()
    assert session["turns"] == 3
    assert [one["text"] for one in alice.episodes(session["id"])].count("Thank you, and good night.") == 2


def test_follow_up_is_understood_by_earlier_turns(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(knowing, "Let us talk about my productivity tools.", headers={"x-memory-mode": "write"})
    knowing.wait()
    post(knowing, "Which ones?", previous_response_id=id_of(first))
    assert "Shram" in provider_of_replies.last.json["input"]


def test_reading_alone_follows_a_conversation_too(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(knowing, DOG_QUESTION, headers={"x-memory-mode": "read"})
    assert "Bronko" in provider_of_replies.last.json["input"]
    post(knowing, "Say again, what is my dog called?", headers={"x-memory-mode": "read"},
         previous_response_id=id_of(first))  # fmt: skip
    assert "Bronko" not in provider_of_replies.last.json["input"]


def test_unknown_previous_response_goes_up_and_begins_anew(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    one = post(knowing, "Yes please", previous_response_id="resp_of_nobody")
    assert provider_of_replies.last.json["previous_response_id"] == "resp_of_nobody"
    other = post(knowing, "Yes please", previous_response_id="resp_of_somebody_else")
    assert one.headers["x-memory-session"] != other.headers["x-memory-session"]
    knowing.wait()
    assert [episode["text"] for episode in knowing.all_episodes()].count("Yes please") == 2


def test_another_scopes_reply_is_unknown(server: Running, knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(knowing, DOG_QUESTION)
    with speaking(server) as bob:
        second = post(bob, "And my cat?", previous_response_id=id_of(first))
        assert second.headers["x-memory-session"] != first.headers["x-memory-session"]
        assert provider_of_replies.last.json["input"] == "And my cat?"
        assert outcome(second)["n"] == "0"
        assert not bob.receipt(second)["carried"]


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_of_the_providers_names_the_session(
    knowing: Speaker, provider_of_replies: FakeProvider, conversation: Any
) -> None:
    for text in (DOG_QUESTION, "Thank you, and good night.", "Say again, what is my dog called?",
                 "Thank you, and good night."):  # fmt: skip
        response = post(knowing, text, conversation=conversation)
        assert response.headers["x-memory-session"] == "conv_1"
    knowing.wait()
    sent = [seen.json["input"] for seen in provider_of_replies.seen]
    assert "Bronko" in sent[0]
    assert sent[1:] == ["Thank you, and good night.", "Say again, what is my dog called?", "Thank you, and good night."]
    assert len(knowing.get("/sessions/conv_1")["messages"]) == 8


def test_a_deleted_conversation_is_not_gone_on_with(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(knowing, DOG_QUESTION)
    session = first.headers["x-memory-session"]
    assert knowing.http.delete(f"/sessions/{session}").status_code == 200
    second = post(knowing, "Hello again, dog person here", previous_response_id=id_of(first))
    assert second.headers["x-memory-session"] != session


def test_ephemeral_conversations_go_on_in_memory(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    hidden = {"x-memory-mode": "ephemeral"}
    first = post(knowing, "I work as a locksmith", headers=hidden)
    second = post(knowing, "And I like it", headers=hidden, previous_response_id=id_of(first))
    assert first.headers["x-memory-session"] == second.headers["x-memory-session"]
    knowing.wait()
    assert "I work as a locksmith" not in [one["text"] for one in knowing.all_episodes()]


def test_a_conversation_may_go_on_by_resending_it(alice: Speaker, provider_of_replies: FakeProvider) -> None:
    first = post(alice, FACTS[0])
    post(alice, FACTS[1], previous_response_id=id_of(first))
    history = [message("user", FACTS[0]), message("assistant", "All right."), message("user", FACTS[1]),
               message("assistant", "All right."), message("user", FACTS[2])]  # fmt: skip
    post(alice, history, store=False)
    alice.wait()
    (session,) = alice.sessions()
    assert session["turns"] == 3


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("data"), upstream=lasting_provider.base_url, auth={"mode": "keys"}) as running:
        yield running


def made_key(server: Running) -> str:
    services = server.services
    text, _ = server.call(lambda: services.keys.create(now=services.clock.now()))
    return text


def test_tenant_continues_only_its_own_replies(tenants: Running, provider_of_replies: FakeProvider) -> None:
    with speaking(tenants, made_key(tenants)) as anna, speaking(tenants, made_key(tenants)) as ben:
        first = post(anna, FACTS[1])
        post(anna, "And now?", previous_response_id=id_of(first))
        provider_of_replies.seen.clear()
        for headers in ({}, {"x-memory-mode": "off"}):
            body = {"model": MODEL, "input": "What did I say?", "previous_response_id": id_of(first)}
            refused = ben.http.post("/responses", json=body, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, "previous_response_not_found")
        refused = anna.http.post("/responses", json={"model": MODEL, "input": "x", "conversation": "conv_1"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
        assert not provider_of_replies.seen


def test_echoed_input_is_what_the_client_sent(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    """The fake provider by default echoes the last user text, blocks included."""
    provider_of_replies.script(None)
    response = post(knowing, DOG_QUESTION)
    said = response.json()["output"][0]["content"][0]["text"]
    assert said == f"echo: {last_text(provider_of_replies.last.json['input'])}"
