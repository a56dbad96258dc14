"""Reads the facts in a model's reply: lenient about form, strict about what a fact needs.

ProxyError
├── ExtractionFailed (502): no usable reply this time; worth another try later
└── Refused (422): the model will not read this text; asking again would change nothing
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from proxy.errors import ProxyError
from proxy.memory.learn.model_fields import NO_ACTION, is_fact, normal_fact, snake
from proxy.memory.model.json_text import find_json, has_json

_MAX_ITEMS = 200
_MAX_PROBLEMS = 5

_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_FIELDS: dict[str, Any] = {
    "message_id": _TEXT,
    "quote": _TEXT,
    "action": {"type": "string", "enum": ["add", "retract", "replace"]},
    "kind": {"type": "string", "enum": ["fact", "preference", "event", "task", "procedure"]},
    "subject": _TEXT,
    "relation": _TEXT,
    "object": _TEXT,
    "text": _TEXT,
    "replaces": {"type": "array", "items": _TEXT},
    "confidence": {"type": "number"},
    "at": {"type": ["string", "null"]},
    "single": _FLAG,
    "again": _FLAG,
    "forget": _FLAG,
    "profile": _FLAG,
}
# Fit for strict structured output: every property required, none besides, no keyword that a provider refuses.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _FIELDS,
                "required": list(_FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}

_LIST_KEYS = ("facts", "memories", "items", "candidates", "results", "result", "output", "data", "response", "answer")
_REFUSAL = re.compile(
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
_REFUSAL_WINDOW = 300


class ExtractionFailed(ProxyError):
    """The model's reply held no facts that could be read; another try later may."""

    status, type, code = 502, "upstream_error", "extraction_failed"


class Refused(ProxyError):
    """The model, or its provider's filter, declined to read the text."""

    status, type, code = 422, "upstream_error", "extraction_refused"


class Fact(BaseModel):
    """One statement as a model gives it; ``message_id`` and ``replaces`` are still in the prompt's short ids."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    action: Literal["add", "retract", "replace"]
    quote: str
    text: str
    kind: Literal["fact", "preference", "event", "task", "procedure"] = "fact"
    message_id: str = ""
    subject: str = "user"
    relation: str = ""
    object: str = ""
    replaces: tuple[str, ...] = ()
    confidence: float = 0.8
    at: str | None = None
    single: bool = False
    again: bool = False
    forget: bool = False
    profile: bool = False

    @field_validator("quote", "text")
    @classmethod
    def _not_empty(cls, value: str) -> str:
        if not value:
            raise ValueError("must not be empty")
        return value

    @model_validator(mode="after")
    def _names_what_ends(self) -> Fact:
        if self.action == "retract" and not (self.replaces or self.object):
            raise ValueError("a retraction names what ends in replaces or object")
        return self


@dataclass(frozen=True, slots=True)
class Facts:
    """The usable facts of a reply.

    Args:
        kept: In the reply's order.
        dropped: How many more there were that could not be used.
    """

    kept: tuple[Fact, ...]
    dropped: int = 0


def read_facts(text: str) -> Facts:
    """Return the facts in a model's reply.

    Facts that cannot be used are left out. So is the last one of a reply that broke off within it.

    Raises:
        ExtractionFailed: If there is no JSON of the right shape, or none of its facts can be used; the message says
            what is wrong and repeats nothing of the reply.
    """
    found = find_json(text, _judge)
    if found is None:
        raise ExtractionFailed("there is no JSON object with a list of facts in it")
    items = _items(found.value) or []
    whole = items[:-1] if found.is_cut else items
    kept: list[Fact] = []
    problems: list[str] = []
    for item in whole[:_MAX_ITEMS]:
        given = normal_fact(item) if isinstance(item, dict) else {}
        if given.get("action") in NO_ACTION:
            continue
        try:
            kept.append(Fact.model_validate(given))
        except ValidationError as error:
            problems += _explain(error)
    if problems and not kept:
        raise ExtractionFailed(_complaint(problems))
    if found.is_cut and not whole:
        raise ExtractionFailed("the reply breaks off within its first fact")
    return Facts(tuple(kept), len(items) - len(kept))


def is_refusal(text: str) -> bool:
    """Whether a reply without any JSON is a model's polite no."""
    return not has_json(text) and _REFUSAL.search(text.strip()[:_REFUSAL_WINDOW]) is not None


def _judge(value: Any) -> Literal["answer", "item"] | None:
    if isinstance(value, dict) and is_fact(value):
        return "item"
    return None if _items(value) is None else "answer"


def _items(value: Any, *, is_outermost: bool = True) -> list[Any] | None:
    """Return the facts of a value: a list of them, a wrapper around one, a single one; None if it is neither."""
    if isinstance(value, list):
        return value if not value or any(isinstance(item, dict) and is_fact(item) for item in value) else None
    if not isinstance(value, dict):
        return None
    if is_fact(value):
        return [value]
    if not value:
        return []
    by_key = {snake(key): inner for key, inner in value.items()}
    for key in _LIST_KEYS:
        inner = by_key.get(key, value)
        if inner is None:
            return []
        if isinstance(inner, list) or (isinstance(inner, dict) and inner is not value and is_outermost):
            return _items(inner, is_outermost=False)
    numbered = list(value.values())
    return numbered if all(isinstance(item, dict) and is_fact(item) for item in numbered) else None


def _explain(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(map(str, problem['loc'])) or 'fact'}: {problem['msg']}"
        for problem in error.errors(include_input=False)
    ]


def _complaint(problems: list[str]) -> str:
    distinct = list(dict.fromkeys(problems))[:_MAX_PROBLEMS]
    return "no fact has the fields that are needed (" + "; ".join(distinct) + ")"
