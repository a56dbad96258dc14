"""Subject and modality of a text, by the words of its language: its author, a denial, a request, one time."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from proxy.text.languages import has_cue, languages_in, words_for
from proxy.text.languages import words as listed
from proxy.text.segment import COMMA, clauses, is_question
from proxy.text.terms import is_idle, terms_in
from proxy.text.words import HAS_CJK, flat, words

_QUESTION_WORDS = 3  # of a new question; shorter ones ask for consent: "forget Paco, will you?"
_OPENING_WORDS = 4  # in which a verb that implies "I" opens a clause


def speaks_of_self(low: str) -> bool:
    """Return whether a sentence is about its author or the author's things."""
    return holds_word(low, "first") or holds_word(low, "mine") or names_author(low)


def names_author(low: str) -> bool:
    """Return whether a clause has its author among its persons: "I" or "我", not "my brother" or "我弟弟"."""
    if HAS_CJK.search(low):
        return _author().search(low) is not None
    found = [word.text for word in words(low)]
    is_verb = not listed("verbs").isdisjoint(found[:_OPENING_WORDS])
    return is_verb or not listed("first").isdisjoint((*low.replace("'", " ").split(), *found))


@cache
def _author() -> re.Pattern[str]:
    people = "|".join(sorted(word for word in listed("people") if HAS_CJK.match(word)))
    first = "".join(word for word in listed("first") if HAS_CJK.match(word))
    return re.compile(f"[{first}](?!们?的?(?:{people}))")


def leaves_self_out(low: str) -> bool:
    """Return whether a sentence is about its author, not named: "Allergic to nuts", "Wife's birthday is 4 May"."""
    low = _after_aside(low)
    if has_cue("elided", low):
        return True
    kin, found = words_for("own_kin", low), [word.text for word in words(low)[:2]]
    is_kin = not kin.isdisjoint(found[:1]) or any(
        low.startswith(word) for word in kin if HAS_CJK.match(word) and f"{word}们" not in low
    )
    return is_kin and not any(found[-1] in listed(name) for name in ("and", "preposition"))  # "Wife of Bath"


def _after_aside(low: str) -> str:
    """Return a sentence without its opening aside: "By the way, "."""
    ends = [match.end() for one in languages_in(low) for match in one.find("aside", low)]
    return low[max(ends, default=0) :].lstrip(" ,:-")


def holds_word(low: str, name: str) -> bool:
    """Return whether a text holds a word of a list."""
    found = listed(name)
    return any(word.text in found for word in words(low)) or any(one in low for one in found if HAS_CJK.match(one))


def opens_with(low: str, name: str) -> bool:
    """Return whether a text opens with a word of a list."""
    first = next((word.text for word in words(low)), "")
    return first in listed(name) or any(low.startswith(word) for word in listed(name) if HAS_CJK.match(word))


def denies(low: str) -> bool:
    """Return whether a clause denies something."""
    return holds_word(low.replace("不过", ""), "deny") or "n't" in low


def points_at_one(clause: str) -> bool:
    """Return whether a clause is about this one or that one alone: "this tea", "the sushi from that place"."""
    pairs = pairwise(words(clause))
    heads = [
        right.text for left, right in pairs if left.text in listed("pointing") and right.text not in listed("time")
    ]
    return any(word in listed("generic") or not is_idle(word) for word in heads)


def is_hypothesis(low: str) -> bool:
    """Return whether a sentence opens with a wish or a hypothetical case."""
    opening = [word.text for word in words(low)[:2]]  # in any language: that of a short sentence is uncertain
    return opens_with(low, "wish") or not listed("wish").isdisjoint(opening) or has_cue("suppose", low)


def leaves_topic(sentence: str, clause: str) -> bool:
    """Return whether a clause only leaves a topic for another: "Forget hiking, what's for dinner?"."""
    parts = COMMA.split(sentence[sentence.find(clause) :])
    long = [at for at, part in enumerate(parts) if at and len(words(part)) >= _QUESTION_WORDS and terms_in(part)]
    before = next((at for at in long if is_question(parts[at], flat(parts[at]))), 0)
    moves_on = has_cue("moves_on", flat(sentence))
    low = flat(clause if moves_on else " ".join(parts[:before]))
    is_topic = not (speaks_of_self(low) or has_cue("remembered", low) or has_cue("everything", low))
    return is_topic and (moves_on or before > 0)


def things_of_author(low: str) -> set[str]:
    """Return the telling words after "my": "rent" of "My rent is 950 now", "boss" of "My new boss is Ana"."""
    found = words(low)
    behind = [at for at in range(1, len(found)) if found[at - 1].text in listed("mine")]
    fresh = [at + 1 for at in behind if found[at].text in listed("fresh")]
    behind = [at for at in behind if at + 1 not in fresh]
    behind += [at for at in fresh if at < len(found) and all(is_idle(word.text) for word in found[at + 1 : at + 2])]
    return {term.text for at in behind for term in terms_in(low, found[at].start, found[at].end)}


def lasts(low: str, name: str) -> bool:
    """Return whether the clause of a cue holds for more than once: "Never use mailx, I have msmtp here", not "here"."""
    ends = [end for _, end in clauses(low)]
    cued, once = (
        {sum(end <= match.start() for end in ends) for one in languages_in(low) for match in one.find(cue, low)}
        for cue in (name, "once")
    )
    return not cued <= once


def is_request(low: str) -> bool:
    """Return whether a clause asks for something to be done or made now: "I need a regex"."""
    return has_cue("ask_more", low) or (has_cue("wanted", low) and holds_word(low, "made"))
