"""Placement: the profile once, earlier blocks byte for byte, and only new hits on the last user message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.conversations.chain import Point, chain
from proxy.memory.inject.blocks import EMPTY, OPENING_OPEN, Block
from proxy.memory.inject.ledger import NOTHING, Assembly, Replies, assemble
from proxy.store.ledger import LedgerEntry
from proxy.text.tokens import count
from proxy.types import Hit, Scope

ANNA = Scope("a" * 32, "b" * 32)
PROFILE = Block("\n\n<profile>", (Hit("fact", "mem_p", "p", 1.0, 1),), 5)
SUMMARIES = [Hit("summary", f"mem_{name}", f"The user spoke of {name}.", 0.0, 0) for name in ("a", "harbours", "mills")]


def points(*roles: str) -> list[Point]:
    return chain(ANNA, [(role, f"{role} {at}".encode()) for at, role in enumerate(roles)])


def facts(*names: str) -> list[Hit]:
    return [Hit("fact", f"mem_{name}", f"the user likes {name}", 1.0, 0) for name in names]


def laid_out(
    where: list[Point], ledger: list[LedgerEntry], hits: list[Hit], profile: Block = EMPTY, opening: Sequence[Hit] = ()
) -> Assembly:
    return assemble(where, ledger, profile, hits, 600, count, opening=opening)


def kept(ledger: list[LedgerEntry], assembly: Assembly) -> list[LedgerEntry]:
    """Return the ledger as the store holds it after the request."""
    rows = {(entry.anchor, entry.kind): entry for entry in [*ledger, *assembly.entries]}
    return list(rows.values())


def test_profile_is_on_first_message_block_on_last() -> None:
    assembly = laid_out(points("system", "user", "assistant", "user"), [], facts("tea"), PROFILE)
    assert [addition.index for addition in assembly.additions] == [1, 3]
    assert assembly.additions[0].text == PROFILE.text
    assert "tea" in assembly.additions[1].text


def test_old_turn_is_not_quoted_beside_equal_profile() -> None:
    profile = Block("\n\n<profile>\n- Always answer in French\n</profile>", PROFILE.hits, 5)
    turns = [
        Hit("episode", f"epi_{at}", text, 1.0, 0, role="user")
        for at, text in enumerate(["always answer in  French.", "Always answer in French, I like tea"])
    ]
    first = laid_out(points("user"), [], turns, profile)
    assert [hit.id for hit in first.hits] == ["mem_p", "epi_1"]
    later = laid_out(points("user", "assistant", "user"), kept([], first), turns, profile)
    assert later.hits == ()


def test_an_entry_names_linked_ending_and_covered_statements() -> None:
    zaragoza = Hit("fact", "mem_old", "I live in Zaragoza", 1.0, 0, then=tuple(facts("tea")))
    magnet = Hit("fact", "mem_m", "I use Magnet", 1.0, 0, ended_by=Hit("fact", "mem_end", "No Magnet", 1.0, 0))
    turn = Hit("episode", "epi", "I live in Oslo. Where can I swim?", 1.0, 0, role="user")
    oslo = Hit("fact", "mem_oslo", "I live in Oslo.", 1.0, 0, message="epi")
    assembly = laid_out(points("user"), [], [zaragoza, magnet, oslo, turn])
    [_, block] = assembly.entries
    assert set(block.memory_ids) == {"mem_old", "mem_tea", "mem_m", "mem_end", "mem_oslo", "epi"}
    again = laid_out(points("user", "assistant", "user"), kept([], assembly), [oslo, turn, *facts("tea")])
    assert again.hits == ()


def test_a_statement_linked_later_is_added_alone() -> None:
    zaragoza = Hit("fact", "mem_z", "I live in Zaragoza", 1.0, 0)
    first = laid_out(points("user"), [], [zaragoza])
    linked = replace(zaragoza, then=(Hit("fact", "mem_g", "ahora vivimos en Gijón", 1.0, 0),))
    later = laid_out(points("user", "assistant", "user"), kept([], first), [linked])
    assert [hit.id for hit in later.hits] == ["mem_g"]
    assert "Zaragoza" not in later.additions[-1].text


@given(st.lists(st.sets(st.sampled_from("abcdefgh")), min_size=1, max_size=6))
def test_each_request_begins_with_the_one_before(recalled: list[set[str]]) -> None:
    ledger: list[LedgerEntry] = []
    before: list[tuple[int, str]] = []
    roles: list[str] = []
    for names in recalled:
        roles += ["user"] if not roles else ["assistant", "user"]
        opening = SUMMARIES if len(roles) == 1 else ()
        assembly = laid_out(points(*roles), ledger, facts(*sorted(names)), PROFILE, opening)
        ledger = kept(ledger, assembly)
        now = [(addition.index, addition.text) for addition in assembly.additions]
        assert now[: len(before)] == before
        before = now


@given(st.lists(st.sets(st.sampled_from("abcdefgh")), min_size=1, max_size=6))
def test_nothing_goes_twice_into_what_the_provider_keeps(recalled: list[set[str]]) -> None:
    """Each request has only the new message; the profile was sent with the first."""
    held: list[LedgerEntry] = []
    shown: list[str] = []
    for at, names in enumerate(recalled):
        where = chain(ANNA, [("user", f"turn {at}".encode())])
        assembly = assemble(where, held, PROFILE, facts(*sorted(names)), 600, count, held)
        assert {addition.index for addition in assembly.additions} <= {0}
        assert any(addition.text == PROFILE.text for addition in assembly.additions) == (at == 0)
        assert assembly.kept == set(shown)
        assert assembly.kept <= assembly.carried
        shown += [hit.id for hit in assembly.hits]
        held = kept(held, assembly)
    assert len(shown) == len(set(shown))


def test_dropped_profile_is_told_anew_to_keeping_providers() -> None:
    """The provider stores the conversation, which would otherwise continue without the profile."""
    block = LedgerEntry("anchor", "block", "<memory>", ("mem_x",))
    assembly = assemble(points("user"), [block], PROFILE, facts("x", "y"), 600, count, [block])
    assert assembly.additions[0].text == PROFILE.text
    assert {hit.id for hit in assembly.hits} == {"mem_p", "mem_y"}


def test_a_tools_result_alone_gets_nothing() -> None:
    block = LedgerEntry("anchor", "block", "<memory>", ("mem_x",))
    assembly = assemble(points("tool"), [block], PROFILE, facts("y"), 600, count, [block])
    assert (assembly.additions, assembly.kept) == ((), {"mem_x"})


@given(st.lists(st.sets(st.sampled_from("abcdefgh")), min_size=1, max_size=6))
def test_nothing_is_injected_twice_in_a_conversation(recalled: list[set[str]]) -> None:
    ledger: list[LedgerEntry] = []
    seen: list[str] = []
    roles: list[str] = []
    for names in recalled:
        roles += ["user"] if not roles else ["assistant", "user"]
        assembly = laid_out(points(*roles), ledger, facts(*sorted(names)), opening=SUMMARIES)
        ledger = kept(ledger, assembly)
        seen += [hit.id for hit in assembly.hits]
    assert len(seen) == len(set(seen))


def test_profile_is_frozen_even_where_empty() -> None:
    where = points("user")
    ledger = kept([], laid_out(where, [], []))
    later = laid_out(points("user", "assistant", "user"), ledger, [], PROFILE)
    assert later.additions == ()


def test_opening_summaries_take_what_the_question_leaves() -> None:
    first = laid_out(points("user"), [], facts("a"), PROFILE, SUMMARIES)
    texts = [addition.text for addition in first.additions]
    assert texts[0] == PROFILE.text
    assert OPENING_OPEN in texts[1]
    assert "likes a" in texts[2]
    assert "spoke of a" not in texts[1]
    assert "harbours" in texts[1]
    again = laid_out(points("user"), kept([], first), facts("tea"), EMPTY, SUMMARIES[:1])
    assert [addition.text for addition in again.additions[:2]] == texts[:2]
    block = count(texts[2])
    tight = assemble(points("user"), [], None, facts("a"), block + 10, count, opening=SUMMARIES)
    assert [addition.text for addition in tight.additions] == texts[2:]


def test_the_last_user_message_is_computed_afresh() -> None:
    where = points("user")
    ledger = kept([], laid_out(where, [], facts("tea")))
    again = laid_out(where, ledger, facts("coffee"))
    assert "coffee" in again.additions[0].text
    assert "tea" not in again.additions[0].text


def test_tool_loop_keeps_block_and_tools_untouched() -> None:
    ledger = kept([], laid_out(points("user"), [], facts("tea")))
    loop = laid_out(points("user", "assistant", "tool"), ledger, facts("coffee"))
    assert [addition.index for addition in loop.additions] == [0]
    assert "tea" in loop.additions[0].text
    assert loop.hits == ()


def test_without_a_user_message_nothing_is_injected() -> None:
    assert laid_out(points("system", "assistant"), [], facts("tea"), PROFILE) == NOTHING


@given(st.integers(1, 6), st.integers(0, 5), st.booleans())
def test_nothing_new_stands_before_a_bound_reply(turns: int, bound: int, has_profile: bool) -> None:
    where = points(*(["user", "assistant"] * turns)[:-1])
    replies = Replies(last=2 * min(bound, turns - 1) - 1)
    profile = PROFILE if has_profile else EMPTY
    assembly = assemble(where, [], profile, facts("x"), 600, count, opening=SUMMARIES, replies=replies)
    assert all(addition.index > replies.last for addition in assembly.additions)
    again = assemble(where, kept([], assembly), PROFILE, facts("y"), 600, count, replies=Replies(where[-1].index))
    assert again.additions == assembly.additions
    assert again.entries == ()


def test_each_reply_has_what_stood_before_it() -> None:
    """A regenerated reply gets a new block; a conversation that continues the first reply keeps the first block."""
    where = points("user", "assistant", "user")
    first, second = (LedgerEntry(name, "block", f"<{name}>", ()) for name in (where[0].hash, "reply"))
    for following, shown in (({0: "reply"}, second), ({0: "other"}, first), ({}, first)):
        assembly = assemble(where, [first, second], EMPTY, [], 600, count, replies=Replies(1, following))
        assert [addition.text for addition in assembly.additions] == [shown.text]
