"""Takes learned weights to what the rules found: drops what is unlikely, adds what is likely, and mends what comes instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proxy.memory.learn.extract_builtin.closings import Closings
from proxy.memory.learn.extract_builtin.endings import Endings
from proxy.memory.learn.extract_builtin.mentions import NOUN, Mention
from proxy.memory.learn.extract_builtin.replacement import overlap, touches
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.memory.learn.extract_builtin.verdicts import UNLIKELY, Verdicts
from proxy.text.words import flat, fold
from proxy.types import Candidate

MOST_EARLIER = 80  # messages; a long history that came along would cost its square


class Weighing(Closings):
    """The candidates of one message, weighed."""

    def _weighed(self, found: Sequence[Candidate], scan: Endings) -> list[Candidate]:
        """Return the candidates without endings that are unlikely, and with those that are likely."""
        texts = [*(memory.text for memory in self._known[-MOST_EARLIER:]), *self._earlier[-MOST_EARLIER:]]
        verdicts = Verdicts(self._reading, texts)
        kept = [
            one
            for candidate in found
            if (one := candidate if self._is_sure(candidate) else _without_unlikely(candidate, verdicts)) is not None
        ]
        kept = [self._with_successor(candidate, verdicts) for candidate in kept]
        ended = [value for candidate in found for value in ends_of(candidate)]
        come = [candidate.object for candidate in kept if candidate.action != "retract"]
        likely = [
            ending
            for ending in scan.likely(verdicts, is_alone=not any(map(ends_of, kept)))
            if not any(overlap(ending.value, value) for value in (*ended, *come))
        ]
        return unique([*map(self._closing, likely), *kept])

    def _is_sure(self, candidate: Candidate) -> bool:
        """Whether rules know best: of what there is but one (a home, an age), of who parted, and of what was asked of us."""
        if candidate.forget or (candidate.action == "retract" and self._lexicon.parted.search(flat(candidate.quote))):
            return True
        return any(one.single and one.relation == candidate.relation for one in self._lexicon.statements)

    def _with_successor(self, candidate: Candidate, verdicts: Verdicts) -> Candidate:
        """Return a candidate with what the message likely tells in the place of what it ends."""
        ends = ends_of(candidate)
        if (
            len(ends) != 1
            or candidate.forget
            or candidate.relation
            or not (candidate.action == "retract" or candidate.object)
        ):
            return candidate
        taken = candidate.object if candidate.action == "replace" else ""
        new = verdicts.successor(ends[0], taken)
        if new == taken:
            return candidate
        sentence = next((one for one in self._reading.sentences if one.clauses and new in one.text), None)
        if sentence is None:
            return candidate
        said = next((text for text in reversed(self._earlier) if touches(text, ends[0])), "")
        base = replace(candidate, quote=sentence.text)
        return self._succession(
            Ending(ends[0], "succeeded", sentence, Mention(0, 0, ends[0], NOUN, (said,)), new=new), base
        )


def ends_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the values that a candidate ends."""
    return candidate.replaces or ((candidate.object,) if candidate.action == "retract" else ())


def _without_unlikely(candidate: Candidate, verdicts: Verdicts) -> Candidate | None:
    """Return a candidate without what it wrongly ends, None where nothing is left of it."""
    kept = tuple(v for v in ends_of(candidate) if (odds := verdicts.odds(v, ruled=True)) is None or odds >= UNLIKELY)
    if candidate.action == "retract":
        return candidate if kept else None
    if kept or not candidate.replaces:
        return replace(candidate, replaces=kept)
    return replace(candidate, action="add", replaces=()) if candidate.relation else None


def unique(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates, each only once."""
    found: dict[tuple[str, str, str, str], Candidate] = {}
    for candidate in candidates:
        found.setdefault(
            (candidate.action, candidate.subject, candidate.relation, fold(candidate.object or candidate.text)),
            candidate,
        )
    return list(found.values())
