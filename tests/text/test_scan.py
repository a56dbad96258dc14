"""A search in stretches of a long text finds what one search finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.text.scan import OVERLAP, STEP, scan
from proxy.text.secrets import redact

KEY = "sk-proj-4fQ9zX2LmT8vB1nR6yWc3KdJ7hGsPa5E"
OF_PATTERNS = 8  # maximum length of a match of the patterns below, plus one
PATTERNS = (r"\S", r"(?<![a-z])[a-z]{3,6}+(?![a-z])", r"\bab?c\b", r"(?:\d\D?){3}", r"[^\n]{1,7}+", r"b|bc-")


@given(st.sampled_from(PATTERNS), st.text("abc 1\n-", max_size=200))
def test_stretches_find_what_one_search_finds(pattern: str, text: str) -> None:
    found = re.compile(pattern)
    spans = [match.span() for match in found.finditer(text)]
    assert [match.span() for match in scan(found, text, step=7, overlap=OF_PATTERNS)] == spans


@pytest.mark.parametrize("shift", range(-len(KEY) - 3, 4, 9))
def test_secrets_across_stretches_are_left_out(shift: int) -> None:
    text = ("word " * STEP)[: STEP + shift] + f" {KEY} " + "word " * OVERLAP
    assert KEY not in redact(text)
    assert "[redacted]" in redact(text)
