"""Parsing of the judge's replies: refusals, or words copied from older statements, in any common form.

ProxyError
└── JudgementFailed (502): the reply is unreadable; a later try may succeed
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from proxy.errors import ProxyError
from proxy.memory.model.call import Completion
from proxy.memory.model.json_text import find_json, has_json
from proxy.text import lexical
from proxy.text.words import CJK, flat

JUDGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "changed": {
            "type": "array",
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {
                    "verdict": {"type": "string", "enum": ["ended", "replaced"]},
                    "word": {"type": "string"},
                },
                "required": ["verdict", "word"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["changed"],
    "additionalProperties": False,
}
MAX_OLDER, MAX_WORDS = 8, 3
MAX_STATEMENT = 300  # characters of a statement in the prompt

_LIST_KEYS = frozenset({"changed", "changes", "ended", "replaced", "words", "items", "result", "results", "answer"})
_WORD_KEYS = ("word", "words", "phrase", "quote", "text", "value", "name", "old", "statement")
_SIDE_KEYS = frozenset({"verdict", "status", "reason", "explanation", "message", "new", "unchanged", "kept", "id"})
_VERDICTS = frozenset({"ended", "replaced", "changed", "corrected", "forgotten"})
_NO_VERDICTS = frozenset({"none", "unchanged", "kept", "same", "unaffected", "still holds", "holds", "no change"})
_EDGES = " \t\n\"'“”„«»‹›()[]*_.,;:!?…。，！？、「」"
_SPACED = rf"(?:(?![{CJK}])[^\W_])"  # a letter or digit of a script that separates words by spaces
_BRACKETS = str.maketrans("<>", "‹›")
_QUOTES = str.maketrans("“”„«»", '"' * 5)
_FILTERED = frozenset({"content_filter", "safety", "refusal"})
_OPENING = 300  # characters; a refusal opens the reply
_APOLOGIES = re.compile(
    r"""
      \b(?:i[’']?m|i\ am)\s+(?:very\s+|really\s+)?(?:sorry|unable|not\ able)
    | \bi\s+(?:can[’']?t|cannot|can\ not|won[’']?t|must\ decline) | \bas\ an\ ai\b
    | \b(?:es\ )?tut\ mir\ leid\b | \bich\ kann\ (?:dir\ |ihnen\ )?(?:dabei|das|hier|diese\w*)\b[^.]{0,60}\bnicht
    | \blo\ siento\b | \bno\ puedo\ (?:ayudar|procesar|hacer|cumplir)
    | \bизвините\b | \bя\ не\ могу\b | \bк\ сожалению\b
    | 抱歉 | 对不起 | 我无法 | 我不能 | \bje\ suis\ désolé | \bje\ ne\ peux\ pas
    """,
    re.IGNORECASE | re.VERBOSE,
)


class JudgementFailed(ProxyError):
    """The model's reply is unreadable; a later try may succeed."""

    status, type, code = 502, "upstream_error", "judgement_failed"


def is_refusal(reply: Completion) -> bool:
    """Return whether a reply declines: by its refusal field, its finish reason, or an apology without JSON."""
    if reply.refusal or (reply.finish_reason or "") in _FILTERED:
        return True
    text = reply.text or ""
    return not has_json(text) and _APOLOGIES.search(text.strip()[:_OPENING]) is not None


def words_in(reply_text: str | None, older: Sequence[str]) -> tuple[str, ...]:
    """Return the words that a reply copies, as they occur in a shown older statement; others are dropped.

    Raises:
        JudgementFailed: If the reply holds no JSON of a known shape; the message repeats nothing of it.
    """
    found = find_json(reply_text or "", _shape)
    if found is None:
        raise JudgementFailed("there is no JSON object with a list of changes in it")
    strings = list(_strings(found.value))
    if found.is_cut and not (isinstance(found.value, list) and found.value[-1:] == [None]):
        strings = strings[:-1]  # the last may be the beginning of a longer word
    if found.is_cut and not strings:
        raise JudgementFailed("it breaks off within its first change")
    copied = (next(filter(None, (span(word, one) for one in older[:MAX_OLDER])), "") for word in strings)
    by_form = {flat(word): word for word in copied if lexical.content(word)}
    return tuple(by_form.values())[:MAX_WORDS]


def span(word: str, text: str, limit: int = MAX_STATEMENT) -> str:
    """Return the part of a text that equals ``word`` but for case, quotes and spaces, "" without one."""
    parts = _form(word).strip(_EDGES).split()
    if not parts:
        return ""
    opening = rf"(?<!{_SPACED})" if re.match(_SPACED, parts[0]) else ""
    closing = rf"(?!{_SPACED})" if re.match(_SPACED, parts[-1][-1]) else ""
    pattern = opening + r"\s+".join(map(re.escape, parts)) + closing
    match = re.search(pattern, _form(text[:limit]))
    return text[match.start() : match.end()] if match else ""


def neutral(text: str) -> str:
    """Return a text without angle brackets, so that it cannot contain a chat template's tokens."""
    return text.translate(_BRACKETS)


def _form(text: str) -> str:
    return neutral(flat(text)).translate(_QUOTES)


def _shape(value: Any) -> Literal["answer", "item"] | None:
    if isinstance(value, list):
        return "answer" if all(isinstance(one, dict | str | int) for one in value) else None
    if not isinstance(value, dict):
        return None
    given = _by_key(value)
    only = next(iter(value.values())) if len(value) == 1 else None
    if not value or isinstance(only, list) or not _LIST_KEYS.isdisjoint(given):
        return "answer"
    return "item" if not given.keys().isdisjoint(_WORD_KEYS) or any(map(_is_verdict, given.values())) else None


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings of an answer that may be copied words, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        given = _by_key(value)
        if str(given.get("verdict", given.get("status", ""))).casefold() in _NO_VERDICTS:
            return
        named = next((given[key] for key in _WORD_KEYS if given.get(key)), None)
        fields = [("word", named)] if named else [pair for pair in given.items() if pair[0] not in _SIDE_KEYS]
        for key, one in fields:
            yield from [key] if _is_verdict(one) else _strings(one)  # {"Borg": "ended"} has the word as its key


def _by_key(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(key).strip().casefold(): one for key, one in value.items()}


def _is_verdict(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _VERDICTS
