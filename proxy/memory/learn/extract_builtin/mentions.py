"""Finds what a sentence refers back to: the longest runs of words that the user has said before."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.reading import Sentence
from proxy.text.han import SIMPLIFIED
from proxy.text.words import HAS_CJK, TEXTS_KEPT, Word, flat, fold, same_value, same_word, stems, word_set, words


def _in_both_scripts(characters: str) -> frozenset[str]:
    wanted = frozenset(characters)
    return wanted | {chr(other) for other, plain in SIMPLIFIED.items() if chr(plain) in wanted}


CODE, VALUE, NAME, NOUN, GENERIC = 6, 5, 4, 2, 1
_PAST = lazy(r"[a-z]{4,}ed")
_BEFORE_VERBS = word_set(
    """i you we they he she to i'm i've i'll i'd you're you've you'll we're we've we'll they're don't didn't can't couldn't
    won't wouldn't can could will would should must might may just really am are was were been keep kept let's what who"""
)
_TAKES_TO = word_set(
    """allergic intolerant addicted sensitive subscribed subscribe listen listening go going went switched moved belong back next thanks
    due close partial reduced married engaged over on subscription membership ticket tickets"""
)
_ONE_OF_ITS_KIND = word_set("choir band orchestra team club gym class course dog cat car bike")
_THE_ONE = lazy(r"\b(?:my|our|the|a) \Z")
_FEW_TEXTS = 2  # a message and what was learned from it
_DIGITS = lazy(r"\d{3}|\d\D{1,2}\d|\d\w*[a-zа-я]|[a-zа-я]\w*\d", re.IGNORECASE)
_OPENS = lazy(r"[.!?\n][\s\"'“”‘’(*-]*\Z")
_ARTICLE = lazy(r"\b(?:the|my|our|a|an|that|this|his|her|their|old) \Z", re.IGNORECASE)
_LONG_VALUE = 5  # words
_JOINS = "-/"  # the parts of a code
_SAME = 2  # letters that all forms of a word share, see ``same_word``
_SHORTENED = word_set("st dr mr mrs ms prof sr sra sta dra hr fr")  # written with a full stop
_CJK_EDGE = _in_both_scripts(
    "找我你他她它咱您的了是在就都也又还再把被让给从到对和跟与这那有没不很太最个只条吗呢吧啊呀啦哦嘛着过去来会要想能可上下里说叫用吃"
    "喝学玩打练骑开做买看听读弹拉写住养订年月日天周早晚一两二三四五六七八九十次种位名台辆块本部已经"
)
_HAN_PRONOUNS = word_set("我们 我們 你们 你們 他们 他們 她们 她們 它们 它們 咱们 咱們 大家 自己 人家")
_LEAST_HAN, _MOST_HAN = 2, 6
_HAN_BEFORE = "[去到在回从吃喝用看买订学弹拉养姓找报开骑喂戴穿坐玩练追]"  # verbs that take a name
_HAN_EDGE = '[、，。！？；：,.!?;:和跟与及叫是《》“”"]'
_CJK_PARTICLES = frozenset("了的吗呢吧着过")
_CJK_TRAILING = _in_both_scripts(
    "的了是在就都也又还再吗呢吧啊呀啦哦嘛着过去来会要想能可我你他她它这那有没不很太最从把被"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A run of words said before.

    Args:
        start: Offset in the message.
        end: Offset after it.
        surface: As written now.
        rank: How much it looks like a value.
        said: The earlier texts that hold it.
    """

    start: int
    end: int
    surface: str
    rank: int
    said: tuple[str, ...]


class Heard:
    """What the user said before, indexed by word."""

    def __init__(self, texts: Iterable[str], values: Iterable[str], message: str | None = None) -> None:
        """Index ``texts``; only for what ``message`` says, where it is given."""
        self._shouts = message is not None and message.isupper()
        self.texts = list(dict.fromkeys(text for text in texts if text))
        self.values = list(dict.fromkeys(value for value in values if value))
        self._words: list[Sequence[Word]] = [_words_of(text) for text in self.texts]
        self._index: dict[str, list[tuple[int, int]]] = defaultdict(list)
        wanted = None if message is None else {word.text[:_SAME] for word in words(message)}
        for number, found in enumerate(self._words):
            for place, word in enumerate(found):
                if wanted is None or word.text[:_SAME] in wanted:
                    for key in _keys(word.text):
                        self._index[key].append((number, place))
        self._by_start: dict[str, list[str]] = defaultdict(list)  # forms of a word start alike
        for value in self.values:
            for start in {word.text[:_SAME] for word in words(value)}:
                if wanted is None or start in wanted:
                    self._by_start[start].append(value)

    def mentions(self, sentence: Sentence, message: str, lexicon: Lexicon) -> list[Mention]:
        """Return the mentions in ``sentence``, in order, without overlap."""
        found = sentence.words
        mentions: list[Mention] = []
        place = 0
        while place < len(found):
            is_edge = _is_edge(found[place].text, lexicon) and not _is_prefix(found, place, message)
            if is_edge and not HAS_CJK.match(found[place].text):
                place += 1
                continue
            size, sources = self._longest(found, place)
            if is_edge and not self._is_set_off(found[place : place + size], sources, message):
                place += 1
                continue
            if HAS_CJK.match(found[place].text) and self._is_known(found[place : place + size], message):
                first, last = place, place + size
            else:
                first, last = _trim(found, place, place + size, lexicon, message, is_set_off=is_edge)
            if last > first and (mention := self._mention(found[first:last], sources, message, sentence, lexicon)):
                mentions.append(mention)
                place = last
            else:
                place += 1
        return mentions

    def is_value(self, surface: str) -> bool:
        """Whether ``surface`` is, as written, a value that the user gave."""
        return any(fold(surface) == fold(value) for value in self.values)

    def holds(self, surface: str) -> bool:
        """Whether all words of ``surface`` were said before."""
        return all(self._hits(word) for word in words(surface))

    def _hits(self, word: Word) -> list[tuple[int, int]]:
        keys = _keys(word.text)
        hits = {hit for key in keys for hit in self._index.get(key, ())}
        return sorted(hit for hit in hits if same_word(word.text, self._words[hit[0]][hit[1]].text))

    def _longest(self, found: Sequence[Word], place: int) -> tuple[int, set[int]]:
        best, sources = 0, set[int]()
        for number, start in self._hits(found[place]):
            heard, size = self._words[number], 1
            while (
                place + size < len(found)
                and start + size < len(heard)
                and same_word(found[place + size].text, heard[start + size].text)
                and _is_next(found[place + size - 1], found[place + size])
            ):
                size += 1
            if size > best:
                best, sources = size, {number}
            elif size == best:
                sources.add(number)
        return best, sources

    def _is_known(self, run: Sequence[Word], message: str) -> bool:
        """Whether a run of characters is just a value that the user gave."""
        if len(run) < _LEAST_HAN:
            return False
        surface = message[run[0].start : run[-1].end]
        return surface in self._by_start.get(run[0].text, ())

    def _is_set_off(self, run: Sequence[Word], sources: set[int], message: str) -> bool:
        """Whether an earlier text sets a run of characters off by itself, as a member of a list or a name is."""
        if not _LEAST_HAN <= len(run) <= _MOST_HAN:
            return False
        surface = re.escape(flat(message[run[0].start : run[-1].end]))
        set_off = f"(?:^|{_HAN_EDGE}|{_HAN_BEFORE}){surface}(?:$|{_HAN_EDGE}|[的过玩看出旅住])"
        return any(re.search(set_off, flat(self.texts[n])) for n in sources)

    def _mention(
        self, run: Sequence[Word], sources: set[int], message: str, sentence: Sentence, lexicon: Lexicon
    ) -> Mention | None:
        start, end = run[0].start, run[-1].end
        surface = message[start:end]
        if surface.endswith("月") and message[end : end + 1].isdigit():
            return None  # a part of a date
        if (HAS_CJK.search(surface) and len(run) < 2) or surface in _HAN_PRONOUNS:
            return None
        if lexicon.code == "en" and all(
            _is_homonym(message, run, text, self._words[n]) for n, text in self._with(sources)
        ):
            return None
        rank = self._rank(surface, run, sources, sentence, lexicon)
        return Mention(start, end, surface, rank, tuple(self.texts[number] for number in sorted(sources)))

    def _with(self, sources: set[int]) -> list[tuple[int, str]]:
        return [(number, self.texts[number]) for number in sources]

    def _rank(self, surface: str, run: Sequence[Word], sources: set[int], sentence: Sentence, lexicon: Lexicon) -> int:
        is_acronym = lexicon.code == "en" and len(surface) > 1 and surface.isupper() and not self._shouts
        if is_acronym and surface.isalpha():
            return NAME if self._is_written(surface, sources) else NOUN
        if all(_is_generic(word.text, lexicon) for word in run) or surface.casefold() in lexicon.generic:
            return NOUN if lexicon.code == "en" and self._is_the_one(run, sources, sentence) else GENERIC
        if _DIGITS.search(surface):
            return CODE
        if surface.isdigit():
            return VALUE if len(surface) > 1 and self.is_value(surface) else GENERIC
        alike = dict.fromkeys(value for word in run for value in self._by_start.get(word.text[:_SAME], ()))
        if any(same_value(surface, value) or _is_inside(surface, value) for value in alike):
            return VALUE
        named = surface[run[1].start - run[0].start :] if len(run) > 1 and _is_generic(run[0].text, lexicon) else ""
        if named and any(same_value(named, value) for value in alike):
            return VALUE  # with a title before it
        parts = [w for w in surface.split() if is_name(w, lexicon.code) and w.lower() not in lexicon.stop]
        opens = run[0].start == sentence.start and is_name(surface, lexicon.code)
        if parts and (not opens or len(parts) > 1 or self._is_name_in(run[0], sources)):  # "doctora Quiroga"
            return NAME
        return GENERIC if lexicon.code == "en" and len(run) == 1 and self._is_verb(run[0], sources) else NOUN

    def _is_written(self, surface: str, sources: set[int]) -> bool:
        """Whether an earlier text has a surface in these very letters."""
        return any(surface in self.texts[number] for number in sources)

    def _is_the_one(self, run: Sequence[Word], sources: set[int], sentence: Sentence) -> bool:
        """Whether a common word names the one thing of its kind that the user told of ("the choir", "my choir")."""
        if len(run) > 1 or run[0].text not in _ONE_OF_ITS_KIND or len(sources) > _FEW_TEXTS:
            return False
        if not _THE_ONE.search(sentence.flat[: run[0].start - sentence.start]):
            return False
        told = {self.texts[n][: w.start][-8:].lower() for n in sources for w in self._words[n] if w.text == run[0].text}
        return len(told) == 1 and _THE_ONE.search(told.pop()) is not None

    def _is_verb(self, word: Word, sources: set[int]) -> bool:
        """Whether an English word is a verb by its form, or stood behind what only verbs follow wherever it was said."""
        if _PAST.fullmatch(word.text):
            return True
        before = [
            _ahead(self._words[number], place)
            for number in sources
            for place, other in enumerate(self._words[number])
            if same_word(word.text, other.text)
        ]
        return bool(before) and all(one in _BEFORE_VERBS for one in before)

    def _is_name_in(self, word: Word, sources: set[int]) -> bool:
        for number in sources:
            for place, other in enumerate(self._words[number]):
                text = self.texts[number]
                opens = not place or _OPENS.search(text, 0, other.start) is not None
                if not opens and same_word(word.text, other.text) and text[other.start].isupper():
                    return True
        return False


def _ahead(found: Sequence[Word], place: int) -> str:
    """Return the word before a place; not "to" where that goes with the word before it ("allergic to", "listen to")."""
    if not place:
        return ""
    before = found[place - 1].text
    return "" if before == "to" and place > 1 and found[place - 2].text in _TAKES_TO else before


def _is_homonym(message: str, run: Sequence[Word], text: str, heard: Sequence[Word]) -> bool:
    """Whether one of two equal words is written as a name with an article, and the other as a common noun without ("golf", "the Golf")."""
    if len(run) != 1 or not (_has_capitals(message) and _has_capitals(text)):
        return False
    now = _written(message, run[0])
    before = [_written(text, word) for word in heard if same_word(word.text, run[0].text)]
    return bool(before) and all({now, other} == {(True, True), (False, False)} for other in before)


def _written(text: str, word: Word) -> tuple[bool, bool]:
    """Return whether a word is capitalised and whether an article stands before it."""
    return text[word.start].isupper(), _ARTICLE.search(text, 0, word.start) is not None


def _has_capitals(text: str) -> bool:
    return text[:1].isupper() or " I " in text


def _is_generic(word: str, lexicon: Lexicon) -> bool:
    return word in lexicon.generic or any(
        word.endswith(plural) and word.removesuffix(plural) in lexicon.generic for plural in ("s", "es", "n", "en", "e")
    )


def _is_next(left: Word, right: Word) -> bool:
    gap = right.start - left.end
    return gap <= 1 or (gap == 2 and left.text in _SHORTENED)


@lru_cache(maxsize=TEXTS_KEPT)
def _words_of(text: str) -> tuple[Word, ...]:
    """Return the words of what was heard: the same texts turn after turn, which other texts must not push out."""
    return words(text)


def _keys(word: str) -> set[str]:
    """Return what a word is looked up by; the Russian stemmer keeps some cases of a name apart."""
    return {word, *stems(word), *([word[:4] + "*"] if len(word) > 3 and "а" <= word[0] <= "я" else [])}


def is_name(surface: str, code: str) -> bool:
    """Whether a surface form is written like a name in a language; German writes every noun so."""
    first = surface.lstrip("\"'«“„《")[:1]
    if code == "zh":
        return first.isascii() and first.isalpha()
    if code == "ru" and first.isascii() and first.isalpha():
        return True
    return first.isupper() and code != "de"


def _is_inside(surface: str, value: str) -> bool:
    if HAS_CJK.search(surface):
        return surface in value or value in surface
    wanted, held = words(surface), words(value)
    if len(wanted) == 1 and len(held) >= _LONG_VALUE and surface.islower() and surface.isascii():
        return False  # one common word of a whole phrase
    return all(any(same_word(word.text, other.text) for other in held) for word in wanted)


def _trim(
    found: Sequence[Word], first: int, last: int, lexicon: Lexicon, message: str, *, is_set_off: bool
) -> tuple[int, int]:
    """Drop words from both ends that are never a value by themselves."""
    run = [word.text for word in found[first:last]]
    if run and all(_is_edge(word, lexicon) for word in run):
        return first, first
    if len(run) == _SAME and run[-1] in _CJK_PARTICLES:
        return first, first
    floor = 2 if run and HAS_CJK.search(run[0]) else 1  # a name of two characters may hold a common one
    while (
        last - first > floor
        and not is_set_off
        and _is_edge(found[first].text, lexicon)
        and not _is_prefix(found, first, message)
    ):
        first += 1
    while last - first > floor and _is_edge(found[last - 1].text, lexicon, trailing=True):
        if message[found[last - 1].start - 1] in _JOINS:  # "58/214-К"
            break
        last -= 1
    return first, last


def _is_prefix(found: Sequence[Word], place: int, message: str) -> bool:
    """Whether a letter is the first part of a compound ("S-Bahn")."""
    word = found[place]
    return word.end - word.start == 1 and message[word.end : word.end + 1] == "-" and word.text.isalpha()


def _is_edge(word: str, lexicon: Lexicon, *, trailing: bool = False) -> bool:
    if HAS_CJK.search(word):
        return word in (_CJK_TRAILING if trailing else _CJK_EDGE)
    return word in lexicon.stop or (len(word) == 1 and not word.isdigit())
