"""Laws of dates in words: any text at any time is parsed in linear time."""

from __future__ import annotations

import time
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.dates import dates_in, expiry_of
from proxy.text.phrases import TOKEN
from tests.text.test_dates import AT, CODES, RESOLVED

OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


TIMES = st.datetimes(timezones=OFFSETS)


PARTS = [word for rows in RESOLVED.values() for text, _ in rows for word in text.split()]


TALK = st.lists(st.sampled_from([*PARTS, "14", "2027", "3.", "999", ","]) | st.text(max_size=5), max_size=12).map(
    " ".join
)


@given(TALK | st.text(), TIMES, st.sampled_from(CODES))
def test_any_text_at_any_time_is_read(text, at, code):
    dates = dates_in(text, at, code)
    assert dates.count(",") < 3
    ends = expiry_of(text, at, code)
    assert ends is None or (ends > at and ends.tzinfo is at.tzinfo)


@given(
    st.text(
        st.characters(exclude_categories=["Nd", "No", "Nl", "Lo"]).filter(
            lambda char: char.lower() not in "aeiouyаеиоуыэюя"
        )
    )
)
def test_text_without_digits_or_time_words_is_dateless(text):
    assert [dates_in(text, AT, code) for code in CODES] == [""] * len(CODES)


RUNS = [
    ("en", "a"), ("en", "1"), ("en", "1."), ("en", "1/1/"), ("en", "the last "), ("en", "on "), ("en", "until "),
    ("en", "the end of "), ("en", "14 March "), ("en", "in 2 "), ("en", "2 weeks "), ("en", "May "), ("en", "next"),
    ("en", "'"), ("en", " "), ("de", "ge"), ("de", "am Freitag ge"), ("de", "bis zum "), ("ru", "л"), ("ru", "до "),
    ("zh", "下"), ("zh", "十"), ("zh", "三月"), ("zh", "从"), ("zh", "到周五"), ("fr", "jusqu'à la "), ("pt", "no dia "),
]  # fmt: skip


def _least_s(text: str, code: str) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        dates_in(f"tomorrow {text} tomorrow", AT, code)
        expiry_of(f"on Friday {text}", AT, code)
        sum(1 for _ in TOKEN.finditer(text))
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(("code", "part"), RUNS)
def test_time_is_linear_in_length(code, part):
    size = 4_000 // len(part)
    dates_in("", AT, code)
    assert any(  # a slow text is measured again, as a busy machine is slow too
        _least_s(part * 2 * size, code) < 3 * _least_s(part * size, code) + 0.01 for _ in range(3)
    )
