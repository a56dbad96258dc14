"""Delimiters of injected blocks, and the escaping that keeps text inside them."""

from __future__ import annotations

import re
from collections.abc import Callable

OPEN, CLOSE = "<memory", "</memory>"
_BLOCK = re.compile(r"\s*<memory(?: kind=\"\w{1,20}\")?>\n.*?(?:</memory>|\Z)", re.DOTALL)
Count = Callable[[str], int]

_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def escape(text: str) -> str:
    """Escape only what could close the fence or open a tag; quotes and apostrophes stay as they are."""
    return _TAG.sub("&lt;", text)


def without_blocks(text: str) -> str:
    """Return a message without injected blocks that a client sent back in it."""
    return _BLOCK.sub("", text).strip() if OPEN in text else text
