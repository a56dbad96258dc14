"""Recognises a conversation by the hash chain of what the user sent, pure.

Clients resend the whole history with every request. Each user and tool message is named by a hash over all of them
up to it; system prompts (front ends put clocks into them) and assistant messages (clients trim and reformat them) do
not count. An equal prefix gives equal hashes, so a replay is recognised and an edited history is a branch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from proxy.store.sessions import ChainRow
from proxy.types import Scope

_AUTHORED = frozenset({"user", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Point:
    """One message in the chain.

    Args:
        index: Position in the request's messages.
        hash: Name of the conversation up to and with this message; an assistant message has its own name that the
            chain does not go through.
        links: Whether the chain goes through it.
        state: The chain's state there, where it does; what the provider keeps is continued from it.
    """

    index: int
    role: str
    hash: str
    links: bool
    state: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """Session of a request, and its new messages.

    Args:
        session: Our id of the conversation.
        first_new: Index of the first message that was never learned from; ``len(messages)`` where nothing is new.
    """

    session: str
    first_new: int


def chain(scope: Scope, contents: Iterable[tuple[str, bytes]], *, after: str = "") -> list[Point]:
    """Name every message of a request.

    Args:
        scope: Whose conversation; other users' equal messages get other names.
        contents: Role and canonical content of each message, in order.
        after: State of the chain that these messages continue; "" where they begin one.
    """
    state = bytes.fromhex(after) if after else hashlib.sha256(f"{scope.user}/{scope.agent}".encode()).digest()
    points = []
    replies = 0
    for index, (role, content) in enumerate(contents):
        if role in _AUTHORED:
            state = hashlib.sha256(state + role.encode() + b"\0" + hashlib.sha256(content).digest()).digest()
            replies = 0
            points.append(Point(index, role, state.hex()[:40], links=True, state=state.hex()))
        elif role == "assistant":
            points.append(Point(index, role, reply_hash(state, replies), links=False))
            replies += 1
        else:
            points.append(Point(index, role, "", links=False))
    return points


def unknown_state(scope: Scope, reply: str) -> str:
    """Return the state after a reply of which nothing is known; what follows another reply is no replay of it."""
    named = f"{scope.user}/{scope.agent}/after/".encode() + reply.encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()


def reply_hash(after: bytes | str, ordinal: int = 0) -> str:
    """Name the assistant's message that follows a link; a regenerated reply has the name of the first."""
    before = after.hex()[:40] if isinstance(after, bytes) else after
    return hashlib.sha256(f"{before}/assistant/{ordinal}".encode()).hexdigest()[:40]


def place(
    scope: Scope, points: Sequence[Point], known: Sequence[ChainRow], *, named: str, now: datetime, fresh: timedelta
) -> Placement:
    """Decide which conversation a request continues and which of its messages are new.

    Args:
        scope: Whose; goes into the id of a new conversation.
        points: The request's chain.
        known: Every stored link with one of the request's hashes, of any conversation of this scope.
        named: Our id of the conversation that the client named; "" where it named none.
        now: Time of the request.
        fresh: A single first message is a replay while its conversation was active within this time, later a new
            statement.
    """
    links = [point for point in points if point.links]
    if not links:
        return Placement(named or _session_id(scope, "", 0), len(points))
    last = links[-1]
    by_hash = _newest_by_hash(known)
    session = named or _continued(links, by_hash, now, fresh)
    seen_here = {row.hash for row in known if row.session == session and row.learned}
    if not session:
        opened = {row.session for row in known if row.hash == links[0].hash}
        session = _session_id(scope, links[0].hash, len(opened))
    if last.hash in seen_here:
        return Placement(session, len(points))
    learned = {row.hash for row in known if row.learned}
    before = [point.index for point in links[:-1] if point.hash in learned]
    return Placement(session, before[-1] + 1 if before else 0)


def named_session(scope: Scope, name: str) -> str:
    """Return our id of a conversation that the client named, whatever characters the name has."""
    digest = hashlib.sha256(f"{scope.user}/{scope.agent}/named/".encode() + name.encode("utf-8", "surrogatepass"))
    return f"ses_{digest.hexdigest()[:24]}"


def turn_id(session: str, last_hash: str) -> str:
    """Name the turn that answers the message with this hash in this conversation."""
    return "turn_" + hashlib.sha256(f"{session}/{last_hash}".encode()).hexdigest()[:24]


def message_id(session: str, point_hash: str) -> str:
    """Name a stored message: 32 hex digits, equal for every replay of it."""
    return hashlib.sha256(f"{session}/{point_hash}/message".encode()).hexdigest()[:32]


def _continued(links: Sequence[Point], by_hash: Mapping[str, ChainRow], now: datetime, fresh: timedelta) -> str:
    for depth in range(len(links) - 1, -1, -1):
        row = by_hash.get(links[depth].hash)
        if row is not None:
            is_first_alone = len(links) == 1
            return "" if is_first_alone and abs(now - row.last_at) > fresh else row.session
    return ""


def _newest_by_hash(known: Sequence[ChainRow]) -> dict[str, ChainRow]:
    newest: dict[str, ChainRow] = {}
    for row in known:
        if row.hash not in newest or row.last_at > newest[row.hash].last_at:
            newest[row.hash] = row
    return newest


def _session_id(scope: Scope, first_hash: str, ordinal: int) -> str:
    """Derived, not drawn: two copies of one request under way at once must not open two conversations."""
    digest = hashlib.sha256(f"{scope.user}/{scope.agent}/{first_hash}/{ordinal}".encode()).hexdigest()
    return f"ses_{digest[:24]}"
