"""Removal of thoughts from a reply's text, for servers that do not separate them. Pure."""

from __future__ import annotations

import re

_AT_START = re.compile(
    r"\A\s*<(?P<name>think|thinking|thought|reasoning)>.*?(?:</(?P=name)>\s*|\Z)", re.DOTALL | re.IGNORECASE
)
# Some chat templates hold the opening tag, so that a reply has only the closing one.
_ONLY_CLOSED = re.compile(r"^[ \t]*</think(?:ing)?>[ \t]*$\s*", re.MULTILINE | re.IGNORECASE)
_OPENS = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_FOLDED = re.compile(r"<details type=[\"']reasoning[\"'][^<>]*>.*?(?:</details>\s*|\Z)", re.DOTALL | re.IGNORECASE)


def without_thoughts(text: str) -> str:
    r"""Return a reply without its thoughts; "" if they never end.

    >>> without_thoughts("<think>The user may like tea.</think>\n\nHello!"), without_thoughts("Hm.\n</think>\nHello!")
    ('Hello!', 'Hello!')
    """
    if "<" not in text:
        return text
    closed = _ONLY_CLOSED.search(text)
    if closed is not None and not _OPENS.search(text, 0, closed.start()):
        text = text[closed.end() :]
    return _FOLDED.sub("", _AT_START.sub("", text))
