from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.library.digest import digest

TEXTS = {
    "code": "\n".join(f"x{at} = f({at})" for at in range(600)),
    "table": "\n".join(f"| name {at} | a value of the number {at} |" for at in range(600)),
    "list": "\n".join(f"item {at}" for at in range(600)),
    "japanese": "吾輩は猫である" * 600,
    "words": "repeat " * 2000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_without_sentences_is_cut_at_its_beginning(text: str) -> None:
    found = digest([text])
    assert 300 < len(found) <= 700
    assert text.startswith(found)
    assert text[len(found)].isspace() or text.startswith("吾輩")


@given(st.lists(st.text(max_size=2000), max_size=5), st.integers(1, 900))
def test_only_an_empty_text_has_an_empty_digest(texts: list[str], most: int) -> None:
    found = digest(texts, most)
    assert len(found) <= most
    assert bool(found) == bool("".join(texts).strip())
