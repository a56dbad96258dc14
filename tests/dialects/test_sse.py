"""Server-sent events, for any cut of the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects.sse import EndWatch
from proxy.events import Event, EventSplitter, split

SAMPLE = (
    '\ufeffdata: {"a": "é"}\n\n: comment\n\ndata:x\r\ndata: y\r\n\r\nevent: ping\rid: 7\rretry: 1\rdata\r\r'
    "data: 😀\n\n\n\nunknown: z\n\ndata: [DONE]\n\n"
).encode()
EXPECTED = [
    Event('{"a": "é"}'.encode()),
    Event(b"x\ny"),
    Event(b"", b"ping"),
    Event("😀".encode()),
    Event(b"[DONE]"),
]


def fed(pieces: list[bytes]) -> list[Event]:
    splitter = EventSplitter()
    events = [event for piece in pieces for event in splitter.feed(piece)]
    return events + splitter.close()


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(place, len(stream)) for place in places} | {len(stream)})
    return [stream[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def test_every_form_of_the_standard_is_read():
    assert split(SAMPLE) == EXPECTED


@given(places=st.lists(st.integers(0, len(SAMPLE)), max_size=30))
def test_any_cutting_gives_the_same_events(places):
    assert fed(cut(SAMPLE, places)) == EXPECTED


def test_single_bytes_give_the_same_events():
    assert fed([SAMPLE[i : i + 1] for i in range(len(SAMPLE))]) == EXPECTED


@given(stream=st.text(alphabet="data: x[]\r\n\ufeffé", max_size=60).map(str.encode), data=st.data())
def test_cutting_never_matters(stream, data):
    places = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert fed(cut(stream, places)) == split(stream)


@pytest.mark.parametrize("end", ["", "\n", "\r"])
def test_last_event_without_its_empty_line_counts(end):
    assert split(b"data: a\n\ndata: b" + end.encode()) == [Event(b"a"), Event(b"b")]


def test_an_event_is_there_with_its_last_byte():
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\r\n\r") == [Event(b"a")]
    assert splitter.feed(b"\ndata: b\n\n") == [Event(b"b")]


def watched(pieces: list[bytes]) -> list[bool]:
    watch = EndWatch()
    return [watch.feed(piece) for piece in pieces]


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b"data:[DONE]\r\n\r\n", b"data: [DONE]", b"data: [DONE] \n\n"])
def test_the_end_is_seen(end):
    assert watched([b'data: {"x": 1}\n\n', end]) == [False, True]


@given(at=st.integers(0, 14))
def test_the_end_is_seen_however_it_is_cut(at):
    stream = b'data: {"x": 1}\n\ndata: [DONE]\n\n'
    pieces = [stream[: 16 + at], stream[16 + at :]]
    assert watched(pieces).count(True) == 1


def test_the_end_is_told_once():
    assert watched([b"data: [DONE]\n\n", b"data: [DONE]\n\n"]) == [True, False]


@pytest.mark.parametrize(
    "chunk", [b'data: {"text": "data: [DONE]"}\n\n', b"data: [DONE]x\n\n", b'data: "\\ndata: [DONE]\\n"\n\n']
)
def test_text_about_the_end_is_no_end(chunk):
    assert watched([chunk]) == [False]
