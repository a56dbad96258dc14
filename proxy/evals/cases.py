"""Plays short cases and longer stories of one's own, and checks what their questions bring and what was learned.

``memory.jsonl`` holds one case a line, ``stories.json`` a list of stories; a folder may hold either::

    {"id": "tea", "kind": "update", "lang": "en", "conversations": [["I drink tea."], ["I drink coffee now."]],
     "probe": "What do I drink?", "present": ["coffee"], "resolved": [["tea", "coffee"]]}
    [{"id": "ada", "lang": "en", "ask": {"time": "2026-06-20T10:00:00Z"}, "conversations": [{"user": ["…"]}],
      "questions": [{"probe": "…", "present": ["…"]}]}]

The checks of a question are those of `verdict.Check`, the steps of ``conversations`` those of `actor`. A case may have
several ``probes`` with their own checks, and ``memories_present``, ``memories_absent``, ``memories_once``,
``max_memories`` on the active memories, and ``upstream_absent`` on all that a question sends up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.errors import ConfigError
from proxy.evals.actor import Actor, Step
from proxy.evals.audit import Audit, CpuMeter
from proxy.evals.client import Client, EvalFailed
from proxy.evals.metrics import flatten, mean
from proxy.evals.replay import Progress, for_each
from proxy.evals.report import Cell, Miss, Report, Table
from proxy.evals.verdict import DEFINITIONS, AnyOf, Check, Verdict, find, judge, unguarded

_FORGETTING = frozenset({"forget", "forget_request"})
_RIGHT = "right: kept, no string of `absent`, each stale one marked, and all other checks of the case are met."


@dataclass(frozen=True, slots=True)
class Scenario:
    """A case, or a story whose questions are counted one by one; ``row`` is its line as read."""

    id: str
    group: str
    steps: tuple[Step, ...]
    probes: tuple[Step, ...]
    row: Mapping[str, Any]
    is_story: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a case, or of one question of a story."""

    scenario: Scenario
    title: str
    verdicts: tuple[Verdict, ...]
    wrong: tuple[str, ...] = ()

    def share(self, measure: Callable[[Verdict], bool]) -> bool | None:
        """Return whether all its questions meet a measure, None if it has none."""
        return all(map(measure, self.verdicts)) if self.verdicts else None

    @property
    def is_right(self) -> bool:
        """True if everything is as it should be."""
        return not self.wrong and all(one.is_right for one in self.verdicts)

    @property
    def withheld(self) -> bool | None:
        """True if a request to forget was met, None for other cases."""
        return self.share(_MEASURES["withheld"]) if self.scenario.group in _FORGETTING else None

    def reasons(self) -> list[str]:
        """Return what is wrong."""
        return [*(reason for one in self.verdicts for reason in one.reasons()), *self.wrong]

    def record(self) -> dict[str, Any]:
        """Return it for the JSON report."""
        found = {name: self.share(measure) for name, measure in _MEASURES.items()}
        injected = [] if self.is_right else [one.injected for one in self.verdicts]
        head = {"part": "cases", "case": self.scenario.id, "kind": self.scenario.group, "title": self.title}
        return {**head, "right": self.is_right, **found, "wrong": self.reasons(), "injected": injected}


_MEASURES: Mapping[str, Callable[[Verdict], bool]] = {
    "kept": lambda one: one.is_kept,
    "resolved": lambda one: one.is_resolved,
    "strict": lambda one: one.is_strict,
    "withheld": lambda one: one.is_withheld,
}


def load_scenarios(folder: Path) -> list[Scenario]:
    """Read the cases and stories of a folder.

    Raises:
        ConfigError: If there are none, or one is not of the format.
    """
    cases, stories = folder / "memory.jsonl", folder / "stories.json"
    try:
        lines = cases.read_text(encoding="utf-8").splitlines() if cases.is_file() else []
        found = [_case(json.loads(line)) for line in lines if line.strip()]
        told = json.loads(stories.read_text(encoding="utf-8")) if stories.is_file() else []
        found += [_story(row) for row in told]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"The cases in {str(folder)!r} are not of the format: {error!r}.\n{__doc__}") from error
    if not found:
        raise ConfigError(f"The folder {str(folder)!r} holds no cases in memory.jsonl or stories.json.\n{__doc__}")
    return found


async def cases(client: Client, scenarios: Sequence[Scenario], concurrency: int) -> Report:
    """Play all scenarios in rounds, one step of each, and ask their questions when everything is learned."""
    progress = Progress("cases", sum(len(one.steps) + 1 for one in scenarios))
    audit = Audit()
    actors = {one.id: Actor(client, one.id) for one in scenarios}
    failed: dict[str, str] = {}
    results: list[Result] = []

    async def play(scenario: Scenario) -> None:
        try:
            await actors[scenario.id].play(scenario.steps[number])
        except EvalFailed as error:
            failed[scenario.id] = f"failed: {error}"

    async def look(scenario: Scenario) -> None:
        try:
            results.extend(await _results(scenario, actors[scenario.id], failed.get(scenario.id), audit))
        except EvalFailed as error:
            results.append(Result(scenario, scenario.id, (), (f"failed: {error}",)))
        progress.advance()

    for number in range(max(len(one.steps) for one in scenarios)):
        due = [one for one in scenarios if number < len(one.steps)]
        async with CpuMeter(client, audit):
            await for_each(due, play, concurrency)
            await for_each(due, lambda one: actors[one.id].settle(one.steps[number]), concurrency)  # noqa: B023 - awaited
        progress.advance(len(due))
    await for_each(scenarios, look, concurrency)
    progress.finish()
    report = tabulate(sorted(results, key=lambda result: list(actors).index(result.scenario.id)))
    report.add(Report(tables=[audit.table("cases")], items=audit.items("cases")))
    return report


