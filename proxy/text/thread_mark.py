"""The name of its thread behind a content in quarantine: it makes other bytes of the same words, and is never shown."""

from __future__ import annotations

import re

_MARK = re.compile(r"(?:\A|\s+)\(thread_[0-9a-f]{24}\)\s*\Z")


def marked(content: str, thread: str) -> str:
    """Return a content with the name of its thread, which makes it another one than the same text outside of it."""
    return f"{content}\n\n({thread})"


def unmarked(text: str) -> str:
    """Return a text, or what was made of its end, without the mark.

    >>> unmarked(marked("The code is 17.", "thread_" + "0" * 24))
    'The code is 17.'
    """
    return _MARK.sub("", text) if "(thread_" in text[-80:] else text
