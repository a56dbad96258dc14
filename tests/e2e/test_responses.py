"""``POST /v1/responses`` with memory, through the real SDK and over real sockets."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import openai
import pytest
from openai import OpenAI

from proxy.upstream import litellm
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Gate, Reply, error, gated
from tests.fakes.responses import Said, last_text, new_id, reply
from tests.running import Running
from tests.talking import Speaker, outcome, speaking

FACTS = ("I use Shram and Magnet as productivity tools", "My dog is called Bronko", "I live in Oslo")
TOOLS_QUESTION = "What are the productivity tools that I use"
DOG_QUESTION = "What is my dog called?"
INSTRUCTIONS = "You are terse. It is <b>now</b> 09:30."
MODEL = "gpt-4o"


@pytest.fixture
def provider_of_replies(upstream: FakeProvider) -> FakeProvider:
    """The shared provider, agreeing on this wire as well."""
    upstream.script(agreeing)
    return upstream


@pytest.fixture
def knowing(alice: Speaker, provider_of_replies: FakeProvider) -> Iterator[Speaker]:
    """A client whose memory has something for every question, told on this wire."""
    for fact in FACTS:
        post(alice, fact)
        alice.wait()
    provider_of_replies.seen.clear()
    return alice


def agreeing(seen: Seen) -> Reply | None:
    """Answer without a word of the question."""
    if not seen.path.endswith("/responses") or seen.method != "POST":
        return None
    return reply(Said("All right.", new_id(), MODEL, asked=seen.json))


def post(speaker: Speaker, given: Any, *, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    """Post a request and return the whole reply."""
    response = speaker.http.post("/responses", json={"model": MODEL, "input": given, **body}, headers=headers or {})
    assert response.status_code == 200, response.text
    return response


def id_of(response: httpx.Response) -> str:
    return str(response.json()["id"])


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def injected(speaker: Speaker, response: httpx.Response) -> set[str]:
    return {entry["id"] for entry in speaker.receipt(response)["injected"]}


# The scenario, with the SDK


def ask(client: OpenAI, text: str, *, stream: bool, **more: Any) -> tuple[str, str]:
    """Ask and return the answer and the reply's id."""
    if not stream:
        whole = client.responses.create(model="demo", input=text, **more)
        return whole.output_text, whole.id
    with client.responses.stream(model="demo", input=text, **more) as events:
        final = events.get_final_response()
    return final.output_text, final.id


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_tools_are_remembered_forgotten_and_remembered_again(tmp_path: Path, stream: bool) -> None:
    with Running(tmp_path) as server:
        client = server.client()
        ask(client, "I use Shram and Magnet as productivity tools", stream=stream)
        server.wait_learned()
        answer, _ = ask(client, TOOLS_QUESTION, stream=stream)
        assert "Shram" in answer
        assert "Magnet" in answer
        ask(client, "I don't use Magnet anymore", stream=stream)
        server.wait_learned()
        answer, _ = ask(client, TOOLS_QUESTION + "?", stream=stream)
        assert "Shram" in answer
        assert "Magnet" not in answer
        ask(client, "I started using Magnet again", stream=stream)
        server.wait_learned()
        answer, _ = ask(client, "Tell me the productivity tools I use", stream=stream)
        assert "Shram" in answer
        assert "Magnet" in answer


def test_the_demo_goes_on_from_its_own_replies(tmp_path: Path) -> None:
    with Running(tmp_path) as server:
        client = server.client()
        _, first = ask(client, "The meeting room is called Fjord.", stream=False)
        answer, second = ask(client, "What is the meeting room called?", stream=True, previous_response_id=first)
        assert "Fjord" in answer
        assert second != first
        with pytest.raises(openai.BadRequestError) as caught:
            ask(server.client("sk-test-bob"), "What is it called?", stream=False, previous_response_id=first)
        assert caught.value.code == "previous_response_not_found"


def test_what_was_said_on_one_wire_is_known_on_the_other(alice: Speaker, provider_of_replies: FakeProvider) -> None:
    provider_of_replies.script(None)
    alice.tell(FACTS[0])
    post(alice, TOOLS_QUESTION)
    assert "Shram" in provider_of_replies.last.json["input"]
    history = [message("user", FACTS[0]), message("assistant", "ok"), message("user", "thanks")]
    post(alice, history, store=False)
    alice.wait()
    assert len([one for one in alice.all_episodes() if one["text"] == FACTS[0]]) == 1


