"""A client's complete reply, whenever the client disconnects."""

from __future__ import annotations

import pytest

from proxy.api.passage import Passage


def sent(headers: list[tuple[bytes, bytes]], *pieces: bytes, ended: bool = False) -> Passage:
    """Return the passage of a reply of which these pieces were sent."""
    passage = Passage("POST", "/v1/chat/completions", 0)
    passage.see({"type": "http.response.start", "status": 200, "headers": headers})
    for piece in pieces:
        passage.see({"type": "http.response.body", "body": piece, "more_body": True})
    if ended:
        passage.see({"type": "http.response.body", "body": b"", "more_body": False})
    return passage


@pytest.mark.parametrize("headers", [[], [(b"content-length", b"4")]])
def test_reply_that_was_ended_is_whole(headers: list[tuple[bytes, bytes]]) -> None:
    assert sent(headers, b"full", ended=True).is_whole


def test_hang_up_behind_the_last_byte_cuts_nothing() -> None:
    assert sent([(b"Content-Length", b"4")], b"fu", b"ll").is_whole


@pytest.mark.parametrize("headers", [[], [(b"content-length", b"4")]])
def test_hang_up_before_the_last_byte_cuts(headers: list[tuple[bytes, bytes]]) -> None:
    assert not sent(headers, b"ful").is_whole
    assert not sent(headers).is_whole
