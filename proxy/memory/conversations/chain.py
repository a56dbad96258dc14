"""Recognition of a session by the hash chain of the user's messages. Pure.

Clients resend the whole history with every request. Each user and tool message is named by a hash over all of them
up to it; system prompts (front ends put clocks into them) and assistant messages (clients trim and reformat them) do
not count. An equal prefix gives equal hashes, so a replay is recognised and an edited history is a fork. If a client
drops older messages, two consecutive ones that it still sends show the place in the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from proxy.store.pairs import Pair
from proxy.store.sessions import ChainRow
from proxy.types import Scope

_HASH = 40  # hex digits of a state that name a message
_TRIED = 3
_AUTHORED = frozenset({"user", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Point:
    """One message in the chain.

    Args:
        index: Position in the request's messages.
        hash: Hash of the session up to and including this message; that of an assistant message is not in the chain.
        links: True if the message is a link of the chain.
        state: State of the chain at a link; a history that the provider keeps is continued from it.
        digest: Contribution of the message to the chain's state.
        pair: Hash of this link and the one before it, whatever precedes them; "" for the first.
        before: Hash of the link before.
    """

    index: int
    role: str
    hash: str
    links: bool
    state: str = ""
    digest: bytes = b""
    pair: str = ""
    before: str = ""

    @property
    def stored_pair(self) -> str:
        """The pair, if both its links are in this chain."""
        return self.pair if self.before else ""

    @property
    def rest(self) -> str:
        """Digits of the state after those of the hash."""
        return self.state[_HASH:]


@dataclass(frozen=True, slots=True)
class Placement:
    """Session of a request, and its new messages.

    Args:
        session: Id of the session.
        first_new: Index of the first message that was never learned from; ``len(messages)`` if none is new.
    """

    session: str
    first_new: int


def chain(scope: Scope, contents: Iterable[tuple[str, bytes]], *, after: str = "") -> list[Point]:
    """Return the hash chain of a request's messages.

    Args:
        scope: Scope of the session; equal messages of other users get other hashes.
        contents: Role and canonical content of each message, in order.
        after: State of the chain that these messages continue; "" if they begin one.
    """
    owner = hashlib.sha256(f"{scope.user}/{scope.agent}".encode()).digest()
    points = []
    last = b""
    for index, (role, content) in enumerate(contents):
        digest = role.encode() + b"\0" + hashlib.sha256(content).digest() if role in _AUTHORED else b""
        pair = hashlib.sha256(owner + last + digest).hexdigest()[:_HASH] if last and digest else ""
        points.append(Point(index, role, "", links=bool(digest), digest=digest, pair=pair))
        last = digest or last
    return _named(points, bytes.fromhex(after) if after else owner)


def rejoined(points: Sequence[Point], known: Collection[str]) -> Sequence[Point]:
    """Return the links whose pairs may rejoin a request to a session, after its first unknown link.

    Args:
        points: The request's chain.
        known: Hashes of stored links.
    """
    links = [point for point in points if point.links][:-1]  # the last one is new
    gap = next((at for at, point in enumerate(links) if point.hash not in known), len(links))
    return links[gap + 1 : gap + 1 + _TRIED]


def rejoin(
    points: Sequence[Point], tried: Sequence[Point], pairs: Sequence[Pair], named: str
) -> tuple[list[Point], int]:
    """Return the chain as the continuation of a stored session, and the number of messages dropped before it.

    Three consecutive messages must be in that session, if the client still sends three.

    Args:
        points: The request's chain.
        tried: Its links from ``rejoined``.
        pairs: Stored pairs with these hashes, latest first.
        named: Id of the session that the client named; "" if it named none.

    Returns:
        The chain unchanged, and 0, if no stored session matches.
    """
    followed = {(pair.session, pair.before, pair.name) for pair in pairs}
    links = [point for point in points if point.links]
    for link in tried:
        at = links.index(link)
        after = links[at + 1]
        for pair in sorted(pairs, key=lambda pair: pair.session != named):
            is_last = after is links[-1]
            if pair.name == link.pair and (is_last or (pair.session, pair.hash, after.pair) in followed):
                first, states = links[at - 1].index, {links[at - 1].index: pair.before, link.index: pair.state}
                return [*points[:first], *_named(points[first:], b"", states)], pair.seq - link.index
    return list(points), 0


def unknown_state(scope: Scope, reply: str) -> str:
    """Return the state after an unknown reply; messages after another reply get other hashes."""
    named = f"{scope.user}/{scope.agent}/after/".encode() + reply.encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()


def reply_hash(after: bytes | str, ordinal: int = 0) -> str:
    """Return the hash of the assistant message after a link; a regenerated reply has the hash of the first."""
    before = after.hex()[:40] if isinstance(after, bytes) else after
    return hashlib.sha256(f"{before}/assistant/{ordinal}".encode()).hexdigest()[:40]


def place(
    scope: Scope, points: Sequence[Point], known: Sequence[ChainRow], *, named: str, now: datetime, fresh: timedelta
) -> Placement:
    """Decide which session a request continues and which of its messages are new.

    Args:
        scope: Scope of the request; part of the id of a new session.
        points: The request's chain.
        known: Every stored link with one of the request's hashes, of any session of this scope.
        named: Id of the session that the client named; "" if it named none.
        now: Time of the request.
        fresh: A single first message is a replay if its session was active within this time, else it opens a new one.
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
    """Return the session id for a name by the client, which may have any characters."""
    digest = hashlib.sha256(f"{scope.user}/{scope.agent}/named/".encode() + name.encode("utf-8", "surrogatepass"))
    return f"ses_{digest.hexdigest()[:24]}"


def turn_id(session: str, last_hash: str) -> str:
    """Return the id of the turn that answers the message with this hash in this session."""
    return "turn_" + hashlib.sha256(f"{session}/{last_hash}".encode()).hexdigest()[:24]


def message_id(session: str, point_hash: str) -> str:
    """Return the id of a stored message: 32 hex digits, equal for every replay of it."""
    return hashlib.sha256(f"{session}/{point_hash}/message".encode()).hexdigest()[:32]


def _named(points: Sequence[Point], state: bytes, known: Mapping[int, str] = MappingProxyType({})) -> list[Point]:
    """Return the points with their hashes; ``known`` holds states, or hashes alone, of links by index."""
    named: list[Point] = []
    before, replies = "", 0
    for point in points:
        if point.links:
            given = known.get(point.index) or hashlib.sha256(state + point.digest).hexdigest()
            named.append(replace(point, hash=given[:_HASH], state=given, before=before))
            state, before, replies = bytes.fromhex(given), given[:_HASH], 0
        elif point.role == "assistant":
            named.append(replace(point, hash=reply_hash(state, replies)))
            replies += 1
        else:
            named.append(point)
    return named


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
    """Return an id that is derived, not random: two concurrent copies of a request must not open two sessions."""
    digest = hashlib.sha256(f"{scope.user}/{scope.agent}/{first_hash}/{ordinal}".encode()).hexdigest()
    return f"ses_{digest[:24]}"
