"""Leaves messages out of a request's list and puts a text in front of one that stays; every other byte stays."""

from __future__ import annotations

from collections.abc import Collection

from proxy.dialects import splice
from proxy.dialects.splice import Edit, Span


def condense(body: bytes, drop: Collection[int], host: int, text: str, *, key: str, kind: str) -> bytes:
    """Return the body without some messages, or (the same object) ``body`` where that cannot be done.

    Args:
        body: A request.
        drop: Indexes of the messages that go; never the last one.
        host: Index of a message that stays.
        text: Put in front of its content.
        key: Name of the list of messages on the top level.
        kind: Type of a text part in a user's message.
    """
    if not drop and not text:
        return body
    try:
        whole = body.decode()
        places = _Places(whole, host, key)
        edits = [*_removals(places.starts, drop), *([_ahead(whole, places.content, text, kind)] if text else ())]
    except (ValueError, LookupError, RecursionError):
        return body
    return splice.apply(body, whole, edits)


class _Places:
    """Offset of each message, and the content of one; of repeated keys the last counts, as in parsers."""

    def __init__(self, text: str, host: int, key: str) -> None:
        self._text, self._host, self._key = text, host, key
        self.starts: list[int] = []
        self.content: Span | None = None
        splice.walk_object(text, splice.root(text), self._on_top)

    def _on_top(self, key: str, at: int) -> int | None:
        if key != self._key:
            return None
        self.starts, self.content = [], None
        return splice.walk_array(self._text, at, self._on_message)

    def _on_message(self, index: int, at: int) -> int | None:
        self.starts.append(at)
        return splice.walk_object(self._text, at, self._on_member) if index == self._host else None

    def _on_member(self, key: str, at: int) -> int | None:
        if key != "content":
            return None
        self.content = Span(at, splice.value_end(self._text, at))
        return self.content.end


def _removals(starts: list[int], drop: Collection[int]) -> list[Edit]:
    """Return an edit for each run of messages that go, up to the start of the one behind it."""
    edits: list[Edit] = []
    for index in sorted(drop):
        start, end = starts[index], starts[index + 1]
        if edits and edits[-1].end == start:
            start = edits.pop().start
        edits.append(Edit(start, end, ""))
    return edits


def _ahead(whole: str, content: Span | None, text: str, kind: str) -> Edit:
    if content is None or whole[content.start] not in '"[':
        raise ValueError("no content that can grow")
    at = content.start + 1
    if whole[content.start] == '"':
        return Edit(at, at, splice.quoted(text)[1:-1])
    is_empty = not whole[at : content.end - 1].strip(" \t\n\r")
    part = f'{{"type":"{kind}","text":{splice.quoted(text)}}}'
    return Edit(at, at, part if is_empty else part + ",")
