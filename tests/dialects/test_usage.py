"""Token counts parsed from the bytes of any wire format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects.usage import UsageMeter
from tests.fakes import replies

CHAT = json.dumps(replies.completion(replies.Text('"usage": {"total_tokens": 1}'))).encode()
STREAM = b"".join(bytes(one) for one in replies.stream(include_usage=True).chunks if isinstance(one, bytes))
ANTHROPIC = (
    b'event: message_start\ndata: {"message":{"usage":{"input_tokens":25,"output_tokens":1}}}\n\n'
    b'event: message_delta\ndata: {"delta":{},"usage":{"output_tokens":15}}\n\n'
)


def metered(pieces: Iterable[bytes], coding: str = "") -> UsageMeter:
    meter = UsageMeter()
    meter.decode(coding)
    for piece in pieces:
        meter.feed(piece)
    return meter


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        (CHAT, 16),
        (STREAM, 16),
        (ANTHROPIC, 40),
        (b'{"usage":{"input_tokens":3,"output_tokens":4,"cache_read_input_tokens":10}}', 17),
        (b'data: {"choices":[],"usage":null}\n\n', None),
        (b'{"usage":', None),
        (b"", None),
        (b"\xff\xfe not json", None),
    ],
)
def test_usage_of_every_wire(body: bytes, tokens: int | None) -> None:
    assert metered([body]).tokens() == tokens
    assert metered([gzip.compress(body)], "gzip").tokens() == tokens


@given(st.integers(1, 40))
def test_however_it_is_cut(size: int) -> None:
    assert metered(STREAM[at : at + size] for at in range(0, len(STREAM), size)).tokens() == 16


def test_the_end_of_a_long_reply_counts() -> None:
    long = b"data: {}\n\n" * 50_000
    meter = metered([long[at : at + 1000] for at in range(0, len(long), 1000)])
    meter.feed(STREAM)
    assert meter.tokens() == 16
    assert meter._tail_bytes < 200_000


@given(st.binary(max_size=2000), st.sampled_from(["", "gzip", "deflate", "br"]))
def test_it_never_raises(body: bytes, coding: str) -> None:
    metered([body, body], coding).tokens()
