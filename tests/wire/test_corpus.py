"""Recorded traffic, replayed by the fake provider: with memory off and on, only blocks change the bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from tests.fakes.replies import DONE, SSE_HEADERS, Reply
from tests.wire.conftest import QUESTION, Wire, ask, without_memory
from tests.wire.corpus import WIRE, Interaction, Recording, interactions, recordings

_USER_TEXT = re.compile(rb'(?<="messages")(.*?"(?:content|text)": ")', re.DOTALL)


def named(items: Iterable[Recording] | Iterable[Interaction]) -> list[Any]:
    return [pytest.param(item, id=item.name) for item in items]


def assert_replayed(wire: Wire, pieces: list[bytes], body: dict[str, Any], path: str = "/v1/chat/completions") -> None:
    wire.provider.then(Reply(pieces, headers=SSE_HEADERS, framing="chunked"))
    answer = wire.send(body, path)
    assert (answer.status, answer.body) == (200, b"".join(pieces))


@pytest.mark.parametrize("recording", named(recordings()))
def test_recorded_stream_comes_out_as_it_went_in(wire: Wire, recording: Recording) -> None:
    """A stream of any format is relayed as a chat reply; an unparsable one too."""
    assert_replayed(wire, [*recording.events, DONE], ask(stream=True))


@pytest.mark.parametrize("recording", named(one for one in recordings() if one.is_of_responses))
def test_recorded_response_comes_out_as_it_went_in(wire: Wire, recording: Recording) -> None:
    body = {"model": "gpt-4o", "input": QUESTION, "stream": True}
    assert_replayed(wire, recording.named_events, body, "/v1/responses")


@pytest.mark.parametrize("recording", named(one for one in recordings() if one.is_of_messages))
def test_recorded_message_comes_out_as_it_went_in(wire: Wire, recording: Recording) -> None:
    assert_replayed(wire, recording.named_events, ask(stream=True, max_tokens=100), "/v1/messages")


@pytest.mark.parametrize("recorded", named(interactions()))
def test_recorded_request_and_response_cross_unchanged(wire: Wire, recorded: Interaction) -> None:
    wire.provider.then(Reply([recorded.reply], recorded.status, recorded.headers))
    answer = wire.send(recorded.body, recorded.target, recorded.method, content_type=recorded.content_type)
    assert (answer.status, answer.body) == (recorded.status, recorded.reply)
    theirs = [(name.lower(), value) for name, value in recorded.headers]
    assert [pair for pair in answer.headers if pair in theirs] == theirs
    assert (wire.seen.method, wire.seen.target) == (recorded.method, recorded.target)
    assert without_memory(wire.seen.body) == recorded.body
    assert wire.memory == "full" or wire.seen.body == recorded.body


@pytest.mark.parametrize("recorded", named(one for one in interactions() if _USER_TEXT.search(one.body)))
def test_recorded_request_differs_by_the_block_only(remembering: Wire, recorded: Interaction) -> None:
    """Its first text asks for a stored memory."""
    body = _USER_TEXT.sub(rb"\1" + QUESTION.encode() + b" ", recorded.body, count=1)
    remembering.provider.then(Reply([recorded.reply], recorded.status, recorded.headers))
    answer = remembering.send(body, recorded.target)
    assert (answer.status, answer.body) == (recorded.status, recorded.reply)
    assert (answer.header("x-memory") or "").startswith("used; ")
    assert without_memory(remembering.seen.body) == body
    assert remembering.seen.body != body


def test_every_file_of_the_shared_recordings_is_replayed() -> None:
    files = [path for path in WIRE.rglob("*") if path.is_file() and not path.name.startswith("LICENSE")]
    seen = {one.name for one in recordings()} | {one.name.rpartition("-")[0] for one in interactions()}
    assert [path for path in files if not {f"{path.parent.name}/{path.name}", path.stem} & seen] == []
