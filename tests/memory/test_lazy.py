"""Patterns that are compiled when they are first used do as those that are compiled at once, and all of them compile."""

from __future__ import annotations

import gc
import re

import pytest

from proxy.memory.learn.extract_builtin.lazy import _Lazy, lazy
from proxy.memory.learn.rules import rules


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_a_lazy_pattern_does_as_a_compiled_one(flags: int) -> None:
    pattern, text = r"(?P<first>[a-c]+)\s", "AB abc cab b"
    ours, theirs = lazy(pattern, flags), re.compile(pattern, flags)
    assert ours.pattern == theirs.pattern
    for name in ("search", "match", "fullmatch"):
        assert str(getattr(ours, name)(text, 1)) == str(getattr(theirs, name)(text, 1))
    assert ours.findall(text) == theirs.findall(text)
    assert [one.span() for one in ours.finditer(text)] == [one.span() for one in theirs.finditer(text)]
    assert ours.sub("-", text) == theirs.sub("-", text)
    assert ours.split(text) == theirs.split(text)
    assert (ours.flags, ours.groupindex) == (theirs.flags, theirs.groupindex)


def test_what_is_no_regular_expression_is_told_at_its_first_use() -> None:
    broken = lazy("(")
    with pytest.raises(re.error):
        broken.search("")


def test_every_pattern_of_the_rules_compiles() -> None:
    rules()
    found = [one for one in gc.get_objects() if isinstance(one, _Lazy) and one.pattern != "("]
    assert len(found) > 500
    for one in found:
        re.compile(one.pattern, one._flags)
