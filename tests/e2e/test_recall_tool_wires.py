"""The ``recall`` tool on the Responses and the Messages wire, through the providers' own SDKs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import orjson
import pytest
from anthropic import Anthropic

from tests.fakes import messages as fake_messages
from tests.fakes import responses as fake_responses
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply
from tests.running import Running
from tests.talking import Speaker, speaking

KEY = "The spare key of the allotment hangs behind the blue watering can."
QUESTION = "Where is it?"
LOOK_UP = ("recall", {"query": "spare key of the allotment"})
WEATHER = ("weather", {"city": "Linz"})
ON = {"X-Memory-Tools": "on"}
RESPONSES_WEATHER: Any = {
    "type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}, "strict": False
}  # fmt: skip
MESSAGES_WEATHER: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}

Wanted = tuple[str, dict[str, Any]]


class Model:
    """A model that makes scripted calls, round after round, then repeats their results; on both wires."""

    def __init__(self) -> None:
        self.rounds: list[list[Wanted]] = []
        self.preamble = ""
        self.thought = ""
        self.asked: list[Any] = []
        self.ids: list[str] = []  # of responses

    def __call__(self, seen: Seen) -> Reply | None:
        if seen.path.endswith("/responses"):
            return self._respond(seen.json)
        return self._message(seen.json) if seen.path.endswith("/messages") else None

    def _next(self, body: Any) -> list[Wanted]:
        self.asked.append(body)
        has_tool = any(one.get("name") == "recall" for one in body.get("tools") or ())
        return self.rounds.pop(0) if self.rounds and has_tool else []

    def _respond(self, body: Any) -> Reply:
        wanted = self._next(body)
        given = [] if isinstance(body["input"], str) else body["input"]
        results = [one["output"] for one in given if one.get("type") == "function_call_output"]
        calls: list[dict[str, Any]] = [
            {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{len(self.asked)}_{at}", "name": name,
             "arguments": orjson.dumps(arguments).decode()}
            for at, (name, arguments) in enumerate(wanted)
        ]  # fmt: skip
        text = self.preamble if wanted else "You said: " + ("; ".join(results) or "nothing.")
        self.ids.append(fake_responses.new_id())
        return fake_responses.reply(fake_responses.Said(text, self.ids[-1], calls=calls, asked=body))

    def _message(self, body: Any) -> Reply:
        wanted = self._next(body)
        blocks = [block for one in body["messages"] if isinstance(one["content"], list) for block in one["content"]]
        results = [one["content"] for one in blocks if one["type"] == "tool_result"]
        calls = [
            {"id": f"toolu_{len(self.asked)}_{at}", "name": one[0], "input": one[1]} for at, one in enumerate(wanted)
        ]
        text = self.preamble if wanted else "You said: " + ("; ".join(results) or "nothing.")
        return fake_messages.reply(fake_messages.Said(text, calls, self.thought if wanted else ""), body)


@pytest.fixture
def model(upstream: FakeProvider) -> Model:
    one = Model()
    upstream.script(one)
    return one


@pytest.fixture
def speaker(server: Running, model: Model) -> Iterator[Speaker]:
    with speaking(server) as one:
        one.tell(KEY)
        yield one


@pytest.fixture
def client(speaker: Speaker) -> openai.OpenAI:
    return speaker.server.client(speaker.key, X_Memory_Tools="on", X_Memory_Budget="0")


@pytest.fixture
def claude(speaker: Speaker) -> Iterator[Anthropic]:
    with speaker.server.anthropic(speaker.key, **{**ON, "X-Memory-Budget": "0"}) as one:
        yield one


def respond(client: openai.OpenAI, *, stream: bool, **more: Any) -> tuple[Any, list[Any]]:
    asked: dict[str, Any] = {"model": "gpt-4o", "input": QUESTION, **more}
    if not stream:
        return client.responses.create(**asked), []
    with client.responses.stream(**asked) as events:
        seen = list(events)
        return events.get_final_response(), seen


def ask(claude: Anthropic, *, stream: bool, **more: Any) -> tuple[Any, list[Any]]:
    asked: dict[str, Any] = {
        "model": "c",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": QUESTION}],
        **more,
    }
    if not stream:
        return claude.messages.create(**asked), []
    with claude.messages.stream(**asked) as events:
        seen = list(events)
        return events.get_final_message(), seen


both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def well_numbered(events: list[Any]) -> None:
    assert [one.sequence_number for one in events] == list(range(len(events)))
    kinds = [one.type for one in events]
    assert kinds.count("response.created") == kinds.count("response.completed") == 1
    assert kinds[-1] == "response.completed"
    opened = [one.output_index for one in events if one.type == "response.output_item.added"]
    assert opened == list(range(len(opened)))
    ids = {one.response.id for one in events if hasattr(one, "response")}
    assert len(ids) == 1
    assert '"recall"' not in "".join(one.model_dump_json(warnings=False) for one in events)


# Responses


@both
def test_a_response_has_its_look_ups_inside(client: openai.OpenAI, model: Model, stream: bool) -> None:
    model.rounds = [[LOOK_UP], [LOOK_UP, LOOK_UP]]
    final, events = respond(client, stream=stream)
    assert "blue watering can" in final.output_text
    assert [item.type for item in final.output] == ["message"]
    assert final.tools == []
    assert final.usage.total_tokens == 3 * 16
    assert final.usage.input_tokens_details.cached_tokens == 0
    if stream:
        well_numbered(events)
    first, _, last = model.asked
    assert [one["name"] for one in first["tools"]] == ["recall"]
    kinds = [one["type"] for one in last["input"]]
    assert kinds == ["message", *["function_call", "function_call_output"], *["function_call"] * 2,
                     *["function_call_output"] * 2]  # fmt: skip


@both
def test_what_was_said_before_a_look_up_stays(client: openai.OpenAI, model: Model, stream: bool) -> None:
    model.rounds, model.preamble = [[LOOK_UP]], "Let me see."
    final, events = respond(client, stream=stream)
    assert [item.content[0].text[:11] for item in final.output] == ["Let me see.", "You said: #"] or (
        final.output_text.startswith("Let me see.You said:")
    )
    if stream:
        well_numbered(events)


@both
def test_the_clients_own_calls_are_handed_over(client: openai.OpenAI, model: Model, stream: bool) -> None:
    model.rounds = [[LOOK_UP, WEATHER]]
    final, events = respond(client, stream=stream, tools=[RESPONSES_WEATHER])
    assert [(item.type, item.name) for item in final.output] == [("function_call", "weather")]
    assert orjson.loads(final.output[0].arguments) == {"city": "Linz"}
    assert [tool.name for tool in final.tools] == ["weather"]
    assert len(model.asked) == 1
    if stream:
        well_numbered(events)


@both
def test_a_kept_reply_is_gone_on_from(client: openai.OpenAI, model: Model, stream: bool) -> None:
    model.rounds = [[LOOK_UP]]
    final, _ = respond(client, stream=stream)
    respond(client, stream=stream, input="Thanks.", previous_response_id=final.id)
    assert model.asked[-1]["input"] == "Thanks."
    assert model.asked[-1]["previous_response_id"] == model.ids[-2]
    model.rounds = [[LOOK_UP, WEATHER]]
    final, _ = respond(client, stream=stream, tools=[RESPONSES_WEATHER])
    told = {"type": "function_call_output", "call_id": final.output[0].call_id, "output": "rain"}
    respond(client, stream=stream, input=[told], previous_response_id=final.id, tools=[RESPONSES_WEATHER])
    outputs = [one["call_id"] for one in model.asked[-1]["input"]]
    assert len(outputs) == 2
    assert len({one[:-1] for one in outputs}) == 1  # the recall call in the same reply is answered too


@both
def test_look_ups_in_a_response_are_capped(client: openai.OpenAI, model: Model, stream: bool) -> None:
    model.rounds = [[LOOK_UP]] * 9
    final, events = respond(client, stream=stream)
    assert len(model.asked) == 5
    assert final.status == "completed"
    assert final.output == []
    if stream:
        well_numbered(events)


# Messages


@both
def test_a_message_has_its_look_ups_inside(claude: Anthropic, model: Model, stream: bool) -> None:
    model.rounds, model.preamble, model.thought = [[LOOK_UP], [LOOK_UP]], "Let me see.", "Hm."
    final, events = ask(claude, stream=stream)
    assert [block.type for block in final.content] == ["thinking", "text", "thinking", "text", "text"]
    assert "blue watering can" in final.content[-1].text
    assert final.stop_reason == "end_turn"
    assert (final.usage.input_tokens, final.usage.output_tokens) == (36, 21)
    sent = model.asked[1]["messages"]
    assert [block["type"] for block in sent[-2]["content"]] == ["thinking", "text", "tool_use"]
    assert sent[-2]["content"][0]["signature"]
    assert sent[-2]["content"][2]["input"] == LOOK_UP[1]
    assert sent[-1]["content"][0]["tool_use_id"] == sent[-2]["content"][2]["id"]
    if stream:
        kinds = [one.type for one in events]
        assert kinds.count("message_start") == kinds.count("message_stop") == 1
        starts = [one.index for one in events if one.type == "content_block_start"]
        assert starts == list(range(5))
        assert '"recall"' not in "".join(one.model_dump_json(warnings=False) for one in events)


@both
def test_the_clients_own_tool_use_is_handed_over(claude: Anthropic, model: Model, stream: bool) -> None:
    model.rounds, model.preamble = [[LOOK_UP, WEATHER]], ""
    final, _ = ask(claude, stream=stream, tools=[MESSAGES_WEATHER])
    assert [(block.type, block.name, block.input) for block in final.content] == [("tool_use", *WEATHER)]
    assert final.stop_reason == "tool_use"
    assert len(model.asked) == 1


@both
def test_look_ups_in_a_message_are_capped(claude: Anthropic, model: Model, stream: bool) -> None:
    model.rounds = [[LOOK_UP]] * 9
    final, _ = ask(claude, stream=stream)
    assert len(model.asked) == 5
    assert final.stop_reason == "end_turn"
    assert final.content == []
    assert final.usage.output_tokens == 35


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "none"}, {"type": "tool", "name": "weather"}])
def test_a_forced_choice_keeps_its_meaning(claude: Anthropic, model: Model, choice: Any) -> None:
    ask(claude, stream=False, tools=[MESSAGES_WEATHER], tool_choice=choice)
    assert model.asked[-1]["tools"] == [MESSAGES_WEATHER]


@pytest.mark.parametrize("choice", ["required", "none", {"type": "function", "name": "weather"}])
def test_a_forced_choice_keeps_its_meaning_on_responses(client: openai.OpenAI, model: Model, choice: Any) -> None:
    respond(client, stream=False, tools=[RESPONSES_WEATHER], tool_choice=choice)
    assert model.asked[-1]["tools"] == [RESPONSES_WEATHER]
