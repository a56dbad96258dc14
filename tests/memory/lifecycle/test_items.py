"""Laws of the forms that items take in a prompt, for any set of items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.lifecycle.hygiene import Rules
from proxy.memory.lifecycle.items import HIGHEST, LOW, MAX_FULL, Item, fitted, item_of_document, totals
from proxy.store.uses import Use
from proxy.types import Document

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ORDER = {"full": 0, "compressed": 1, "archived": 2}


@st.composite
def many_items(draw: st.DrawFn) -> list[Item]:
    made = []
    for number in range(draw(st.integers(0, 12))):
        made.append(
            Item(
                f"doc_{number}",
                "docs",
                draw(st.integers(1, 10)),
                draw(st.integers(0, 5000)),
                draw(st.sampled_from(["", "One sentence.", "Several words of a summary. " * 8])),
                draw(st.sampled_from(["full", "compressed", "archived"])),
                NOW - timedelta(days=draw(st.integers(0, 60))),
                NOW,
            )
        )
    return made


@given(many_items(), st.integers(0, 20_000))
def test_fitted_items_fit_or_are_shortest(items: list[Item], room: int) -> None:
    found = fitted(items, room)
    assert [one.id for one in found] == [one.id for one in items]
    taken = sum(one.in_prompt for one in found)
    assert taken <= room or all(one.form == "archived" for one in found)
    for before, after in zip(items, found, strict=True):
        assert ORDER[after.form] >= ORDER[before.form]
        assert after.in_prompt <= before.in_prompt <= before.tokens
    forms, tokens = totals(found)
    assert forms["total"] == forms["full"] + forms["compressed"] + forms["archived"] == len(items)
    assert tokens["saved"] == tokens["stored"] - tokens["in_context"] >= 0


@given(many_items(), st.integers(0, 20_000))
def test_less_important_items_give_way_first(items: list[Item], room: int) -> None:
    whole = {one.id for one in items if one.form == "full"}
    left = [one for one in fitted(items, room) if one.id in whole]
    if any(one.priority == HIGHEST and one.form != "full" for one in left):
        assert all(one.form != "full" or one.priority == HIGHEST for one in left)
    if any(LOW <= one.priority < HIGHEST and one.form != "full" for one in left):
        assert all(one.form != "full" or one.priority >= LOW for one in left)


@given(many_items())
def test_more_room_never_takes_less(items: list[Item]) -> None:
    """Without a limit all items stay as they are."""
    assert fitted(items, None) == list(items)
    taken = [sum(one.in_prompt for one in fitted(items, room)) for room in range(0, 20_000, 1000)]
    assert taken == sorted(taken)


@given(st.integers(0, 90), st.integers(0, 90), st.integers(1, 10), st.integers(0, 2 * MAX_FULL))
def test_documents_get_shorter_the_longer_nobody_uses_them(first: int, later: int, priority: int, tokens: int) -> None:
    days = sorted((first, later))
    document = Document("doc_1", "a.txt", "text/plain", 9, "0" * 64, NOW, priority=priority, tokens=tokens)
    forms = [item_of_document(document, None, NOW + timedelta(days=day), Rules()).form for day in days]
    assert ORDER[forms[0]] <= ORDER[forms[1]]
    used = Use(1, NOW + timedelta(days=days[1]))
    fresh = item_of_document(document, used, NOW + timedelta(days=days[1]), Rules()).form
    assert fresh == ("compressed" if tokens > MAX_FULL else "full")
    if priority == HIGHEST:
        assert forms[1] != "archived"
