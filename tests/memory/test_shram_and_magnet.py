"""The first promise: what ends is gone, what stays stays, and only the user's own new word brings it back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from proxy.memory.learn.extract_builtin import BuiltinExtractor
from proxy.memory.learn.ground import ground
from proxy.memory.learn.reconcile import reconcile
from proxy.memory.visibility.visibility import ClosedValues
from proxy.types import Memory, Said, Scope, Turn

SCOPE = Scope("0" * 32, "1" * 32)
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def learn(*said: str) -> dict[str, Memory]:
    rows: dict[str, Memory] = {}
    for number, text in enumerate(said):
        at = START + timedelta(days=number)
        turn = Turn(f"turn_{number}", SCOPE, (Said(f"msg_{number}", "user", text),), "ok", "complete", "m", at)
        active = [row for row in rows.values() if row.status == "active"]
        found = ground(BuiltinExtractor().extract(turn, active, ()), turn)
        for change in reconcile(found, turn, list(rows.values()), now=at):
            rows[change.memory.id] = change.memory
    return rows


def active(rows: dict[str, Memory]) -> set[str]:
    return {row.object for row in rows.values() if row.status == "active"}


def test_a_compound_statement_becomes_one_fact_per_object() -> None:
    rows = learn("I use Shram and Magnet as productivity tools")
    assert active(rows) == {"Shram", "Magnet"}
    assert all("productivity tools" in row.text for row in rows.values())


def test_what_is_used_no_longer_goes_and_the_other_stays() -> None:
    rows = learn("I use Shram and Magnet as productivity tools", "I don't use Magnet anymore")
    assert active(rows) == {"Shram"}
    closed = ClosedValues.from_memories(rows.values())
    assert closed.visible("I use Shram and Magnet as productivity tools", START) == "I use Shram as productivity tools"
    assert closed.visible("I don't use Magnet anymore", START + timedelta(days=1)) is None


def test_starting_again_brings_it_back() -> None:
    rows = learn(
        "I use Shram and Magnet as productivity tools", "I don't use Magnet anymore", "I started using Magnet again"
    )
    assert active(rows) == {"Shram", "Magnet"}
    closed = ClosedValues.from_memories(rows.values())
    assert closed.visible("I started using Magnet again", START + timedelta(days=2)) == "I started using Magnet again"
