"""Replay of scenarios in rounds, their questions, and a report of correct outcomes and learned memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.evals.actor import Actor
from proxy.evals.audit import Audit, CpuMeter, Memory, closed, is_subsequence
from proxy.evals.cases import Scenario, check_of, wrong_memories
from proxy.evals.client import Client, EvalFailed
from proxy.evals.metrics import flatten, mean, units
from proxy.evals.replay import Progress, for_each
from proxy.evals.report import Cell, Chart, Miss, Report, Table
from proxy.evals.verdict import DEFINITIONS, Verdict, find, judge

_FORGETTING = frozenset({"forget", "forget_request"})
_MAX_WIDTH = 140  # characters of a line in the list of failures
_RIGHT = (
    "right: kept, no string of `absent`, each stale one marked, no false ending, and all other checks of the case met."
)
_MEASURES: Mapping[str, Callable[[Verdict], bool]] = {
    "kept": lambda one: one.is_kept,
    "resolved": lambda one: one.is_resolved,
    "strict": lambda one: one.is_strict,
    "withheld": lambda one: one.is_withheld,
}


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a case, or of one question of a story.

    Attributes:
        wrong: Failed checks, besides the verdicts on the injected texts.
        closed: Memories that the last step closed, though it should close nothing.
    """

    scenario: Scenario
    title: str
    verdicts: tuple[Verdict, ...]
    wrong: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()

    def meets(self, measure: str) -> bool | None:
        """Return whether all its questions meet a measure, None if the measure does not apply."""
        if not self.verdicts or (measure == "withheld" and self.scenario.kind not in _FORGETTING):
            return None
        return all(map(_MEASURES[measure], self.verdicts))

    @property
    def is_right(self) -> bool:
        """True if all checks are met."""
        return not self.wrong and not self.closed and all(one.is_right for one in self.verdicts)

    @property
    def false_endings(self) -> float | None:
        """Number of closed memories per message of a last step that should close nothing; None for other cases."""
        return len(self.closed) / len(self.scenario.steps[-1]["user"]) if self.scenario.ends_nothing else None

    def reasons(self) -> list[str]:
        """Return the failures, one line each."""
        injected = [reason for one in self.verdicts for reason in one.reasons()]
        return [*injected, *self.wrong, *(f"closed: {text}" for text in self.closed)]

    def record(self, part: str) -> dict[str, Any]:
        """Return the result for the JSON report."""
        scenario, found = self.scenario, {name: self.meets(name) for name in _MEASURES}
        head = {"part": part, "case": scenario.id, "kind": scenario.kind, "lang": scenario.lang, "title": self.title}
        injected = [] if self.is_right else [one.injected for one in self.verdicts]
        return {**head, "right": self.is_right, **found, "wrong": self.reasons(), "injected": injected}


async def play(client: Client, scenarios: Sequence[Scenario], concurrency: int, name: str = "cases") -> Report:
    """Play one step of each scenario per round; ask the questions once all is learned."""
    progress = Progress(name, sum(len(one.steps) + 1 for one in scenarios))
    stage = _Stage(client, scenarios)
    for number in range(max((len(one.steps) for one in scenarios), default=0)):
        due = [one for one in scenarios if number < len(one.steps)]
        last = [one for one in due if one.ends_nothing and number == len(one.steps) - 1]
        await for_each(last, stage.remember, concurrency)
        async with CpuMeter(client, stage.audit):
            await for_each([(one, number) for one in due], stage.play, concurrency)
            await for_each([(one, number) for one in due], stage.settle, concurrency)
        progress.advance(len(due))
    await for_each(scenarios, stage.look, concurrency)
    progress.advance(len(scenarios))
    progress.finish()
    report = tabulate([result for one in scenarios for result in stage.results[one.id]], name)
    report.add(Report(tables=[stage.audit.table(name)], items=stage.audit.items(name)))
    return report


