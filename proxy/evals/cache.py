"""Prompt cache eval: cost of memory if the provider bills a repeated prefix at a discount."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from proxy.evals.client import Asked, Client
from proxy.evals.dataset import Dataset, Person, Session
from proxy.evals.metrics import common_prefix, flatten, mean
from proxy.evals.replay import Progress, Replay, for_each
from proxy.evals.report import Report, Table
from proxy.text import tokens

CACHED_PRICE = 0.1  # price of a cached token relative to a fresh one, as charged by the large providers
_SHARE = 3  # use the last third of a person's sessions, when there are memories to recall
_MIN_TURNS = 4


@dataclass(frozen=True, slots=True)
class Bill:
    """Input cost of one session in fresh tokens: without memory, with memory, and with the block in front.

    Args:
        kept: Share of requests that have the whole previous request as a prefix.
        added: Tokens of memory added to the newest messages.
    """

    turns: int
    plain: float
    with_memory: float
    in_front: float
    kept: float
    added: int


async def cache(client: Client, dataset: Dataset, concurrency: int) -> Report:
    """Replay a set in full mode and price the requests of each person's later sessions."""
    progress = Progress(f"cache {dataset.name}", sum(len(person.sessions) for person in dataset.people))
    bills: list[Bill] = []

    async def one(person: Person) -> None:
        turns: dict[str, list[Asked]] = {}

        def keep(session: Session, asked: Asked) -> None:
            turns.setdefault(session.id, []).append(asked)

        await Replay(client, person, on_turn=keep).run()
        later = [session.id for session in person.sessions][-max(1, len(person.sessions) // _SHARE) :]
        bills.extend(bill(turns[name]) for name in later if len(turns.get(name, ())) >= _MIN_TURNS)
        progress.advance(len(person.sessions))

    await for_each(dataset.people, one, concurrency)
    progress.finish()
    return tabulate(dataset.name, bills)


def bill(turns: Sequence[Asked]) -> Bill:
    """Return the costs of one session."""
    sent = [rendered(turn.sent) for turn in turns]
    received = [rendered(turn.received) for turn in turns]
    naive = [f"{_last_insertion(turn)}\n{text}" for turn, text in zip(turns, sent, strict=True)]
    kept = [right.startswith(left) for left, right in pairwise(received)]
    return Bill(len(turns), cost(sent), cost(received), cost(naive), mean(kept) or 0.0, sum(map(_added, turns)))


def cost(requests: Sequence[str]) -> float:
    """Return the price of consecutive requests in fresh tokens, with the shared prefix at a discount."""
    total = 0.0
    before = ""
    for request in requests:
        shared = tokens.count(request[: common_prefix(before, request)]) if before else 0
        total += tokens.count(request) - shared * (1 - CACHED_PRICE)
        before = request
    return total


def rendered(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the messages as one text, in the provider's order."""
    return "".join(f"<|{message.get('role')}|>{flatten(message.get('content'))}" for message in messages)


def tabulate(name: str, bills: Sequence[Bill]) -> Report:
    """Return the table."""
    turns = max(1, sum(one.turns for one in bills))
    plain = sum(one.plain for one in bills)
    costs = {
        "no memory": plain,
        "Throughline": sum(one.with_memory for one in bills),
        "the newest block in front": sum(one.in_front for one in bills),
    }
    rows = tuple((label, price / turns, price / plain if plain else None) for label, price in costs.items())
    notes = (
        f"{len(bills)} conversations, {turns} turns; a cached token costs {CACHED_PRICE} of a "
        f"fresh one. The whole previous request is a prefix of the next in {mean(one.kept for one in bills) or 0:.0%}.",
        f"New memory on the newest message: {sum(one.added for one in bills) / turns:.0f} tokens a turn.",
    )
    columns = ("", "fresh-token cost a turn", "to no memory")
    return Report(tables=[Table(f"{name}: input cost with prompt caching", columns, rows, notes)])


def _last_insertion(turn: Asked) -> str:
    return turn.insertions[-1] if turn.insertions else ""


def _added(turn: Asked) -> int:
    texts = [flatten(messages[-1].get("content")) for messages in (turn.sent, turn.received)]
    return tokens.count(texts[1]) - tokens.count(texts[0])
