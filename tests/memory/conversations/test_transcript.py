"""From journalled turns to episodes."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.conversations.transcript import episodes_of, split
from proxy.types import Said, Scope, Turn

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SCOPE = Scope("a" * 32, "b" * 32, session="ses_a")


@given(st.text(max_size=3000), st.integers(20, 400))
def test_pieces_are_short_and_lose_only_blanks(text: str, most: int) -> None:
    pieces = split(text, most)
    assert all(0 < len(piece) <= most for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_turn_becomes_messages_with_stable_ids() -> None:
    said = (Said("m1", "user", "I like tea", seq=0), Said("m2", "assistant", "Noted", live=False, seq=1))
    turn = Turn("turn_1", SCOPE, said, "long " * 400, "complete", "demo", NOW, reply_id="m3", reply_seq=2)
    episodes = episodes_of(turn)
    assert episodes == episodes_of(turn)
    assert [(episode.id, episode.seq, episode.role) for episode in episodes[:3]] == [
        ("m1", 0, "user"),
        ("m2", 1, "assistant"),
        ("m3", 2, "assistant"),
    ]
    assert episodes[3].id == "m3.1"
    assert len({episode.id for episode in episodes}) == len(episodes)


def test_episodes_carry_the_offset_of_their_turn() -> None:
    said = (Said("m1", "user", "I like tea"),)
    turn = Turn("turn_1", SCOPE, said, "Noted", "complete", "demo", NOW, offset_minutes=-180)
    assert [one.local_at.isoformat() for one in (turn, *episodes_of(turn))] == ["2026-04-30T21:00:00-03:00"] * 3


def test_turn_without_reply_is_the_users_message() -> None:
    turn = Turn("turn_1", SCOPE, (Said("m1", "user", "I like tea"),), " ", "client_closed", "demo", NOW)
    assert [episode.text for episode in episodes_of(turn)] == ["I like tea"]
