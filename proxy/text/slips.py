"""Corrections that give only another value for the sentence right before: "Sorry, May 4", "no, York". Pure."""

from __future__ import annotations

from proxy.text.languages import has_cue, languages_in
from proxy.text.languages import words as listed
from proxy.text.speakers import opens_with
from proxy.text.terms import forms, forms_of, is_idle
from proxy.text.words import HAS_CJK, flat, words

MAX_WORDS = 8  # after the slip; a longer text is a separate statement


def corrects(text: str, before: str, *, is_asked: bool = False) -> bool:
    """Return whether a sentence corrects a value of the previous one: it admits a slip and names another of its kind.

    Args:
        text: The sentence.
        before: The sentence right before it.
        is_asked: The assistant asked a question in between, so that "no" and "actually" may be an answer.
    """
    end = _end_of_slip(text, is_asked=is_asked)
    if end is None or HAS_CJK.search(text):
        return False
    known, rest = forms(before), text[end:]
    told = [word.text for word in words(rest) if word.text not in listed("deny")]
    values = _values(f"- {rest}")
    fresh = {word: kind for word, kind in values.items() if known.isdisjoint(forms_of(word))}
    others = [word for word in told if word not in values and known.isdisjoint(forms_of(word))]
    is_short = len(told) <= MAX_WORDS and all(len(word) == 1 or is_idle(word) for word in others)
    return is_short and bool(fresh) and set(fresh.values()) <= set(_values(before).values())


def is_slip(text: str) -> bool:
    """Return whether a sentence may correct the one right before it."""
    return _end_of_slip(text, is_asked=False) is not None


def _end_of_slip(text: str, *, is_asked: bool) -> int | None:
    """Return the end of the words that admit a slip, None if there are none."""
    low = flat(text)
    names = ("slip",) if is_asked else ("slip", "objection")
    ends = [match.end() for one in languages_in(low) for name in names for match in one.find(name, low)]
    if text.startswith("*"):  # "*York"
        ends.append(1)
    is_of_it = has_cue("correct", low) and (opens_with(low, "third") or opens_with(low, "it"))
    return max(ends, default=0 if is_of_it else None)


def _values(text: str) -> dict[str, str]:
    """Return the words of a text that may be a value, with their kind: a number, a time, a name."""
    found = {}
    for at, word in enumerate(words(text)):
        if any(map(str.isdigit, word.text)):
            found[word.text] = "number"
        elif word.text in listed("time"):
            found[word.text] = "time"
        elif text[word.start].isupper() and not is_idle(word.text) and (at or text.startswith("-")):
            found[word.text] = "name"
    return found
