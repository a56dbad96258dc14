"""Whether memory keeps quiet when it knows nothing that matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.evals.client import Asked, Client
from proxy.evals.dataset import Dataset, Person
from proxy.evals.figures import Table
from proxy.evals.metrics import Injected, mean
from proxy.evals.progress import Progress
from proxy.evals.replay import Replay, for_each
from proxy.evals.report import Report
from proxy.evals.unrelated import PROMPTS
from proxy.memory.blocks import OPEN

_UNANSWERABLE = frozenset({"abstention", "Memory Boundary", "adversarial"})
_OWN_QUESTIONS = 100


@dataclass(frozen=True, slots=True)
class Quiet:
    """One request of a group and how much memory it got.

    Args:
        on_turn: Whether anything was put in for what was asked, beyond what opens every conversation.
    """

    group: str
    text: str
    tokens: int
    on_turn: bool


async def abstain(client: Client, dataset: Dataset, concurrency: int, prompts: Sequence[str] = PROMPTS) -> Report:
    """Replay a set and end its conversations; then ask unrelated things, things never said, and things that were."""
    progress = Progress(f"abstain {dataset.name}", sum(len(person.sessions) for person in dataset.people))
    heard: list[Quiet] = []

    async def one(person: Person) -> None:
        await Replay(client, Person(person.id, person.sessions, ()), ends=True).run()
        for number, (group, text) in enumerate(requests(dataset, person, prompts)):
            asked = await client.chat(
                [{"role": "user", "content": text}],
                user=person.id,
                session=f"abstain-{number}",
                time_of_turn=person.sessions[-1].date,
                mode="read",
            )
            heard.append(Quiet(group, text, Injected(asked.text).tokens, touches_turn(asked)))
        progress.advance(len(person.sessions))

    await for_each(dataset.people, one, concurrency)
    progress.finish()
    return tabulate(dataset.name, heard)


def requests(dataset: Dataset, person: Person, prompts: Sequence[str] = PROMPTS) -> list[tuple[str, str]]:
    """Return what one person asks, by group; the prompts and the own questions are dealt out among all."""
    place, people = dataset.people.index(person), len(dataset.people)
    own = [one.text for one in person.questions if one.category not in _UNANSWERABLE]
    step = max(1, len(own) * people // _OWN_QUESTIONS)
    never = [(f"never said ({one.category})", one.text) for one in person.questions if one.category in _UNANSWERABLE]
    return [
        *(("unrelated prompts", prompt) for prompt in prompts[place::people]),
        *never,
        *(("own questions, for comparison", text) for text in own[::step]),
    ]


def touches_turn(asked: Asked) -> bool:
    """Whether something was recalled for what was asked: the profile and the opening stand in blocks of their own."""
    return any(OPEN in text for text in asked.insertions)


def tabulate(name: str, heard: Sequence[Quiet]) -> Report:
    """Return the table by group."""
    rows = []
    for group in dict.fromkeys(sorted((one.group for one in heard), key=lambda group: (group[0] != "u", group))):
        members = [one for one in heard if one.group == group]
        rows.append(
            (
                group,
                len(members),
                mean(one.on_turn for one in members),
                mean(one.tokens > 0 for one in members),
                mean(one.tokens for one in members),
            )
        )
    columns = ("", "requests", "memory for the turn", "any memory", "tokens")
    notes = ("«any memory» counts the profile and the summaries that open a conversation too, whatever is asked.",)
    items = [{"part": "abstain", "group": one.group, "text": one.text, "tokens": one.tokens} for one in heard]
    return Report(tables=[Table(f"{name}: memory injected", columns, tuple(rows), notes)], items=items)