# Where memory is put


def test_a_string_stays_a_string_and_nothing_else_changes(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    raw = json.dumps({"instructions": INSTRUCTIONS, "input": DOG_QUESTION, "model": MODEL, "x": 1.0}, indent=1).encode()
    response = knowing.http.post("/responses", content=raw, headers={"content-type": "application/json"})
    assert outcome(response)["outcome"] == "used"
    sent = provider_of_replies.last
    assert "Bronko" in sent.json["input"]
    added = sent.json["input"].removeprefix(DOG_QUESTION)
    assert sent.body == raw.replace(DOG_QUESTION.encode(), DOG_QUESTION.encode() + json.dumps(added)[1:-1].encode())


def test_a_list_of_parts_keeps_its_parts(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    parts = [
        {"type": "input_text", "text": DOG_QUESTION},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
        {"type": "input_file", "file_id": "file-1"},
    ]
    post(knowing, [{"type": "message", "role": "user", "content": parts}], instructions=INSTRUCTIONS)
    sent = provider_of_replies.last.json
    assert sent["instructions"] == INSTRUCTIONS
    content = sent["input"][0]["content"]
    assert content[:3] == parts
    assert [part["type"] for part in content[3:]] == ["input_text"]
    assert "Bronko" in content[3]["text"]


def test_off_is_the_same_bytes(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    raw = b'{ "model":"gpt-4o" , "input" : "' + DOG_QUESTION.encode() + b'", "x":[1.50] }'
    named = {"content-type": "application/json", "x-memory-mode": "off"}
    assert knowing.http.post("/responses", content=raw, headers=named).status_code == 200
    assert provider_of_replies.last.body == raw


def test_resent_histories_share_their_prefix_and_add_nothing(
    knowing: Speaker, provider_of_replies: FakeProvider
) -> None:
    items: list[dict[str, Any]] = []
    answers = iter(
        {"type": "message", "id": f"msg_{at}", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": f"Noted {at}.", "annotations": []}]} for at in range(9)
    )  # fmt: skip
    for question in (DOG_QUESTION, "In which city do I live?", TOOLS_QUESTION):
        items = [*items, message("user", question)]
        body = json.dumps({"model": MODEL, "store": False, "input": items})
        response = knowing.http.post("/responses", content=body, headers={"content-type": "application/json"})
        assert response.status_code == 200
        items = [*items, next(answers)]
    bodies = [seen.body for seen in provider_of_replies.seen]
    for shorter, longer in itertools.pairwise(bodies):
        assert longer.startswith(shorter.removesuffix(b"]}"))
    assert b"Bronko" in bodies[-1]
    knowing.wait()
    before = knowing.all_episodes()
    knowing.http.post("/responses", content=body, headers={"content-type": "application/json"})
    knowing.wait()
    assert knowing.all_episodes() == before
    assert len(knowing.sessions()) == len(FACTS) + 1


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "lookup", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "My dog is called Rex, says the register."}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="}


def test_nothing_stands_between_a_call_and_its_result(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    items = [message("user", DOG_QUESTION), REASONING, CALL, RESULT]
    post(knowing, items, store=False)
    sent = provider_of_replies.last.json["input"]
    assert sent[1:] == items[1:]
    assert "Bronko" in sent[0]["content"]
    knowing.wait()
    assert "Rex" not in knowing.values(status="all")


def test_tools_go_round_with_the_sdk(server: Running, knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    def script(seen: Seen) -> Reply:
        is_asked = isinstance(seen.json["input"], str)
        said = Said("" if is_asked else "Rex.", new_id(), MODEL, calls=(CALL,) if is_asked else (), asked=seen.json)
        return reply(said)

    provider_of_replies.script(script)
    client = server.client(knowing.key)
    tools: Any = [{"type": "function", "name": "lookup", "parameters": {"type": "object", "properties": {}}}]
    asked = client.responses.create(model=MODEL, input=DOG_QUESTION, tools=tools)
    assert "Bronko" in provider_of_replies.last.json["input"]
    assert asked.output[0].type == "function_call"
    told: Any = [RESULT]
    done = client.responses.create(model=MODEL, input=told, tools=tools, previous_response_id=asked.id)
    assert done.output_text == "Rex."
    assert provider_of_replies.last.json["input"] == [RESULT]
    knowing.wait()
    (session,) = [one for one in knowing.sessions() if one["turns"] == 2]
    assert [one["text"] for one in knowing.episodes(session["id"])] == [DOG_QUESTION, "Rex."]


# Conversations that the provider keeps


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
    assert alice.values() == {"Shram", "Magnet", "Bronko", "Oslo"}


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
    assert "Bronko" in provider_of_replies.last.json["input"]
    knowing.wait()
    second = post(knowing, "Say again, what is my dog called?", previous_response_id=id_of(first))
    assert provider_of_replies.last.json["input"] == "Say again, what is my dog called?"
    assert shown <= set(knowing.receipt(second)["carried"])
    assert outcome(second) == {"outcome": "used", "n": str(len(shown)), "tokens": "0"}
    third = post(knowing, TOOLS_QUESTION, previous_response_id=id_of(second))
    assert "Shram" in provider_of_replies.last.json["input"]
    assert "Bronko" not in provider_of_replies.last.json["input"]
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


def test_a_follow_up_is_understood_by_what_came_before(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
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


def test_unknown_replies_begin_a_new_conversation_and_go_up_as_they_are(
    knowing: Speaker, provider_of_replies: FakeProvider
) -> None:
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


# Streams, errors and hang-ups


def test_streams_keep_their_bytes(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    scripted = reply(Said("Hello there.", new_id(), asked={"stream": True}))
    odd = Reply([b"\xef\xbb\xbf: hi\n", *scripted.chunks, b"data: [DONE]\n\n"], headers=scripted.headers)
    provider_of_replies.then(odd)
    response = knowing.http.post("/responses", json={"model": MODEL, "input": "Hello there", "stream": True})
    assert response.content == b"".join(one for one in odd.chunks if isinstance(one, bytes))


def test_the_end_waits_for_the_journal(server: Running, knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    gate = Gate()
    scripted = reply(Said("Hello there.", new_id(), asked={"stream": True}))
    provider_of_replies.then(gated(scripted, gate, len(scripted.chunks)))
    body = {"model": MODEL, "input": "My parrot is called Captain", "stream": True}
    with knowing.http.stream("POST", "/responses", json=body) as response:
        seen = b""
        for chunk in response.iter_raw():
            seen += chunk
            if b"event: response.completed" in seen and seen.endswith(b"\n\n"):
                break
        # The provider has not closed yet; what the client has seen the end of is in the journal.
        assert knowing.get("/state")["pending_turns"] >= 1
        gate.open()
    knowing.wait()
    assert "Captain" in knowing.values()


def test_a_failed_reply_keeps_what_the_user_said(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    provider_of_replies.then(reply(Said("Half of", new_id(), status="failed", asked={"stream": True})))
    response = knowing.http.post("/responses", json={"model": MODEL, "input": "I play the oboe", "stream": True})
    assert b"response.failed" in response.content
    knowing.wait()
    assert "oboe" in knowing.values()
    assert knowing.receipt(response)["finish"] == "upstream_error"


def test_errors_of_the_provider_come_back_as_they_are(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    provider_of_replies.then(error(400, "Previous response with id 'resp_x' not found.", "previous_response_not_found"))
    response = knowing.http.post("/responses", json={"model": MODEL, "input": "x", "previous_response_id": "resp_x"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "previous_response_not_found")


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"input": "hi"}', b'{"model": 3, "input": "hi"}'])
def test_what_is_no_request_is_refused_in_shape(alice: Speaker, body: bytes) -> None:
    response = alice.http.post("/responses", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.anyio
async def test_a_hang_up_reaches_the_provider(
    server: Running, alice: Speaker, provider_of_replies: FakeProvider
) -> None:
    gate = Gate()
    provider_of_replies.then(gated(reply(Said("One two three.", new_id(), asked={"stream": True})), gate, 6))
    body = {"model": MODEL, "input": "My budgie is called Kiki", "stream": True}
    with alice.http.stream("POST", "/responses", json=body) as response:
        next(response.iter_raw())
    await provider_of_replies.hung_up(provider_of_replies.last)
    gate.open()
    alice.wait()
    assert "Kiki" in alice.values()


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/responses/resp_1"), ("DELETE", "/responses/resp_1"), ("GET", "/responses/resp_1/input_items"),
     ("POST", "/responses/resp_1/cancel"), ("POST", "/responses/compact"), ("POST", "/responses/input_tokens")],
)  # fmt: skip
def test_everything_else_passes_through(
    alice: Speaker, provider_of_replies: FakeProvider, method: str, path: str
) -> None:
    content = b'{"model": "gpt-4o",  "input": "I like tea"}' if method == "POST" else b""
    response = alice.http.request(method, path, content=content)
    assert response.status_code == 200
    assert provider_of_replies.last.target == f"/v1{path}"
    assert provider_of_replies.last.body == content
    assert response.headers["x-memory"].startswith("off")


# Keys of ours: one account of the provider's for all


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory, lasting_provider: FakeProvider) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("data"), upstream=lasting_provider.base_url, auth={"mode": "keys"}) as running:
        yield running


def made_key(server: Running) -> str:
    services = server.services
    text, _ = server.call(lambda: services.keys.create(now=services.clock.now()))
    return text


def test_a_tenant_goes_on_from_its_own_replies_only(tenants: Running, provider_of_replies: FakeProvider) -> None:
    with speaking(tenants, made_key(tenants)) as anna, speaking(tenants, made_key(tenants)) as ben:
        first = post(anna, FACTS[1])
        post(anna, "And now?", previous_response_id=id_of(first))
        provider_of_replies.seen.clear()
        for headers in ({}, {"x-memory-mode": "off"}):
            body = {"model": MODEL, "input": "What did I say?", "previous_response_id": id_of(first)}
            refused = ben.http.post("/responses", json=body, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "previous_response_not_found")
        refused = anna.http.post("/responses", json={"model": MODEL, "input": "x", "conversation": "conv_1"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
        assert not provider_of_replies.seen


def test_what_one_string_says_is_what_the_provider_echoes(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    """The fake provider's own default: the last user text, blocks included."""
    provider_of_replies.script(None)
    response = post(knowing, DOG_QUESTION)
    said = response.json()["output"][0]["content"][0]["text"]
    assert said == f"echo: {last_text(provider_of_replies.last.json['input'])}"


# Providers of other wires


@pytest.fixture(scope="module")
def litellm_loaded() -> None:
    """The import takes longer than a client waits, where the machine is busy."""
    anyio.run(litellm.load)


@pytest.mark.filterwarnings(
    "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning",
    "ignore:Accessing the 'model_.*' attribute on the instance is deprecated:DeprecationWarning",
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("route", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "chat only", "listed"])
@pytest.mark.usefixtures("litellm_loaded")
def test_memory_reaches_other_wires(tmp_path: Path, provider: FakeProvider, route: str, stream: bool) -> None:
    is_chat = route in ("chat only", "listed")
    params: dict[str, Any] = {"model": route, "api_key": "sk-ant-operator", "api_base": provider.url}
    if route == "listed":
        params = {"model": "openai/llama", "api_base": provider.base_url, "use_chat_completions_api": True}
    server = (
        Running(tmp_path, upstream={"url": provider.base_url, "chat_only": True})
        if route == "chat only"
        else Running(tmp_path, models=[{"model_name": "house-model", "litellm_params": params}])
    )
    with server:
        client = server.client()
        _turn_of(client, "house-model", FACTS[0], stream=stream)
        server.wait_learned()
        answer, first = _turn_of(client, "house-model", TOOLS_QUESTION, stream=stream)
        # The fake echoes what it was sent last: the question, and what memory put behind it.
        assert answer.startswith(f"echo: {TOOLS_QUESTION}")
        assert "Shram" in answer
        assert "Magnet" in answer
        answer, _ = _turn_of(client, "house-model", "And the best of them?", stream=stream, previous_response_id=first)
        assert answer == "echo: And the best of them?"
    paths = {seen.path for seen in provider.seen}
    assert paths == {"/v1/chat/completions"} if is_chat else not any(path.endswith("/responses") for path in paths)
    sent = json.dumps(provider.last.json)
    assert "Shram" in sent
    assert TOOLS_QUESTION in sent


def _turn_of(client: OpenAI, model: str, text: str, *, stream: bool, **more: Any) -> tuple[str, str]:
    if stream:
        with client.responses.stream(model=model, input=text, **more) as events:
            final = events.get_final_response()
        return final.output_text, final.id
    whole = client.responses.create(model=model, input=text, **more)
    return whole.output_text, whole.id
