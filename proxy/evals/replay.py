"""Replay of a person's sessions as live traffic with a progress bar, pausing at the places of questions."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import anyio

from proxy.evals.client import Asked, Client
from proxy.evals.dataset import Line, Person, Question, Session
from proxy.evals.server import NEUTRAL_REPLY

T = TypeVar("T")
Place = tuple[str, int | None]
_AT_THE_END: Place = ("all", None)
_BAR = 24
_REDRAW_S = 0.2
_LINE_S = 15.0


@dataclass(frozen=True, slots=True)
class Moment:
    """A question and the messages that the server has received before it.

    Args:
        question: The question.
        earlier: Messages of the current session; they are in the request and do not count as memory.
        stored: All messages of the earlier sessions.
        time: Time of the last session.
    """

    question: Question
    earlier: Sequence[Line]
    stored: Sequence[tuple[Session, Line]]
    time: str


AskAt = Callable[[Moment], Awaitable[None]]
OnTurn = Callable[[Session, Asked], None]


class Replay:
    """Replay of one person's sessions as clients send them: request k contains messages 1 to k.

    Args:
        client: Client of the server.
        person: Person with sessions in order.
        ask: Called for each question at its place, when nothing is pending.
        on_turn: Called after each turn with the result of its request.
        ends: Whether to end finished sessions before each question and at the end, as idle time does in production.
    """

    def __init__(
        self,
        client: Client,
        person: Person,
        *,
        ask: AskAt | None = None,
        on_turn: OnTurn | None = None,
        ends: bool = False,
    ) -> None:
        self._client = client
        self._person = person
        self._ask = ask
        self._on_turn = on_turn
        self._due = places(person)
        self._stored: list[tuple[Session, Line]] = []
        self._ends = ends
        self._over: list[str] = []

    async def run(self) -> None:
        """Post all messages, ask all questions, and wait until nothing is pending."""
        for session in self._person.sessions:
            await self._converse(session)
            self._stored += [(session, line) for line in session.lines]
            self._over += [session.id] if self._ends and any(line.role == "user" for line in session.lines) else []
            await self._pose((session.id, None), (), session.date)
        await self._pose(_AT_THE_END, (), self._person.sessions[-1].date if self._person.sessions else "")
        await self._settle()

    async def _converse(self, session: Session) -> None:
        history: list[dict[str, str]] = []
        for at, line in enumerate(session.lines):
            await self._pose((session.id, at), session.lines[:at], session.date)
            history.append(line.wire())
            if line.role != "user":
                continue
            reply = _reply_to(session, at)
            turn = await self._client.chat(
                history,
                user=session.user,
                session=session.id,
                time_of_turn=session.date,
                reply=NEUTRAL_REPLY if reply is None else reply,
            )
            if reply is None:
                history.append({"role": "assistant", "content": NEUTRAL_REPLY})
            if self._on_turn is not None:
                self._on_turn(session, turn)

    async def _pose(self, place: Place, earlier: Sequence[Line], time: str) -> None:
        questions = self._due.get(place)
        if self._ask is None or not questions:
            return
        await self._settle()
        for question in questions:
            await self._ask(Moment(question, earlier, tuple(self._stored), time))

    async def _settle(self) -> None:
        await self._client.settle(self._person.id)
        while self._over:
            await self._client.end(self._person.id, self._over.pop(0))


async def for_each(items: Iterable[T], work: Callable[[T], Awaitable[object]], concurrency: int) -> None:
    """Run ``work`` for each item, ``concurrency`` at a time."""
    limit = anyio.CapacityLimiter(concurrency)

    async def limited(item: T) -> None:
        async with limit:
            await work(item)

    async with anyio.create_task_group() as group:
        for item in items:
            group.start_soon(limited, item)


def places(person: Person) -> dict[Place, list[Question]]:
    """Return the questions by their place: before the message with the same text, after a session, or at the end."""
    sessions = {session.id: session for session in person.sessions}
    found: dict[Place, list[Question]] = {}
    for question in person.questions:
        session = sessions.get(question.after)
        place = _AT_THE_END if session is None else (session.id, _position(session, question.text))
        found.setdefault(place, []).append(question)
    return found


def _position(session: Session, text: str) -> int | None:
    lines = enumerate(session.lines)
    return next((at for at, line in lines if line.role == "user" and line.content == text), None)


def _reply_to(session: Session, at: int) -> str | None:
    """Return the dataset's assistant reply, None if there is none."""
    follower = session.lines[at + 1] if at + 1 < len(session.lines) else None
    return follower.content if follower is not None and follower.role == "assistant" else None


class Progress:
    """Progress bar on standard error; on a terminal it redraws one line, otherwise it prints a line every 15 s."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = max(1, total)
        self._done = 0
        self._start = self._drawn = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Add finished steps."""
        self._done += steps
        now = time.monotonic()
        is_terminal = sys.stderr.isatty()
        if now - self._drawn >= (_REDRAW_S if is_terminal else _LINE_S):
            self._drawn = now
            self._draw("\r" if is_terminal else "", "" if is_terminal else "\n")

    def finish(self) -> None:
        """Draw the last state."""
        self._draw("\r" if sys.stderr.isatty() else "", "\n")

    def _draw(self, before: str, after: str) -> None:
        share = min(1.0, self._done / self._total)
        bar = "#" * round(share * _BAR)
        elapsed_s = time.monotonic() - self._start
        line = f"{self._label:<22} [{bar:<{_BAR}}] {self._done}/{self._total} {elapsed_s:.0f} s"
        sys.stderr.write(f"{before}{line}{after}")
        sys.stderr.flush()
