"""Rows stored before a turn, as input for learning from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from proxy.memory.plan.changes import PROPOSES, TERMS, TEXTS, is_ending
from proxy.text.segment import sentences
from proxy.text.terms import Term, holds, plain
from proxy.types import Episode, Memory, Role

Hide = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A stored text whose sentences may be withheld: a turn, a summary or a chunk."""

    id: str
    text: str
    by: Role | str
    at: datetime
    session: str = ""
    seq: int = 0
    turn: str = ""
    live: bool = True

    @property
    def message(self) -> str:
        """Id of the message, without the number of the piece."""
        return self.id.partition(".")[0]

    @classmethod
    def of(cls, one: Episode) -> Row:
        """Return the row of a turn."""
        return cls(one.id, one.text, one.role, one.at, one.session, one.seq, one.turn, one.live)


@dataclass(frozen=True, slots=True)
class Past:
    """Stored memories and texts that a turn may concern.

    Attributes:
        memories: Visible memories that share words with the turn, closed ones and endings included.
        rows: Earlier texts that hold a term of an ending, and the last ones of this session; oldest first.
        own: The rows of the turn itself.
    """

    memories: Sequence[Memory] = ()
    rows: Sequence[Row] = ()
    own: Sequence[Row] = ()

    def endings(self) -> Iterator[Memory]:
        """Yield the endings in force."""
        return (row for row in self.memories if is_ending(row) and row.status in ("closed", "review"))

    def withheld_texts(self) -> dict[str, Memory]:
        """Map each withheld sentence, folded, to its ending."""
        return {str(text): row for row in self.endings() for text in row.metadata.get(TEXTS, ())}

    def is_declined(self, texts: Set[str]) -> bool:
        """Return whether a person declined before to forget all of these sentences, folded."""
        declined = [row for row in self.memories if row.metadata.get(PROPOSES) and row.status == "archived"]
        return any(texts <= set(row.metadata.get(TEXTS, ())) for row in declined)


def terms_of(ending: Memory) -> list[Term]:
    """Return the terms of an ending."""
    return [Term(text, frozenset(forms), is_name) for text, forms, is_name in ending.metadata.get(TERMS, ())]


def pieces(rows: Iterable[Row]) -> Iterator[tuple[Hide, str]]:
    """Yield the position and the text of each sentence of ``rows``."""
    for row in rows:
        for start, end in sentences(row.text):
            yield (row.id, start, end), row.text[start:end]


def spans_of(rows: Iterable[Row], texts: frozenset[str]) -> list[Hide]:
    """Return the positions in ``rows`` of sentences equal to one of ``texts``, folded."""
    return [hide for hide, text in pieces(rows) if plain(text) in texts]


def holding(rows: Iterable[Row], terms: Sequence[Term], *, any_of: bool = False) -> list[Hide]:
    """Return the positions of the sentences of ``rows`` that hold the terms."""
    check = any if any_of else all
    return [hide for hide, text in pieces(rows) if terms and check(holds(text, term) for term in terms)]
