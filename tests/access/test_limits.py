"""Allowances: requests granted and refused, and the time until the next."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.access.limits import UNLIMITED, Bucket, Limits
from proxy.clock import ManualClock
from proxy.errors import RateLimited
from proxy.types import Allowance

STEPS = st.lists(st.tuples(st.floats(0, 120), st.integers(1, 50)), max_size=40)


@given(st.integers(1, 100), STEPS)
def test_grants_never_exceed_capacity_and_flow(capacity, steps):
    now = granted = 0.0
    bucket = Bucket(capacity, now)
    for elapsed, amount in steps:
        now += elapsed
        if amount <= capacity and not bucket.wait_s(amount, now):
            bucket.take(amount)
            granted += amount
        assert granted <= capacity + now * capacity / 60 + 1e-3


@given(st.integers(1, 100), STEPS)
def test_after_the_wait_it_is_granted(capacity, steps):
    now = 0.0
    bucket = Bucket(capacity, now)
    for elapsed, amount in steps:
        now += elapsed
        now += bucket.wait_s(amount, now)
        assert bucket.wait_s(amount, now) == 0
        bucket.take(amount)


@given(st.integers(1, 100), st.integers(1, 1000))
def test_debt_is_paid_before_anything_is_granted(capacity, debt):
    bucket = Bucket(capacity, 0)
    bucket.take(capacity + debt)
    assert bucket.wait_s(1, 0) == pytest.approx((debt + 1) * 60 / capacity)


def test_requests_are_counted_by_holder():
    clock = ManualClock()
    limits = Limits(clock)
    two = Allowance(requests_per_minute=2)
    for _ in range(2):
        limits.admit("a", two)
    with pytest.raises(RateLimited, match=r"2 requests a minute\. Try again in 30 s") as caught:
        limits.admit("a", two)
    assert caught.value.headers["retry-after"] == "30"
    assert caught.value.headers["retry-after-ms"] == "30000"
    assert caught.value.headers["x-ratelimit-remaining-requests"] == "0"
    limits.admit("b", two)
    clock.advance(timedelta(seconds=30))
    limits.admit("a", two)


def test_a_changed_allowance_counts_at_once():
    limits = Limits(ManualClock())
    limits.admit("a", Allowance(requests_per_minute=1))
    limits.admit("a", Allowance(requests_per_minute=5))
    assert limits.admit("a", Allowance()) is UNLIMITED


def test_providers_count_replaces_the_estimate():
    limits = Limits(ManualClock())
    hundred = Allowance(tokens_per_minute=100)
    ticket = limits.admit("a", hundred)
    ticket.reserve(tokens=90, is_stream=False)
    assert dict(ticket.headers())["x-ratelimit-remaining-tokens"] == "10"
    ticket.begin(200)
    ticket.feed(b'{"usage": {"prompt_tokens": 5, "total_tokens": 20}}')
    ticket.close()
    ticket.close()
    assert dict(ticket.headers())["x-ratelimit-remaining-tokens"] == "80"


def test_errors_cost_nothing_and_silent_streams_their_events():
    limits = Limits(ManualClock())
    hundred = Allowance(tokens_per_minute=100)
    failed = limits.admit("a", hundred)
    failed.reserve(tokens=90, is_stream=False)
    failed.begin(500)
    failed.close()
    silent = limits.admit("a", hundred)
    silent.reserve(tokens=50, is_stream=True)
    silent.begin(200)
    silent.feed(b"data: {}\n\ndata: {}\n\n")
    silent.close()
    assert dict(silent.headers())["x-ratelimit-remaining-tokens"] == "48"


def test_oversized_request_takes_all_and_leaves_a_debt():
    clock = ManualClock()
    limits = Limits(clock)
    hundred = Allowance(tokens_per_minute=100)
    limits.admit("a", hundred).reserve(tokens=250, is_stream=False)
    with pytest.raises(RateLimited, match=r"100 tokens a minute"):
        limits.admit("a", hundred).reserve(tokens=1, is_stream=False)
    clock.advance(timedelta(seconds=91))
    limits.admit("a", hundred).reserve(tokens=1, is_stream=False)


def test_streams_are_given_back():
    limits = Limits(ManualClock())
    one = Allowance(concurrent_streams=1)
    first = limits.admit("a", one)
    first.reserve(tokens=0, is_stream=True)
    limits.admit("a", one).reserve(tokens=0, is_stream=False)
    with pytest.raises(RateLimited, match="1 streams at a time"):
        limits.admit("a", one).reserve(tokens=0, is_stream=True)
    first.close()
    limits.admit("a", one).reserve(tokens=0, is_stream=True)


def test_each_process_grants_its_part_or_one():
    limits = Limits(ManualClock(), processes=4)
    for _ in range(3):
        limits.admit("a", Allowance(requests_per_minute=12))
    with pytest.raises(RateLimited):
        limits.admit("a", Allowance(requests_per_minute=12))
    limits.admit("b", Allowance(requests_per_minute=1))


def test_holders_who_used_nothing_lately_are_forgotten():
    clock = ManualClock()
    limits = Limits(clock)
    for number in range(10_001):
        limits.admit(str(number), Allowance(requests_per_minute=5))
    assert len(limits._accounts) <= 10_000
    clock.advance(timedelta(minutes=1))
    limits.admit("new", Allowance(requests_per_minute=5))
    assert len(limits._accounts) == 1


@given(
    st.builds(Allowance, *[st.none() | st.integers(0, 9)] * 4),
    st.builds(Allowance, *[st.none() | st.integers(1, 9)] * 4),
)
def test_keys_own_limit_wins_and_none_is_unlimited(own, default):
    merged = own.over(default)
    for name in ("requests_per_minute", "tokens_per_minute", "concurrent_streams", "body_bytes"):
        said = getattr(own, name)
        assert getattr(merged, name) == (getattr(default, name) if said is None else said or None)
