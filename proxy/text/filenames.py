"""Index terms of file names."""

from __future__ import annotations

import re

from proxy.text.lexical import content

# Words of file names that say nothing about the content.
_EMPTY_NAMES = frozenset(
    [
        "document",
        "file",
        "image",
        "img",
        "picture",
        "photo",
        "scan",
        "scanned",
        "copy",
        "final",
        "draft",
        "version",
        "page",
        "untitled",
        "new",
        "test",
        "sample",
        "example",
        "screenshot",
        "download",
        "upload",
        "attachment",
        "dsc",
        "pdf",
        "docx",
    ]
)
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
MIN_TELLING = 3


def name_terms(name: str) -> frozenset[str]:
    """Return the index terms of a file's name that distinguish it."""
    stem = re.sub(r"[_.\-\s]+", " ", _ENDING.sub("", name))
    telling = (word for word in content(stem) if not word.isdigit() and word not in _EMPTY_NAMES)
    return frozenset(word for word in telling if len(word) >= MIN_TELLING or not word.isascii())
