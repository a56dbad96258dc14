from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.when import span

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("what did I say yesterday?", (2026, 3, 14), (2026, 3, 10)),
        ("what happened last week", (2026, 3, 8), (2026, 2, 20)),
        ("two months ago we met", (2026, 1, 14), (2026, 3, 10)),
        ("what did she do in May 2023?", (2023, 5, 20), (2023, 8, 1)),
        ("on 8 May 2023", (2023, 5, 8), (2023, 5, 20)),
        ("on December 24", (2025, 12, 24), (2026, 12, 24)),
        ("2025-07-01", (2025, 7, 1), (2025, 8, 1)),
        ("in 2024", (2024, 6, 1), (2025, 6, 1)),
        ("was habe ich gestern gesagt", (2026, 3, 14), (2026, 3, 1)),
        ("что я говорил вчера", (2026, 3, 14), (2026, 3, 1)),
        ("我昨天说了什么", (2026, 3, 14), (2026, 3, 1)),
    ],
)
def test_time_words_become_a_span(text, inside, outside):
    first, last = span(text, NOW)
    assert first <= datetime(*inside, 12, tzinfo=UTC) <= last
    assert not first <= datetime(*outside, 12, tzinfo=UTC) <= last


@pytest.mark.parametrize("text", ["", "what do I like", "may I ask", "call 2024555", "the 45 May 2023"])
def test_other_words_do_not(text):
    assert span(text, NOW) is None or "45" in text


@given(st.text())
def test_any_text_is_read(text):
    found = span(text, NOW)
    assert found is None or found[0] < found[1]
