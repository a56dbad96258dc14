"""Judge: a model copies the words of older statements that a new message ends; code finds the statements."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import structlog

from proxy.errors import ConfigError
from proxy.memory.model.access import judge_access
from proxy.memory.model.call import Complete, Completion, ModelAccess, load_prompt
from proxy.memory.model.judge_reply import (
    JUDGE_SCHEMA,
    MAX_OLDER,
    MAX_STATEMENT,
    MAX_WORDS,
    JudgementFailed,
    is_refusal,
    neutral,
    span,
    words_in,
)
from proxy.process.threads import in_thread
from proxy.settings.memory import MemorySettings
from proxy.telemetry import EXTRACTION_COST, EXTRACTION_TOKENS
from proxy.text import lexical
from proxy.text.segment import is_question, sentences
from proxy.text.words import WORD, flat

__all__ = [
    "JUDGE_SCHEMA",
    "MAX_OLDER",
    "MAX_WORDS",
    "Judgement",
    "JudgementFailed",
    "ModelJudge",
    "messages_for",
    "targets",
    "words_in",
]

_log = structlog.get_logger(__name__)

MAX_TOKENS, MAX_REPAIR_TOKENS = 120, 1500  # a reply has 10-60; the second limit fits a model that thinks first
_MAX_MESSAGE, _MAX_REPEATED = 1500, 400  # characters
_VAGUE_SHARE = 0.75  # of the older statements, if there are three or more

_FORGET = re.compile(
    r"forget|delet|eras|remov|vergiss|vergess|lösch|streich|olvid|borr|elimin|забы|забуд|удали|忘|删|刪|oubli|effac",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:，；：–—]")


@dataclass(frozen=True, slots=True)
class Judgement:
    """Older statements that a message ends.

    Attributes:
        targets: Their indices in the given order, ascending.
        words: Copied words that occur in an older statement, before the guards of ``targets``.
        cost_usd, usage: Of all calls; ``usage`` has ``prompt_tokens`` and ``completion_tokens``.
        model: As LiteLLM names it.
        note: ``refused`` if the model declined to read the text, else "".
    """

    targets: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    cost_usd: float = 0.0
    usage: dict[str, int] = field(default_factory=lambda: {"prompt_tokens": 0, "completion_tokens": 0})
    model: str = ""
    note: str = ""


class ModelJudge:
    """Client of a chat model that names the words of older statements that a message ends."""

    def __init__(self, complete: Complete, model: str, *, timeout_s: float = 60.0) -> None:
        self._complete, self._model, self._timeout_s = complete, model, timeout_s

    async def judge(self, message: str, older: Sequence[str]) -> Judgement:
        """Return the older statements that ``message`` ends; one call, two if the first reply is unreadable.

        No call is made without older statements or for a message that only asks.

        Args:
            message: The user's new message.
            older: Nearest older statements, verbatim; those beyond ``MAX_OLDER`` are ignored.

        Raises:
            JudgementFailed: If no reply is readable, or none came in time.
            ProxyError: If the provider is unreachable or answers with an error.
        """
        if not older or not _without_questions(message):
            return Judgement(model=self._model)
        messages = messages_for(message, older)
        replies = [await self._ask(messages, MAX_TOKENS)]
        try:
            copied = await in_thread("cpu", words_in, replies[0].text, older)
        except JudgementFailed as error:
            if is_refusal(replies[0]):
                return self._judgement(replies, note="refused")
            again = load_prompt("judge").fill("again", {"problem": error})
            shown = (replies[0].text or "").strip()[:_MAX_REPEATED] or "(an empty reply)"
            messages += [{"role": "assistant", "content": shown}, {"role": "user", "content": again}]
            replies.append(await self._ask(messages, MAX_REPAIR_TOKENS))
            copied = await self._last_words(replies[1], older)
        return self._judgement(replies, copied, tuple(targets(copied, message, older)))

    async def _last_words(self, reply: Completion, older: Sequence[str]) -> tuple[str, ...]:
        try:
            return await in_thread("cpu", words_in, reply.text, older)
        except JudgementFailed as error:
            raise JudgementFailed(f"The model {self._model!r} gave no readable reply, asked twice: {error}.") from error

    async def _ask(self, messages: Sequence[dict[str, str]], max_tokens: int) -> Completion:
        limits: dict[str, Any] = {"timeout_s": self._timeout_s, "max_tokens": max_tokens, "temperature": 0.0}
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._complete(model=self._model, messages=messages, schema=JUDGE_SCHEMA, **limits)
        except TimeoutError as error:
            raise JudgementFailed(
                f"The model {self._model!r} did not answer in {self._timeout_s:g} s; "
                "raise memory.extraction_timeout_s or choose a faster model."
            ) from error
        for direction, number in (("prompt", reply.prompt_tokens), ("completion", reply.completion_tokens)):
            EXTRACTION_TOKENS.labels(self._model, direction).inc(max(0, number))
        EXTRACTION_COST.labels(self._model).inc(max(0.0, reply.cost_usd or 0.0))
        return reply

    def _judgement(
        self,
        replies: Sequence[Completion],
        words: tuple[str, ...] = (),
        found: tuple[int, ...] = (),
        note: str = "",
    ) -> Judgement:
        usage = {
            "prompt_tokens": sum(max(0, reply.prompt_tokens) for reply in replies),
            "completion_tokens": sum(max(0, reply.completion_tokens) for reply in replies),
        }
        cost_usd = sum(max(0.0, reply.cost_usd or 0.0) for reply in replies)
        return Judgement(found, words, cost_usd, usage, self._model, note)


def select_judge(
    settings: MemorySettings, environ: Mapping[str, str], connect: Callable[[ModelAccess], Complete]
) -> ModelJudge | None:
    """Return the judge that the settings select, None if the built-in engine decides alone.

    Raises:
        ConfigError: If ``extractor`` is ``model`` and the model or its key is missing.
    """
    try:
        access = judge_access(settings, environ)
    except ConfigError as error:
        if settings.extractor == "model":
            raise
        _log.warning("the built-in engine decides alone", reason=str(error))
        return None
    return None if access is None else ModelJudge(connect(access), access.model, timeout_s=access.timeout_s)


def messages_for(message: str, older: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages of the call; all but the last are the same on every call.

    Statements and message are cut and put on one line each, so that neither can imitate the prompt's layout; questions
    in the message are omitted.
    """
    return [*map(dict, _fixed_part()), {"role": "user", "content": _question(message, older)}]


