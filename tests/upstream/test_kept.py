"""Continued conversations in memory: their owner, their lifetime and their maximum size."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from proxy.clock import ManualClock
from proxy.errors import InvalidRequest, PreviousReplyNotFound
from proxy.upstream.kept import KeptReplies


def said(text: str, id_: str = "msg_1") -> dict[str, Any]:
    return {"type": "message", "id": id_, "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def tell(kept: KeptReplies, id_: str, text: str, previous: str | None = None, key: str = "k") -> None:
    asked = kept.asked(key, {"input": text, "previous_response_id": previous})
    kept.keep(key, id_, asked, [said(f"re: {text}", f"msg_{id_}")])


def texts(kept: KeptReplies, previous: str, key: str = "k") -> list[Any]:
    items = kept.asked(key, {"input": "?", "previous_response_id": previous}).items
    return [item["content"] if item["role"] == "user" else item["content"][0]["text"] for item in items]


def test_conversation_continues_from_any_of_its_replies() -> None:
    kept = KeptReplies()
    tell(kept, "r1", "one")
    tell(kept, "r2", "two", "r1")
    tell(kept, "r3", "other", "r1")
    assert texts(kept, "r2") == ["one", "re: one", "two", "re: two", "?"]
    assert texts(kept, "r3") == ["one", "re: one", "other", "re: other", "?"]


def test_what_is_idle_goes() -> None:
    clock = ManualClock()
    kept = KeptReplies(clock)
    tell(kept, "r1", "one")
    clock.advance(timedelta(minutes=40))
    tell(kept, "r2", "two", "r1")
    clock.advance(timedelta(minutes=40))
    with pytest.raises(PreviousReplyNotFound):
        texts(kept, "r1")
    assert texts(kept, "r2") == ["one", "re: one", "two", "re: two", "?"]


def test_the_oldest_gives_way() -> None:
    kept = KeptReplies(max_bytes=5000)
    for number in range(10):
        tell(kept, f"r{number}", "x" * 1000)
    with pytest.raises(PreviousReplyNotFound):
        texts(kept, "r0")
    assert len(texts(kept, "r9")) == 3


@pytest.mark.parametrize("id_", ["r1", "r2", "", 3, {"id": "r1"}, ["r1"]])
def test_nobody_elses_reply_is_found(id_: Any) -> None:
    kept = KeptReplies()
    tell(kept, "r1", "one", key="other")
    with pytest.raises(PreviousReplyNotFound):
        texts(kept, id_)


def test_references_are_resolved_for_their_owner_only() -> None:
    kept = KeptReplies()
    tell(kept, "r1", "one")
    reference = {"input": [{"type": "item_reference", "id": "msg_r1"}]}
    assert kept.asked("k", reference).items == [said("re: one", "msg_r1")]
    with pytest.raises(InvalidRequest):
        kept.asked("other", reference)
