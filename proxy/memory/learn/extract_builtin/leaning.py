"""Tells how a clause leans on the one before it: whose object and whose subject it takes over."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NOUN
from proxy.memory.learn.extract_builtin.narrower import Narrower
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.text.words import words

_ELLIPTIC_WORDS = 6
_ELLIPTIC_HAN = 16  # characters; a subject is said once and holds for the clauses after it
_POINTS = lazy(
    r"\b(?:it|them|that|him|her|those|this|es|ihn|sie|ihm|das|den|damit|davon|daran|lo|la|los|las|le|ello|eso|él|ella|"
    r"его|ее|их|ней|ним|ими|нем|нею|это|этим|этого|там|оттуда)\b|[它他她这那]|(?:lo|la|los|las)$"
)
_HE = lazy(r"\W*(?:so |and |but )?(?:he|she|they)\b")
_SO_I = lazy(r"so (?:i|we)\b")
_DOES_IT = lazy(
    r"\W*(?:and )?(?:then |later |promptly |now |also |even )*(?:has |have |had )?\w+ed (?:it|them|that|this|those)\b"
)
_ACTING = lazy(r" (?:just |has |have )?\w+ (?:me|us|the|an?|my|our|their|its|his|her)\b")
_AND_I = lazy(r"(?:i|me)\b")  # "X and I have fallen out"
_ARTICLE_DE = lazy(r"\b[DdIi](?:as|en|ie|er|em|hr|hre) (?:[a-zäöüß]+(?:e|en|er|es) ){0,2}(?=[A-ZÄÖÜ])")
_DEMONSTRATES = lazy(
    r"^\W*(?:und |aber |also |doch )?(?:die|den|das|der|dem) (?:hab\w*|hat|ist|sind|war|wurden?|musste\w*|nutz\w*|brauch\w*|geb\w*) "
)
_POINTS_ES = lazy(
    r"\b(?:l[oae]s?)\s+(?:he|has|ha|hemos|han|había|tuve|tenía|tengo|voy|(?!mío|nuestro|bueno|malo|mismo|otro|primero|último|único|peor)\w+(?:é|í|ó|o|amos|imos|emos|aron|ieron))\b|"
    r"\b(?:ello|eso|esto|él|ella|aquello)\b|(?:ar|er|ir|ndo)(?:me|te|se|nos)?(?:lo|la|los|las)\b|(?:lo|la|los|las)$"
)
_SUBJECT = 2  # words before a subject: "and my"
_NOUN_RU = lazy(
    r"(?!наконец|совсем|вчера|сегодня|завтра|опять|больше|теперь|просто|сама)[а-я]{4,}(?<!л)(?<!ла)(?<!ло)(?<!ли)(?<!о)(?<!ть)(?<!ся)(?<!ее)(?<!ую)(?<![еияую]т)"
)
_SHARE = lazy(r"\b(?:половину|часть|один|одну|одного|двух|трех|парочку)\b")
_SHORTEST = 3  # words of a clause that has no object of its own
_LEAD_HAN = lazy(
    r"^[我咱]们?|现在|如今|已经|终于|最后|最近|后来|昨天|今天|前天|上周|上个?月|去年|今年|刚刚?|因为|所以|但是?|不过|结果|索性|干脆|果断|决定|只好|[就都也又把被给了的]"
)
_ADVISED = lazy(
    r"\b(?:said|says|told me|asked me|wanted me|wants me|advised|suggested|recommended|ordered me) (?:me )?(?:to|that i should|i should)\b"
)
_FAILED = lazy(
    r"\b(?:didn't|did not|couldn't|wouldn't|won't|failed to|can't) (?:\w+ )?(?:find (?:enough|any\w*|a|somebody|someone)|get (?:through|enough)|pass|survive|make it|start|turn on|come on|work|last|wake|hold)\b|\bsin (?:aparecer|venir|dar señales)\b|\btaucht\w* .{0,30}nicht mehr auf\b|\bno (?:pasó|superó|aprobó|arrancaba|funcionaba|iba|servía|aguantó|daba)\b|\b(?:kam|ging|sprang|lief|funktionierte|hielt|taugte) (?:\w+ ){0,3}nicht\b|\bnicht (?:durch|über) den tüv\b"
)


class Leaning(Narrower):
    """How the clauses of one message lean on each other."""

    def _has_subject(self, clause: Clause, cue: tuple[int, int]) -> bool:
        """Whether a Russian or Chinese clause names what it is about, and leaves nothing to the next."""
        if self._lexicon.code == "ru":
            rest = f"{clause.flat[: cue[0] - clause.start]} {clause.flat[cue[1] - clause.start :]}"
            return any(_NOUN_RU.fullmatch(w.text) and w.text not in self._lexicon.stop for w in words(rest))
        before = _LEAD_HAN.sub("", clause.flat[: max(0, cue[0] - clause.start)])
        return self._lexicon.code == "zh" and len(before) > _SHORTEST

    def _has_its_own(self, clause: Clause, cue: tuple[int, int], named: Clause) -> bool:
        """Whether a clause says itself what ends in it, and not the clause around it."""
        return self._has_subject(clause, cue) if named.start > clause.start else self._has_object(clause, cue)

    def _has_object(self, clause: Clause, cue: tuple[int, int]) -> bool:
        """Whether a Russian clause names after its verb, or by a share, what it ends ("… lost a suitcase")."""
        if self._lexicon.code != "ru" or _POINTS.search(clause.flat):
            return False
        after = [
            w.text
            for w in words(self._reading.text[cue[1] : clause.end])
            if self._reading.text[cue[1] + w.start].islower()
        ]
        named = any(_NOUN_RU.fullmatch(w) and not self._is_tie(w) for w in after)
        return named or _SHARE.search(clause.flat[: cue[0] - clause.start]) is not None

    def _points(self, sentence: Sentence) -> bool:
        """Whether a sentence has a pronoun; most that look like one in German and Spanish are articles."""
        if self._lexicon.code == "de":
            return _POINTS.search(_ARTICLE_DE.sub(" ", sentence.text).lower()) is not None
        if self._lexicon.code == "es":
            return _POINTS_ES.search(sentence.flat) is not None
        return _POINTS.search(sentence.flat) is not None

    def _takes_up(self, clause: Clause, named: Clause, sentence: Sentence) -> bool:
        """Whether a clause goes on about the subject of the one right before it ("X withered, threw it out")."""
        place = sentence.clauses.index(clause)
        if place == 0 or sentence.clauses[place - 1] is not named:
            return False
        opens = any(len(words(named.flat[: m.start - named.start])) <= _SUBJECT for m in self._within(named, sentence))
        least = _SHORTEST if self._lexicon.code == "en" else _SHORTEST + 2
        if self._lexicon.code == "en" and _SO_I.match(clause.flat):
            return len([m for m in self._within(named, sentence) if m.rank >= NOUN]) == 1
        return opens and (len(words(clause.flat)) <= least or _POINTS.search(clause.flat) is not None)

    def _leans(self, clause: Clause, named: Clause) -> bool:
        """Whether a clause leaves it to another one to name what ends."""
        lexicon = self._lexicon
        is_advised = lexicon.code == "en" and _ADVISED.search(named.flat) and _POINTS.search(clause.flat)
        blocking = (lexicon.additive, lexicon.limited, lexicon.hedge, lexicon.again)
        if not is_advised and any(p.search(named.flat) for p in blocking):
            return False
        if lexicon.negation.search(named.flat) and not self._failed(named):
            return False
        if lexicon.code == "en" and _DOES_IT.match(clause.flat) and self._opens_acting(named):
            return False  # "X sent me a bill and then cancelled it"
        if lexicon.code == "en" and (
            _HE.match(clause.flat)
            or (_AND_I.match(clause.flat) and self._reading.text[named.end : clause.start].strip() == "and")
        ):
            return True
        if lexicon.code == "de" and _DEMONSTRATES.search(clause.flat):
            return True
        most = _ELLIPTIC_HAN if lexicon.code == "zh" else _ELLIPTIC_WORDS
        return len(words(clause.flat)) <= most or _POINTS.search(clause.flat) is not None

    def _opens_acting(self, clause: Clause) -> bool:
        """Whether a clause opens with a value that does something to something."""
        found = [m for found in self._mentions.values() for m in found if m.start == clause.start]
        return any(_ACTING.match(clause.flat, m.end - clause.start) for m in found)

    def _failed(self, clause: Clause) -> bool:
        """Whether a clause says that a thing, named first, did not pass or work, so that the next tells its end."""
        return self._lexicon.code in ("en", "de", "es") and _FAILED.search(clause.flat) is not None
