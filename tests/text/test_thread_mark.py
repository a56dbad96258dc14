"""The mark at the end of quarantined content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.thread_mark import marked, unmarked

THREAD = "thread_" + "0123456789abcdef01234567"


@given(st.text())
def test_a_mark_comes_off_again(content: str) -> None:
    assert unmarked(marked(content.rstrip(), THREAD)) == content.rstrip()


@given(st.text())
def test_a_text_without_mark_stays(content: str) -> None:
    assert unmarked(content) == content


@pytest.mark.parametrize("text", [f"see({THREAD})", f"({THREAD}) is mine", "(thread_0)"])
def test_words_that_are_no_mark_stay(text: str) -> None:
    assert unmarked(text) == text


def test_a_piece_of_only_the_mark_is_empty() -> None:
    assert unmarked(f"({THREAD})\n") == ""
