"""The model-driven extractor: one structured-output call for the turns of a pause, two where a reply is unusable."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog

from proxy.memory.learn.extract_prompt import Room, Sheet, lay_out, resolve_time, short_id
from proxy.memory.learn.model_output import SCHEMA, ExtractionFailed, Fact, Facts, Refused, is_refusal, read_facts
from proxy.memory.model.extraction import Complete, Completion, Extraction
from proxy.memory.model.prompt import load_prompt
from proxy.process.threads import in_thread
from proxy.telemetry import EXTRACTION_COST, EXTRACTION_TOKENS
from proxy.text import tokens
from proxy.text.words import contains_value, fold, same_value
from proxy.types import Candidate, Episode, Memory, Said, Turn

_REPEATED = 4000  # characters of an unusable reply that are shown to the model again
_FILTERED = frozenset({"content_filter", "safety", "refusal"})

_log = structlog.get_logger(__name__)


class ModelExtractor:
    """Extracts with a chat model; its candidates are still to be grounded."""

    batches = True

    def __init__(
        self,
        complete: Complete,
        model: str,
        *,
        timeout_s: float = 60.0,
        max_facts: int = 6,
        room: Room | None = None,
    ) -> None:
        self._complete, self._model, self._timeout_s = complete, model, timeout_s
        self._max_facts, self._room = max_facts, room or Room()

    async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
        """Return what ``turns`` state, by one call as long as they fit into one.

        A text that the model refuses to read gives no facts and a note.

        Raises:
            ExtractionFailed: If a reply could not be read, asked twice, or did not come in time.
            ProxyError: If the provider cannot be reached or answers with an error.
        """
        sheets = await in_thread("cpu", lay_out, turns, known, heard, self._room, tokens.count)
        meter = _Meter(self._model)
        candidates: dict[str, list[Candidate]] = {}
        dropped = refused = 0
        for sheet in sheets:
            try:
                facts = await self._facts(sheet, meter)
            except Refused:
                refused += len(sheet.messages)
                _log.warning("extraction refused", model=self._model, messages=len(sheet.messages))
                continue
            dropped += facts.dropped + _settle(facts.kept, sheet, self._max_facts, candidates)
        return Extraction(candidates, meter.cost_usd, meter.usage, self._model, _note(refused, dropped))

    async def _facts(self, sheet: Sheet, meter: _Meter) -> Facts:
        prompt = load_prompt("extract")
        system = prompt.fill("system", {"max_facts": self._max_facts})
        messages = [{"role": "system", "content": system}, {"role": "user", "content": sheet.text}]
        reply = await self._ask(messages, meter)
        try:
            return await in_thread("cpu", read_facts, reply)
        except ExtractionFailed as error:
            problem = str(error)
        shown = reply[:_REPEATED].strip() or "(an empty reply)"
        again = prompt.fill("again", {"problem": problem})
        messages += [{"role": "assistant", "content": shown}, {"role": "user", "content": again}]
        try:
            return await in_thread("cpu", read_facts, await self._ask(messages, meter))
        except ExtractionFailed as error:
            raise ExtractionFailed(
                f"The extraction model {self._model!r} gave no usable reply, asked twice: {error}."
            ) from error

    async def _ask(self, messages: Sequence[dict[str, str]], meter: _Meter) -> str:
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._complete(
                    model=self._model, messages=messages, schema=SCHEMA, timeout_s=self._timeout_s
                )
        except TimeoutError as error:
            raise ExtractionFailed(
                f"The extraction model {self._model!r} did not answer in {self._timeout_s:g} s; "
                "raise memory.extraction_timeout_s or choose a faster model."
            ) from error
        meter.count(reply)
        text = reply.text or ""
        if reply.refusal or (reply.finish_reason or "") in _FILTERED or is_refusal(text):
            raise Refused(f"The extraction model {self._model!r} declined to read this text.")
        return text


def _settle(facts: Sequence[Fact], sheet: Sheet, max_facts: int, stated: dict[str, list[Candidate]]) -> int:
    """Add facts to the candidates of their turns, with real ids instead of the prompt's short ones.

    Returns:
        How many were left out: what neither names nor quotes a message, and what a turn adds beyond ``max_facts``.
    """
    dropped = 0
    for fact in facts:
        place = _place(fact, sheet)
        rows = stated.get(place[0].id, []) if place else []
        if place is None or (fact.action != "retract" and _additions(rows) >= max_facts):
            dropped += 1
            continue
        fresh = [row for row in _candidates(fact, *place, sheet) if row not in rows]
        if fresh:
            stated[place[0].id] = [*rows, *fresh]
    return dropped


def _additions(rows: Sequence[Candidate]) -> int:
    return sum(row.action != "retract" for row in rows)


@dataclass(slots=True)
class _Meter:
    """What the calls for one extraction cost, those with an unusable reply included."""

    model: str
    cost_usd: float = 0.0
    usage: dict[str, int] = field(default_factory=lambda: {"prompt_tokens": 0, "completion_tokens": 0})

    def count(self, reply: Completion) -> None:
        counts = {"prompt": max(0, reply.prompt_tokens), "completion": max(0, reply.completion_tokens)}
        for direction, number in counts.items():
            self.usage[f"{direction}_tokens"] += number
            EXTRACTION_TOKENS.labels(self.model, direction).inc(number)
        cost = max(0.0, reply.cost_usd or 0.0)
        self.cost_usd += cost
        EXTRACTION_COST.labels(self.model).inc(cost)


def _place(fact: Fact, sheet: Sheet) -> tuple[Turn, Said] | None:
    """Return the message that a fact comes from: the one it names if that holds the quote, else one that does."""
    named = sheet.messages.get(short_id(fact.message_id) or "") or next(
        (place for place in sheet.messages.values() if place[1].id == fact.message_id), None
    )
    quote = fold(fact.quote)
    for place in ([named] if named else []) + list(reversed(sheet.messages.values())):
        if quote in fold(place[1].text):
            return place
    return named


def _candidates(fact: Fact, turn: Turn, said: Said, sheet: Sheet) -> list[Candidate]:
    """Return one candidate, or for a retraction one for each relation that the named memories have."""
    named = [memory for term in fact.replaces if (memory := _memory(term, sheet))]
    if _is_slip(fact, named, sheet):
        named = []
    words = tuple(_as_written(term, said) for term in fact.replaces if not (short_id(term) or "").startswith("known"))
    plain = Candidate(
        action=fact.action,
        kind=fact.kind,
        text=_as_written(fact.text, said),
        quote=_as_written(fact.quote, said),
        message_id=said.id,
        subject=fact.subject,
        relation=fact.relation,
        object=_as_written(fact.object, said),
        replaces=words,
        confidence=fact.confidence,
        single=fact.single,
        again=fact.again,
        at=resolve_time(fact.at, turn),
        profile=fact.profile and fact.kind not in ("event", "task"),
        forget=fact.forget,
    )
    if fact.action == "retract":
        return _retractions(plain, named)
    return [_replacement(plain, named) if fact.action == "replace" else plain]


def _retractions(plain: Candidate, named: Sequence[Memory]) -> list[Candidate]:
    """A named memory knows its own subject and relation better than the model does."""
    groups: dict[tuple[str, str], list[str]] = {}
    for memory in named:
        groups.setdefault((memory.subject, memory.relation), []).append(memory.object or memory.text)
    rows = [
        replace(plain, subject=subject, relation=relation, object=values[0], replaces=tuple(values))
        for (subject, relation), values in groups.items()
    ]
    closed = [value for values in groups.values() for value in values]
    left = tuple(word for word in plain.replaces if not any(same_value(word, value) for value in closed))
    if left or (not rows and plain.object):
        rows.append(replace(plain, replaces=left))
    return rows


def _replacement(plain: Candidate, named: Sequence[Memory]) -> Candidate:
    values = tuple(dict.fromkeys([*(memory.object or memory.text for memory in named), *plain.replaces]))
    if not values:
        return replace(plain, action="add")
    first = named[0] if named else None
    if first is None or not first.relation:
        return replace(plain, replaces=values)
    single = plain.single or first.single
    return replace(plain, replaces=values, subject=first.subject, relation=first.relation, single=single)


def _memory(term: str, sheet: Sheet) -> Memory | None:
    return sheet.memories.get(short_id(term) or "")


def _is_slip(fact: Fact, named: Sequence[Memory], sheet: Sheet) -> bool:
    """Whether a retraction names one memory by its value and others by id: the value is what the user said."""
    if fact.action != "retract" or not fact.object:
        return False
    if any(not memory.object or contains_value(memory.object, fact.object) for memory in named):
        return False
    return any(same_value(other.object, fact.object) for other in sheet.memories.values())


def _as_written(text: str, said: Said) -> str:
    """Undo the escaping of fences where a model repeats it."""
    return text if "&lt;" in said.text else text.replace("&lt;", "<")


def _note(refused: int, dropped: int) -> str:
    parts = [f"refused: {refused} messages"] if refused else []
    return "; ".join([*parts, f"dropped: {dropped} facts"] if dropped else parts)
