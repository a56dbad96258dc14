from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.clock import from_ms, iso, parse_local_time, parse_time, to_ms
from proxy.types import local, offset_of

SECONDS = st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds)))


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("2026-03-01T22:06:00-03:00", -180),
        ("2026-03-01T22:06+05:45", 345),
        ("2026-03-01T22:06:00Z", 0),
        ("2026-03-01T22:06:00", 0),
        ("2026-03-01", 0),
        ("1772402760", 0),
    ],
)
def test_local_time_keeps_its_offset(text, minutes):
    moment = parse_local_time(text)
    assert offset_of(moment) == minutes
    assert parse_time(text) == moment
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["", "yesterday", "nan", "0001-01-01T00:00:00+10:00", "9999-12-31T23:00:00-10:00"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match=r"isoformat|before the year"):
        parse_local_time(text)


@given(st.datetimes(), SECONDS)
def test_local_time_survives_utc_and_offset(naive, zone):
    try:
        moment = parse_local_time(naive.replace(tzinfo=zone).isoformat())
    except ValueError:
        return
    back = local(moment.astimezone(UTC), offset_of(moment))
    assert back == moment
    assert abs(back.replace(tzinfo=None) - naive) < timedelta(minutes=1)


def test_local_time_may_be_of_another_day():
    assert local(datetime(2026, 3, 2, 1, 6, tzinfo=UTC), -180).date().isoformat() == "2026-03-01"


@given(st.integers(0, 4 * 10**15))
def test_time_shows_alike_before_and_after_storing(microseconds):
    moment = from_ms(0) + timedelta(microseconds=microseconds)
    assert iso(moment) == iso(from_ms(to_ms(moment)))
