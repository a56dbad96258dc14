"""Affinity respects weights, and a changed list moves few keys."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from proxy.upstream.affinity import Affinities, Conversation, rank

NAMES = st.text(min_size=1, max_size=8)
WEIGHTS = st.dictionaries(NAMES, st.floats(0, 1e6), min_size=1, max_size=8)


@given(WEIGHTS, st.text())
def test_every_name_ranks_once_and_always_alike(weights, key):
    ranked = rank(weights, key)
    assert sorted(ranked) == sorted(weights)
    assert ranked == rank(dict(reversed(weights.items())), key)


@given(st.dictionaries(NAMES, st.floats(0.001, 1e6), min_size=2, max_size=8), st.text())
def test_removed_name_moves_no_keys_between_others(weights, key):
    ranked = rank(weights, key)
    for gone in weights:
        left = {name: weight for name, weight in weights.items() if name != gone}
        assert rank(left, key) == [name for name in ranked if name != gone]


@given(WEIGHTS, st.text())
@example({"none": 0.0, "least": 5e-324}, "key")
def test_a_weight_of_nothing_comes_last(weights, key):
    ranked = [weights[name] > 0 for name in rank(weights, key)]
    assert ranked == sorted(ranked, reverse=True)


@given(st.dictionaries(NAMES, st.floats(0.001, 1e6), min_size=2, max_size=6), st.text(), st.floats(1, 1000))
def test_more_weight_never_loses_a_key(weights, key, more):
    first = rank(weights, key)[0]
    assert rank({**weights, first: weights[first] * more}, key)[0] == first


def test_keys_are_spread_by_weight():
    weights = {"a": 1.0, "b": 2.0, "c": 7.0}
    counted = Counter(rank(weights, f"conversation {number}")[0] for number in range(20_000))
    for name, weight in weights.items():
        assert abs(counted[name] / 20_000 - weight / 10) < 0.015


def test_continuing_conversation_keeps_its_key():
    affinities = Affinities()
    begun = affinities.key(Conversation("opening"))
    assert affinities.key(Conversation("opening", "answer")) == begun
    assert affinities.key(Conversation("opening", "answer")) == begun
    assert Affinities().key(Conversation("opening", "answer")) == begun


def test_equal_openings_are_conversations_of_their_own():
    affinities = Affinities()
    keys = [affinities.key(Conversation("hello")) for _ in range(100)]
    assert len(set(keys)) == 100
    second = affinities.key(Conversation("hello", "answer of the last"))
    affinities.key(Conversation("hello"))
    assert affinities.key(Conversation("hello", "answer of the last")) == second == keys[-1]


def test_named_conversation_has_one_key():
    affinities = Affinities()
    assert len({affinities.key(Conversation("name", is_named=True)) for _ in range(5)}) == 1
