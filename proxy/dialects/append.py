"""Texts appended to the contents of messages, for the wires of OpenAI: strings grow, lists get a further part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from proxy.dialects import splice
from proxy.dialects.base import Insertion
from proxy.dialects.body import Contents
from proxy.dialects.splice import Edit, Span


def append(
    body: bytes, insertions: Sequence[Insertion], contents_of: Callable[[Collection[int]], Contents], *, kind: str
) -> bytes:
    """Return the body with each text appended to the content of its message; every other byte stays.

    A string grows before its closing quote, a list gets a further part. Where any of the messages is missing or has no
    content that can grow, nothing is inserted and ``body`` itself comes back.

    Args:
        body: Of a request.
        insertions: Texts and the messages that they belong to.
        contents_of: Finds the contents of messages in a body of this wire.
        kind: Type of a text part.
    """
    if not insertions:
        return body
    texts: dict[int, list[str]] = {}
    for insertion in insertions:
        texts.setdefault(insertion.message_index, []).append(insertion.text)
    try:
        text = body.decode()
        contents = contents_of(texts)
        contents.find(text)
        edits = [_growth(text, contents.found[index], added, kind) for index, added in texts.items()]
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, text, edits)


def _growth(text: str, content: Span | None, added: Sequence[str], kind: str) -> Edit:
    """Return the edit that appends texts to a content."""
    if content is None or text[content.start] not in '"[':
        raise ValueError("no content that can grow")
    at = content.end - 1
    if text[content.start] == '"':
        return Edit(at, at, "".join(splice.quoted(one)[1:-1] for one in added))
    parts = ",".join(f'{{"type":"{kind}","text":{splice.quoted(one)}}}' for one in added)
    is_empty = not text[content.start + 1 : at].strip(" \t\n\r")
    return Edit(at, at, parts if is_empty else "," + parts)
