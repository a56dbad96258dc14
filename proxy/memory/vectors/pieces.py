"""Splits texts of many languages into pieces of words, each of which has a row among the built-in model's words.

The model's own vocabulary spells most languages but English nearly letter by letter. The pieces are those of a
multilingual encoder, in which what means the same lies close whatever its language; ``deploy/piece_rows.py`` gave
each the vector of the English words beside it.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proxy.text.words import Span

PIECES = "pieces.npy"
TABLE = np.dtype([("hash", "<u8"), ("score", "<f4"), ("row", "<i4")])
_FACTOR, _WRAP = 0x9E3779B97F4A7C15, 2**64 - 1
_SPACE = "▁"
_UNKNOWN_COST = 10.0  # how much less likely than the least likely piece is a character that is no piece
_UNKNOWN = 0  # its row


class Pieces:
    """A vocabulary, by the hashes of its pieces: a megabyte, where a table of strings takes forty.

    Args:
        table: Of type ``TABLE``, sorted by hash; a row below 0 stands for a piece that says nothing.
        longest: Characters of the longest piece.
    """

    def __init__(self, table: NDArray[np.void], longest: int = 16) -> None:
        self._hashes, self._scores, self._rows = (
            np.ascontiguousarray(table[name]) for name in ("hash", "score", "row")
        )
        self._unknown = float(self._scores.min()) - _UNKNOWN_COST
        self._powers = np.array([pow(_FACTOR, power, _WRAP + 1) for power in range(longest + 1)], np.uint64)

    @classmethod
    def load(cls, folder: Path) -> Pieces:
        """Load the vocabulary of a folder.

        Raises:
            OSError: If the file is missing.
        """
        return cls(np.load(folder / PIECES, allow_pickle=False))

    def split(self, text: str) -> list[Piece]:
        """Return the pieces of the likeliest split (Kudo, ACL 2018, without its sampling), by Viterbi's algorithm."""
        letters, places = _normal(text)
        back = self._ways(letters)
        found: list[Piece] = []
        end = len(letters)
        while end:
            start, row = back[end]
            first = start + 1 if letters[start] == _SPACE and end - start > 1 else start
            if row >= 0 and letters[first] != _SPACE:
                found.append(Piece(row, places[first][0], places[end - 1][1]))
            end = start
        return found[::-1]

    def _ways(self, letters: str) -> list[tuple[int, int]]:
        """Return for each place where the last piece of the best way there begins, and what it is."""
        size = len(letters)
        starts, lengths, rows, scores = self._found_in(letters)
        best, back = [0.0] + [float("-inf")] * size, [(0, _UNKNOWN)] * (size + 1)
        at = 0
        for start in range(size):
            is_known = False
            while at < len(starts) and starts[at] == start:
                end, score = start + lengths[at], best[start] + scores[at]
                is_known = is_known or lengths[at] == 1
                if score > best[end]:
                    best[end], back[end] = score, (start, rows[at])
                at += 1
            if not is_known and best[start] + self._unknown > best[start + 1]:
                best[start + 1], back[start + 1] = best[start] + self._unknown, (start, _UNKNOWN)
        return back

    def _found_in(self, letters: str) -> tuple[list[int], list[int], list[int], list[float]]:
        """Return where each piece that occurs begins, its length, row and score; all spans are looked up at once."""
        sums = [0]
        for letter in letters:
            sums.append((sums[-1] * _FACTOR + ord(letter)) & _WRAP)
        prefixes = np.array(sums, np.uint64)
        starts, lengths = np.arange(len(letters))[:, None], np.arange(1, len(self._powers))[None]
        ends = np.minimum(starts + lengths, len(letters))
        hashes = prefixes[ends] - prefixes[starts] * self._powers[lengths]
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        found = (self._hashes[places] == hashes) & (starts + lengths <= len(letters))
        at, length = np.nonzero(found)
        place = places[found]
        return at.tolist(), (length + 1).tolist(), self._rows[place].tolist(), self._scores[place].tolist()


class Piece(NamedTuple):
    """A piece of a text: its row, and where it stands."""

    row: int
    start: int
    end: int


def hash_of(piece: str) -> int:
    """Return the hash by which a piece is found."""
    total = 0
    for letter in piece:
        total = (total * _FACTOR + ord(letter)) & _WRAP
    return total


def _normal(text: str) -> tuple[str, list[Span]]:
    """Return a text in compatibility form, with the vocabulary's sign for spaces, and where each character is from."""
    letters, places = [_SPACE], [(0, 0)]
    for place, letter in enumerate(text):
        for one in unicodedata.normalize("NFKC", letter):
            if not one.isspace():
                letters.append(one)
            elif letters[-1] != _SPACE:
                letters.append(_SPACE)
            else:
                continue
            places.append((place, place + 1))
    while len(letters) > 1 and letters[-1] == _SPACE:
        letters.pop()
        places.pop()
    return "".join(letters), places
