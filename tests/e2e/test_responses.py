"""``POST /v1/responses`` with memory, through the real SDK and over real sockets."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import anyio
import openai
import pytest
from openai import OpenAI

from proxy.upstream import litellm
from tests.e2e.responding import DOG_QUESTION, FACTS, MODEL, TOOLS_QUESTION, knowing, message, post, provider_of_replies
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Gate, Reply, error, gated
from tests.fakes.responses import Said, new_id, reply
from tests.running import Running
from tests.talking import Speaker, outcome

__all__ = ["knowing", "provider_of_replies"]

INSTRUCTIONS = "You are terse. It is <b>now</b> 09:30."


def ask(client: OpenAI, text: str, *, stream: bool, **more: Any) -> tuple[str, str]:
    """Send a question and return the reply's text and id."""
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


def test_statement_on_one_wire_is_known_on_others(alice: Speaker, provider_of_replies: FakeProvider) -> None:
    provider_of_replies.script(None)
    alice.tell(FACTS[0])
    post(alice, TOOLS_QUESTION)
    assert "Shram" in provider_of_replies.last.json["input"]
    history = [message("user", FACTS[0]), message("assistant", "ok"), message("user", "thanks")]
    post(alice, history, store=False)
    alice.wait()
    assert len([one for one in alice.all_episodes() if one["text"] == FACTS[0]]) == 1


def test_string_input_stays_a_string(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
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
    assert "Rex" not in str(knowing.memories(status="all"))


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
        # The provider has not closed yet; a turn whose end the client has seen is in the journal.
        assert knowing.get("/state")["pending_turns"] >= 1
        gate.open()
    knowing.wait()
    assert "My parrot is called Captain" in knowing.texts()


def test_a_failed_reply_keeps_what_the_user_said(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
    provider_of_replies.then(reply(Said("Half of", new_id(), status="failed", asked={"stream": True})))
    response = knowing.http.post("/responses", json={"model": MODEL, "input": "I play the oboe", "stream": True})
    assert b"response.failed" in response.content
    knowing.wait()
    assert "I play the oboe" in knowing.texts()
    assert knowing.receipt(response)["finish"] == "upstream_error"


def test_provider_errors_come_back_unchanged(knowing: Speaker, provider_of_replies: FakeProvider) -> None:
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
    assert "My budgie is called Kiki" in alice.texts()


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


@pytest.fixture(scope="module")
def litellm_loaded() -> None:
    """Importing LiteLLM on a busy machine takes longer than a client's timeout."""
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
        # The fake echoes the last message: the question, followed by memory's block.
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


def test_window_error_of_a_continued_response_is_relayed(alice: Speaker, provider_of_replies: FakeProvider) -> None:
    """The provider measures the part of the conversation that it stores."""
    first = post(alice, "The meeting room is called Fjord.").json()["id"]
    refused = error(400, "Your input exceeds the context window of this model.", "context_length_exceeded")
    provider_of_replies.then(refused)
    asked = {"model": MODEL, "input": "What is the room called?", "previous_response_id": first}
    response = alice.http.post("/responses", json=asked)
    assert (response.status_code, response.content) == (
        400,
        b"".join(one for one in refused.chunks if isinstance(one, bytes)),
    )
    assert provider_of_replies.last.json["previous_response_id"] == first
    assert "compaction" not in alice.receipt(response)