def targets(words: Sequence[str], message: str, older: Sequence[str]) -> list[int]:
    """Return the indices of the older statements that hold a word, ascending.

    A word that (nearly) all statements hold is ignored. A statement is skipped if the message has neither the word nor
    a content word of the statement. A message that only asks gives none.
    """
    if not _without_questions(message):
        return []
    shown, terms = older[:MAX_OLDER], set(lexical.content(message))
    found: set[int] = set()
    for word in words:
        holders = [index for index, one in enumerate(shown) if span(word, one)]
        if len(shown) > 2 and len(holders) > _VAGUE_SHARE * len(shown):
            continue
        is_named = bool(span(word, message, len(message)))
        found.update(index for index in holders if is_named or not terms.isdisjoint(lexical.content(shown[index])))
    return sorted(found)


@lru_cache(maxsize=1)
def _fixed_part() -> tuple[dict[str, str], ...]:
    prompt = load_prompt("judge")
    turns = [{"role": "system", "content": prompt.fill("system")}]
    for example in prompt.fill("examples").split("\n\n"):
        *older, message, reply = example.splitlines()
        question = _question(message.removeprefix("> "), [line.removeprefix("- ") for line in older])
        turns += [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    return tuple(turns)


def _question(message: str, older: Sequence[str]) -> str:
    lines = "\n".join(f"- {_line(one, MAX_STATEMENT)}" for one in older[:MAX_OLDER])
    told = _without_questions(message) or message
    return load_prompt("judge").fill("user", {"older": lines, "message": _line(told, _MAX_MESSAGE)})


def _line(text: str, limit: int) -> str:
    return " ".join(neutral(text[:limit]).split())


def _without_questions(message: str) -> str:
    """Return the sentences that may end something; a question counts only if it asks to forget."""
    parts = [message[start:end] for start, end in sentences(message)]
    return " ".join(part for part in parts if _may_state(part) or _FORGET.search(part))


def _may_state(sentence: str) -> bool:
    """Return whether a sentence is no question, or has a clause before it: "I live in Bonn now, where is the zoo?"."""
    *before, _ = _CLAUSE_END.split(sentence)
    return not is_question(sentence, flat(sentence)) or any(len(WORD.findall(clause)) > 2 for clause in before)
