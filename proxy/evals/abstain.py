"""Abstention eval: whether memory injects nothing if no memory is relevant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from proxy.clock import iso
from proxy.evals.cases import Scenario
from proxy.evals.client import Asked, Client
from proxy.evals.dataset import Dataset, Line, Person, Question, Session
from proxy.evals.forget import APART, FIRST_DAY
from proxy.evals.metrics import Injected, mean
from proxy.evals.replay import Progress, Replay, for_each
from proxy.evals.report import Report, Table
from proxy.memory.inject.blocks import OPEN

_UNANSWERABLE = frozenset({"abstention", "Memory Boundary", "adversarial"})
_OWN_QUESTIONS = 100
_UNRELATED, _OWN = "unrelated prompts ({})", "own questions{}, for comparison"

Prompts = Mapping[str, Sequence[str]]  # by language


def _read() -> dict[str, tuple[str, ...]]:
    """Return everyday prompts by language that state nothing about the user and need no memory."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in resources.files("proxy.evals").joinpath("prompts.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            lines = found.setdefault(line[2:], [])
        elif line:
            lines.append(line)
    return {code: tuple(prompts) for code, prompts in found.items()}


PROMPTS = _read()  # by language
EVERY_PROMPT: tuple[str, ...] = tuple(prompt for prompts in PROMPTS.values() for prompt in prompts)


@dataclass(frozen=True, slots=True)
class Quiet:
    """One request of a group, with its injected memory.

    Args:
        on_turn: True if a block for the question was injected, besides profile and opening summaries.
    """

    group: str
    text: str
    tokens: int
    on_turn: bool


async def abstain(client: Client, dataset: Dataset, concurrency: int, prompts: Prompts = PROMPTS) -> Report:
    """Replay a set and end its sessions; then ask unrelated, unanswerable and answerable questions."""
    return await _quiet(client, dataset, concurrency, lambda person: requests(dataset, person, prompts))


async def abstain_in_languages(
    client: Client, cases: Sequence[Scenario], concurrency: int, prompts: Prompts = PROMPTS
) -> Report:
    """Ask one user per language, who stated everything in it, unrelated and answerable questions."""
    dataset = speakers(cases)
    return await _quiet(client, dataset, concurrency, lambda person: asked_in(person, prompts))


async def _quiet(
    client: Client, dataset: Dataset, concurrency: int, asked: Callable[[Person], Sequence[tuple[str, str]]]
) -> Report:
    progress = Progress(f"abstain {dataset.name}", sum(len(person.sessions) for person in dataset.people))
    heard: list[Quiet] = []

    async def one(person: Person) -> None:
        await Replay(client, Person(person.id, person.sessions, ()), ends=True).run()
        for number, (group, text) in enumerate(asked(person)):
            answer = await client.chat(
                [{"role": "user", "content": text}],
                user=person.id,
                session=f"abstain-{number}",
                time_of_turn=person.sessions[-1].date,
                mode="read",
            )
            heard.append(Quiet(group, text, Injected(answer.text).tokens, touches_turn(answer)))
        progress.advance(len(person.sessions))

    await for_each(dataset.people, one, concurrency)
    progress.finish()
    return tabulate(dataset.name, heard)


def requests(dataset: Dataset, person: Person, prompts: Prompts = PROMPTS) -> list[tuple[str, str]]:
    """Return one person's questions with their groups; prompts and own questions are distributed over all people."""
    place, people = dataset.people.index(person), len(dataset.people)
    own = [one.text for one in person.questions if one.category not in _UNANSWERABLE]
    step = max(1, len(own) * people // _OWN_QUESTIONS)
    never = [(f"never said ({one.category})", one.text) for one in person.questions if one.category in _UNANSWERABLE]
    return [
        *((_UNRELATED.format(code), text) for code, texts in prompts.items() for text in texts[place::people]),
        *never,
        *((_OWN.format(""), text) for text in own[::step]),
    ]


def speakers(cases: Sequence[Scenario]) -> Dataset:
    """Return one person per language, whose sessions consist of the first steps of the cases."""
    people = []
    for code in sorted({case.lang for case in cases}):
        own = [case for case in cases if case.lang == code]
        days = [iso(FIRST_DAY + APART * number) for number in range(len(own))]
        sessions = tuple(
            Session(code, case.id, day, tuple(Line("user", text) for text in case.steps[0]["user"]))
            for case, day in zip(own, days, strict=True)
        )
        asked = tuple(Question(code, case.id, "", case.probes[0]["probe"]) for case in own)
        people.append(Person(code, sessions, asked))
    return Dataset("languages", tuple(people))


def asked_in(person: Person, prompts: Prompts = PROMPTS) -> list[tuple[str, str]]:
    """Return the questions of a language's person, with their groups."""
    return [
        *((_UNRELATED.format(person.id), text) for text in prompts.get(person.id, ())),
        *((_OWN.format(f" ({person.id})"), question.text) for question in person.questions),
    ]


def touches_turn(asked: Asked) -> bool:
    """Return whether a block was injected for the question; profile and opening are separate blocks."""
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