async def _results(scenario: Scenario, actor: Actor, failure: str | None, audit: Audit) -> list[Result]:
    audit.messages += actor.messages
    for person in list(actor.people.values()):
        audit.look(await person.client.memories(person.name, "all"), person.said)
    wrong = [failure] if failure else []
    verdicts = []
    for probe in scenario.probes:
        asked = await actor.ask(probe)
        verdicts.append(judge(asked.text, check_of(probe), actor.person(probe).said))
        whole = "\n".join(flatten(one.get("content")) for one in asked.received)
        wrong += [f"sent upstream: {one}" for one in scenario.row.get("upstream_absent", ()) if find(one, whole)]
    if scenario.is_story:
        titles = [str(probe["probe"]) for probe in scenario.probes]
        return [Result(scenario, title, (one,), tuple(wrong)) for title, one in zip(titles, verdicts, strict=True)]
    person = actor.person(scenario.row)
    texts = [str(one["text"]) for one in await person.client.memories(person.name)]
    wrong += wrong_memories(texts, scenario.row)
    return [Result(scenario, scenario.id, tuple(verdicts), tuple(wrong))]


def wrong_memories(texts: Sequence[str], row: Mapping[str, Any]) -> Iterator[str]:
    """Yield, in words, which checks on the active memories are not met."""
    together = "\n".join(texts)
    for group in map(_any_of, row.get("memories_present", ())):
        if not any(find(one, together) for one in group):
            yield f"memory missing: {' | '.join(group)}"
    yield from (f"memory present: {one}" for one in row.get("memories_absent", ()) if find(one, together))
    yield from (f"memory {reason}" for reason in unguarded(together, check_of(row).guarded))
    for one in row.get("memories_once", ()):
        if (times := sum(bool(find(one, text)) for text in texts)) > 1:
            yield f"{times} memories with {one}"
    if len(texts) > row.get("max_memories", len(texts)):
        yield f"{len(texts)} memories, more than {row['max_memories']}"


def check_of(row: Mapping[str, Any]) -> Check:
    """Return the checks on the injected text of a case or a question."""
    return Check(
        present=tuple(map(_any_of, row.get("present", ()))),
        absent=tuple(row.get("absent", ())),
        resolved=tuple((stale, _any_of(newer)) for stale, newer in row.get("resolved", ())),
        once=tuple(row.get("once", ())),
        guarded=tuple((needle, _any_of(markers)) for needle, markers in row.get("guarded", ())),
    )


def tabulate(results: Sequence[Result]) -> Report:
    """Return a table of the cases by kind, one of the stories, and what went wrong."""
    report = Report(items=[one.record() for one in results])
    for title, noun, units in (("cases, by kind", "cases", False), ("stories", "questions", True)):
        members = [one for one in results if one.scenario.is_story == units]
        if members:
            report.tables.append(_table(title, noun, members))
    for one in results:
        if not one.is_right:
            said = json.dumps(one.scenario.row["conversations"], ensure_ascii=False, indent=1)
            shows = [("said", said), ("wrong", "\n".join(one.reasons()))]
            shows += [("injected", verdict.injected.strip()) for verdict in one.verdicts]
            report.misses.append(Miss(one.scenario.group, one.title, tuple(shows)))
    return report


def _table(title: str, noun: str, results: Sequence[Result]) -> Table:
    groups = sorted({one.scenario.group for one in results})
    rows: list[tuple[Cell, ...]] = []
    for group in [*groups, "all"]:
        members = [one for one in results if group in ("all", one.scenario.group)]
        shares = [mean(one.share(_MEASURES[name]) for one in members) for name in ("kept", "resolved", "strict")]
        withheld = mean(one.withheld for one in members)
        rows.append((group, len(members), sum(one.is_right for one in members), *shares, withheld))
    wrong = ", ".join(one.title for one in results if not one.is_right)
    notes = (f"Not right: {wrong or 'none'}.", _RIGHT, *(f"{word}: {meaning}" for word, meaning in DEFINITIONS.items()))
    return Table(title, ("kind", noun, "right", "kept", "resolved", "strict", "withheld"), tuple(rows), notes)


def _case(row: Mapping[str, Any]) -> Scenario:
    probes = tuple(row.get("probes") or (row,))
    asked = tuple(one for one in probes if "probe" in one or "messages" in one)
    return Scenario(row["id"], row["kind"], _steps(row), asked, row)


def _story(row: Mapping[str, Any]) -> Scenario:
    probes = tuple({**row.get("ask", {}), **question} for question in row["questions"])
    return Scenario(row["id"], row["id"], _steps(row), probes, row, is_story=True)


def _steps(row: Mapping[str, Any]) -> tuple[Step, ...]:
    return tuple({"user": step} if isinstance(step, list) else step for step in row["conversations"])


def _any_of(item: str | Sequence[str]) -> AnyOf:
    return (item,) if isinstance(item, str) else tuple(item)
