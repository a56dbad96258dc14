"""Whether an ended statement stays away, nothing else goes with it, and nothing ends without reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from proxy.clock import iso
from proxy.errors import ConfigError
from proxy.evals.audit import Audit, CpuMeter, Memory, closed, is_subsequence
from proxy.evals.client import Client
from proxy.evals.metrics import mean, units
from proxy.evals.replay import Progress, for_each
from proxy.evals.report import Cell, Chart, Miss, Report, Table
from proxy.evals.server import NEUTRAL_REPLY
from proxy.evals.verdict import DEFINITIONS, Check, Verdict, judge

FIRST_DAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
APART = timedelta(days=2)
_ENDING_NOTHING = frozenset({"near_miss", "additive", "restate", "question"})
_FORGETTING = frozenset({"forget_request"})
_FORMAT = (
    'One JSON object a line: {"id": "…", "lang": "en", "kind": "retract", "conversations": [["first message", …], …], '
    '"probe": "question", "present": ["must be injected"], "absent": ["must not be"]}'
)


@dataclass(frozen=True, slots=True)
class Case:
    """Conversations of one user, and what a question behind them must and must not bring."""

    id: str
    lang: str
    kind: str
    conversations: tuple[tuple[str, ...], ...]
    probe: str
    present: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def said(self) -> list[str]:
        """All messages of the user."""
        return [text for conversation in self.conversations for text in conversation]

    @property
    def ends_nothing(self) -> bool:
        """True if the last conversation ends nothing that was told before."""
        return self.kind in _ENDING_NOTHING

    def may_end(self, memory: Memory) -> bool:
        """Return whether the last conversation may close a memory: what is restated closes what took it back."""
        between = [units(said) for conversation in self.conversations[1:-1] for said in conversation]
        texts = [str(memory.get(name) or "") for name in ("text", "quote")]
        return self.kind == "restate" and any(text and is_subsequence(text, said) for text in texts for said in between)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Verdict on a case, and the memories that its last conversation closed though it ends nothing."""

    case: Case
    verdict: Verdict
    closed: tuple[str, ...] = ()

    @property
    def withheld(self) -> bool | None:
        """True if a request to forget was met, None for other cases."""
        return self.verdict.is_withheld if self.case.kind in _FORGETTING else None

    @property
    def false_endings(self) -> float | None:
        """Memories closed for each message that ends nothing."""
        return len(self.closed) / len(self.case.conversations[-1]) if self.case.ends_nothing else None

    def record(self) -> dict[str, Any]:
        """Return the case for the JSON report."""
        return {
            "part": "forget",
            "case": self.case.id,
            "kind": self.case.kind,
            "kept": self.verdict.is_kept,
            "resolved": self.verdict.is_resolved,
            "strict": self.verdict.is_strict,
            "missing": self.verdict.missing,
            "leaked": self.verdict.leaked,
            "unmarked": self.verdict.unmarked,
            "closed": self.closed,
        }


def has_cases(folder: Path) -> bool:
    """Return whether a folder holds cases of forgetting."""
    return _file_of_cases(folder) is not None


def load_cases(folder: Path) -> list[Case]:
    """Read the cases of ``retract/open.jsonl``, or of one's own ``retract.jsonl``.

    Raises:
        ConfigError: If there are none, or a line is not of the format.
    """
    path = _file_of_cases(folder)
    if path is None:
        raise ConfigError(f"The folder {str(folder)!r} holds neither retract/open.jsonl nor retract.jsonl. {_FORMAT}")
    try:
        lines = path.read_bytes().splitlines()
        return [_case(json.loads(line)) for line in lines if line.strip()]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{str(path)!r} is not of the format: {error!r}. {_FORMAT}") from error


def _file_of_cases(folder: Path) -> Path | None:
    return next((one for one in (folder / "retract/open.jsonl", folder / "retract.jsonl") if one.is_file()), None)


def assess(case: Case, injected: str) -> Verdict:
    """Compare an injected text with what must and must not be in it, as parts of words too."""
    present = tuple((one,) for one in case.present)
    return judge(injected, Check(present, case.absent, whole_words=False), case.said)


