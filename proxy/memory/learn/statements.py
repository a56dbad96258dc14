"""Selection of a message's sentences that are statements of its author, with the context of each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.text.languages import has_cue, words_for
from proxy.text.languages import words as listed
from proxy.text.segment import Items, clauses, is_question, items, sentences
from proxy.text.speakers import (
    is_hypothesis,
    is_request,
    lasts,
    leaves_self_out,
    opens_with,
    speaks_of_self,
)
from proxy.text.terms import is_named, plain, shared, terms_in
from proxy.text.user_spans import own_end, user_spans
from proxy.text.words import HAS_CJK, Span, flat, words
from proxy.types import Kind

MAX_CHARACTERS = 8_000  # of one message that are parsed for statements; the rest is indexed as an episode
MAX_SENTENCE = 600  # characters; a longer sentence is pasted, or no single statement
MAX_STATEMENTS = 24  # per message
MAX_CONTEXT = 240  # characters
MAX_SPLIT = 4  # items of a list that become statements each; a longer list stays whole
MAX_ANSWER_WORDS = 12
_BULLETS = "-*•·– \t"
_OPENING = 400  # characters at the start of a message in which a story or a role-play is declared
_OPENING_WORDS = 4  # at the start of a sentence, among which a pronoun or question word counts


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a message inside its author's own words.

    Attributes:
        text, start, end: The sentence and its offsets in the message.
        low: ``text`` flattened, offset by offset.
    """

    text: str
    start: int
    end: int
    low: str
    is_question: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, clause or list item of the user that is worth a memory.

    Attributes:
        text: A subsequence of the words of ``sentence``.
        by: Speaker of ``context``.
        is_profile: Belongs in every prompt: a name, an allergy, a standing instruction.
        is_apart: Is shown alone, as its message is not shown.
    """

    text: str
    sentence: Sentence
    kind: Kind = "fact"
    context: str = ""
    by: str = ""
    is_profile: bool = False
    is_apart: bool = False


def own_sentences(text: str) -> list[Sentence]:
    """Return the sentences wholly inside the author's own words; none of a story or a role-play."""
    found: list[Sentence] = []
    if has_cue("fiction", flat(text[:_OPENING])):
        return found
    spans = user_spans(text[:MAX_CHARACTERS])
    for start, whole in sentences(text[:MAX_CHARACTERS]):
        if (end := own_end(text, start, whole, spans)) > start:
            piece = text[start:end]
            low = flat(piece)
            found.append(Sentence(piece, start, end, low, is_question(piece, low)))
    return found


def is_passing(text: str, low: str) -> bool:
    """Return whether a sentence is about the chat or the moment: the assistant's words, a mood, a failing thing."""
    if has_cue("profile", low) or (has_cue("meant", low) and any(term.is_name for term in terms_in(text))):
        return False
    return not words_for("you", low).isdisjoint(word.text for word in words(low)) or has_cue("passing", low)


def _is_all_passing(one: Sentence) -> bool:
    """Return whether every clause about the author is only about the moment."""
    told = [(a, b) for a, b in clauses(one.text) if speaks_of_self(one.low[a:b]) and not is_request(one.low[a:b])]
    return all(is_passing(one.text[a:b], one.low[a:b]) for a, b in told or [(0, len(one.text))])


def statements(found: Sequence[Sentence], *, reply: str = "") -> list[Statement]:
    """Return the statements among the sentences of one message.

    Args:
        found: Its own sentences, in order.
        reply: The assistant's message before it; its question or proposal is the context of an answer.
    """
    made: list[Statement] = []
    told: Sentence | None = None
    for at, one in enumerate(found):
        before = found[at - 1] if at else None
        if at + 1 < len(found) and has_cue("joking", found[at + 1].low):
            continue
        if not _is_statement(one, told if before is told else None):
            if (at == 0 or has_cue("decide", one.low)) and (answer := _answer(one, reply)):
                made.append(answer)
                told = one
            continue
        context, by = _context(one, before, reply if at == 0 else "")
        is_profile = has_cue("profile", one.low) and lasts(one.low, "profile")
        made += [Statement(text, one, kind_of(one.low), context, by, is_profile) for text in split_lists(one)]
        told = one
    return made[:MAX_STATEMENTS]


def split_lists(one: Sentence) -> list[str]:
    """Return the sentence, or one statement for each item if it is one clause with a short list of names."""
    parts = [one.text[a:b] for a, b in clauses(one.text)]
    if one.is_question:
        return _told_in(one.text)
    found = items(one.text) if len(parts) == 1 else None
    if found is None or not _is_split(one.text, found):
        return [one.text.lstrip(_BULLETS)]
    every = range(len(found.spans))
    return [found.without(one.text, [other for other in every if other != at]).strip() for at in every]


