"""Verdict on an injected text by the strings that it must and must not contain; rules in `DEFINITIONS`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from proxy.evals.metrics import EVIDENCE_SHARE, units

AnyOf = tuple[str, ...]
Span = tuple[int, int]

DEFINITIONS: Mapping[str, str] = {
    "kept": "every string of `present` stands in the injected text.",
    "resolved": (
        "kept, and each ended string that is injected is marked: its line also holds the newer statement, or the "
        "statement that ended it stands behind it in a block that says that the later line holds."
    ),
    "strict": "kept, and no ended string is injected.",
    "withheld": "of requests to forget: no string of `absent` is injected.",
}
LATER_HOLDS = re.compile(
    r"\b(?:later|latest|newer|newest|most recent)\b[^.\n]{0,40}\b(?:holds|counts|applies|is (?:true|current|right))\b",
    re.IGNORECASE,
)
_GRAM = 3
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")  # scripts without spaces between words
_FENCE_END = re.compile(r"</memory>")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_CLAUSE = re.compile(r"[,;:，；：]\s*|\s[—–-]\s")


@dataclass(frozen=True, slots=True)
class Check:
    """Strings to check in one injected text.

    Attributes:
        present: Groups of strings; one of each group must occur.
        absent: Strings that must not occur.
        resolved: Pairs of a stale string and newer ones: if the stale one occurs, a newer one must precede it, share
            its line, or follow it in a block that says that the later line holds.
        once: Strings that may occur at most once.
        guarded: Pairs of a string and markers: each line with the string must contain one of the markers.
        whole_words: True to match whole words (``word*`` matches a prefix); False to match anywhere.
    """

    present: tuple[AnyOf, ...] = ()
    absent: tuple[str, ...] = ()
    resolved: tuple[tuple[str, AnyOf], ...] = ()
    once: tuple[str, ...] = ()
    guarded: tuple[tuple[str, AnyOf], ...] = ()
    whole_words: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a check.

    Attributes:
        missing: Groups of ``present`` that do not occur.
        leaked: Strings of ``absent`` that occur.
        stale: Stale strings of ``resolved`` that occur.
        unmarked: Strings of ``leaked`` and ``stale`` that are not marked as closed.
        wrong: Descriptions of other failures.
        injected: The injected text.
    """

    missing: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    injected: str = ""

    @property
    def is_kept(self) -> bool:
        """True if nothing is missing."""
        return not self.missing

    @property
    def is_resolved(self) -> bool:
        """True if nothing is missing and each closed string that occurs is marked."""
        return not self.missing and not self.unmarked

    @property
    def is_strict(self) -> bool:
        """True if nothing is missing and no closed string occurs."""
        return not self.missing and not self.leaked and not self.stale

    @property
    def is_withheld(self) -> bool:
        """True if no string of ``absent`` occurs."""
        return not self.leaked

    @property
    def is_right(self) -> bool:
        """True if the whole check is met: a marked stale string may occur, a string of ``absent`` may not."""
        return not (self.missing or self.leaked or self.unmarked or self.wrong)

    def reasons(self) -> list[str]:
        """Return the failures, one line each."""
        return [
            *(f"missing: {one}" for one in self.missing),
            *(f"leaked{'' if one in self.unmarked else ', marked'}: {one}" for one in self.leaked),
            *(f"not marked: {one}" for one in self.stale if one in self.unmarked),
            *self.wrong,
        ]


def judge(injected: str, check: Check, said: Sequence[str] = ()) -> Verdict:
    """Check an injected text.

    Args:
        injected: All blocks of one request.
        check: The strings to check.
        said: The user's messages, oldest first; the statement that closed a string is searched in the messages after
            the first one with the string.
    """
    text = _plain(injected)
    seek = partial(find, text=text, whole_words=check.whole_words)
    leaked = tuple(one for one in check.absent if seek(one))
    stale = tuple(old for old, _ in check.resolved if seek(old))
    unmarked = [one for one in leaked if not _is_marked(seek(one), text, enders(one, check, said))]
    unmarked += [old for old, newer in check.resolved if old in stale and not _is_resolved(seek(old)[0], newer, text)]
    wrong = [f"{len(found)} times: {one}" for one in check.once if len(found := seek(one)) > 1]
    return Verdict(
        missing=tuple(" | ".join(group) for group in check.present if not any(map(seek, group))),
        leaked=leaked,
        stale=stale,
        unmarked=tuple(unmarked),
        wrong=(*wrong, *unguarded(text, check.guarded)),
        injected=injected,
    )