async def forget(client: Client, cases: Sequence[Case], concurrency: int, name: str = "forget") -> Report:
    """Play every case, one user each, and ask its question when everything is learned."""
    progress = Progress(name, sum(len(case.conversations) + 1 for case in cases))
    audit = Audit(messages=sum(len(case.said) for case in cases))
    before: dict[str, set[str]] = {}
    outcomes: list[Outcome] = []

    async def remember(case: Case) -> None:
        before[case.id] = set(closed(await client.memories(case.id, "all")))

    async def look(case: Case) -> None:
        outcomes.append(await _outcome(client, case, before.get(case.id), audit))
        progress.advance()

    for number in range(max((len(case.conversations) for case in cases), default=0)):
        due = [case for case in cases if number < len(case.conversations)]
        last = [case for case in due if case.ends_nothing and number == len(case.conversations) - 1]
        await for_each(last, remember, concurrency)
        async with CpuMeter(client, audit):
            await for_each(due, partial(_converse, client, number), concurrency)
            await for_each(due, lambda case: client.settle(case.id), concurrency)
        progress.advance(len(due))
    await for_each(cases, look, concurrency)
    progress.finish()
    report = tabulate(sorted(outcomes, key=lambda outcome: outcome.case.id), name)
    report.add(Report(tables=[audit.table(name)], items=audit.items(name)))
    return report


async def _converse(client: Client, number: int, case: Case) -> None:
    history: list[dict[str, str]] = []
    for text in case.conversations[number]:
        history.append({"role": "user", "content": text})
        await client.chat(history, user=case.id, session=f"{case.id}-{number}", time_of_turn=_day(number))
        history.append({"role": "assistant", "content": NEUTRAL_REPLY})


async def _outcome(client: Client, case: Case, closed_before: set[str] | None, audit: Audit) -> Outcome:
    memories = await client.memories(case.id, "all")
    audit.look(memories, case.said)
    ended: tuple[str, ...] = ()
    if closed_before is not None:
        new = [one for id_, one in closed(memories).items() if id_ not in closed_before and not case.may_end(one)]
        ended = tuple(str(one["text"]) for one in new)
        audit.ending_nothing += len(case.conversations[-1])
        audit.closed += [f"{case.id}: {text}" for text in ended]
    asked = await client.chat(
        [{"role": "user", "content": case.probe}],
        user=case.id,
        session=f"{case.id}-probe",
        time_of_turn=_day(len(case.conversations)),
        mode="read",
    )
    return Outcome(case, assess(case, asked.text), ended)


def tabulate(outcomes: Sequence[Outcome], name: str = "forget") -> Report:
    """Return the tables by kind and by language, and what went wrong."""
    tables: list[Table] = []
    charts: list[Chart] = []
    for noun, group_of in _GROUPS:
        groups = sorted({group_of(one) for one in outcomes})
        rows = [(group, [one for one in outcomes if group_of(one) == group]) for group in groups]
        notes = [f"{word}: {meaning}" for word, meaning in DEFINITIONS.items()] if not tables else []
        tables.append(_table(f"{name}, by {noun}", noun, [*rows, ("all", list(outcomes))], notes))
        series = {column: [(group, mean(map(of, members)) or 0.0) for group, members in rows] for column, of in _SHARES}
        charts.append(Chart(f"{name}, by {noun}", series))
    misses = [_miss(one) for one in outcomes if not one.verdict.is_resolved or one.closed or one.withheld is False]
    return Report(tables=tables, items=[one.record() for one in outcomes], charts=charts, misses=misses)


_GROUPS: tuple[tuple[str, Callable[[Outcome], str]], ...] = (
    ("kind", lambda one: one.case.kind),
    ("language", lambda one: one.case.lang),
)
_SHARES: tuple[tuple[str, Callable[[Outcome], bool]], ...] = (
    ("kept", lambda one: one.verdict.is_kept),
    ("resolved", lambda one: one.verdict.is_resolved),
    ("strict", lambda one: one.verdict.is_strict),
)


def _table(title: str, noun: str, groups: Sequence[tuple[str, Sequence[Outcome]]], notes: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group, members in groups:
        shares = [mean(map(of, members)) for _, of in _SHARES]
        more = (mean(one.withheld for one in members), mean(one.false_endings for one in members))
        rows.append((group, len(members), *shares, *more))
    columns = (noun, "cases", *(column for column, _ in _SHARES), "withheld", "false endings")
    return Table(title, columns, tuple(rows), tuple(notes))


def _miss(outcome: Outcome) -> Miss:
    case, verdict = outcome.case, outcome.verdict
    said = "\n\n".join("\n".join(conversation) for conversation in case.conversations)
    wrong = [*verdict.reasons(), *(f"closed: {text}" for text in outcome.closed)]
    shows = (("said", said), ("asked", case.probe), ("wrong", "\n".join(wrong)))
    return Miss(f"{case.lang} {case.kind}", case.id, (*shows, ("injected", verdict.injected.strip())))


def _day(number: int) -> str:
    return iso(FIRST_DAY + APART * number)


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        id=row["id"],
        lang=row.get("lang", ""),
        kind=row.get("kind", ""),
        conversations=tuple(tuple(said) for said in row["conversations"]),
        probe=row["probe"],
        present=tuple(row.get("present", ())),
        absent=tuple(row.get("absent", ())),
    )
