"""A search in stretches of a long text gives the same cuts as a search of the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import cuts as module
from proxy.dialects.cuts import STRETCH, cuts

LINES = st.sampled_from(
    ["I moved to Leiden.", "", "```", "```python", "x = 1", "<context>", "</context>", "text <b>bold</b> text", "<!-- note -->",
     "-----", "=====", "--- a/file", "+++ b/file", "@@ -1,2 +1,2 @@", "-gone", "+come", "[Context]", "[End of context]",
     "BEGIN DOCUMENT", "END DOCUMENT", "### BEGIN NOTES ###", "### END NOTES ###", "a" * 60, "word " * 15, "  start", "diff --git a b", "&lt;x&gt;", "  [Note]", "\\<a>"]
)  # fmt: skip


@given(st.lists(LINES, max_size=80).map("\n".join))
def test_stretches_change_no_cut(text: str) -> None:
    whole = cuts(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STRETCH", 200)
        assert cuts(text) == whole


def test_tag_behind_a_very_long_line_is_found() -> None:
    text = "word " * (STRETCH // 2) + "\n<context>\nnot mine\n</context>\nI live in Oslo."
    (found,) = cuts(text)
    assert text[found.start : found.end] == "<context>\nnot mine\n</context>"
