"""Rejects what the user did not say: every candidate must quote a user-authored span and contain what it quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from proxy.memory.statements import user_spans
from proxy.memory.words import Value, Word, fold, same_word, words
from proxy.types import Candidate, Said, Turn

_MIN_SHARE = 0.5  # of an object's words that must stand in the quote; the rest may be inflection or word order


def ground(candidates: Iterable[Candidate], turn: Turn) -> list[Candidate]:
    """Return the candidates whose quote stands in a user-authored span of the message that they name.

    White space, Unicode form, case and quotation marks do not count. The words of the object must stand in the quote; a
    candidate without an object needs a text that is made of the quote's words.
    """
    authored = {said.id: _Authored(said) for said in turn.messages if said.role == "user"}
    return [found for candidate in candidates if (found := _grounded(candidate, authored)) is not None]


class _Authored:
    """The user-authored spans of one message, folded for comparison."""

    def __init__(self, said: Said) -> None:
        self.spans = [said.text[start:end] for start, end in user_spans(said.text)]
        self.folded = [_plain(span) for span in self.spans]
        self.words = words(" ".join(self.spans))

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


def _derivable(surface: str, quoted: Sequence[Word]) -> bool:
    wanted = Value.of(surface).words
    if not wanted:
        return False
    found = sum(any(same_word(word, other.text) for other in quoted) for word in wanted)
    return found >= max(1, round(len(wanted) * _MIN_SHARE))


def _plain(text: str) -> str:
    return fold(text).strip(" .,;:!?\"'")