def _told_in(text: str) -> list[str]:
    """Return the statements in a question: clauses that state something, each joined with those that continue it."""
    told: list[Span] = []
    was_on = False
    for start, end in clauses(text):
        part = text[start:end]
        is_on = _tells(part) or (was_on and tells(part, flat(part)))
        if is_on:
            told.append((told.pop()[0] if was_on else start, end))
        was_on = is_on
    return [text[start:end] for start, end in told]


def _tells(part: str) -> bool:
    """Return whether a clause of a question is a statement alone."""
    low = flat(part)
    is_apart = len(words(low)) > 1 and not opens_with(low, "but") and tells(part, low)
    return is_apart and (speaks_of_self(low) or leaves_self_out(low))


def tells(text: str, low: str) -> bool:
    """Return whether a sentence or clause may state something: no question, request, hypothesis or passing remark."""
    return not (is_question(text, low) or is_request(low) or is_passing(text, low) or is_hypothesis(low))


def _is_split(part: str, found: Items | None) -> bool:
    """Return whether a list holds few names and is the user's, so that each item makes a statement."""
    if found is None or len(found.spans) > MAX_SPLIT or not speaks_of_self(flat(part[: found.spans[0][0]])):
        return False
    return all(is_named(part[a:b]) for a, b in found.spans)


def kind_of(low: str) -> Kind:
    """Return the kind of a statement by its cues."""
    return "instruction" if has_cue("instruct", low) else "preference" if has_cue("prefer", low) else "fact"


def _is_statement(one: Sentence, told: Sentence | None) -> bool:
    if len(one.text) > MAX_SENTENCE:
        return False
    if one.is_question:
        parts = clauses(one.text)
        return len(parts) > 1 and any(_tells(one.text[a:b]) for a, b in parts)
    opening = [word.text for word in words(one.low)][:_OPENING_WORDS]
    if not opening or is_hypothesis(one.low):
        return False
    if has_cue("instruct", one.low):
        return lasts(one.low, "instruct")
    if is_request(one.low) and not _names_self(one.low):
        return False
    if _is_all_passing(one) or has_cue("laugh", one.low):  # may be a joke
        return False
    if speaks_of_self(one.low) or leaves_self_out(one.low):
        return len(opening) > 1 or HAS_CJK.search(one.text) is not None
    return told is not None and opens_with(one.low, "third")


def _names_self(low: str) -> bool:
    """Return whether a request also states something: a clause about its author without a request."""
    return any(speaks_of_self(low[a:b]) and not is_request(low[a:b]) for a, b in clauses(low))


def _answer(one: Sentence, reply: str) -> Statement | None:
    """Return a short message as the answer to the assistant's question, or as consent to its proposal."""
    found = [word.text for word in words(one.low)]
    if not reply or one.is_question or not 0 < len(found) <= MAX_ANSWER_WORDS or has_cue("ask_more", one.low):
        return None
    if all(word in listed("thanks") for word in found):
        return None
    is_consent = opens_with(one.low, "agree") or has_cue("decide", one.low)
    context = (_taken_up(one, reply) if is_consent else "") or _last_question(reply) or _proposed(one, reply)
    return Statement(one.text, one, "fact", context, "assistant") if context else None


def _context(one: Sentence, before: Sentence | None, reply: str) -> tuple[str, str]:
    if before is not None:
        return (before.text[:MAX_CONTEXT], "user") if opens_with(one.low, "third") else ("", "")
    is_short = len(words(one.text)) <= MAX_ANSWER_WORDS
    asked = (_taken_up(one, reply) or _last_question(reply) or _proposed(one, reply)) if is_short else ""
    return asked, "assistant" if asked else ""


def _last_question(reply: str) -> str:
    """Return the question that ends a reply, "" if none does."""
    tail = reply[-1200:]
    spans = sentences(tail)[-2:]
    return next((tail[a:b][:MAX_CONTEXT] for a, b in reversed(spans) if tail[a:b].rstrip().endswith(("?", "？"))), "")


def _proposed(one: Sentence, reply: str) -> str:
    """Return the reply that a message accepts without naming it ("we'll take them"); of a long reply, the end."""
    spans = sentences(reply)[-1 if len(reply) > MAX_CONTEXT else 0 :] if has_cue("decide", one.low) else ()
    return reply[spans[0][0] : spans[-1][1]][:MAX_CONTEXT] if spans else ""


def _taken_up(one: Sentence, reply: str) -> str:
    """Return the sentence of a reply that a short message agrees to, by the words that they share."""
    tail = reply[-4000:]
    ranked = [(shared(one.text, tail[a:b]), -at, tail[a:b]) for at, (a, b) in enumerate(sentences(tail))]
    best = max(ranked, default=(0, 0, ""))
    return best[2][:MAX_CONTEXT] if best[0] and plain(best[2]) != plain(one.text) else ""
