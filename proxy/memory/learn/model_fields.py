"""Brings the fields of a fact, as models write them, into one form: names, enumerations, numbers and flags."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, Literal

_DEFAULT_CONFIDENCE = 0.8

_SYNONYMS = {
    "action": ("operation", "op", "type_of_change", "change"),
    "kind": ("type", "category"),
    "relation": ("predicate", "property", "attribute"),
    "object": ("value", "object_value"),
    "text": ("statement", "fact", "sentence", "content", "memory"),
    "quote": ("evidence", "span", "source_quote"),
    "message_id": ("message", "msg_id", "msg", "id", "source_id"),
    "replaces": ("supersedes", "replaced", "ends", "removes"),
    "at": ("date", "time", "when", "event_time", "timestamp"),
}
_ACTIONS: dict[str, Literal["add", "retract", "replace"]] = {
    **dict.fromkeys(("add", "added", "create", "new", "insert", "store", "save", "remember", "state"), "add"),
    **dict.fromkeys(
        ("retract", "retracted", "delete", "remove", "forget", "end", "ended", "stop", "negate"), "retract"
    ),
    **dict.fromkeys(("replace", "replaced", "update", "change", "correct", "modify", "supersede"), "replace"),
}
NO_ACTION = frozenset({"none", "noop", "no_op", "skip", "ignore", "keep", "no_change", "nothing"})
_KINDS = {
    **dict.fromkeys(("preference", "like", "dislike", "taste", "opinion", "interest"), "preference"),
    **dict.fromkeys(("event", "appointment", "experience", "milestone"), "event"),
    **dict.fromkeys(("task", "todo", "to_do", "reminder", "goal", "commitment"), "task"),
    **dict.fromkeys(("procedure", "instruction", "rule", "how_to", "workflow"), "procedure"),
}
_RELATIONS = {
    **dict.fromkeys(("uses", "using", "use tool"), "use"),
    **dict.fromkeys(("lives in", "living in", "resides in", "residence", "location", "home city"), "live in"),
    **dict.fromkeys(("works at", "works for", "work at", "work for", "employed by"), "employer"),
    **dict.fromkeys(("works as", "work as", "job", "occupation", "job title"), "profession"),
    **dict.fromkeys(("likes", "loves", "love", "enjoys", "enjoy", "prefers", "prefer"), "like"),
    **dict.fromkeys(("dislikes", "hates", "hate"), "dislike"),
    **dict.fromkeys(("has", "owns", "own"), "have"),
    **dict.fromkeys(("speaks", "speaks language"), "speak"),
    **dict.fromkeys(("learns", "learning", "studies", "studying", "study"), "learn"),
    "plays": "play",
    "takes": "take",
    "drives": "drive",
    **dict.fromkeys(("is allergic to", "allergy", "allergic"), "allergic to"),
    **dict.fromkeys(("is named", "is called", "first name", "full name"), "name"),
    **dict.fromkeys(("response language", "answer language", "preferred language"), "reply language"),
}
_LEVELS = {"very high": 0.95, "high": 0.9, "medium": 0.7, "moderate": 0.7, "low": 0.4, "very low": 0.2}
_LIMITS = {"quote": 1000, "text": 600, "object": 300, "relation": 80, "subject": 120, "message_id": 200, "at": 60}
_MAX_REPLACES = 12
_NOTHING = frozenset({"null", "none", "nil", "n/a", "undefined", ""})
_ME = frozenset({"user", "the user", "i", "me", "myself", "self", "speaker", ""})
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s_-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def is_fact(value: dict[Any, Any]) -> bool:
    """Whether an object has enough of the fields of a fact to be meant as one."""
    keys = {snake(key) for key in value}
    named = sum(
        bool(keys & {field, *_SYNONYMS.get(field, ())}) for field in ("quote", "text", "action", "object", "relation")
    )
    return named >= 2


def normal_fact(item: dict[Any, Any]) -> dict[str, Any]:
    """Return the fields of a fact by their own names; what cannot be understood is empty or has its default."""
    given = {snake(key): value for key, value in item.items()}
    for field, others in _SYNONYMS.items():
        if given.get(field) is None:
            given[field] = next((given[other] for other in others if given.get(other) is not None), None)
    texts = {field: _text(given.get(field)) for field in _LIMITS}
    too_long = [field for field, limit in _LIMITS.items() if len(texts[field]) > limit]
    for field in too_long:
        texts[field] = ""  # a value of that length is no value; where it is needed the fact falls
    fact: dict[str, Any] = {
        **texts,
        "text": texts["text"] or ("" if "text" in too_long else texts["quote"]),
        "subject": "user" if texts["subject"].casefold() in _ME else texts["subject"],
        "relation": _relation(texts["relation"]),
        "kind": _KINDS.get(_word(given.get("kind")), "fact"),
        "confidence": _share(given.get("confidence")),
        "at": texts["at"] or None,
        "replaces": tuple(_texts(given.get("replaces"))),
        **{flag: _flag(given.get(flag)) for flag in ("single", "again", "forget", "profile")},
    }
    return fact | _action(given.get("action"), fact)


def relation_forms(relation: str) -> list[str]:
    """Return the other forms in which models write a relation."""
    return [form for form, plain in _RELATIONS.items() if plain == relation]


def snake(key: Any) -> str:
    """Return a name in lower case with underscores, whatever style it is written in."""
    return _WORD_BREAK.sub("_", str(key).strip()).casefold() if isinstance(key, str) else ""


def _action(given: Any, fact: dict[str, Any]) -> dict[str, Any]:
    """Return the action and what follows from it for other fields; on contradictions nothing is closed."""
    word = _word(given)
    ends, states = bool(fact["replaces"]), bool(fact["object"])
    action = _ACTIONS.get(word, word) if word else ("replace" if ends and states else "add")
    if action == "replace" and not states:
        action = "retract"
    elif action == "replace" and not ends:
        action = "add"
    if action == "add":
        return {"action": action, "replaces": (), "forget": False}
    if action == "retract":
        return {"action": action, "single": False, "again": False, "profile": False}
    return {"action": action, "forget": False}


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        text = _CONTROL.sub("", str(value)).strip()
    except ValueError:  # an integer of more digits than Python will write
        return ""
    return "" if text.casefold() in _NOTHING else text


def _texts(value: Any) -> Iterable[str]:
    values = value if isinstance(value, list | tuple) else [value]
    for entry in values[:_MAX_REPLACES]:
        inner = (
            next((entry[key] for key in ("object", "value", "id", "text") if key in entry), None)
            if isinstance(entry, dict)
            else entry
        )
        text = _text(inner)
        if text and len(text) <= _LIMITS["object"]:
            yield text


def _relation(text: str) -> str:
    """Return a relation in the form that the built-in rules use, so that either extractor finds the other's facts."""
    plain = snake(text).replace("_", " ").strip()
    return _RELATIONS.get(plain, plain)


def _word(value: Any) -> str:
    return snake(value) if isinstance(value, str) else ""


def _flag(value: Any) -> bool:
    return value.strip().casefold() in ("true", "yes", "1") if isinstance(value, str) else value in (True, 1)


def _share(value: Any) -> float:
    text = _text(value)
    if text.casefold() in _LEVELS:
        return _LEVELS[text.casefold()]
    try:
        number = float(text.removesuffix("%"))
    except (ValueError, OverflowError):
        return _DEFAULT_CONFIDENCE
    if math.isnan(number):
        return _DEFAULT_CONFIDENCE
    if text.endswith("%") or 10 < number <= 100:
        number /= 100
    elif number > 1:
        number /= 10
    return min(1.0, max(0.0, number))
