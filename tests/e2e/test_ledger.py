"""Placement of memory: consecutive requests share their prefix, and forgetting breaks it on purpose."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import BOTH, FACT, MAGNET, SHRAM, Message, Speaker, assistant, conversation, outcome, speaking, user

SYSTEM = {"role": "system", "content": "You are terse. It is <b>now</b> 09:30."}
FACTS = (
    FACT,
    "My dog is called Bronko",
    "I live in Oslo",
    "I play the harpsichord",
    "I am allergic to peanuts",
)
QUESTIONS = (
    "Which productivity tools do I use?",
    "What is my dog called?",
    "In which city do I live?",
    "Which instrument do I play?",
    "What am I allergic to?",
    "Which of my tools would you open first?",
)


@pytest.fixture
def knowing(alice: Speaker) -> Speaker:
    """Return a client with a memory for every question."""
    alice.tell(*FACTS)
    return alice


def send(speaker: Speaker, messages: list[Message], **headers: str) -> httpx.Response:
    """Post with ``messages`` as the last member, so that a longer history extends only the end of the body."""
    body = '{"model": "gpt-4o",  "temperature": 0.70, "messages": ' + json.dumps(messages, ensure_ascii=False) + "}"
    named = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    response = speaker.http.post("/chat/completions", content=body.encode(), headers=named)
    assert response.status_code == 200, response.text
    return response


def sent(upstream: FakeProvider, at: int = -1) -> list[Message]:
    return list(upstream.seen[at].json["messages"])


def text_of(messages: list[Message]) -> str:
    return json.dumps(messages, ensure_ascii=False)


def test_system_and_assistant_messages_are_never_touched(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    messages: list[Message] = [SYSTEM]
    for question in QUESTIONS[:3]:
        messages = [*messages, user(question)]
        send(knowing, messages)
        for original, arrived in zip(messages, sent(upstream), strict=True):
            if original["role"] == "user":
                assert arrived["content"].startswith(original["content"])
                assert {**arrived, "content": ""} == {**original, "content": ""}
            else:
                assert json.dumps(arrived) == json.dumps(original)
        messages = [*messages, {**assistant('I see, {} "and" <so> on.'), "refusal": None}]


def test_each_request_is_a_prefix_of_the_next(knowing: Speaker, upstream: FakeProvider) -> None:
    """The prefix is equal byte for byte."""
    upstream.seen.clear()
    messages: list[Message] = [SYSTEM]
    injected = 0
    for question in QUESTIONS:
        messages = [*messages, user(question)]
        injected += len(knowing.receipt(send(knowing, messages))["injected"])
        messages = [*messages, assistant(f"Let me think about «{question}»")]
    assert injected >= len(FACTS)
    bodies = [seen.body for seen in upstream.seen]
    for shorter, longer in itertools.pairwise(bodies):
        assert longer.startswith(shorter.removesuffix(b"]}"))


def test_prefix_holds_while_the_worker_learns(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    messages: list[Message] = [SYSTEM]
    for question, fact in zip(QUESTIONS, ("I like tea", "I play chess", "I own a kayak"), strict=False):
        messages = [*messages, user(f"{fact}. {question}")]
        send(knowing, messages)
        knowing.wait()
        messages = [*messages, assistant()]
    bodies = [seen.body for seen in upstream.seen]
    for shorter, longer in itertools.pairwise(bodies):
        assert longer.startswith(shorter.removesuffix(b"]}"))


def test_an_entry_stands_in_one_place_only(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    first = send(knowing, [user(QUESTIONS[1])])
    second = send(knowing, [user(QUESTIONS[1]), assistant(), user("Say again, what is my dog called?")])
    assert text_of(sent(upstream)).count("My dog is called Bronko") == 1
    injected = [entry["id"] for entry in knowing.receipt(first)["injected"]]
    again = [entry["id"] for entry in knowing.receipt(second)["injected"]]
    assert not set(injected) & set(again)
    assert set(injected) <= set(knowing.receipt(second)["carried"])
    assert int(outcome(second)["n"]) == len({*injected, *again})


def test_a_regenerated_reply_gets_the_same_request(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    messages = [SYSTEM, user(QUESTIONS[0]), assistant(), user(QUESTIONS[1])]
    send(knowing, messages[:2])
    send(knowing, messages)
    knowing.wait()
    send(knowing, messages)
    assert upstream.seen[1].body == upstream.seen[2].body


TOOLS = [{"type": "function", "function": {"name": "lookup", "parameters": {"type": "object", "properties": {}}}}]
CALL: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}],
}
RESULT: Message = {"role": "tool", "tool_call_id": "call_1", "content": "My dog is called Rex, says the register."}


def test_nothing_stands_between_tool_call_and_result(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    messages = [SYSTEM, user(QUESTIONS[1]), CALL, RESULT]
    send(knowing, messages)
    arrived = sent(upstream)
    assert [message["role"] for message in arrived] == ["system", "user", "assistant", "tool"]
    assert arrived[2:] == messages[2:]
    assert "Bronko" in arrived[1]["content"]


def test_request_gets_no_tools_of_ours(knowing: Speaker, upstream: FakeProvider) -> None:
    knowing.say(QUESTIONS[1])
    assert "tools" not in upstream.last.json
    knowing.say(QUESTIONS[1], body={"tools": TOOLS, "tool_choice": "auto"})
    assert upstream.last.json["tools"] == TOOLS


def test_block_is_computed_once_in_a_tool_loop(server: Running, knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    messages = [SYSTEM, user(QUESTIONS[1])]
    send(knowing, messages)
    knowing.tell("My dog is called Bronko and I walk my dog in Frogner")
    upstream.seen.clear()
    loop = [*messages, CALL, RESULT]
    send(knowing, [*messages[:2], CALL, RESULT])
    first = upstream.last.body
    second_call = {**CALL, "tool_calls": [{**CALL["tool_calls"][0], "id": "call_2"}]}
    send(knowing, [*loop, second_call, {**RESULT, "tool_call_id": "call_2"}])
    assert upstream.last.body.startswith(first.removesuffix(b"]}"))
    assert "Frogner" not in text_of(sent(upstream))


def test_a_tools_words_are_not_learned(knowing: Speaker) -> None:
    send(knowing, [SYSTEM, user(QUESTIONS[1]), CALL, RESULT])
    knowing.wait()
    assert "Rex" not in str(knowing.memories(status="all"))


def test_a_list_of_parts_keeps_its_parts(knowing: Speaker, upstream: FakeProvider) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": QUESTIONS[1], "cache_control": {"type": "ephemeral"}},
        image,
    ]
    send(knowing, [{"role": "user", "content": parts}])
    content = sent(upstream)[-1]["content"]
    assert content[:2] == parts
    assert {part["type"] for part in content[2:]} == {"text"}
    assert sum("Bronko" in part["text"] for part in content[2:]) == 1


def test_retraction_elsewhere_drops_value_from_running_conversation(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    send(knowing, [SYSTEM, user(QUESTIONS[0])])
    assert "Magnet" in text_of(sent(upstream))
    knowing.tell("I don't use Magnet anymore")
    send(knowing, [SYSTEM, user(QUESTIONS[0]), assistant(), user("And which of them is best?")])
    assert "Magnet" not in text_of(sent(upstream))
    assert "Shram" in text_of(sent(upstream))


def test_retraction_drops_the_value_from_its_conversation(knowing: Speaker, upstream: FakeProvider) -> None:
    upstream.seen.clear()
    history = [SYSTEM, user(QUESTIONS[0]), assistant(), user("I don't use Magnet anymore")]
    send(knowing, history[:2])
    send(knowing, history)
    knowing.wait()
    send(knowing, [*history, assistant(), user("Which productivity tools are left?")])
    arrived = sent(upstream)
    assert arrived[3]["content"].startswith("I don't use Magnet anymore")
    others = [message for message in arrived if not message["content"].startswith("I don't use Magnet")]
    assert "Magnet" not in text_of(others)


@pytest.mark.parametrize("how", ["delete", "forget", "patch"])
def test_deletion_by_api_reaches_running_conversations(knowing: Speaker, upstream: FakeProvider, how: str) -> None:
    upstream.seen.clear()
    send(knowing, [user(QUESTIONS[0])])
    assert "Magnet" in text_of(sent(upstream))
    (magnet,) = [memory for memory in knowing.memories() if memory["text"] == MAGNET]
    if how == "delete":
        knowing.http.delete(f"/memories/{magnet['id']}")
    elif how == "forget":
        knowing.http.post("/memories/forget", json={"text": "Magnet"})
    else:
        patch = {"text": "I use Rectangle as productivity tools"}
        knowing.http.patch(f"/memories/{magnet['id']}", json=patch)
    send(knowing, [user(QUESTIONS[0]), assistant(), user("And which of them is best?")])
    assert "Magnet" not in text_of(sent(upstream))


def test_what_the_messages_say_already_is_not_repeated(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell(FACTS[0])
    messages = [
        user(FACTS[0]),
        assistant("Good choice. (The client's own rendering of the reply.)"),
        user(QUESTIONS[0]),
    ]
    response = alice.post(messages)
    assert upstream.last.json["messages"] == messages
    assert outcome(response)["n"] == "0"


def test_statement_of_a_shown_turn_is_not_repeated(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("I live in Utrecht. My dog is called Biscuit.")
    asked = user("Where do I live?")
    alice.post([asked])
    assert "Biscuit" in upstream.last.json["messages"][0]["content"]
    alice.post([asked, assistant(), user("And what is my dog called?")])
    assert upstream.last.json["messages"][-1]["content"] == "And what is my dog called?"


def test_profile_stays_as_at_the_conversations_beginning(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("My name is Robin")
    greeting = [SYSTEM, user("Good morning, how do magnets work?")]
    first = send(alice, greeting)
    before = sent(upstream)
    assert "Robin" in before[1]["content"]
    [name] = alice.receipt(first)["profile"]
    assert name in [entry["id"] for entry in alice.receipt(first)["injected"]]
    alice.tell("Please always answer in French")
    second = send(alice, [*greeting, assistant(), user("And what is a monopole?")])
    assert sent(upstream)[:2] == before
    assert alice.receipt(second)["profile"] == []
    assert "French" not in text_of(sent(upstream))
    send(alice, [SYSTEM, user("Good evening, how do compasses work?")])
    assert "French" in text_of(sent(upstream))
    assert "Robin" in text_of(sent(upstream))


def test_a_corrected_profile_breaks_its_freeze(alice: Speaker, upstream: FakeProvider) -> None:
    alice.tell("My name is Robin")
    greeting = [SYSTEM, user("Good morning, how do magnets work?")]
    send(alice, greeting)
    assert "Robin" in text_of(sent(upstream))
    alice.tell("Actually, my name is Rowan.")
    send(alice, [*greeting, assistant(), user("And what is a monopole?")])
    assert "Robin" not in text_of(sent(upstream))


def test_a_retry_adds_nothing(alice: Speaker) -> None:
    body = {"model": "gpt-4o", "messages": [SYSTEM, user(FACTS[0])]}
    for attempt in range(3):
        response = alice.http.post("/chat/completions", json=body, headers={"x-stainless-retry-count": str(attempt)})
        assert response.status_code == 200
        alice.wait()
    assert alice.texts() == BOTH
    assert [session["turns"] for session in alice.sessions()] == [1]
    assert len(alice.all_episodes()) == 2
    assert [len(alice.get(f"/memories/{memory['id']}/history")["data"]) for memory in alice.memories()] == [1, 1]


def test_concurrent_copies_of_a_request_add_one_turn(server: Running, alice: Speaker) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def ask(_: int) -> int:
        with speaking(server, alice.key) as copy:
            return copy.say(FACTS[0]).status_code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(ask, range(12))) == {200}
    alice.wait()
    assert [session["turns"] for session in alice.sessions()] == [1]
    assert len(alice.all_episodes()) == 2
    assert len(alice.memories(status="all")) == 2


def test_resent_histories_add_nothing(alice: Speaker) -> None:
    whole = conversation(*FACTS[:4])
    for end in range(1, len(whole) + 1, 2):
        alice.post(whole[:end])
        alice.wait()
    before = alice.memories(status="all"), alice.all_episodes(), alice.sessions()
    for end in range(1, len(whole) + 1, 2):
        alice.post(whole[:end])
        alice.post([SYSTEM, *whole[:end]])
    alice.wait()
    assert (alice.memories(status="all"), alice.all_episodes()) == before[:2]
    assert [session["turns"] for session in alice.sessions()] == [4]


def test_history_does_not_bring_back_forgotten_values(alice: Speaker) -> None:
    alice.tell(FACTS[0])
    alice.tell("I don't use Magnet anymore")
    alice.post(conversation(FACTS[0], "thanks!", "and what else?"))
    alice.wait()
    assert alice.texts() == {SHRAM}


def test_edited_history_is_a_branch_and_no_duplicate(alice: Speaker) -> None:
    alice.tell(FACTS[1])
    alice.tell(FACTS[1], FACTS[2])
    alice.tell(FACTS[1], FACTS[3])
    said = [episode["text"] for episode in alice.all_episodes() if episode["role"] == "user"]
    assert sorted(said) == sorted([FACTS[1], FACTS[2], FACTS[3]])
    assert alice.texts() == {FACTS[1], FACTS[2], FACTS[3]}


def test_tool_outcomes_in_user_messages_get_no_block(knowing: Speaker, upstream: FakeProvider) -> None:
    opening = [user(f"<task>\n{QUESTIONS[0]}\n</task>"), assistant("<read_file>\n<path>a</path>\n</read_file>")]
    knowing.post(opening[:1])
    first = upstream.last.json["messages"]
    knowing.post([*opening, user("[read_file for 'a'] Result:\nI use Jenkins.")])
    second = upstream.last.json["messages"]
    assert second[0] == first[0]
    assert "<memory" in first[0]["content"]
    assert second[-1]["content"] == "[read_file for 'a'] Result:\nI use Jenkins."
