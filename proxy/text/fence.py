"""Delimiters of injected blocks, and the escaping that keeps text inside them."""

from __future__ import annotations

import re
from collections.abc import Callable

CLOSE = "</memory>"
Count = Callable[[str], int]

_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def escape(text: str) -> str:
    """Escape only what could close the fence or open a tag; quotes and apostrophes stay as they are."""
    return _TAG.sub("&lt;", text)
