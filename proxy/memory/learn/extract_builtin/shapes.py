"""Finds codes and figures that an attribute of the user has anew: "my locker is T-118", later "my locker, the T-263"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.measures import TAKES_PLACE
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.typed import PAST, is_year_of
from proxy.text.words import TEXTS_KEPT, same_word

_CODE = lazy(
    r"(?<![\w.,:/-])(?:[A-ZÄÖÜ]{1,3}(?:[- ][A-ZÄÖÜ]{1,3})?[- ](?=\d))?(?=[\w.:/-]*\d)[^\W_]+(?:[.:/-][^\W_]+)*(?: [A-Z]{2,4}(?!\w))?(?!\w)"
)
_RUN = lazy(r"\d+|[^\W\d_]+")
_NEAR = 5  # words between an attribute and its code
_LEAST_DIGITS = 2
_QUALIFIES = lazy(  # which one it is, and not what
    r"(?:current|present|new|old|first|last|next|upcoming|own|total|existing|latest|aktuell|derzeitig|neu|alt|erst|letzt|nächst|eigen|"
    r"nuev|actual|viej|antigu|primer|últim|próxim|propi|текущ|нынешн|нов|стар|перв|последн|следующ)\w{0,3}"
)
_THIRD = lazy(
    r"\b(?:his|her|their|sein\w*|ihr(?:e|em|en|er|es)?|dein\w*|your|tu|sus?|его|ее|их|s)\b"
)  # whose attribute it is not


@dataclass(frozen=True, slots=True)
class Shaped:
    """An attribute and the code it has.

    Args:
        attribute: The telling words between "my" and the code, folded.
        code: As written.
        clause: Where that is said.
        sentence: Its sentence.
    """

    attribute: tuple[str, ...]
    code: str
    clause: Clause
    sentence: Sentence


@lru_cache(maxsize=TEXTS_KEPT)
def shaped_in(text: str, lexicon: Lexicon) -> tuple[Shaped, ...]:
    """Return the attributes of the user that an earlier message gives a code or figure."""
    return tuple(_shaped(read_as(text, lexicon)))


def reshaped(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Shaped, str, str, str]]:
    """Yield (old, its text, new code, sentence) where an attribute of ``earlier`` has another code of the same shape."""
    for sentence in reading.sentences:
        codes = list(codes_of(sentence))
        if len({shape(code) for _, code in codes}) != len(codes):
            continue
        for start, code in codes:
            clause = next((c for c in sentence.clauses if c.start <= start < c.end), None)
            if clause is None or _is_idle(clause, reading.lexicon) or (":" in code and PAST.search(clause.flat)):
                continue
            for text in earlier:
                for old in shaped_in(text, reading.lexicon):
                    if (
                        old.code.casefold() != code.casefold()
                        and shape(old.code) == shape(code)
                        and _has_anew(old, sentence, start, reading.lexicon)
                    ):
                        yield old, text, code, sentence.text


def shape(code: str) -> str:
    """Return what a code looks like: runs of digits and of letters, and what divides them."""
    return _RUN.sub(lambda match: "9" if match[0].isdigit() else "a", code)


def _shaped(reading: Reading) -> Iterator[Shaped]:
    for sentence in reading.sentences:
        for start, code in codes_of(sentence):
            clause = next((c for c in sentence.clauses if c.start <= start < c.end), None)
            owned = [m for m in reading.lexicon.owned.finditer(sentence.flat) if sentence.start + m.end() < start]
            if clause is None or not owned or _is_idle(clause, reading.lexicon):
                continue
            attribute = _telling(sentence, sentence.start + owned[-1].end(), start, reading.lexicon)
            if attribute and reading.lexicon.kin.fullmatch(attribute[0]) is None:
                yield Shaped(attribute, code, clause, sentence)


def codes_of(sentence: Sentence) -> Iterator[tuple[int, str]]:
    """Yield the codes of a sentence and where they stand; a short bare number is none."""
    for match in _CODE.finditer(sentence.text):
        code = match[0]
        digits = sum(char.isdigit() for char in code)
        if is_year_of(code, sentence.text[: match.start()]):
            continue
        if digits >= _LEAST_DIGITS and not (code.isdigit() and digits <= _LEAST_DIGITS):
            yield sentence.start + match.start(), code


def _telling(sentence: Sentence, start: int, end: int, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the telling words of a short span, () where it is too long to be an attribute."""
    between = [word.text for word in sentence.words if start <= word.start < end]
    if len(between) > _NEAR + 1:
        return ()
    return tuple(
        w
        for w in between
        if w not in lexicon.stop and not lexicon.link.fullmatch(w) and not lexicon.copula.fullmatch(w)
    )


def _has_anew(old: Shaped, sentence: Sentence, start: int, lexicon: Lexicon) -> bool:
    """Whether the attribute of ``old``, and no other word that tells, stands right before ``start``."""
    before = [word for word in sentence.words if word.end <= start]
    nouns = [p for p in old.attribute if not (_QUALIFIES.fullmatch(p) or TAKES_PLACE.fullmatch(p))] or old.attribute
    heads = [place for place, word in enumerate(before) if any(same_word(word.text, part) for part in nouns)]
    if not heads or len(before) - heads[-1] - 1 > _NEAR:
        return False
    if heads[-1] and _THIRD.fullmatch(before[heads[-1] - 1].text):
        return False
    between = _telling(sentence, before[heads[-1]].end, start, lexicon)
    return all(any(same_word(word, other) for other in old.attribute) for word in between)


def _is_idle(clause: Clause, lexicon: Lexicon) -> bool:
    return clause.asks or any(
        pattern.search(clause.flat) for pattern in (lexicon.hedge, lexicon.past, lexicon.additive)
    )
