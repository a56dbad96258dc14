"""A failing deployment is skipped for a while, and then used again."""

from __future__ import annotations

from datetime import timedelta

from proxy.clock import ManualClock
from proxy.upstream.failover import Health


def test_deployment_cools_after_failures_and_comes_back():
    clock = ManualClock()
    health = Health(clock, allowed_fails=2, cooldown_s=5)
    for _ in range(2):
        health.fail("a")
        assert not health.is_cooling("a")
    health.fail("a")
    assert health.is_cooling("a")
    assert not health.is_cooling("b")
    clock.advance(timedelta(seconds=4.9))
    assert health.is_cooling("a")
    clock.advance(timedelta(seconds=0.1))
    assert not health.is_cooling("a")
    health.fail("a")
    assert not health.is_cooling("a")


def test_failures_of_another_minute_do_not_count():
    clock = ManualClock()
    health = Health(clock, allowed_fails=1)
    health.fail("a")
    clock.advance(timedelta(seconds=60))
    health.fail("a")
    assert not health.is_cooling("a")


def test_retry_after_is_respected_within_reason():
    clock = ManualClock()
    health = Health(clock, cooldown_s=5)
    health.fail("a", retry_after_s=30)
    health.fail("b", retry_after_s=1e9)
    clock.advance(timedelta(seconds=29))
    assert health.is_cooling("a")
    clock.advance(timedelta(seconds=571))
    assert not health.is_cooling("a")
    assert not health.is_cooling("b")


def test_no_cooling_where_it_is_switched_off():
    health = Health(ManualClock(), cooldown_s=0)
    health.fail("a")
    assert not health.is_cooling("a")


def test_what_no_longer_matters_is_forgotten():
    clock = ManualClock()
    health = Health(clock)
    for number in range(5000):
        health.fail(str(number))
    clock.advance(timedelta(minutes=2))
    health.fail("last")
    assert len(health._records) <= 4096
