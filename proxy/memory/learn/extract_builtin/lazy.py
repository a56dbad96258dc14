"""Regular expressions that are compiled when they are first used: of a thousand, a language needs some hundred."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("findall", "finditer", "flags", "fullmatch", "groupindex", "match", "search", "split", "sub")


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what does as ``re.compile(pattern, flags)`` and costs nothing until then.

    Compiling all of the rules' patterns takes a second of CPU and 6 MB, those that English needs a fifth of it.
    """
    return cast("re.Pattern[str]", _Lazy(pattern, flags))


class _Lazy:
    """Stands for a pattern; from its first use on it has the methods of the compiled one as its own."""

    __slots__ = ("_flags", "pattern", *_METHODS)

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
