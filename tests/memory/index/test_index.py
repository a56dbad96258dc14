from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.index.index import FactShelf, TurnShelf
from proxy.memory.plan.changes import ENDING, FORGOTTEN
from proxy.text.lexical import weights
from proxy.types import Scope
from tests.memory.rows import (
    AGENT,
    ANNE,
    DAY,
    DIMENSION,
    MODEL,
    NOW,
    OTHER_AGENT,
    bag,
    conversation,
    fact,
    fact_batch,
    turn_batch,
)

WORDS = ["tea", "milk", "dog", "berlin", "rex", "blue"]


def visible(shelf, scope=ANNE, as_of=None):
    return {shelf.items[line].text for line in np.flatnonzero(shelf.visible(scope, NOW, as_of))}


def facts(*rows):
    shelf = FactShelf(DIMENSION, MODEL)
    shelf.put(fact_batch(rows))
    return shelf


def turns(*rows):
    shelf = TurnShelf(DIMENSION, MODEL)
    shelf.put(turn_batch(rows))
    return shelf


def test_only_what_stands_now_is_visible():
    shelf = facts(
        fact(1, "active"),
        fact(2, "over and done", status="closed"),
        fact(3, "in review", status="review"),
        fact(4, "expired", expires_at=NOW - DAY),
        fact(5, "expires later", expires_at=NOW + DAY),
        fact(6, "over", valid_to=NOW - DAY),
        fact(7, "past event", kind="event", valid_to=NOW - DAY),
    )
    assert visible(shelf) == {"active", "expires later", "past event"}


def test_the_past_shows_what_stood_then():
    old = fact(1, "lives in Berlin", at=NOW - 100 * DAY, status="closed", valid_to=NOW - 10 * DAY)
    new = fact(2, "lives in Paris", at=NOW - 10 * DAY)
    gone = {"at": NOW - 100 * DAY, "status": "closed", "valid_to": NOW}
    forgotten = fact(3, "forgotten", metadata={FORGOTTEN: True}, **gone)
    shelf = facts(old, new, forgotten, fact(4, "an ending", metadata={ENDING: "end_1"}, **gone))
    assert visible(shelf, as_of=NOW - 50 * DAY) == {"lives in Berlin"}
    assert visible(shelf) == {"lives in Paris"}
    assert {shelf.items[line].text for line in np.flatnonzero(shelf.ended(ANNE))} == {"lives in Berlin"}


def test_agent_sees_its_own_and_common_rows():
    shelf = facts(fact(1, "common"), fact(2, "own", agent=AGENT), fact(3, "other's", agent=OTHER_AGENT))
    assert visible(shelf) == {"common"}
    assert visible(shelf, Scope(ANNE.tenant, ANNE.user, AGENT)) == {"common", "own"}


def test_rows_of_another_model_count_as_pending():
    shelf = FactShelf(DIMENSION, MODEL)
    batch = fact_batch([fact(1, "tea"), fact(2, "milk")])
    shelf.put(replace(batch, models=[MODEL, "another"]))
    cosines = shelf.dense(bag("tea"), shelf.seen_by(ANNE))
    assert cosines[0] == pytest.approx(1)
    assert np.isnan(cosines[1])
    assert np.isnan(shelf.dense(None, shelf.seen_by(ANNE))).all()


def test_windows_stay_within_their_conversation_and_its_order():
    shelf = turns(*conversation("b", "blue"), *conversation("a", "tea", "milk", "dog"))
    late = conversation("a", "rex", first=3)
    shelf.put(turn_batch(late))
    mask = shelf.seen_by(ANNE)
    scores = dict(zip([row.text for row in shelf.items], shelf.window_lexical(weights("dog"), mask), strict=True))
    assert scores["milk"] > 0
    assert scores["rex"] > 0
    assert scores["tea"] == 0
    assert scores["blue"] == 0


def test_window_is_found_by_its_last_turns_vector():
    shelf = turns(*conversation("a", "tea", "milk", "dog", "rex"), *conversation("b", "blue"))
    mask = shelf.seen_by(ANNE)
    around = dict(zip([row.text for row in shelf.items], shelf.window_dense(bag("dog"), mask), strict=True))
    assert min(around["milk"], around["dog"], around["rex"]) > max(around["tea"], around["blue"])
    mask[shelf.line("a-3")] = False
    hidden = shelf.window_dense(bag("rex"), mask)
    assert hidden[shelf.line("a-2")] == pytest.approx(float(shelf.dense(bag("rex"), mask, "trail_vector")[2]))
    assert np.isnan(hidden[shelf.line("a-3")])


def test_turns_that_stand_in_the_request_are_known():
    shelf = turns(*conversation("a", "tea is fine", "milk"), *conversation("b", "tea is fine"))
    assert {shelf.items[line].id for line in shelf.standing(["tea is fine"])} == {"a-0", "b-0"}
    assert {shelf.items[line].id for line in shelf.standing([" milk "])} == {"a-1"}
    assert shelf.standing(["a long reply with milk in it"]) == []


steps = st.lists(
    st.tuples(st.sampled_from(["put", "put", "drop"]), st.integers(0, 5), st.lists(st.sampled_from(WORDS), max_size=4)),
    max_size=12,
)


@settings(deadline=None)
@given(steps)
def test_growing_a_shelf_equals_building_it(changes):
    grown, rows = TurnShelf(DIMENSION, MODEL), {}
    for action, number, words in changes:
        if action == "put":
            [row] = conversation(f"s{number % 2}", " ".join(words), first=number)
            rows.pop(row.id, None)
            rows[row.id] = row
            grown.put(turn_batch([row]))
        else:
            rows.pop(f"s{number % 2}-{number}", None)
            grown.drop([f"s{number % 2}-{number}"])
    built = turns(*rows.values())
    assert set(grown.ids) == set(built.ids) == set(rows)
    for name in ("lexical", "window_lexical"):
        scores = [getattr(shelf, name)({"tea": 1.0, "dog": 1.0}, shelf.seen_by(ANNE)) for shelf in (grown, built)]
        for key in rows:
            lines = [shelf.line(key) for shelf in (grown, built)]
            assert scores[0][lines[0]] == pytest.approx(scores[1][lines[1]], rel=1e-4)


def test_the_size_is_known_and_grows():
    small, large = facts(fact(1, "tea")), facts(*(fact(n, f"tea {n}") for n in range(500)))
    assert 0 < small.size_bytes < large.size_bytes


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=60), st.integers(0, 5))
def test_typical_is_the_median_of_embedded_rows(cosines, without):
    shelf = FactShelf(8, "m")
    typical, usual = shelf.typical(np.array([*cosines, *[np.nan] * without], dtype=np.float32))
    median = pytest.approx(np.median(cosines), abs=1e-6)
    assert typical == (median if len(cosines) >= 20 else 0.0)
    assert min(cosines) - 0.061 < usual < max(cosines)
