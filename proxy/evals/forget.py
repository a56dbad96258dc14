"""Whether what a user took back stays away, and nothing else goes with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio

from proxy.clock import iso
from proxy.errors import ConfigError
from proxy.evals.client import Client
from proxy.evals.metrics import mean
from proxy.evals.replay import Progress
from proxy.evals.report import Cell, Chart, Miss, Report, Table
from proxy.evals.server import NEUTRAL_REPLY

FIRST_DAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
APART = timedelta(days=2)
_FORMAT = (
    'One JSON object a line: {"id": "…", "lang": "en", "kind": "retract", "conversations": [["first message", …], …], '
    '"probe": "question", "present": ["must be injected"], "absent": ["must not be"]}'
)


@dataclass(frozen=True, slots=True)
class Case:
    """What one user says in a few conversations, and what may be said of it afterwards."""

    id: str
    lang: str
    kind: str
    conversations: tuple[tuple[str, ...], ...]
    probe: str
    present: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which strings of a case are missing from the injected text, and which leaked into it."""

    case: Case
    missing: tuple[str, ...]
    leaked: tuple[str, ...]
    injected: str = ""

    @property
    def is_passed(self) -> bool:
        """Whether everything is as it should be."""
        return not self.missing and not self.leaked

    def record(self) -> dict[str, Any]:
        """Return the case for the JSON report."""
        return {
            "part": "forget",
            "case": self.case.id,
            "kind": self.case.kind,
            "passed": self.is_passed,
            "missing": self.missing,
            "leaked": self.leaked,
        }


def has_cases(folder: Path) -> bool:
    """Whether a folder holds cases of forgetting."""
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


def judge(case: Case, injected: str) -> Verdict:
    """Compare the injected text with what must and must not be in it, ignoring case."""
    text = injected.casefold()
    return Verdict(
        case,
        missing=tuple(one for one in case.present if one.casefold() not in text),
        leaked=tuple(one for one in case.absent if one.casefold() in text),
        injected=injected,
    )


async def forget(client: Client, cases: Sequence[Case], concurrency: int) -> Report:
    """Play every case and probe it; one user each."""
    progress = Progress("forget", len(cases))
    limit = anyio.CapacityLimiter(concurrency)
    verdicts: list[Verdict] = []

    async def one(case: Case) -> None:
        async with limit:
            verdicts.append(judge(case, await _play(client, case)))
            progress.advance()

    async with anyio.create_task_group() as group:
        for case in cases:
            group.start_soon(one, case)
    progress.finish()
    return tabulate(sorted(verdicts, key=lambda verdict: verdict.case.id))


def tabulate(verdicts: Sequence[Verdict]) -> Report:
    """Return the tables by kind and by language."""
    kinds, languages = ([one.case.kind for one in verdicts], [one.case.lang for one in verdicts])
    tables = [_table("kind", verdicts, kinds), _table("language", verdicts, languages)]
    charts = [_chart("kind", verdicts, kinds), _chart("language", verdicts, languages)]
    misses = [_miss(verdict) for verdict in verdicts if not verdict.is_passed]
    return Report(tables=tables, items=[verdict.record() for verdict in verdicts], charts=charts, misses=misses)


def _chart(by: str, verdicts: Sequence[Verdict], groups: Sequence[str]) -> Chart:
    passed = [
        (name, mean(one.is_passed for one, group in zip(verdicts, groups, strict=True) if group == name) or 0.0)
        for name in sorted(set(groups))
    ]
    return Chart(f"forget: passed, by {by}", {"passed": passed})


def _miss(verdict: Verdict) -> Miss:
    case = verdict.case
    said = "\n\n".join("\n".join(conversation) for conversation in case.conversations)
    what = [f"missing: {one}" for one in verdict.missing] + [f"leaked: {one}" for one in verdict.leaked]
    shows = (("said", said), ("asked", case.probe), ("wrong", "\n".join(what)), ("injected", verdict.injected.strip()))
    return Miss(f"{case.lang} {case.kind}", case.id, shows)


async def _play(client: Client, case: Case) -> str:
    moment = FIRST_DAY
    for number, said in enumerate(case.conversations):
        history: list[dict[str, str]] = []
        for text in said:
            history.append({"role": "user", "content": text})
            session = f"{case.id}-{number}"
            await client.chat(history, user=case.id, session=session, time_of_turn=iso(moment))
            history.append({"role": "assistant", "content": NEUTRAL_REPLY})
        moment += APART
    await client.settle(case.id)
    probe = [{"role": "user", "content": case.probe}]
    asked = await client.chat(probe, user=case.id, session=f"{case.id}-probe", time_of_turn=iso(moment), mode="read")
    return asked.text


def _table(noun: str, verdicts: Sequence[Verdict], names: Sequence[str]) -> Table:
    named = list(zip(names, verdicts, strict=True))
    rows = [_row(name, [verdict for other, verdict in named if other == name]) for name in sorted(set(names))]
    columns = (noun, "cases", "passed", "nothing missing", "nothing leaked")
    return Table(f"forget, by {noun}", columns, (*rows, _row("all", verdicts)))


def _row(name: str, verdicts: Sequence[Verdict]) -> tuple[Cell, ...]:
    return (
        name,
        len(verdicts),
        mean(verdict.is_passed for verdict in verdicts),
        mean(not verdict.missing for verdict in verdicts),
        mean(not verdict.leaked for verdict in verdicts),
    )


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
