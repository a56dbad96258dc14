from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.index.postings import K1, B, Neighbours, Postings

texts = st.lists(st.lists(st.sampled_from(["tea", "milk", "cup", "dog", "rex"]), max_size=6), min_size=1, max_size=8)


def postings_of(lists):
    made = Postings()
    for terms in lists:
        made.extend([terms])
    return made


def formula(lists, query, line):
    mean = max(sum(map(len, lists)) / len(lists), 1.0)
    total = 0.0
    for term in query:
        holding = sum(term in terms for terms in lists)
        count = lists[line].count(term)
        idf = math.log1p((len(lists) - holding + 0.5) / (holding + 0.5))
        total += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * len(lists[line]) / mean))
    return total


@given(texts)
def test_scores_follow_the_formula(lists):
    scores = postings_of(lists).bm25({"tea": 1.0, "dog": 1.0}, np.ones(len(lists), dtype=bool))
    for line in range(len(lists)):
        assert scores[line] == pytest.approx(formula(lists, ["tea", "dog"], line), rel=1e-4, abs=1e-5)


@given(texts, st.data())
def test_what_is_masked_changes_nothing_for_the_rest(lists, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))))
    query = {"tea": 1.0, "rex": 1.0}
    scores = postings_of(lists).bm25(query, mask)
    alone = postings_of([terms for terms, seen in zip(lists, mask, strict=True) if seen])
    expected = alone.bm25(query, np.ones(int(mask.sum()), dtype=bool))
    assert scores[mask] == pytest.approx(expected, rel=1e-4)
    assert not scores[~mask].any()


@given(texts)
def test_windows_score_as_if_neighbours_were_one_text(lists):
    count = len(lists)
    before = np.array([line - 1 for line in range(count)])
    after = np.array([line + 1 if line + 1 < count else -1 for line in range(count)])
    joined = [[*itertools.chain(*lists[max(0, line - 1) : line + 2])] for line in range(count)]
    everything = np.ones(count, dtype=bool)
    scores = postings_of(lists).bm25({"tea": 1.0, "cup": 0.5}, everything, neighbours=Neighbours(before, after))
    assert scores == pytest.approx(postings_of(joined).bm25({"tea": 1.0, "cup": 0.5}, everything), rel=1e-4)


@given(texts, st.integers(0, 8))
def test_how_texts_arrive_makes_no_difference(lists, cut):
    made = Postings()
    made.extend(lists[:cut])
    made.extend(lists[cut:])
    mask = np.array([line % 3 != 1 for line in range(len(lists))])
    query = {"tea": 1.0, "milk": 0.5, "nothing": 1.0}
    assert made.bm25(query, mask) == pytest.approx(postings_of(lists).bm25(query, mask), rel=1e-4)
    terms, lines = made.holders(["tea", "never said"])
    assert sorted(lines) == [line for line, said in enumerate(lists) if "tea" in said]
    assert not terms.any()


@given(texts, st.data())
def test_what_is_masked_changes_no_window_either(lists, data):
    count = len(lists)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    neighbours = Neighbours(np.arange(count) - 1, np.append(np.arange(1, count), -1))
    hidden = [terms if seen else ["dog"] for terms, seen in zip(lists, mask, strict=True)]
    query = {"tea": 1.0, "dog": 1.0}
    scores = postings_of(lists).bm25(query, mask, neighbours=neighbours)
    assert scores == pytest.approx(postings_of(hidden).bm25(query, mask, neighbours=neighbours), rel=1e-4)


def test_nothing_at_all_scores_nothing():
    assert Postings().bm25({"tea": 1.0}, np.zeros(0, dtype=bool)).shape == (0,)
    assert postings_of([["tea"]]).bm25({}, np.ones(1, dtype=bool)).tolist() == [0]


@given(st.data())
def test_the_best_are_those_that_score_best(data):
    rare = st.lists(st.sampled_from(["tea", "milk", "dog", "rex"]), max_size=3)
    lists = data.draw(st.lists(st.tuples(rare, st.integers(0, 2)), min_size=1, max_size=60))
    made = postings_of([[*terms, *["cup"] * cups] for terms, cups in lists])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))))
    query = {"tea": 1.0, "rex": 0.4, "cup": data.draw(st.sampled_from([0.01, 1.0])), "never": 1.0}
    limit = data.draw(st.integers(1, 5))
    scores = made.bm25(query, mask)
    best = made.top(query, mask, limit)
    expected = sorted((float(score) for score in scores if score > 0), reverse=True)[: -(-limit // 2)]
    assert sorted(best.values(), reverse=True)[: len(expected)] == pytest.approx(expected, rel=1e-4)
    assert len(best) <= limit
    assert all(scores[line] == pytest.approx(score, rel=1e-4) for line, score in best.items())
