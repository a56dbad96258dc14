"""Remainder of a sentence of which a part has ended, made by omitting words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.text.languages import words as listed
from proxy.text.segment import clauses, is_question, items, phrases
from proxy.text.speakers import speaks_of_self
from proxy.text.terms import Term, holds
from proxy.text.words import HAS_CJK, flat, words

MIN_WORDS = 3  # of a remainder; a shorter one states nothing
MIN_ORPHAN_WORDS = 4  # the same for a remainder from the middle or end that does not mention its author


def remains(text: str, terms: Sequence[Term]) -> list[str]:
    """Return the remaining statements of ``text`` without one of ``terms``: the first name, else the first term.

    Omit an item of a list alone; else omit the phrase with the term and those that depend on it for a subject, and keep
    the text before and after. Every result is a subsequence of the words of ``text``.
    """
    term = next((one for one in terms if one.is_name), terms[0])
    for item in (term, *(one for one in terms if one != term)):  # "teach physics" of "I teach maths and physics"
        for spans in (clauses(text), phrases(text)):
            parts = [text[a:b] for a, b in spans]
            cut = [_without_item(part, item) if holds(part, item) else part for part in parts]
            whole = _joined(text, spans, [part or "" for part in cut])
            if whole != text and all(part is not None for part in cut):
                return [whole]
    runs: list[tuple[int, int]] = []
    is_gone, about_it = False, 0  # whether the last phrase is omitted, and the end of clauses that depend on it
    for start, end in phrases(text):
        phrase = text[start:end]
        was_gone, is_gone = is_gone, holds(phrase, term) or (is_gone and _shares_subject(phrase)) or start < about_it
        if is_gone and len(words(phrase)) == 1:  # "Coco, our parrot, is very loud"
            about_it = max(about_it, min((b for a, b in clauses(text) if a >= end), default=0))
        elif not is_gone and runs and not was_gone:
            runs[-1] = (runs[-1][0], end)
        elif not is_gone:
            runs.append((start, end))
    return [part for a, b in runs if _is_whole(part := _told(text[a:b]), is_first=a == 0)]


def _shares_subject(phrase: str) -> bool:
    """Return whether a phrase borrows its subject: "and works as a nurse", "she is shy"."""
    return any(word.text in listed(name) for word in words(phrase)[:1] for name in ("shares_subject", "third", "it"))


def _without_item(clause: str, term: Term) -> str | None:
    found = items(clause)
    if found is None:
        return None
    dropped = [at for at, (a, b) in enumerate(found.spans) if holds(clause[a:b], term)]
    rest = clause[: found.spans[0][0]] + clause[found.spans[-1][1] :]
    if not dropped or len(dropped) == len(found.spans) or holds(rest, term):
        return None
    return found.without(clause, dropped)


def _joined(text: str, spans: Sequence[tuple[int, int]], parts: Sequence[str]) -> str:
    made, at = [], 0
    for (start, end), part in zip(spans, parts, strict=True):
        made += [text[at:start], part]
        at = end
    return "".join([*made, text[at:]]).strip()


def _told(run: str) -> str:
    """Return the clauses at the front of ``run`` before the first question."""
    end = 0
    for a, b in clauses(run):
        if is_question(run[a:b], flat(run[a:b])):
            break
        end = b
    return run[:end].strip()


def _is_whole(part: str, *, is_first: bool) -> bool:
    """Return whether a part is a statement alone; not if it lost its subject: "built 2015, diesel"."""
    low = flat(part)
    is_joined = any(word.text in listed("and") or word.text in listed("but") for word in words(part)[:1])
    if is_first or is_joined or speaks_of_self(low) or HAS_CJK.search(part):
        return len(words(part)) >= MIN_WORDS and not is_question(part, low)
    told = [word for word in words(part) if not word.text.isdigit()]  # "about 12,000 euros" states nothing
    return len(told) >= MIN_ORPHAN_WORDS and not is_question(part, low)


def rest_of(part: str, match: re.Match[str], terms: Sequence[Term]) -> str:
    """Return the clause without the old thing, a subsequence of its words; "" if nothing else is stated."""
    old = match.span("old")
    if "new" not in match.re.groupindex or not match["new"]:
        return _before(part, max((word.start for word in words(part) if word.text == terms[0].text), default=0))
    new = match.span("new")
    head = part[: old[0]].rstrip()
    joint = words(head)[-1:]
    if old[0] < new[0] and joint and joint[0].text in listed("preposition"):  # "from X to Y"
        left, right = head[: joint[0].start].rstrip(), part[old[1] :].strip()
        gap = "" if HAS_CJK.match(left[-1:]) and HAS_CJK.match(right[:1]) else " "
        return f"{left}{gap}{right}".strip()
    if old[0] > new[0]:  # "Y instead of X"
        return f"{part[: new[1]].rstrip()}{part[old[1] :]}".strip()
    return part  # "replaced X with Y" states the old and the new, and models read it correctly


def _before(part: str, end: int) -> str:
    """Return the part of a clause before the "and" that precedes a cue, "" if it is no statement."""
    joints = [word for word in words(part) if word.text in listed("and") and word.start < end]
    left = part[: joints[-1].start].rstrip(" ,") if joints else ""
    return left if len(words(left)) >= MIN_WORDS else ""
