"""Index terms of a text for lexical search, for every script and without a dictionary."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from Stemmer import Stemmer

LEXICAL_VERSION = 1  # stored with each row: rows of another version are tokenised again from their text

Language = Literal["english", "german", "spanish", "french", "italian", "portuguese", "dutch"]

_MAX_TOKEN = 64
_MAX_CACHED_WORDS = 50_000
_FEW_TERMS = 6


def _ranges(prefix: str) -> str:
    """Return a regex class body of the characters of the basic plane whose category starts with ``prefix``."""
    points = [point for point in range(0x300, 0xFE00) if unicodedata.category(chr(point)).startswith(prefix)]
    return "".join(map(chr, points))


# Scripts written without spaces; Hangul is included because its particles are attached to the words.
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_LETTER = rf"(?:[^\W_]|[{_ranges('M')}\u200c\u200d])"
_WORD = re.compile(rf"[CcFf]#|[Cc]\+\+|{_LETTER}+(?:[-_.@'’]{_LETTER}+)*")
_ASCII_WORD = re.compile(r"[CcFf]#|[Cc]\+\+|[A-Za-z0-9]+(?:[-_.@'][A-Za-z0-9]+)*")
_RUNS = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_UNSPACED_LETTER = re.compile(f"[{_UNSPACED}]")
_CLITIC = re.compile(r"(?<=.)['’](?:s|d|m|ll|ve|re)$", re.IGNORECASE)
_CYRILLIC_WORD = re.compile("[А-Яа-яЁё]{4,}")
_JOINTS = re.compile(r"[-_.@'’]+")
_HUMPS = re.compile(r"[^\W\d_]+?(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_DECIMAL = re.compile(r"\A\d++(?>(?:\.\d++)+)")

_SMALL_WORDS: dict[Language, str] = {
    "german": "und der das nicht ich ist ein eine einen einem mit dem auf für wir sie mein meine wie bei zum zur "
    "habe wo wer wann hat sich auch von nach",
    "spanish": "el los las que una por para con es está mi mis del cuando donde dónde qué cuándo como cómo muy pero yo",
    "french": "le les des une est et je qui que dans pour avec mon pas sur où quand nous vous elle du mes quel quelle",
    "italian": "il che non è una di per mio mia sono gli della ho dove quando anche nel alla con",
    "portuguese": "não uma os um em meu minha com eu foi são onde você que quando para dos da",
    "dutch": "het een niet ik van mijn zijn met voor naar waar dat heb wanneer wie ook",
}
_CUES = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_LETTER_CUES: dict[str, Language] = {
    "ß": "german",
    "ä": "german",
    "ö": "german",
    "ü": "german",
    "ñ": "spanish",
    "ç": "french",
    "è": "french",
    "ê": "french",
    "ã": "portuguese",
    "õ": "portuguese",
}
_ANY_CUE = frozenset[str]().union(*_CUES.values())

_SMALL_ENGLISH_WORDS = (
    "the an of is are was what which who how when where why do does did i my you your in on at and to it its for "
    "with have has can should this that not from there please"
)
_ENGLISH_CUES = frozenset(_SMALL_ENGLISH_WORDS.split())
_TELLING_WORDS: dict[Language, str] = {  # detect a language, but decide no stems: stored rows keep theirs
    "german": "die was welche welcher welches welchem welchen wurde wird sind man uns unser unsere bin mir",
    "spanish": "y cuál cuáles quién cuánto cuánta cuántos cuántas son fue nuestro",
}
_TONGUE_CUES = {language: cues.union(_TELLING_WORDS.get(language, "").split()) for language, cues in _CUES.items()}
_SCRIPTS = {
    "ru": re.compile("[\u0400-\u052f]"),
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "": re.compile("[^\\W\\d_\u0041-\u024f]"),
}
_HAN_LETTERS = 3  # a character counts as this many letters
_CODES = {"english": "en", "german": "de", "spanish": "es", "french": "fr", "portuguese": "pt"}
_LATIN_LETTER = re.compile("[A-Za-z\u00c0-\u024f]")

# Words without a topic: they weigh little in a query and stay in the index.
_STOP_WORDS = (
    "a an the this that these those of in on at to for from by with about as into and or but if than then so not no "
    "is are was were be been being am do does did done have has had having can could will would shall should may might "
    "must i me my mine you your yours he him his she her hers it its we us our they them their what which who whom "
    "whose when where why how there here any some all just also very please tell know remember let get dont didnt "
    "isnt im ive hello hi hey thanks thank ok okay yes yeah no nope continue sure bye "
    "danke hallo hola gracias merci bonjour привет спасибо "
    "der die das den dem des ein eine einen und oder ist sind war hat habe ich du er sie es wir mein meine dein was "
    "wer wie wo wann warum in im am an auf mit von zu zum zur für nicht "
    "el la los las un una unos y o es son fue ha he yo mi tu su que qué quién cómo dónde cuándo por para con de del en "
    "a al no se me te le les des une et ou est sont je mon ma mes ton ta sa ses qui quoi comment où quand dans avec "
    "pour pas du au aux il elle nous vous "
    "и в на с к по за из у о от до не что кто где когда как это я мой моя мне меня ты вы он она мы они был была было "
    "есть ли же бы а но или для "
    "什么 是什么 什么是 有什么 怎么 怎么样 怎样 为什么 哪些 哪个 哪里 多少 如何 可以 一下"
)

_cache: dict[tuple[str, str], tuple[str, ...]] = {}
_stemmers = {name: Stemmer(name, 0) for name in ("english", "russian", "greek", "hindi", "arabic", *_CUES)}


def tokens(text: str, language: Language | None = None) -> list[str]:
    """Return the index terms of ``text`` in reading order, repeated as often as they occur.

    Words are compatibility-normalised, case-folded, stemmed and stripped of accents; runs of a script without spaces
    become pairs of characters; a compound or a code id gives itself and its parts. A text that looks like another
    Latin-script language than English gives that language's stems beside the English ones, so that a query too short
    for detection still matches.

    Args:
        text: Any text, of any length.
        language: The language if known; else it is guessed from its small words.
    """
    words = _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(unicodedata.normalize("NFKC", text))
    tongue = language or _guess(words)
    found: list[str] = []
    for word in words:
        terms = _cache.get((tongue, word))
        found.extend(terms if terms is not None else _learn(word, tongue))
    return found


def weights(text: str, language: Language | None = None) -> dict[str, float]:
    """Return the distinct terms of a query with their weights: 1, or 0.05 for stop words.

    A few words of no detectable language are stemmed in all of them, at a quarter of the weight; so are the forms under
    which a Russian name may be stored.
    """
    found = {term: 0.05 if term in _STOP_TERMS else 1.0 for term in tokens(text, language)}
    for word in _CYRILLIC_WORD.findall(text):  # the Russian stemmer gives some cases of a name different stems
        form = _plain(word.casefold())
        for term in (form, *(again for stem in tokens(form) for again in tokens(stem))):
            found.setdefault(term, 0.25)
    if language is None and len(found) <= _FEW_TERMS and _STOP_TERMS.isdisjoint(found):
        for other in _CUES:
            for term in tokens(text, other):
                found.setdefault(term, 0.25)
    return found


def content(text: str, language: Language | None = None) -> list[str]:
    """Return the distinct terms of ``text`` without stop words, in reading order."""
    return [term for term in dict.fromkeys(tokens(text, language)) if term not in _STOP_TERMS]


def tongue(text: str) -> str:
    """Return the language of a text, by its letters and small words: en, de, es, ru, zh, or "" for others.

    A text of Latin letters without a telling word counts as English, unless its letters indicate another language.
    """
    letters = len(_LATIN_LETTER.findall(text))
    scripts = {code: len(script.findall(text)) for code, script in _SCRIPTS.items()}
    if scripts[""] + (_HAN_LETTERS - 1) * scripts["zh"] > letters:
        code = max(("ru", "zh"), key=scripts.__getitem__)
        return code if 2 * scripts[code] > scripts[""] and not scripts["ja"] else ""
    found = {word.casefold() for word in _WORD.findall(text)}
    counts = {"english": len(found & _ENGLISH_CUES), **{name: len(found & cues) for name, cues in _TONGUE_CUES.items()}}
    best = max(counts, key=counts.__getitem__)
    if not counts[best]:
        marks = {**_LETTER_CUES, "¿": "spanish", "¡": "spanish", "í": "spanish", "ó": "spanish", "ú": "spanish"}
        best = next((name for mark, name in marks.items() if mark in text.casefold()), "english")
    return _CODES.get(best, "")


def _guess(words: list[str]) -> Language:
    """Return the language whose small words are most frequent, English if there are (almost) none."""
    if _ANY_CUE.isdisjoint(words):
        letters = "".join(words)
        marks = () if letters.isascii() else (name for letter, name in _LETTER_CUES.items() if letter in letters)
        return next(iter(marks), "english")
    distinct = set(words)
    best, count = max(((name, len(distinct & cues)) for name, cues in _CUES.items()), key=lambda pair: pair[1])
    return best if count >= 2 or len(words) <= 12 else "english"


def _learn(word: str, language: Language) -> tuple[str, ...]:
    terms = tuple(dict.fromkeys(term for term in _expand(word, language) if term))
    if len(_cache) >= _MAX_CACHED_WORDS:
        _cache.clear()
    if len(word) <= _MAX_TOKEN:
        _cache[language, word] = terms
    return terms


def _expand(word: str, language: Language) -> list[str]:
    if word.isascii():
        return _spaced(word, language)
    terms: list[str] = []
    for run in _RUNS.findall(word):
        terms.extend(_pairs(run) if _UNSPACED_LETTER.match(run) else _spaced(run.strip("-_.@'’"), language))
    return terms


def _pairs(run: str) -> list[str]:
    run = run.casefold()
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _spaced(word: str, language: Language) -> list[str]:
    """Return the terms of one word or compound: the whole, then its parts."""
    word = _CLITIC.sub("", word)
    parts = [part for part in _JOINTS.split(word) if part]
    if not parts:
        return []
    if len(word) > _MAX_TOKEN:
        return [term for part in dict.fromkeys(parts) for term in _stems(part[:_MAX_TOKEN].casefold(), language)]
    if len(parts) == 1:
        return _humps(parts[0], language)
    if _DECIMAL.fullmatch(word):
        return [word]
    if "'" in word or "’" in word:  # "don't" is one word, "l'école" is two, "O'Brien" may be either
        parts = [part for part in parts if len(part) > 2] if max(map(len, parts[1:])) > 2 else []
        whole = _stems("".join(_JOINTS.split(word)).casefold(), language)
    else:
        whole = [_plain(word.casefold())]
    return [*whole, *(term for part in parts for term in _humps(part, language))]


def _humps(word: str, language: Language) -> list[str]:
    """Return a word's stems and, for ``camelCase`` and ``abc123``, those of its parts."""
    terms = _stems(word.casefold(), language)
    if word.islower() or word.isdigit() or (word.isalpha() and (word.isupper() or word.istitle())):
        return terms
    for part in _HUMPS.findall(word):
        if len(part) > 1 or part.isdigit():
            terms.extend(_stems(part.casefold(), language))
    return terms