class _Stage:
    """State of a run: an actor for each scenario, and the results."""

    def __init__(self, client: Client, scenarios: Sequence[Scenario]) -> None:
        self._actors = {one.id: Actor(client, one.id) for one in scenarios}
        self._failed: dict[str, str] = {}
        self._closed: dict[str, set[str]] = {}
        self.audit = Audit()
        self.results: dict[str, list[Result]] = {}

    async def play(self, place: tuple[Scenario, int]) -> None:
        """Play one step; a failure fails the scenario, not the run."""
        scenario, number = place
        try:
            await self._actors[scenario.id].play(scenario.steps[number])
        except EvalFailed as error:
            self._failed[scenario.id] = f"failed: {error}"

    async def settle(self, place: tuple[Scenario, int]) -> None:
        """Wait until the step is learned."""
        scenario, number = place
        await self._actors[scenario.id].settle(scenario.steps[number])

    async def remember(self, scenario: Scenario) -> None:
        """Record the memories that are closed before the last step."""
        self._closed[scenario.id] = set(closed(await self._memories(scenario, "all")))

    async def look(self, scenario: Scenario) -> None:
        """Audit the memories and ask the questions."""
        actor = self._actors[scenario.id]
        self.audit.messages += actor.messages
        try:
            for person in list(actor.people.values()):
                self.audit.look(await person.client.memories(person.name, "all"), person.said)
            self.results[scenario.id] = await self._results(scenario, actor)
        except EvalFailed as error:
            self.results[scenario.id] = [Result(scenario, scenario.id, (), (f"failed: {error}",))]

    async def _results(self, scenario: Scenario, actor: Actor) -> list[Result]:
        wrong = [self._failed[scenario.id]] if scenario.id in self._failed else []
        verdicts = []
        for probe in scenario.probes:
            asked = await actor.ask(probe)
            check = check_of(probe, whole_words=scenario.whole_words)
            verdicts.append(judge(asked.text, check, actor.person(probe).said))
            whole = "\n".join(flatten(one.get("content")) for one in asked.received)
            wrong += [f"sent upstream: {one}" for one in scenario.row.get("upstream_absent", ()) if find(one, whole)]
        if scenario.is_story:
            titles = [str(probe["probe"]) for probe in scenario.probes]
            return [Result(scenario, title, (one,), tuple(wrong)) for title, one in zip(titles, verdicts, strict=True)]
        wrong += wrong_memories([str(one["text"]) for one in await self._memories(scenario)], scenario.row)
        ended = await self._false_endings(scenario) if scenario.ends_nothing else ()
        return [Result(scenario, scenario.id, tuple(verdicts), tuple(wrong), ended)]

    async def _false_endings(self, scenario: Scenario) -> tuple[str, ...]:
        found = closed(await self._memories(scenario, "all"))
        new = [one for id_, one in found.items() if id_ not in self._closed[scenario.id] and not may_end(scenario, one)]
        ended = tuple(str(one["text"]) for one in new)
        self.audit.ending_nothing += len(scenario.steps[-1]["user"])
        self.audit.closed += [f"{scenario.id}: {text}" for text in ended]
        return ended

    async def _memories(self, scenario: Scenario, status: str = "active") -> list[dict[str, Any]]:
        person = self._actors[scenario.id].person(scenario.row)
        return await person.client.memories(person.name, status)


def may_end(scenario: Scenario, memory: Memory) -> bool:
    """Return whether the last step may close a memory: a restated statement closes the one that had closed it."""
    between = [units(said) for step in scenario.steps[1:-1] for said in step["user"]]
    texts = [str(memory.get(name) or "") for name in ("text", "quote")]
    return scenario.kind == "restate" and any(text and is_subsequence(text, said) for text in texts for said in between)


def tabulate(results: Sequence[Result], name: str = "cases") -> Report:
    """Return the tables by kind, language and story, and the failures."""
    report = Report(items=[one.record(name) for one in results])
    cases = [one for one in results if not one.scenario.is_story]
    stories = [one for one in results if one.scenario.is_story]
    if cases:
        _add(report, f"{name}, by kind", cases, [one.scenario.kind for one in cases])
        _add(report, f"{name}, by language", cases, [one.scenario.lang for one in cases])
    if stories:
        _add(report, f"{name}: questions of stories", stories, [one.scenario.kind for one in stories])
    report.misses = [_miss(one) for one in results if not one.is_right]
    notes = (_RIGHT, *(f"{word}: {meaning}" for word, meaning in DEFINITIONS.items()))
    wrong = tuple((f"{one.title}: {'; '.join(one.reasons())}"[:_MAX_WIDTH],) for one in results if not one.is_right)
    report.tables.append(Table(f"{name}: not right", (f"{len(wrong)} of {len(results)}",), wrong, notes))
    return report


def _add(report: Report, title: str, results: Sequence[Result], groups: Sequence[str]) -> None:
    rows: list[tuple[Cell, ...]] = []
    names = sorted(set(groups))
    for group in [*names, "all"]:
        members = [one for one, own in zip(results, groups, strict=True) if group in ("all", own)]
        shares = [mean(one.meets(measure) for one in members) for measure in _MEASURES]
        endings = mean(one.false_endings for one in members)
        rows.append((group, len(members), sum(one.is_right for one in members), *shares, endings))
    report.tables.append(Table(title, ("", "asked", "right", *_MEASURES, "false endings"), tuple(rows)))
    shown = {
        m: [(str(row[0]), float(row[at] or 0)) for row in rows[:-1]] for at, m in enumerate(_MEASURES, 3) if at < 6
    }
    report.charts.append(Chart(title, shown))


def _miss(result: Result) -> Miss:
    scenario = result.scenario
    said = "\n\n".join("\n".join(map(str, step.get("user", [dict(step)]))) for step in scenario.steps)
    shows = [
        ("said", said),
        *(("asked", str(probe.get("probe"))) for probe in scenario.probes if not scenario.is_story),
    ]
    shows.append(("wrong", "\n".join(result.reasons())))
    injected = (("injected", verdict.injected.strip()) for verdict in result.verdicts)
    return Miss(f"{scenario.lang} {scenario.kind}", result.title, (*shows, *injected))
