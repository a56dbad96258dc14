"""Conversations that exceed the window: answered with what matters; the prefix is stable between compactions."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.memory.conversations.summary_model import ModelSummarizer
from proxy.memory.model.call import Completion
from proxy.text import tokens
from tests.fakes.complete import ScriptedComplete
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply, chat, error
from tests.launch import wait_until
from tests.running import Running
from tests.talking import Message, Speaker, assistant, speaking, user

WINDOW = 4000
FILLER = (
    "Today we looked at the garden plan again and moved the beds near the wall, because the light is better there. "
    "The seeds from the shop came late, so sowing waits until the week after next."
)


def refusing(seen: Seen) -> Reply:
    """Reply as a provider that counts tokens and refuses what exceeds its window, as real ones do."""
    if sum(tokens.count(str(one.get("content"))) for one in seen.json["messages"]) > WINDOW:
        return error(400, "This model's maximum context length is exceeded.", "context_length_exceeded")
    return chat("All right.", seen.json)


@pytest.fixture(scope="module")
def strict() -> Iterator[FakeProvider]:
    tokens.load()
    with FakeProvider() as fake:
        fake.script(refusing)
        yield fake


@pytest.fixture(scope="module")
def long_server(tmp_path_factory: pytest.TempPathFactory, strict: FakeProvider) -> Iterator[Running]:
    upstream = {"url": strict.base_url, "context_windows": {"tiny": WINDOW}}
    with Running(tmp_path_factory.mktemp("long"), upstream=upstream) as running:
        yield running


@pytest.fixture
def speaker(long_server: Running, strict: FakeProvider) -> Iterator[Speaker]:
    strict.seen.clear()
    with speaking(long_server) as one:
        yield one


def history(turns: int, **needles: str) -> list[Message]:
    said: list[Message] = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        said += [user(needles.get(f"at{turn}", f"{turn}. {FILLER}")), assistant(f"Noted, entry {turn}.")]
    return said


def text_of(seen: Seen) -> str:
    return "\n".join(str(one.get("content")) for one in seen.json["messages"])


def test_needle_is_found_in_ten_windows_of_history(speaker: Speaker, strict: FakeProvider) -> None:
    said = history(700, at333="The spare key of the allotment hangs behind the blue watering can.")
    response = speaker.post(
        [*said, user("Where does the spare key of the allotment hang?")], model="tiny", X_Memory_Mode="read"
    )
    sent = strict.last.json["messages"]
    assert "behind the blue watering can" in sent[-1]["content"]
    assert sent[0] == said[0]
    assert sent[-2] == said[-1]
    assert tokens.count(text_of(strict.last)) < WINDOW * 0.35
    receipt = speaker.receipt(response)
    assert receipt["compaction"]["messages_left_out"] > 1300
    assert receipt["compaction"]["tokens_after"] < receipt["compaction"]["tokens_before"] / 20
    summary = receipt["additions"][0]
    assert (summary["kind"], summary["place"]) == ("summary", "before")
    assert summary["text"] in text_of(strict.seen[-1])
    assert receipt["injected"]


def test_the_prefix_is_stable_between_compactions(speaker: Speaker, strict: FakeProvider) -> None:
    said = history(60)
    requests: list[list[Message]] = []
    for turn in range(12):
        asked = [*said, user(f"Question {turn}: what comes next in the plan?")]
        speaker.post(asked, model="tiny")
        requests.append(strict.last.json["messages"])
        speaker.post(asked, model="tiny")
        assert strict.last.json["messages"][:-1] == requests[-1][:-1]
        said = [*asked, assistant(f"Answer {turn}. {FILLER}")]
    stable = [later[: len(now)] == now for now, later in itertools.pairwise(requests)]
    assert sum(stable) >= 10


def test_summary_is_extended_and_not_rewritten(speaker: Speaker, strict: FakeProvider) -> None:
    said = history(60)
    summaries = []
    for turn in range(40):
        said = [*said, user(f"Step {turn}. {FILLER}"), assistant(f"Done with {turn}. {FILLER}")]
        speaker.post([*said, user("Go on")], model="tiny")
        summary = next(
            str(one["content"])
            for one in strict.last.json["messages"]
            if '<memory kind="summary">' in str(one["content"])
        )
        lines = summary.partition("</memory>")[0].splitlines()
        if not summaries or summaries[-1] != lines:
            summaries.append(lines)
    assert len(summaries) > 1
    first, second = summaries[0], summaries[1]
    assert second[: len(first)] == first
    assert len(second) > len(first)


def test_growing_conversation_never_waits_for_its_summary(
    long_server: Running, speaker: Speaker, strict: FakeProvider
) -> None:
    said = history(20)
    left_out: list[int] = []
    for turn in range(80):
        said = [*said, user(f"Step {turn}. {FILLER}")]
        told = speaker.receipt(speaker.post(said, model="tiny")).get("compaction")
        if told and told["newly_left_out"]:
            assert told["summary_was_ready"]
            left_out.append(told["messages_left_out"])
        said = [*said, assistant(f"Done with {turn}. {FILLER}")]
        wait_until(lambda: not long_server.services.summing_up)
    assert len(left_out) >= 3
    assert left_out == sorted(left_out)


def test_short_requests_and_unknown_windows_are_left_alone(speaker: Speaker, strict: FakeProvider) -> None:
    said = [*history(5), user("Hello")]
    speaker.post(said, model="tiny")
    assert strict.last.json["messages"] == said
    long = [*history(700), user("zzz")]
    strict.then(chat("ok", {"model": "nobody-knows", "messages": []}))
    speaker.post(long, model="nobody-knows", X_Memory_Mode="read")
    assert len(strict.last.json["messages"]) == len(long)


def test_compaction_keeps_tool_results_and_respects_off(speaker: Speaker, strict: FakeProvider) -> None:
    said = [user("Sort the files.")]
    for step in range(60):
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {step}}}'}}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{step}", "content": f"{step}: {FILLER}"},
        ]
    speaker.post(said, model="tiny")
    sent = strict.last.json["messages"]
    calls = [call["id"] for one in sent for call in one.get("tool_calls", ())]
    assert len(sent) < len(said)
    assert calls == [one["tool_call_id"] for one in sent if one["role"] == "tool"]
    assert sent[0]["content"].endswith("Sort the files.")
    assert sent[-1] == said[-1]
    speaker.post(said, model="tiny", X_Memory_Mode="off")
    assert strict.last.json["messages"] == said


def test_a_branch_has_a_compaction_of_its_own(speaker: Speaker, strict: FakeProvider) -> None:
    speaker.post([*history(60), user("First?")], model="tiny")
    edited = history(60, at3="The roof of the shed is green and Marta painted it.")
    speaker.post([*edited, user("What colour is the roof of the shed?")], model="tiny")
    assert "roof of the shed is green" in strict.last.json["messages"][-1]["content"]


def test_forgotten_values_are_in_no_summary(speaker: Speaker, strict: FakeProvider) -> None:
    said = history(60, at4="I use Magnet as a window manager on my MacBook.")
    speaker.post([*said, user("Go on")], model="tiny")
    assert "Magnet" in text_of(strict.last)
    speaker.wait()
    said = [*said, user("Go on"), assistant(), user("I don't use Magnet anymore.")]
    speaker.post(said, model="tiny")
    speaker.wait()
    speaker.post([*said, assistant(), user("Which window manager do I use for my MacBook?")], model="tiny")
    sent = strict.last.json["messages"]
    assert not any("Magnet" in str(one["content"]) for one in sent if one["content"] != "I don't use Magnet anymore.")


def test_ephemeral_compaction_leaves_nothing_on_disk(tmp_path: Path, strict: FakeProvider) -> None:
    upstream = {"url": strict.base_url, "context_windows": {"tiny": WINDOW}}
    with Running(tmp_path, upstream=upstream) as server, speaking(server, X_Memory_Mode="ephemeral") as one:
        said = history(60, at9="The Zanzibarium opens on 14 May in Lisbon, says Ferdinand Quell.")
        one.post([*said, user("When does the Zanzibarium open?")], model="tiny")
        assert "Zanzibarium opens" in text_of(strict.last)
        assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"Zanzibarium" in path.read_bytes()]


def test_the_meter_counts_what_is_injected_and_saved(tmp_path: Path, strict: FakeProvider) -> None:
    priced = {
        "model_name": "tiny",
        "litellm_params": {"model": "openai/tiny", "api_base": strict.base_url, "api_key": "sk-x"},
        "model_info": {"max_input_tokens": WINDOW, "input_cost_per_token": 0.001},
    }
    with Running(tmp_path, models=[priced]) as server, speaking(server) as one:
        said = history(80, at5="The spare key of the allotment hangs behind the blue watering can.")
        response = one.post([*said, user("Where does the spare key of the allotment hang?")], model="tiny")
        costs = one.receipt(response)["costs"]
        assert costs["saved"]["tokens"] > 2000
        assert costs["saved"]["usd"] == pytest.approx(costs["saved"]["tokens"] * 0.001)
        assert costs["injected"]["tokens"] > 100
        one.post([*said, user("Where does the spare key of the allotment hang, please?")], model="tiny")
        session = response.headers["x-memory-session"]
        assert one.get("/state")["costs"]["saved"]["tokens"] > costs["saved"]["tokens"]
        assert one.get(f"/sessions/{session}")["costs"] == one.get("/state")["costs"]
        one.wait()
        assert one.http.delete(f"/sessions/{session}").status_code == 200
        assert one.get("/state")["costs"]["saved"]["tokens"] > costs["saved"]["tokens"]


def _wait_summed_up(server: Running) -> None:
    deadline = time.monotonic() + 20
    while server.services.summing_up:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_model_writes_the_summary_ahead_of_need(tmp_path: Path, strict: FakeProvider) -> None:
    upstream = {"url": strict.base_url, "context_windows": {"tiny": WINDOW}}
    with Running(tmp_path, upstream=upstream) as server, speaking(server) as one:
        written = Completion('{"summary": "The user plans a garden and keeps numbered notes."}', 900, 20, 0.002)
        server.services.summarizer = ModelSummarizer(ScriptedComplete(written, written, written), "sum", 5.0)
        said = history(1)
        for turn in range(60):
            said = [*said, user(f"Step {turn}. {FILLER}"), assistant(f"Done with {turn}.")]
            one.post([*said, user("Go on")], model="tiny", X_Memory_Mode="read")
            _wait_summed_up(server)
            if "plans a garden" in text_of(strict.last):
                break
        assert "plans a garden" in text_of(strict.last)
        assert one.get("/state")["costs"]["summaries"]["tokens"] >= 920
        before = strict.last.json["messages"]
        one.post([*said, user("Go on")], model="tiny", X_Memory_Mode="read")
        assert strict.last.json["messages"] == before


@pytest.mark.parametrize("path", ["/responses", "/messages"])
def test_the_other_wires_leave_turns_out_as_well(long_server: Running, strict: FakeProvider, path: str) -> None:
    strict.script(None)
    key = "input" if path == "/responses" else "messages"
    said = history(120, at40="The spare key of the allotment hangs behind the blue watering can.")[1:]
    said = [*said, user("Where does the spare key of the allotment hang?")]
    body = {"model": "tiny", key: said, "max_tokens" if path == "/messages" else "max_output_tokens": 100}
    try:
        with speaking(long_server, X_Memory_Mode="read") as one:
            response = one.http.post(path, json=body)
            assert response.status_code == 200, response.text
            sent = next(seen.json for seen in reversed(strict.seen) if seen.path.endswith(path))[key]
            assert one.receipt(response)["compaction"]["messages_left_out"] == len(said) - len(sent)
        assert len(sent) < 40
        assert "behind the blue watering can" in str(sent[-1]["content"])
        roles = [item["role"] for item in sent]
        assert roles[0] == "user"
        assert all(now != later for now, later in itertools.pairwise(roles))
        assert '<memory kind="summary">' in str(sent)
    finally:
        strict.script(refusing)


def test_a_receipt_names_the_last_message_left_out(speaker: Speaker) -> None:
    response = speaker.post([*history(60), user("And what now?")], model="tiny")
    speaker.wait()
    receipt = speaker.receipt(response)
    shown = [one["id"].partition(".")[0] for one in speaker.get(f"/sessions/{receipt['session']}")["messages"]]
    assert 0 < shown.index(receipt["compaction"]["through"]) + 1 < len(shown)
    assert receipt["additions"][0]["message"] in shown
