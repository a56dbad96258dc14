"""Slots, each with one value at a time: home, job, "my shoe size"; and their values in a text. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from proxy.memory.learn.statements import MAX_SENTENCE
from proxy.memory.plan.changes import SLOT
from proxy.text.languages import languages_in, matches
from proxy.text.languages import words as listed
from proxy.text.segment import COMMA
from proxy.text.speakers import names_author
from proxy.text.terms import forms_of, plain, terms_in
from proxy.text.words import HAS_CJK, flat, words
from proxy.types import Memory

MAX_KEY_WORDS = 3  # of "my favourite soft drink is …"


def slot_of(text: str) -> list[tuple[str, str]]:
    """Return the slots that a statement fills, as name and value: ``home``, ``job``, ``en:shoe size`` and so on."""
    low = flat(text)
    if len(text) > MAX_SENTENCE or any(word.text in listed("also") for word in words(low)):
        return []
    found = []
    for one in languages_in(low):
        for name, phrases in one.slots.items():
            held = [match for match in matches(phrases, low) if not _is_of_other(text, low, match)]
            found += [(name, _value(match["new"])) for match in held if _fits(name, text, *match.span("new"))]
        for match in matches(one.single, low):
            key, written = _key(match["key"]), {word.text for word in words(match["key"])}
            if len(key) > MAX_KEY_WORDS or not (listed("first") | listed("deny")).isdisjoint(written):
                continue
            if not one.words["single"].isdisjoint(key):
                found.append((f"{one.code}:{' '.join(key)}", _value(match["new"])))
    return [(name, value) for name, value in found if value and not _is_no_value(value)]


def _fits(slot: str, text: str, start: int, end: int) -> bool:
    """Return whether the text at a value's place fits: a trade, or a name: "Leeds", not "a flat", "fear"."""
    first = next((word for word in words(text) if word.end > start), None)
    if first is not None and ":" in slot:  # one of a fixed list, such as a language to answer in
        return not listed(slot.partition(":")[2]).isdisjoint((first.text, text[start:end].strip()))
    lists = ("article", "time", "preposition", "no_value", *(("elsewhere",) if slot == "home" else ()))
    if first is None or any(first.text in listed(name) for name in lists):
        return False
    if HAS_CJK.match(first.text):
        return not text[start:end].rstrip("了。.！! ").endswith(tuple(listed("indoors")))
    letter = text[first.start]
    return slot == "job" or letter.isupper() or letter.isdigit() or text.islower()  # some users write without capitals


def _is_no_value(value: str) -> bool:
    """Return whether the text at a value's place asks, describes or denies: "my job is what I love"."""
    first = value.split(maxsplit=1)[0]
    return value.startswith(tuple(listed("attributive"))) or first in listed("ask") | listed("deny")


def _is_of_other(text: str, low: str, match: re.Match[str]) -> bool:
    """Return whether a clause denies the slot or has another subject than the user: "Соседи" before "переехали"."""
    start = match.start()
    begin = max((found.end() for found in COMMA.finditer(low, 0, start)), default=0)
    before = [word.text for word in words(low[begin:start])]
    if not listed("deny").isdisjoint((*before[-1:], *low[start : match.start("new")].split())):  # "No vivo en Madrid"
        return True
    if not before or HAS_CJK.search(low) or names_author(low[begin:start]) or before[0] in listed("time"):
        return False
    return before[0] in listed("mine") or any(before[0] in term.forms for term in terms_in(text, begin, start))


def same_slot(left: str, right: str) -> bool:
    """Return whether two slot names mean the same: "email" and "new email", not "work email" or "dog's birthday"."""
    ours, theirs = set(left.rsplit(":", maxsplit=1)[-1].split()), set(right.rsplit(":", maxsplit=1)[-1].split())
    return left == right or (":" in left and ":" in right and (ours ^ theirs) <= listed("fresh"))


def _key(text: str) -> list[str]:
    """Return the telling words of "my favourite film of all time": up to a preposition, without articles."""
    found = [word.text for word in words(text)]
    end = next((at for at, word in enumerate(found) if at and word in listed("preposition")), len(found))
    return [word for word in found[:end] if word not in listed("article")]


def _value(text: str) -> str:
    found = [word.text for word in words(text) if word.text not in listed("article")]
    kept: list[str] = []
    for word in found:
        if kept and (word in listed("time") or word in listed("but") or word in listed("preposition")):
            break
        kept.append(word)
    return " ".join(kept)


def is_other(left: str, right: str) -> bool:
    """Return whether two values exclude each other: not "Leeds near the canal" and "Leeds", nor text and a number."""
    ours, theirs = ([forms_of(word) for word in plain(value).split()] for value in (left, right))
    are_numbers = [any(map(str.isdigit, value)) for value in (left, right)]
    pairs = ((ours, theirs), (theirs, ours))
    is_within = any(all(any(one & other for other in others) for one in some) for some, others in pairs)
    return not is_within and are_numbers[0] == are_numbers[1]


def marked(memory: Memory) -> Memory:
    """Return a memory with exactly the slots that its text fills in its metadata, for lookup by slot."""
    slots = [list(pair) for pair in slot_of(memory.text)]
    others = {name: value for name, value in memory.metadata.items() if name != SLOT}
    return replace(memory, metadata={**others, SLOT: slots} if slots else others)
