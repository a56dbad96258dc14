"""Recall eval: share of a question's evidence that reaches the model within a token budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from proxy.evals.client import Asked, Client
from proxy.evals.dataset import APART, Dataset, Person
from proxy.evals.metrics import Gold, Injected, fingerprints, mean, oracle, percentile, random_control, words
from proxy.evals.replay import Moment, Progress, Replay, for_each
from proxy.evals.report import Cell, Chart, Miss, Report, Table
from proxy.evals.score import FEW, TOP, Rank, Score, gold_of, rank, updated

S = TypeVar("S", Score, Rank)
_MAX_SHOWN = 2000  # characters of a message in the report
_COMPUTED = frozenset({"temporal"})  # the answer is a computed date, so containment is not counted


class Recall:
    """Runner that asks the questions of one dataset at several budgets and collects the scores."""

    def __init__(self, dataset: Dataset, budgets: Sequence[int]) -> None:
        self._dataset = dataset
        self._budgets = sorted(budgets)
        self._own = {person.id: _said_by(person) for person in dataset.people}
        self._everyone = set().union(*self._own.values())
        self.scores: list[Score] = []
        self.ranks: list[Rank] = []
        self.without_gold = 0

    async def ask(self, client: Client, moment: Moment) -> None:
        """Ask one question at each budget, each in a new session."""
        question = moment.question
        gold = gold_of(self._dataset, moment)
        if gold is None and question.category not in APART:
            self.without_gold += 1
        request = [*(line.wire() for line in moment.earlier), {"role": "user", "content": question.text}]
        for budget in self._budgets:
            asked = await client.chat(
                request,
                user=question.user,
                session=f"ask-{question.id}-{budget}",
                time_of_turn=moment.time,
                mode="read",
                budget=budget,
            )
            self.scores.append(self._score(moment, gold, budget, asked))
        if gold is not None and asked.receipt:
            entries = await client.ranked(question.user, asked.receipt)
            self.ranks.append(rank(self._dataset, moment, gold, entries))

    def _score(self, moment: Moment, gold: Gold | None, budget: int, asked: Asked) -> Score:
        question, text = moment.question, Injected(asked.text)
        pool = [line.content for _, line in moment.stored]
        lot = random_control(pool, budget, question.id)
        known = oracle(gold, budget) if gold is not None else Injected("")
        found = [None if gold is None else gold.found([one]) for one in (text, lot, known)]
        answers = [None if gold is None else one.answers(question.answer) for one in (text, lot, known)]
        missed = [] if gold is None or budget < self._budgets[-1] else gold.missed([text])
        return Score(
            question=question,
            budget=budget,
            tokens=text.tokens,
            wall_ms=asked.wall_ms,
            outcome=asked.outcome,
            foreign=text.foreign_grams(self._own[question.user], self._everyone),
            evidence=found[0],
            random_evidence=found[1],
            oracle_evidence=found[2],
            answer=answers[0],
            random_answer=answers[1],
            oracle_answer=answers[2],
            update=updated(moment, text),
            missed=tuple("\n".join(group) for group in missed),
            injected=asked.text if missed else "",
        )

    def report(self) -> Report:
        """Return the tables."""
        tables = [self._table(budget) for budget in self._budgets]
        tables.append(self._ranking())
        tables += [table for budget in self._budgets if (table := self._updates(budget))]
        items = [score.record() for score in self.scores]
        return Report(tables=tables, items=items, charts=self._charts(), misses=self._misses())

    def _charts(self) -> list[Chart]:
        name = self._dataset.name
        by_category = {
            f"{budget} tokens": [(category, mean(one.evidence for one in group) or 0.0) for category, group in groups]
            for budget in self._budgets
            for groups in [[*_by_category(self._counted(budget)), ("all", self._counted(budget))]]
        }
        over_tokens: dict[str, list[tuple[str | float, float]]] = {"injected": [], "random": [], "oracle": []}
        for budget in self._budgets:
            counted = self._counted(budget)
            tokens = mean(one.tokens for one in counted) or 0.0
            over_tokens["injected"].append((tokens, mean(one.evidence for one in counted) or 0.0))
            over_tokens["random"].append((tokens, mean(one.random_evidence for one in counted) or 0.0))
            over_tokens["oracle"].append((tokens, mean(one.oracle_evidence for one in counted) or 0.0))
        return [
            Chart(f"{name}: evidence injected, by category", by_category),
            Chart(f"{name}: evidence injected, by tokens", over_tokens, unit="tokens really injected (mean)"),
        ]

    def _misses(self) -> list[Miss]:
        """Return the missed evidence at the largest budget."""
        return [
            Miss(
                score.question.category,
                score.question.text,
                (
                    *(("missing", text[:_MAX_SHOWN]) for text in score.missed),
                    (f"injected instead ({score.tokens} tokens; memory {score.outcome})", score.injected.strip()),
                ),
            )
            for score in self.scores
            if score.missed and score.question.category not in APART
        ]

    def _counted(self, budget: int) -> list[Score]:
        scores = [score for score in self.scores if score.budget == budget]
        return [score for score in scores if score.evidence is not None and score.question.category not in APART]

    def _table(self, budget: int) -> Table:
        scores = [score for score in self.scores if score.budget == budget]
        counted = self._counted(budget)
        rows = [_row(name, group) for name, group in _by_category(counted)]
        rows.append(_row("all", counted))
        apart = [score for score in scores if score.question.category in APART]
        rows += [_row(f"{name} (apart)", group) for name, group in _by_category(apart)]
        walls = [score.wall_ms for score in scores]
        notes = (
            f"{self.without_gold} questions without gold are left out; "
            f"8-grams of other users injected: {sum(score.foreign for score in scores)}; "
            f"memory {_outcomes(scores)}; "
            f"request p50 {percentile(walls, 0.5) or 0:.1f} ms, p95 {percentile(walls, 0.95) or 0:.1f} ms.",
            "The answer columns of «all» leave out computed dates, which nobody said.",
        )
        columns = ("category", "questions", "evidence", "random", "oracle", "answer", "random", "oracle", "tokens")
        return Table(f"{self._dataset.name}: evidence injected in {budget} tokens", columns, tuple(rows), notes)

    def _ranking(self) -> Table:
        counted = [rank for rank in self.ranks if rank.question.category not in APART]
        groups = [*_by_category(counted), ("all", counted)]
        rows = [
            (
                name,
                len(group),
                mean(rank.turns for rank in group),
                mean(rank.sessions for rank in group),
                mean(rank.sessions_in_ten for rank in group),
                mean(rank.any_in_five for rank in group),
            )
            for name, group in groups
        ]
        ranked = (f"turn R@{TOP}", f"session R@{TOP}", f"sessions of {TOP} entries", f"any session @{FEW}")
        columns = ("category", "questions", *ranked)
        notes = (f"Sessions are counted among the first different ones, but in the column of {TOP} entries.",)
        return Table(f"{self._dataset.name}: ranking, from the receipts", columns, tuple(rows), notes)

    def _updates(self, budget: int) -> Table | None:
        found = [one.update for one in self.scores if one.budget == budget and one.update is not None]
        if not found:
            return None
        names = ("kept", "resolved", "strict", "first")
        shares = (mean(getattr(one, name) for one in found) for name in names)
        notes = (
            "kept: the new message is in. resolved: and the outdated one is not, or the new one stands where the block "
            "says that it holds. strict: and the outdated one is not.",
        )
        columns = ("", "questions", "kept", "resolved", "strict", "new before old")
        title = f"{self._dataset.name}: updated values in {budget} tokens"
        return Table(title, columns, (("all", len(found), *shares),), notes)


async def recall(client: Client, dataset: Dataset, budgets: Sequence[int], concurrency: int) -> Report:
    """Replay a dataset once and ask its questions at several budgets."""
    asker = Recall(dataset, budgets)
    turns = sum(line.role == "user" for person in dataset.people for _, line in person.lines())
    progress = Progress(f"recall {dataset.name}", turns + sum(len(person.questions) for person in dataset.people))

    async def one(person: Person) -> None:
        async def ask(moment: Moment) -> None:
            await asker.ask(client, moment)
            progress.advance()

        await Replay(client, person, ask=ask, on_turn=lambda *_: progress.advance(), ends=True).run()

    await for_each(dataset.people, one, concurrency)
    progress.finish()
    return asker.report()


def _said_by(person: Person) -> set[int]:
    found: set[int] = set()
    for _, line in person.lines():
        found |= fingerprints(words(line.content))
    return found


def _outcomes(scores: Sequence[Score]) -> str:
    counted = Counter(score.outcome for score in scores)
    return ", ".join(f"{name} {count}" for name, count in counted.most_common())


def _by_category(scores: Sequence[S]) -> list[tuple[str, list[S]]]:
    names = sorted({score.question.category for score in scores})
    return [(name, [score for score in scores if score.question.category == name]) for name in names]


def _row(name: str, scores: Sequence[Score]) -> tuple[Cell, ...]:
    said = [score for score in scores if name != "all" or score.question.category not in _COMPUTED]
    return (
        name,
        len(scores),
        mean(score.evidence for score in scores),
        mean(score.random_evidence for score in scores),
        mean(score.oracle_evidence for score in scores),
        mean(score.answer for score in said),
        mean(score.random_answer for score in said),
        mean(score.oracle_answer for score in said),
        mean(score.tokens for score in scores),
    )
