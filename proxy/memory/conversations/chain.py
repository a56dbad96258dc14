"""Recognises a conversation by the hash chain of what the user sent, pure.

Clients resend the whole history with every request. Each user and tool message is named by a hash over all of them
up to it; system prompts (front ends put clocks into them) and assistant messages (clients trim and reformat them) do
not count. An equal prefix gives equal hashes, so a replay is recognised and an edited history is a branch. Where a
client leaves out older messages, two in a row of those that it still sends tell where the conversation goes on.
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
        hash: Name of the conversation up to and with this message; an assistant message has its own name that the
            chain does not go through.
        links: Whether the chain goes through it.
        state: The chain's state there, where it does; what the provider keeps is continued from it.
        digest: What the message adds to the chain's state.
        pair: Name of this link and the one before it, whatever came before them; "" for the first.
        before: Hash of that one.
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
        """The pair, where both messages followed each other here."""
        return self.pair if self.before else ""

    @property
    def rest(self) -> str:
        """The state behind the hash."""
        return self.state[_HASH:]


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
    """Return the pairs by which a request can be rejoined where its chain leaves what is known.

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
    """Return the chain as it goes on in a stored conversation, and how many messages were left out before it.

    Three messages in a row must have been said there, where the client still sends so many.

    Args:
        points: The request's chain.
        tried: Of it, by ``rejoined``.
        pairs: Stored pairs of these names, the latest first.
        named: Our id of the conversation that the client named; "" where it named none.

    Returns:
        The chain as it is, and 0, where no stored conversation fits.
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


def _named(points: Sequence[Point], state: bytes, known: Mapping[int, str] = MappingProxyType({})) -> list[Point]:
    """Return the points with their hashes; ``known`` holds states, or hashes alone, of links by their indexes."""
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
    """Derived, not drawn: two copies of one request under way at once must not open two conversations."""
    digest = hashlib.sha256(f"{scope.user}/{scope.agent}/{first_hash}/{ordinal}".encode()).hexdigest()
    return f"ses_{digest[:24]}"
