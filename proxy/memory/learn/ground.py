"""Rejects what the user did not say: every candidate must quote a user-authored span and contain what it quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from proxy.memory.learn.matching import names
from proxy.memory.learn.statements import user_spans
from proxy.memory.learn.support import is_supported
from proxy.text.words import Value, Word, fold, same_word, words
from proxy.types import Candidate, Episode, Memory, Said, Turn

_MIN_SHARE = 0.5  # of an object's words that must stand in the quote; the rest may be inflection or word order


def ground(
    candidates: Iterable[Candidate], turn: Turn, known: Sequence[Memory] = (), heard: Sequence[Episode] = ()
) -> list[Candidate]:
    """Return the candidates whose quote stands in a user-authored span of the message that they name.

    White space, Unicode form, case and quotation marks do not count. The words of the object must stand in the quote; a
    candidate without an object needs a text that is made of the quote's words, and any other text that tells more than
    the user did gives way to the quote. What ends must be named by the user or be the value of a memory.

    Args:
        candidates: What an extractor proposes.
        turn: Where they come from.
        known: The memories that the extractor was shown.
        heard: What was said before, as far as the extractor was shown it.
    """
    authored = {said.id: _Authored(said) for said in turn.messages if said.role == "user"}
    before = [episode.text for episode in heard if episode.role == "user"]
    said = "\n".join((*(span for message in authored.values() for span in message.spans), *before))
    grounded = [found for candidate in candidates if (found := _grounded(candidate, authored)) is not None]
    ends = any(candidate.replaces or candidate.action == "retract" for candidate in grounded)
    named = words(said) if ends else ()
    ending = (_with_known_ends(candidate, named, known) for candidate in grounded)
    return [_with_said_text(candidate, said, known) for candidate in ending if candidate is not None]


class _Authored:
    """The user-authored spans of one message, folded for comparison."""

    def __init__(self, said: Said) -> None:
        self.spans = [said.text[start:end] for start, end in user_spans(said.text)]
        self.folded = [_plain(span) for span in self.spans]

    def holds(self, quote: str) -> bool:
        needle = _plain(quote)
        return bool(needle) and any(needle in span for span in self.folded)


def _grounded(candidate: Candidate, authored: dict[str, _Authored]) -> Candidate | None:
    message = authored.get(candidate.message_id)
    if message is None or not message.holds(candidate.quote):
        return None
    if candidate.action == "retract":
        return candidate if candidate.replaces or candidate.object else None
    if not candidate.object or not _derivable(candidate.object, words(candidate.quote)):
        return None if candidate.object else _with_supported_text(candidate)
    return candidate


def _with_supported_text(candidate: Candidate) -> Candidate | None:
    """Keep a candidate without an object only where its text is made of the quote's words."""
    if not _derivable(candidate.text, words(candidate.quote)):
        return None
    return replace(candidate, object="")


def _with_known_ends(candidate: Candidate, named: Sequence[Word], known: Sequence[Memory]) -> Candidate | None:
    """Keep of what ends what the user names or a memory holds; a replacement of nothing is a mere statement."""

    def is_known(term: str) -> bool:
        return _derivable(term, named) or any(names(memory.object, term) for memory in known if memory.object)

    ends = tuple(term for term in candidate.replaces if is_known(term))
    if candidate.action == "retract":
        is_named = bool(ends) if candidate.replaces else is_known(candidate.object)
        return replace(candidate, replaces=ends) if is_named else None
    if candidate.action == "replace" and not ends:
        return replace(candidate, action="add", replaces=())
    return replace(candidate, replaces=ends)


def _with_said_text(candidate: Candidate, said: str, known: Sequence[Memory]) -> Candidate:
    ended = [
        memory.text
        for memory in known
        if any(names(memory.object, term) for term in candidate.replaces if memory.object)
    ]
    if candidate.action == "retract" or is_supported(candidate, "\n".join((said, *ended)), known):
        return candidate
    return replace(candidate, text=" ".join(candidate.quote.split()))


def _derivable(surface: str, quoted: Sequence[Word]) -> bool:
    wanted = Value.of(surface).words
    if not wanted:
        return False
    found = sum(any(same_word(word, other.text) for other in quoted) for word in wanted)
    return found >= max(1, round(len(wanted) * _MIN_SHARE))


def _plain(text: str) -> str:
    return fold(text).strip(" .,;:!?\"'")
