"""Test for prose: sentences, not data, dumps, logs or encoded bytes. Pure, one pass."""

from __future__ import annotations

from proxy.text.words import HAS_CJK

SHORT = 200  # characters; a shorter text is too little evidence
MAX_OTHER = 0.25  # share of digits and marks
MIN_BLANKS = 0.03  # share of blanks, in scripts that separate words by them


def is_prose(text: str) -> bool:
    """Return whether a text reads like sentences; short texts always do.

    >>> is_prose("0000a0 1f 8b 08 00 " * 30), is_prose("We walked along the river and talked. " * 10)
    (False, True)
    """
    if len(text) < SHORT:
        return True
    letters, blanks = sum(map(str.isalpha, text)), sum(map(str.isspace, text))
    if len(text) - letters - blanks > MAX_OTHER * len(text):
        return False
    return blanks >= MIN_BLANKS * len(text) or HAS_CJK.search(text) is not None
