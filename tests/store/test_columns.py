from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from proxy.store.columns import Text

ANY_TEXT = st.text(st.characters(codec=None)) | st.text("\\0ud8\0\ud800x")
DIALECT = sqlite.dialect()


@given(ANY_TEXT)
@example("\\ud800")
@example("\\\\0\0\\")
def test_any_text_comes_back_and_is_stored_plain(text: str) -> None:
    stored = Text().process_bind_param(text, DIALECT)
    assert stored is not None
    assert "\0" not in stored
    stored.encode()
    assert Text().process_result_value(stored, DIALECT) == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\\")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert Text().process_bind_param(text, DIALECT) == text