def find(needle: str, text: str, *, whole_words: bool = True) -> list[Span]:
    """Return the spans of a string in a text, ignoring case and kind of white space."""
    return [match.span() for match in _pattern(_plain(needle), whole_words=whole_words).finditer(_plain(text))]


def unguarded(text: str, guarded: Sequence[tuple[str, AnyOf]]) -> Iterator[str]:
    """Yield a description of each line that contains a string without any of its markers."""
    for needle, markers in guarded:
        for line in text.splitlines():
            if find(needle, line) and not any(find(one, line) for one in markers):
                yield f"without {' | '.join(markers)}: {line.strip()[:120]}"


def enders(ended: str, check: Check, said: Sequence[str]) -> list[str]:
    """Return sentences and clauses that may have closed a string, from the messages after the first one with it.

    They contain the string or a string of ``present``; if there are none, all sentences that are not questions.
    """

    def is_telling(part: str) -> bool:
        return any(find(name, part, whole_words=check.whole_words) for name in topic)

    topic = [ended]
    first = next((at for at, message in enumerate(said) if is_telling(message)), len(said))
    topic += [one for group in check.present for one in group]
    sentences = [one for message in said[first + 1 :] for one in _SENTENCE.split(message) if units(one)]
    telling = [one for one in sentences if is_telling(one)]
    if not telling:
        return [one for one in sentences if not one.rstrip().endswith(("?", "？"))]
    clauses = [one for sentence in telling for one in _CLAUSE.split(sentence) if len(units(one)) >= _GRAM]
    return telling + [one for one in clauses if is_telling(one)]


def holds(text: str, sentence: str) -> bool:
    """Return whether a text has at least 60 % of a sentence's 3-grams, or a shorter sentence as a whole."""
    width = min(_GRAM, len(units(sentence)))
    wanted = _grams(sentence, width)
    return bool(wanted) and len(wanted & _grams(text, width)) >= EVIDENCE_SHARE * len(wanted)


def _is_marked(places: Sequence[Span], text: str, enders: Sequence[str]) -> bool:
    """Return whether each occurrence of a closed string is marked by a statement that closed it."""
    for start, end in places:
        parts = [_line(text, start), *_later(text, end)]
        if not any(holds(part, one) for part in parts for one in enders):
            return False
    return True


def _is_resolved(place: Span, newer: AnyOf, text: str) -> bool:
    """Return whether a newer string precedes a stale one, shares its line, or follows it in a later-holds block."""
    parts = [text[: place[0]], _line(text, place[0]), *_later(text, place[1])]
    return any(find(one, part) for one in newer for part in parts)


def _line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _later(text: str, at: int) -> list[str]:
    """Return the text after an offset, in each block that says that the later line holds."""
    found, start = [], 0
    for end in [*(match.end() for match in _FENCE_END.finditer(text)), len(text)]:
        if end > at and LATER_HOLDS.search(text[start:end]):
            found.append(text[max(start, at) : end])
        start = end
    return found


def _grams(text: str, width: int) -> set[tuple[str, ...]]:
    found = units(text)
    return {tuple(found[at : at + width]) for at in range(len(found) - width + 1)} if width else set()


@lru_cache(maxsize=4096)
def _pattern(needle: str, *, whole_words: bool) -> re.Pattern[str]:
    is_prefix = needle.endswith("*")
    needle = needle.rstrip("*")
    pattern = r"\s+".join(re.escape(word) for word in needle.split())
    if whole_words and not _WIDE.search(needle):
        before = r"(?<!\w)" if needle[:1].isalnum() else ""
        behind = r"(?!\w)" if needle[-1:].isalnum() and not is_prefix else ""
        pattern = f"{before}{pattern}{behind}"
    return re.compile(pattern, re.IGNORECASE)


def _plain(text: str) -> str:
    return text.replace("\u2019", "'")
