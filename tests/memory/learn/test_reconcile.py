"""The laws of reconciling: idempotent, order-free, scoped, and never against the user's newer word."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.learn.reconcile import Limits, reconcile
from proxy.memory.plan.changes import Change, edit_memory, restore_memory, retract_memory
from proxy.types import Candidate, Memory, Said, Scope, Turn

SCOPE = Scope("0" * 32, "1" * 32)
START = datetime(2026, 1, 1, tzinfo=UTC)
VALUES = ["Magnet", "Shram", "Leeds", "Welsh"]


def turn(number: int, *, live: bool = True, days: int | None = None) -> Turn:
    at = START + timedelta(days=number if days is None else days)
    return Turn(f"turn_{number}", SCOPE, (Said(f"msg_{number}", "user", "…", live=live),), "", "complete", "m", at)


def says(number: int, value: str, **fields: object) -> Candidate:
    base = Candidate("add", "fact", f"I use {value}", f"I use {value}", f"msg_{number}", relation="use", object=value)
    return replace(base, **fields)  # type: ignore[arg-type]


def ends(number: int, value: str, **fields: object) -> Candidate:
    return says(number, value, action="retract", relation="", replaces=(value,), text=value, **fields)


def apply(rows: dict[str, Memory], changes: list[Change]) -> dict[str, Memory]:
    return rows | {change.memory.id: change.memory for change in changes}


def run(*steps: tuple[Turn, list[Candidate]]) -> dict[str, Memory]:
    rows: dict[str, Memory] = {}
    for step, candidates in steps:
        rows = apply(rows, reconcile(candidates, step, list(rows.values()), now=step.at))
    return rows


def active(rows: dict[str, Memory]) -> set[str]:
    return {row.object for row in rows.values() if row.status == "active"}


candidate_lists = st.lists(
    st.builds(
        lambda value, action, single, again: (
            says(1, value, single=single, again=again)
            if action == "add"
            else ends(1, value)
            if action == "retract"
            else says(1, value + "x", action="replace", replaces=(value,))
        ),
        st.sampled_from(VALUES),
        st.sampled_from(["add", "retract", "replace"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=6,
)


@given(candidate_lists, candidate_lists)
@settings(deadline=None)
def test_applying_the_same_turn_twice_is_applying_it_once(first: list[Candidate], second: list[Candidate]) -> None:
    before = run((turn(0), [replace(entry, message_id="msg_0") for entry in first]))
    step = turn(1)
    once = apply(before, reconcile(second, step, list(before.values()), now=step.at))
    assert reconcile(second, step, list(once.values()), now=step.at + timedelta(hours=1)) == []


@given(st.permutations(VALUES))
@settings(deadline=None)
def test_the_order_of_unrelated_candidates_does_not_count(order: list[str]) -> None:
    rows = run((turn(0), [says(0, "Magnet"), says(0, "Leeds")]))
    told = {
        "Magnet": ends(1, "Magnet"),
        "Shram": says(1, "Shram"),
        "Leeds": ends(1, "Leeds"),
        "Welsh": says(1, "Welsh"),
    }
    result = apply(rows, reconcile([told[value] for value in order], turn(1), list(rows.values()), now=START))
    expected = apply(rows, reconcile(list(told.values()), turn(1), list(rows.values()), now=START))
    assert result == expected


def test_history_never_revives_what_was_taken_back() -> None:
    rows = run(
        (turn(0), [says(0, "Magnet")]),
        (turn(1), [ends(1, "Magnet")]),
        (turn(2, live=False), [says(2, "Magnet", again=True)]),
    )
    assert active(rows) == set()


@given(candidate_lists, candidate_lists)
@settings(deadline=None)
def test_history_never_ends_what_holds(live: list[Candidate], replayed: list[Candidate]) -> None:
    before = run((turn(0), [replace(entry, message_id="msg_0") for entry in live]))
    step = turn(1, live=False)
    after = apply(before, reconcile(replayed, step, list(before.values()), now=step.at))
    assert {key for key, row in before.items() if row.status == "active"} <= {
        key for key, row in after.items() if row.status == "active"
    }


@given(st.booleans())
def test_an_old_retraction_that_comes_along_ends_nothing_said_later(forget: bool) -> None:
    first, ended, again = says(0, "Magnet"), ends(1, "Magnet", forget=forget), says(2, "Magnet", again=True)
    old = turn(3, live=False)
    replayed = [replace(entry, message_id="msg_3") for entry in (first, ended)]
    assert active(run((turn(0), [first]), (turn(1), [ended]), (turn(2), [again]), (old, replayed))) == {"Magnet"}


def test_an_old_value_that_comes_along_leaves_the_present_one() -> None:
    rows = run((turn(0), [says(0, "Munich", single=True)]), (turn(1, live=False), [says(1, "Berlin", single=True)]))
    assert active(rows) == {"Munich"}


def test_within_a_history_the_later_value_holds() -> None:
    rows = run((turn(0, live=False), [says(0, "Berlin", single=True), says(0, "Munich", single=True)]))
    assert active(rows) == {"Munich"}


def test_the_users_new_word_revives_it() -> None:
    rows = run((turn(0), [says(0, "Magnet")]), (turn(1), [ends(1, "Magnet")]), (turn(2), [says(2, "Magnet")]))
    assert active(rows) == {"Magnet"}


def test_an_old_statement_that_arrives_late_does_not() -> None:
    rows = run((turn(0), [says(0, "Magnet")]), (turn(5), [ends(5, "Magnet")]), (turn(6, days=3), [says(6, "Magnet")]))
    assert active(rows) == set()


def test_repeating_reinforces_once_a_turn() -> None:
    rows = run((turn(0), [says(0, "Magnet")]), (turn(1), [says(1, "Magnet")]), (turn(1), [says(1, "Magnet")]))
    (row,) = rows.values()
    assert row.turns == ("turn_0", "turn_1")
    assert row.confidence > 0.8


def test_a_single_value_gives_way_to_a_newer_one_only() -> None:
    rows = run((turn(4), [says(4, "Leeds", single=True)]), (turn(5), [says(5, "Aberdeen", single=True)]))
    assert active(rows) == {"Aberdeen"}
    late = run((turn(4), [says(4, "Leeds", single=True)]), (turn(5, days=1), [says(5, "Bath", single=True)]))
    assert active(late) == {"Leeds"}


def test_a_lower_source_never_retires_a_higher_one() -> None:
    rows = run((turn(0), [says(0, "Leeds", single=True)]))
    for candidate in (says(1, "Bath", single=True), ends(1, "Leeds")):
        changes = reconcile([candidate], turn(1), list(rows.values()), now=START, provenance="tool")
        assert [change.memory.status for change in changes] == ["review"]


def test_deletion_keeps_to_its_subject_and_relation() -> None:
    rows = run((turn(0), [says(0, "Leeds"), says(0, "Leeds", subject="parents", relation="live in")]))
    scoped = apply(rows, reconcile([ends(1, "Leeds", subject="parents")], turn(1), list(rows.values()), now=START))
    assert [row.subject for row in scoped.values() if row.status == "active"] == ["user"]
    other = apply(
        rows, reconcile([replace(ends(1, "Leeds"), relation="like")], turn(1), list(rows.values()), now=START)
    )
    assert len([row for row in other.values() if row.status == "active"]) == 2


def test_a_request_to_forget_closes_everything_that_names_the_term() -> None:
    told = [says(0, "Gregor"), says(0, "deposit", text="Gregor owes me the deposit", relation="owe"), says(0, "Shram")]
    rows = run((turn(0), told), (turn(1), [ends(1, "Gregor", forget=True)]))
    assert active(rows) == {"Shram"}


def test_one_turn_closes_no_more_than_its_limit() -> None:
    told = [says(0, "Gregor", relation=f"r{n}") for n in range(5)]
    rows = run((turn(0), told))
    changes = reconcile(
        [ends(1, "Gregor", forget=True)], turn(1), list(rows.values()), now=START, limits=Limits(max_closed=2)
    )
    assert sum(change.action == "retract" for change in changes) == 2


def test_an_unknown_value_leaves_a_tombstone() -> None:
    rows = run((turn(1), [ends(1, "Mubi")]), (turn(2, live=False), [says(2, "Mubi")]))
    assert [(row.object, row.status) for row in rows.values()] == [("Mubi", "retracted")]


def test_low_confidence_waits_for_review() -> None:
    rows = run((turn(0), [says(0, "Magnet", confidence=0.2)]))
    assert [row.status for row in rows.values()] == ["review"]


def test_going_back_ends_what_had_taken_its_place() -> None:
    switched = says(1, "Waterfox", action="replace", replaces=("Vivaldi",), single=True)
    rows = run(
        (turn(0), [says(0, "Vivaldi")]), (turn(1), [switched]), (turn(2), [says(2, "Vivaldi", relation="", again=True)])
    )
    assert active(rows) == {"Vivaldi"}


def test_another_agents_rows_are_not_touched() -> None:
    rows = run((turn(0), [says(0, "Magnet")]))
    foreign = {key: replace(row, agent="f" * 32) for key, row in rows.items()}
    changes = reconcile([ends(1, "Magnet")], turn(1), list(foreign.values()), now=START)
    assert all(change.before is None for change in changes)


def test_the_owner_can_retract_edit_and_restore() -> None:
    (row,) = run((turn(0), [says(0, "Magnet")])).values()
    gone = retract_memory(row, START).memory
    assert gone.status == "retracted"
    assert restore_memory(gone, START).memory.status == "active"
    assert edit_memory(row, START, text="I use Magnet daily").memory.text == "I use Magnet daily"


def test_another_value_holds_from_the_edit_on() -> None:
    (row,) = run((turn(0), [says(0, "Magnet")])).values()
    later = START + timedelta(days=1)
    assert edit_memory(row, later, value="Shram").memory.valid_from == later
    assert edit_memory(row, later, value="magnet").memory.valid_from == START
    bare = replace(row, object="")
    assert edit_memory(bare, later, text="I use things", value="").memory.valid_from == START


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I live in Oslo with my brother Tom", {"Oslo"}),
        ("Ich wohne in Oslo mit Tom", {"Oslo"}),
        ("Tom and I live in Oslo", set()),
        ("I share with Tom in Oslo", set()),
    ],
)
def test_what_is_merely_done_with_somebody_holds_without_them(text: str, kept: set[str]) -> None:
    told = [says(0, "Tom", text=text, relation="is"), says(0, "Oslo", text=text, relation="live in")]
    rows = run((turn(0), told), (turn(1), [ends(1, "Tom", forget=True)]))
    assert active(rows) == kept


def test_a_figure_to_be_forgotten_takes_nothing_along_that_holds_without_it() -> None:
    text = "Every month I send 350 pounds to my sister Lalaine in Iloilo"
    told = [
        says(0, "Lalaine", text=text, relation="is"),
        says(0, "350 pounds", text="I send 350 pounds", relation="send"),
    ]
    rows = run((turn(0), told), (turn(1), [ends(1, "350 pounds", forget=True)]))
    assert active(rows) == {"Lalaine"}
