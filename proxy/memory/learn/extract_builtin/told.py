"""Finds what of a message was told before, and what of it is the speaker's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, Heard, Mention
from proxy.memory.learn.extract_builtin.namesakes import is_namesake
from proxy.memory.learn.extract_builtin.passing import is_passing
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.text.words import TEXTS_KEPT, Value, flat, words

_OWNS = lazy(r"['’]s\s")
_SHORT = 10  # words of a sentence that needs no "I" to be about the speaker ("the wedding is in Lisbon")
_LONG = 30  # words; a correction or a switch is told in fewer
_PLANS = lazy(
    r"打算|计划|想要|准备[\u4e00-\u9fff]?|想[\u4e00-\u9fff]?|考虑|планирую|собираюсь|хочу|мечтаю|хотел|хотела"
)  # what is planned is theirs
_AND = r"(?:[,;/]|\b(?:and|und|sowie|y|e|и)\b)"
_ROW = lazy(_AND)
_ARTICLE = r"(?:a|an|the|my|our|some|ein\w*|ne[nrm]?|der|die|das|den|el|la|los|las|un|una|mi|mein\w*)"
_DETERMINER = r"(?:(?:Mein|Dein|Sein|Unser|Ihr|Ein|Kein|Dies|Jed|All|Manch)(?:e[nmrs]?)?|D(?:er|ie|as|en|em)|I[mn]|Zu[mr]?|Am|An|Auf|Ich|Wir) "
_BEFORE_NAME = r"\b(?:Herrn?|Frau|Dr\.|von|vom|bei|beim|in|im|nach|aus|als) "
_SOMETHING = "ǂ"  # stands for what is looked for, so that one pattern will do
_IN_ROW = lazy(
    rf"{_AND} (?:(?:{_ARTICLE} (?:\w+ )?){_SOMETHING}\b|(?:\w+ )?{_SOMETHING}(?= *(?:$|[,.;!?]|{_AND})))"
    rf"|(?:[,;:] *|\w )(?:{_ARTICLE} )?{_SOMETHING} *{_AND}"
)
_AS_NAME = lazy(rf"(?:{_BEFORE_NAME}|\b(?!{_DETERMINER})[A-ZÄÖÜ][a-zäöüß]+ ){_SOMETHING}")
_STEM = 4  # letters
_MOST_SAID = 3  # earlier messages that hold a common word which names something of the speaker's
_INFINITIVE = lazy(r"[A-ZÄÖÜ][a-zäöüß]+(?:en|ern|eln)")
_LIST = lazy(r"\s*(?:,|and|or|&|und|oder|y|e|o|и|или|、|和|跟|的|,? and)\s*(?:the |my |die |den |das |el |la )?")
_POINTS_AT_CLASS = lazy(r"[那这](?:边|头|儿|里)?的?[台辆张个只条份边头家口位件摊间瓶盒款门]?")
_COUNTED_HAN = lazy(r"[一二三四五六七八九十百千万两几\d]*[千百万十][条个只张件本位台块家次]")


class Told:
    """A message and what of it was told before."""

    def __init__(self, reading: Reading, heard: Heard) -> None:
        self._reading, self._lexicon = reading, reading.lexicon
        self._mentions = {
            sentence.start: [
                mention
                for mention in heard.mentions(sentence, reading.text, reading.lexicon)
                if not is_namesake(mention, sentence, reading.lexicon) and not is_passing(mention, sentence, reading)
            ]
            for sentence in reading.sentences
        }
        if reading.lexicon.code == "zh":
            for start, found in self._mentions.items():
                self._mentions[start] = _without_classes(found, reading.text)
        self._heard = heard
        self._corrects = self._murmurs = False

    def _within(self, clause: Clause, sentence: Sentence) -> list[Mention]:
        return [
            m
            for m in self._mentions[sentence.start]
            if clause.start <= m.start < clause.end and not self._owns(m, clause)
        ]

    def _owns(self, mention: Mention, clause: Clause) -> bool:
        """Whether a clause is about somebody of the one mentioned ("Hugo's brother")."""
        after = clause.flat[mention.end - clause.start :]
        return _OWNS.match(after) is not None and self._lexicon.kin.match(after[3:].lstrip()) is not None

    def _best(self, mentions: Sequence[Mention], *, floor: int) -> list[Mention]:
        rank = max((m.rank for m in mentions), default=0)
        return [m for m in mentions if m.rank == rank and self._is_personal(m)] if rank >= floor else []

    def _nearest(self, mentions: Sequence[Mention], cue: tuple[int, int]) -> list[Mention]:
        """Return the mention nearest to the cue and those listed with it."""
        if not mentions:
            return []
        ordered = sorted(mentions, key=lambda m: m.start)
        closest = min(ordered, key=lambda m: max(m.start - cue[1], cue[0] - m.end, 0))
        chosen, at = [closest], ordered.index(closest)
        for step in (-1, 1):
            index = at + step
            while 0 <= index < len(ordered):
                left, right = sorted((ordered[index], ordered[index - step]), key=lambda m: m.start)
                if not _LIST.fullmatch(self._reading.text[left.end : right.start].lower()):
                    break
                chosen.append(ordered[index])
                index += step
        return chosen

    def _as_said(self, mention: Mention) -> str:
        """Return the value of a mention as it is looked for: "das Klettern" is said of "ich klettere"."""
        surface = mention.surface
        is_verbal = self._lexicon.code == "de" and _INFINITIVE.fullmatch(surface) is not None
        if is_verbal and not any(surface in text for text in mention.said):
            return surface.lower()
        return surface

    def _is_personal(self, mention: Mention) -> bool:
        """Whether the speaker said of themselves, or of theirs, what a common word names."""
        if mention.rank >= NAME:
            return True
        if self._lexicon.code == "en" and len(mention.said) > _MOST_SAID:
            return False  # what comes up again and again is what they talk about
        return any(is_own(text, mention.surface, self._lexicon) for text in mention.said)

    def _is_theirs(self, mention: Mention | None) -> bool:
        """Whether the speaker seldom named something, each time as theirs: by its name, or as one of several."""
        if mention is None or mention.rank < NOUN or len(mention.said) > _MOST_SAID:
            return False
        told = [text for text in mention.said if not any(text != other and text in other for other in mention.said)]
        if not any(is_own(text, mention.surface, self._lexicon) for text in mention.said):
            return False
        if mention.rank >= NAME:
            return True
        return len(told) == 1 and is_named_in(told[0], mention.surface, self._lexicon)

    def _clause_at(self, sentence: Sentence, mention: Mention) -> Clause:
        return next(
            (clause for clause in sentence.clauses if clause.start <= mention.start < clause.end), sentence.clauses[0]
        )


def _without_classes(found: Sequence[Mention], text: str) -> list[Mention]:
    """Return Chinese mentions without the class word that follows a value ("the X window") and without mere counts."""
    kept: list[Mention] = []
    for mention in found:
        between = text[kept[-1].end : mention.start] if kept else ""
        is_class = bool(kept) and _POINTS_AT_CLASS.fullmatch(between) is not None
        if not is_class and not _COUNTED_HAN.fullmatch(mention.surface):
            kept.append(mention)
    return kept


@lru_cache(maxsize=TEXTS_KEPT)
def is_named_in(text: str, surface: str, lexicon: Lexicon) -> bool:
    """Whether a text gives something as a value is given: in a row with others, or, in German, where a name stands."""
    word, told = flat(surface), flat(text)
    if lexicon.code not in ("de", "ru") and not _ROW.search(told):
        return False
    if _IN_ROW.search(told.replace(word, _SOMETHING)):
        return True
    if lexicon.code == "ru":
        stem = re.escape(word[: max(_STEM, len(word) - 2)]) + r"\w{0,3}"
        owner = rf"\bу (?:меня|нас|него|нее|{lexicon.kin.pattern})"
        return re.search(rf"{owner} (?:есть |еще |уже )?(?:\w+(?:ая|[ыио]й|[ое]е) )?{stem}\b", told) is not None
    return lexicon.code == "de" and _AS_NAME.search(text.replace(surface, _SOMETHING)) is not None


def is_own(text: str, surface: str, lexicon: Lexicon) -> bool:
    """Whether ``text`` names ``surface`` in a short statement of the speaker."""
    wanted = Value.of(surface.lower() if lexicon.code == "de" else surface)  # all its nouns are written like names
    for sentence in read_as(text, lexicon).sentences:
        for start, _ in wanted.find(words(sentence.text)):
            clause = next((c for c in sentence.clauses if c.start <= sentence.start + start < c.end), None)
            thought = None if clause is None else lexicon.hedge.search(clause.flat)
            if clause is None or clause.asks or (thought and not _PLANS.fullmatch(thought[0])):
                continue
            is_first = lexicon.first.search(sentence.flat[: start + 1]) or lexicon.first.search(clause.flat)
            if is_first or lexicon.code == "zh" or not lexicon.third.search(clause.flat):
                return len(words(clause.flat)) <= _LONG
            if lexicon.kin.search(clause.flat) or len(sentence.words) <= _SHORT:
                return True
    return False
