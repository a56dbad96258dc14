"""Convert an imported conversation to turns that are learned like live ones, at their own times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from proxy.dialects.authored import own_text
from proxy.memory.conversations.chain import message_id, named_session, reply_hash, turn_id
from proxy.memory.conversations.transcript import MAX_CHARACTERS
from proxy.memory.lifecycle.transfer.entries import Conversation, Remark
from proxy.text.secrets import redact
from proxy.types import Said, Scope, Turn

_STEP = timedelta(seconds=1)  # between messages that have no time


def session_name(service: str, conversation: Conversation) -> str:
    """Return the session name of an imported conversation."""
    return f"{service}:{conversation.id}"[:400]


def turns_of(scope: Scope, service: str, conversation: Conversation, now: datetime) -> tuple[list[Turn], list[str]]:
    """Return the turns of a conversation, oldest first, and notes on omitted text.

    The same conversation gives the same ids: a second import adds nothing, and a grown conversation adds its new turns.
    """
    session = named_session(scope, session_name(service, conversation))
    notes: list[str] = []
    turns: list[Turn] = []
    timed = _timed(conversation.remarks, now)
    for number, asked, replies in _exchanges(timed):
        for place, remark in enumerate((*asked, *replies), number):
            if len(remark.text) > MAX_CHARACTERS:
                about = f"conversation {conversation.title[:80]!r}, message {place + 1}"
                notes.append(f"{about}: cut off after {MAX_CHARACTERS:,} characters")
        hash_ = hashlib.sha256(f"{service}/{conversation.id}/{number}".encode()).hexdigest()[:40]
        said = []
        for place, remark in enumerate(asked, number):
            text = own_text((remark.text,), is_outcome=False)[:MAX_CHARACTERS].strip()
            if (clean := redact(text)) != text:
                notes.append(f"conversation {conversation.title[:80]!r}, message {place + 1}: a secret was left out")
            if clean:
                said.append(Said(message_id(session, f"{hash_}/{place}"), "user", clean, live=True, seq=place))
        reply = redact("\n\n".join(one.text for one in replies)[:MAX_CHARACTERS]).strip()
        if not said and not reply:
            continue
        at = (asked or replies)[0].at or now
        turns.append(
            Turn(
                id=turn_id(session, hash_),
                scope=replace(scope, session=session),
                messages=tuple(said),
                reply=reply,
                finish="complete",
                model="",
                at=at,
                reply_id=message_id(session, reply_hash(hash_)),
                reply_seq=number + len(asked),
            )
        )
    return turns, notes


def _timed(remarks: Sequence[Remark], now: datetime) -> list[Remark]:
    """Return the messages, each with a time, in order and none in the future."""
    known = next((one.at for one in remarks if one.at), now)
    timed: list[Remark] = []
    for one in remarks:
        at = min(one.at or (timed[-1].at or known) + _STEP if timed else one.at or known, now)
        timed.append(replace(one, at=max(at, timed[-1].at or at) if timed else at))
    return timed


def _exchanges(remarks: Sequence[Remark]) -> Iterator[tuple[int, list[Remark], list[Remark]]]:
    """Yield the user's messages and the replies of each exchange, with the position of its first message."""
    asked: list[Remark] = []
    replies: list[Remark] = []
    first = 0
    for place, one in enumerate(remarks):
        if one.role == "user" and replies:
            yield first, asked, replies
            asked, replies, first = [], [], place
        (asked if one.role == "user" else replies).append(one)
    if asked or replies:
        yield first, asked, replies
