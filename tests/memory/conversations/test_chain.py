"""Recognising conversations: equal prefixes, forks, replays and repeated statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.conversations.chain import (
    Placement,
    Point,
    chain,
    named_session,
    place,
    rejoin,
    rejoined,
    turn_id,
    unknown_state,
)
from proxy.store.pairs import Pair
from proxy.store.sessions import ChainRow
from proxy.types import Scope

ANNA, BEN = Scope("a" * 32, "b" * 32), Scope("a" * 32, "c" * 32)
NOW = datetime(2026, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)

turns = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), st.binary(max_size=12)), max_size=8
)


def said(*texts: str) -> list[tuple[str, bytes]]:
    """Return user messages with an answer between each two."""
    messages: list[tuple[str, bytes]] = []
    for text in texts:
        messages += [("user", text.encode()), ("assistant", b"ok")]
    return messages[:-1]


def stored(*texts: str, session: str, at: datetime = NOW, learned: bool = True) -> list[ChainRow]:
    points = chain(ANNA, said(*texts))
    return [ChainRow(p.hash, session, p.index, learned, at) for p in points if p.links]


def placed(*texts: str, known: list[ChainRow], named: str = "", now: datetime = NOW) -> Placement:
    return place(ANNA, chain(ANNA, said(*texts)), known, named=named, now=now, fresh=HOUR)


@given(turns, turns)
def test_equal_prefixes_hash_alike_until_a_change(
    prefix: list[tuple[str, bytes]], rest: list[tuple[str, bytes]]
) -> None:
    whole = chain(ANNA, [*prefix, *rest])
    assert whole[: len(prefix)] == chain(ANNA, prefix)
    changed = chain(ANNA, [("user", b"something else first"), *prefix, *rest])
    links = {point.hash for point in whole if point.links}
    assert links.isdisjoint(point.hash for point in changed if point.links)


@given(turns, turns)
def test_continuation_has_the_hashes_of_the_whole(
    before: list[tuple[str, bytes]], rest: list[tuple[str, bytes]]
) -> None:
    state = next((point.state for point in reversed(chain(ANNA, before)) if point.links), "")
    whole = [point.hash for point in chain(ANNA, [*before, *rest]) if point.links and point.index >= len(before)]
    assert whole == [point.hash for point in chain(ANNA, rest, after=state) if point.links]


@given(turns)
def test_continuation_of_an_unknown_reply_is_unique(messages: list[tuple[str, bytes]]) -> None:
    after = [chain(ANNA, messages, after=unknown_state(ANNA, name)) for name in ("resp_1", "resp_2", "\ud800")]
    after += [chain(ANNA, messages), chain(BEN, messages, after=unknown_state(BEN, "resp_1"))]
    hashes = [point.hash for points in after for point in points if point.hash]
    assert len(hashes) == len(set(hashes))


@given(turns)
def test_other_users_and_agents_have_other_names(messages: list[tuple[str, bytes]]) -> None:
    mine = {point.hash for point in chain(ANNA, messages) if point.hash}
    assert mine.isdisjoint(point.hash for point in chain(BEN, messages))
    assert mine.isdisjoint(point.hash for point in chain(Scope(ANNA.tenant, ANNA.user, "d" * 32), messages))


@given(turns)
def test_system_prompts_and_answers_rename_no_user_message(
    messages: list[tuple[str, bytes]],
) -> None:
    reworded = [(role, content + b"!" if role in ("assistant", "system") else content) for role, content in messages]
    links = [point.hash for point in chain(ANNA, messages) if point.links]
    assert links == [point.hash for point in chain(ANNA, reworded) if point.links]


def test_continued_conversation_is_new_only_at_its_end() -> None:
    known = stored("one", "two", session="ses_a")
    assert placed("one", "two", "three", known=known) == Placement("ses_a", 3)


def test_a_replay_adds_nothing() -> None:
    known = stored("one", "two", session="ses_a")
    assert placed("one", "two", known=known) == Placement("ses_a", 3)
    assert placed("one", known=known) == Placement("ses_a", 1)


def test_edited_history_is_a_branch_of_its_conversation() -> None:
    known = stored("one", "two", "three", session="ses_a")
    assert placed("one", "two, but edited", known=known) == Placement("ses_a", 1)


def test_same_first_message_is_a_replay_while_fresh() -> None:
    """An hour later the same message is a new statement."""
    known = stored("I use Magnet", session="ses_a")
    assert placed("I use Magnet", known=known, now=NOW + HOUR).session == "ses_a"
    later = placed("I use Magnet", known=known, now=NOW + HOUR + timedelta(seconds=1))
    assert later.session != "ses_a"
    assert later.first_new == 0


def test_second_conversation_with_equal_beginning_stays_itself() -> None:
    known = [*stored("hi", session="ses_a"), *stored("hi", session="ses_b", at=NOW + 2 * HOUR)]
    assert placed("hi", "and more", known=known, now=NOW + 2 * HOUR) == Placement("ses_b", 1)


def test_two_copies_of_one_request_open_one_conversation() -> None:
    assert placed("hello", known=[]) == placed("hello", known=[])


def test_named_conversation_takes_no_known_history_as_new() -> None:
    name = named_session(ANNA, "chat-7")
    known = stored("one", "two", session="ses_a")
    assert placed("one", "two", "three", known=known, named=name) == Placement(name, 3)
    # Another conversation has this message, but in this one it is new.
    assert placed("one", known=known, named=name) == Placement(name, 0)


def test_messages_only_read_are_recognised_but_new() -> None:
    known = stored("one", session="ses_a", learned=False)
    assert placed("one", "two", known=known) == Placement("ses_a", 0)


@pytest.mark.parametrize("name", ["chat-7", "'; DROP TABLE x", "../../etc", "\0", "\ud800", "x" * 10_000])
def test_any_name_makes_a_safe_unique_id(name: str) -> None:
    assert named_session(ANNA, name).removeprefix("ses_").isalnum()
    assert named_session(ANNA, name) != named_session(BEN, name)


def test_a_request_without_user_messages_has_nothing_new() -> None:
    points = chain(ANNA, [("system", b"x")])
    assert place(ANNA, points, [], named="", now=NOW, fresh=HOUR).first_new == 1
    assert turn_id("ses_a", "x") != turn_id("ses_b", "x")


def pairs(*texts: str, session: str) -> list[Pair]:
    points = chain(ANNA, said(*texts))
    return [Pair(p.pair, p.before, p.hash, p.state, session, p.index) for p in points if p.before]


def hashes(points: Sequence[Point]) -> list[str]:
    return [point.hash for point in points if point.links]


def test_rest_of_a_conversation_is_recognised() -> None:
    whole = hashes(chain(ANNA, said("one", "two", "three", "four", "five")))
    window = chain(ANNA, said("three", "four", "five"))
    tried = rejoined(window, ())
    points, left_out = rejoin(window, tried, pairs("one", "two", "three", "four", session="s"), "")
    assert hashes(points) == whole[2:]
    assert left_out == 4


def test_left_out_middle_is_recognised() -> None:
    whole = hashes(chain(ANNA, said("one", "two", "three", "four", "five")))
    window = chain(ANNA, said("one", "three", "four", "five"))
    points, _ = rejoin(window, rejoined(window, whole), pairs("one", "two", "three", "four", session="s"), "")
    assert hashes(points) == [whole[0], *whole[2:]]


@pytest.mark.parametrize("texts", [("go on", "go on", "other", "new"), ("three", "new"), ("two", "four", "new")])
def test_one_pair_of_another_talk_is_no_continuation(texts: tuple[str, ...]) -> None:
    window = chain(ANNA, said(*texts))
    stored_pairs = pairs("one", "go on", "go on", "two", "three", "four", session="s")
    assert rejoin(window, rejoined(window, ()), stored_pairs, "") == (window, 0)


def test_nothing_is_tried_where_all_is_known() -> None:
    whole = chain(ANNA, said("one", "two", "three"))
    assert not rejoined(whole, hashes(whole)[:-1])