def _stems(word: str, language: Language) -> list[str]:
    """Return the stems of a case-folded word without joints, in its script's or its text's language."""
    if word.isascii():
        if not word.isalpha():
            return [word]
        english = str(_stemmers["english"].stemWord(word))
        return [english] if language == "english" else [str(_stemmers[language].stemWord(word)), english]
    script = _script(word)
    if script == "latin":
        both = dict.fromkeys((language, "english"))
        return [_plain(str(_stemmers[name].stemWord(word))) for name in both]
    if script == "hebrew":
        return [_plain(word)]
    return [str(_stemmers[script].stemWord(word.replace("ё", "е")))] if script in _stemmers else [word]


def _script(word: str) -> str:
    point = max(map(ord, word))
    for last, name in (
        (0x036F, "latin"),
        (0x03FF, "greek"),
        (0x052F, "russian"),
        (0x058F, "armenian"),
        (0x05FF, "hebrew"),
        (0x06FF, "arabic"),
        (0x08FF, "other"),
        (0x097F, "hindi"),
        (0x1DFF, "other"),
        (0x1EFF, "latin"),
        (0x1FFF, "greek"),
    ):
        if point <= last:
            return name
    return "other"


def _plain(word: str) -> str:
    """Return ``word`` without accents, points and vowel signs that writers omit."""
    if word.isascii():
        return word
    split = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(letter for letter in split if unicodedata.category(letter) != "Mn"))


_STOP_TERMS = frozenset(
    term for language in ("english", "german", "spanish", "french") for term in tokens(_STOP_WORDS, language)
)
