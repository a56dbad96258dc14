"""Mark with the thread's name after a quarantined content: it makes equal texts distinct, and is never shown."""

from __future__ import annotations

import re

_MARK = re.compile(r"\(thread_[0-9a-f]{24}\)")
_LENGTH = len("(thread_)") + 24


def marked(content: str, thread: str) -> str:
    """Return a content with the name of its thread, so that its bytes differ from the same text outside of it."""
    return f"{content}\n\n({thread})"


def unmarked(text: str) -> str:
    """Return a text, or its final part, without the mark.

    >>> unmarked(marked("The code is 17.", "thread_" + "0" * 24))
    'The code is 17.'
    """
    body = text.rstrip()
    said = body[:-_LENGTH]
    is_marked = _MARK.fullmatch(body[-_LENGTH:]) is not None and not said[-1:].strip()
    return said.rstrip() if is_marked else text
