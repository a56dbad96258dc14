from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from proxy.memory.recall.rank import best, economy, fuse, newest_first, priors, shared_out, thinned, varied

scores = nps.arrays(np.float32, 6, elements=st.floats(0, 100, width=32))


@given(st.lists(st.tuples(scores, st.floats(0.1, 1)), min_size=1, max_size=4))
def test_fused_scores_stay_between_0_and_1(lists):
    mask = np.array([True] * 5 + [False])
    fused = fuse(lists, mask)
    assert (fused >= 0).all()
    assert (fused <= 1 + 1e-5).all()
    assert fused[5] == 0


@given(scores)
def test_one_list_keeps_its_order(values):
    mask = np.ones(6, dtype=bool)
    fused = fuse([(values, 0.3)], mask)
    for one in range(6):
        for other in range(6):
            if values[one] > values[other]:
                assert fused[one] >= fused[other]


def test_row_missing_in_one_list_is_still_scored():
    lexical = np.array([2.0, 1.0, 0.0], dtype=np.float32)
    dense = np.array([np.nan, 0.9, 0.1], dtype=np.float32)
    fused = fuse([(lexical, 0.5), (dense, 0.5)], np.ones(3, dtype=bool))
    assert fused[0] == pytest.approx(1)
    assert fused[1] == pytest.approx(0.75)


def test_of_equal_scores_the_newer_line_comes_first():
    assert best(np.array([0.5, 0.9, 0.5, 0.0], dtype=np.float32), 3) == [1, 2, 0]
    assert best(np.array([0.1, 0.2, 0.3], dtype=np.float32), 1) == [2]


def test_newest_of_similar_statements_takes_the_best_score():
    similar = np.array([[True, True, False], [True, True, False], [False, False, True]])
    assert newest_first([0.9, 0.8, 0.7], [10, 1, 5], similar) == [0.8, 0.9, 0.7]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.data())
def test_preferring_the_newest_only_permutes_scores(values, data):
    count = len(values)
    flags = data.draw(nps.arrays(np.bool_, (count, count)))
    similar = flags | flags.T | np.eye(count, dtype=bool)
    ages = data.draw(st.lists(st.floats(0, 100), min_size=count, max_size=count))
    assert sorted(newest_first(sorted(values, reverse=True), ages, similar)) == sorted(values)


def test_priors_are_weak():
    factors = priors(confidence=[1, 0], uses=[100, 0], ages_days=[0, 1000], pinned=[True, False])
    assert 1.1 < factors[0] / factors[1] < 1.6


def test_long_replies_give_way_and_users_do_not():
    factors = economy(np.array([50, 2000, 2000], dtype=np.int32), np.array([False, False, True]))
    assert factors.tolist() == [1.0, 0.5, 1.0]


def test_smaller_groups_discount_later_hits_more():
    left = thinned([1.0, 0.9, 0.85], ["a", "a", "b"], {"a": 4, "b": 4})
    assert left[0] == 1.0
    assert left[1] < left[2] == 0.85
    large = thinned([1.0, 0.9, 0.85], ["a", "a", "b"], {"a": 60, "b": 4})
    assert large[1] > large[2]


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc")), max_size=12))
def test_diversify_discounts_later_hits_of_a_group(pairs):
    scores, groups = [score for score, _ in pairs], [group for _, group in pairs]
    left = shared_out(scores, groups)
    for at, (score, group) in enumerate(pairs):
        before = groups[:at].count(group)
        assert left[at] == pytest.approx(score * 0.85**before)


def test_a_weight_may_differ_from_line_to_line():
    first, second = np.array([1, 1], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    shares = np.array([0.9, 0.1], dtype=np.float32)
    fused = fuse([(first, shares), (second, 1 - shares)], np.ones(2, dtype=bool))
    assert fused.tolist() == pytest.approx([0.9, 1.0])


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.integers(0, 6), st.integers(0, 12))
def test_other_groups_come_first_from_a_place_on(groups, lead, until):
    order = varied(groups, lead, until)
    assert sorted(order) == list(range(len(groups)))
    assert order[:lead] == list(range(len(groups)))[:lead]
    behind = [groups[at] for at in order[lead : max(lead, until)]]
    others = set(groups[lead:]) - set(groups[:lead])
    assert set(behind[: len(others)]) == others or len(behind) < len(others)
