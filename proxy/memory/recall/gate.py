"""Admission gate: drops all hits if none is relevant to the query.

The evidence is the best cosine and the share of the query's content words, weighted by rarity. The BM25 score itself
says nothing about relevance and is not used. Measured on four public sets of conversations with the built-in embedder:
98-100 % of the questions about them pass, 0-4 % of unrelated prompts do (1.4 % on LoCoMo; most where the conversations
are about programming, as some of the prompts are).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from proxy.memory.index.postings import Lines, Mask, Scores
from proxy.memory.index.shelf import Shelf
from proxy.memory.recall import tuning
from proxy.memory.recall.rank import best
from proxy.store.passages import lexical_text
from proxy.text.languages import words_for
from proxy.text.lexical import tokens, tongue
from proxy.text.segment import sentences
from proxy.text.words import HAS_CJK, flat, words
from proxy.types import Chunk, Episode, Memory

_LANGUAGE_SHOWS = 600  # characters of a text from which its language is detected
_OWN_KNOWN = frozenset({"de", "es", "ru", "zh"})  # languages with patterns of questions about oneself

OF_ONESELF = "of oneself"  # the verdict's reason when a small memory is injected in full
_BRIEF = 160  # maximum characters of a question about oneself

_OF_ONESELF = re.compile(
    r"\b(?:my|mine|(?:did|am|was|have) i|where i (?:live|work)|(?:where|what|which|who|when)\b.{0,40}\bdo i|"
    r"(?<!how )(?<!why )do (?:i|we) (?:live|own|have(?! to)|pay|earn|drive|keep)|"
    r"remind me|mein\w*|mich|mir|mis?|mí[oa]s?|mon|ma|mes|мо(?:й|я|е|ё|и|ю|его|ему|ей|их|им|ими|ём|ем)|меня|мне)\b"
    r"|(?<![给帮跟让])我|私の|僕の|내|나의",
    re.IGNORECASE,
)

_PARTICLES = frozenset("的了吗呢")  # a pair of characters that holds one straddles two words

_tongue = lru_cache(maxsize=4_096)(tongue)

AnyShelf = Shelf[Memory] | Shelf[Episode] | Shelf[Chunk]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Relevance of a source's best hit to the query.

    Args:
        cosine: Cosine of the best hit; None if the query or the rows have no vector.
        typical: Median cosine of all compared texts.
        coverage: Share of the query's content words, weighted by rarity, that the best text holds; in [0, 1].
        brief: True if the texts are single statements, whose cosines are lower.
        texts: Number of compared texts.
        usual: Cosine of texts that have only their language in common with the query.
        is_foreign: True if most of the texts are in another language than the query.
    """

    cosine: float | None = None
    typical: float = 0.0
    coverage: float = 0.0
    brief: bool = False
    texts: int = 0
    usual: float = 0.0
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Admitted sources, and the reason that the receipt gives."""

    passed: tuple[bool, ...]
    reason: str

    @property
    def admitted(self) -> bool:
        """Return whether anything is injected."""
        return any(self.passed)


# "Welche Instrumente spiele ich?", not "Wie kann ich ...?"
_ASKS_OF_ONESELF = re.compile(
    r"""
      \b(?:wo|woher|wohin|woran|womit|worauf|wofür|wovon|wer|wen|wem|wann|was|welche[rsnm]?|wie\ ?viele?
        |wie\ (?:alt|groß|lange|oft|schwer|heiß\w+))\b
      (?!.{0,200}?\bam\ (?:besten|günstigsten|schnellsten|einfachsten)\b)[^.?!]{0,60}?
      \b(?!(?:kann|könn|soll|muss|müss|darf|dürf|mach|krieg|bekomm|find|würd|geb|koch|schenk)\w*\b)\w{2,}
      (?:\ (?:mich|mir|uns|denn|eigentlich|gerade))*\ (?:ich|wir)\b
    | \b(?:unser\w*|nuestr[oa]s?)\b
    | (?:^\W*|\b(?:qué|quién(?:es)?|cuál(?:es)?|dónde|adónde|cuándo|cuánt[oa]s?)\b[^.?!]{0,50}?\b)
      (?:soy|somos|estoy|estamos|voy|vamos|vivo|trabajo|tomo|uso|utilizo|toco|juego|hablo|estudio|leo|veo|escucho
        |bebo|como(?=\ *\?|\ siempre|\ normalmente)|desayuno|ceno|conduzco|manejo|llevo|colecciono|practico|entreno
      |puedo\ (?:comer|beber|tomar)
        |hago|tengo|tenemos|gano|ganamos|cobro|pagamos|canto|bailo|escribo|compro|pago|peso|mido|calzo|convivo|comparto
        |crío|cultivo|aprendo|enseño
        |imparto|doy|prefiero|sigo|monto|participo|colaboro|padezco|sufro|viajo|guardo|pertenezco|vivimos
        |usamos|hacemos|comemos|me\ (?:llamo|dedico|gusta\w*|encanta\w*|trata|atiende|corta\w?|lleva))\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


# "Which banks am I with?", "Do we own a car?", "Name our children"; not "How do I boil rice?", "Can you help me?"
_OF_US = re.compile(
    r"""
      \b(?:(?:do|did|am|was|have|had|are|were)\ (?:i|we)|our|ours|i|(?<!\Atell\ )me|we)\b
    | \b(?:ich|wir|uns|unser\w*|yo|nos|nuestr\w+|мы|нас|наш\w*|я|у\ меня)\b | [我咱]
    """,
    re.IGNORECASE | re.VERBOSE,
)


_WANTS_DOING = re.compile(
    r"""
      \bhow\ (?:do|does|did|can|could|should|would|might|to|come)\b
    | \b(?:should|can|could|may|shall|must|would|will)\ (?:i|we|you|it|that)\b
    | ^\W*(?:please\ )?(?:write|draft|explain|translate|convert|fix|summari[sz]e|give|make|find|recommend|suggest)\b
    | \b(?:show\ me\ how|help\ me|help\ us|teach\ me)\b
    | \bwhat\ (?:if|to|happens|does\ .{1,30}\ mean)\b
    | \b(?:wie|wo|was)\ (?:kann|könnte|soll|sollte|muss|mache|krieg\w*|bekomm\w*)\b
    | \bwie\ (?!heiß|komm|fahr|geh|leb|wohn|schlaf|fühl|verdien)\w+e\ (?:ich|man)\b
    | \b(?:erzähle?\ (?:mir|uns)|cuéntame|tell\ me)\ (?:a|an|another|eine?n?|una?|otr[oa])\b
    | \b(?:soll|sollte|könnte|darf|muss)\ (?:ich|wir|man)\b | ^\W*kann\ (?:ich|man)\b
    | \b(?:kannst|könntest|würdest)\ du\b | \b(?:hilf|erklär|schreib|zeig)e?\b(?!\ (?:ich|wir)\b)
    | \bcómo\ (?:puedo|podría|debo|hago|se\ (?:hace|puede|dice))\b
    | \b(?:puedes|podrías|debería|deberíamos|ayúdame|explica\w*)\b | ^\W*escribe\b
    | \bкак\ (?:мне|нам|я\ могу|лучше|можно)\b
    | \b(?:стоит\ ли|можно\ ли|можешь|помоги|объясни|напиши|что\ мне\ делать)\b
    | 怎么(?!称呼)|如何|帮我|请你|应该|能不能|可不可以
    """,
    re.IGNORECASE | re.VERBOSE,
)


_ASKS = re.compile(
    r"[?？]\W*$|吗|[谁哪几]|什么"
    r"|^\W*(?:list|name|tell me|remind me|who|what|where|when|which|how (?:old|many|much|tall))\b",
    re.IGNORECASE,
)


def asks_of_oneself(text: str) -> bool:
    """Return whether a text is one short question of the user about themselves."""
    text = text.strip()
    if len(text) > _BRIEF or not _ASKS.search(text) or _WANTS_DOING.search(text):
        return False
    return is_personal(text) or _OF_US.search(text) is not None


def is_handful(texts: int) -> bool:
    """Return whether a memory is so small that all of it may answer its user's question about themselves."""
    return 0 < texts <= tuning.HANDFUL_TEXTS


def is_personal(text: str) -> bool:
    """Return whether users ask about themselves; such a question needs memory more often than others."""
    return _OF_ONESELF.search(text) is not None or _ASKS_OF_ONESELF.search(text) is not None


def _by_words(evidence: Sequence[Evidence], text: str) -> Verdict:
    """Judge by words alone, in a language unknown to the embedder: its vectors are all close together."""
    is_told = not _WANTS_DOING.search(_last_sentence(text))
    is_own = is_told and (is_personal(text) or _OF_US.search(text) is not None)
    if is_own and is_handful(sum(one.texts for one in evidence)):
        return Verdict((True,) * len(evidence), "personal")
    needed = tuning.UNKNOWN_COVERAGE if is_own or (is_told and _names_people(text)) else tuning.COVERAGE_FLOOR
    passed = tuple(one.coverage >= needed for one in evidence)
    return Verdict(passed, "words" if any(passed) else "irrelevant")


def _names_people(text: str) -> bool:
    """Return whether a text names a person by the relation to its author: "mum", "мама", "妈妈"."""
    people = words_for("people", text)
    if HAS_CJK.search(text):
        return any(len(name) > 1 and name in text for name in people)
    return any(word.text in people for word in words(flat(text)))


def _last_sentence(text: str) -> str:
    start, end = (sentences(text) or [(0, len(text))])[-1]
    return text[start:end]


def strength(evidence: Evidence, *, personal: bool) -> float:
    """Return the relevance of the best hit, on the scale of a cosine."""
    bonus = tuning.PERSONAL_BONUS if personal else 0.0
    if evidence.cosine is None:
        needed = tuning.COVERAGE_FLOOR - (tuning.PERSONAL_COVERAGE if personal else 0.0)
        return tuning.STRENGTH_FLOOR * min(1.0, evidence.coverage / needed)
    cosine = evidence.cosine - max(0.0, evidence.typical - tuning.USUAL_COSINE)
    if evidence.typical:  # a user's questions are mostly closer to all of the user's texts
        cosine += tuning.FAMILIAR_WEIGHT * (min(evidence.typical, tuning.USUAL_COSINE) - tuning.FAMILIAR_COSINE)
    return cosine + tuning.COVERAGE_WEIGHT * evidence.coverage + bonus + (tuning.BRIEF_BONUS if evidence.brief else 0.0)


def leniency(texts: int) -> float:
    """Return the amount by which the floors drop for a small memory; negative for a large one.

    The best of many unrelated texts is closer than the best of few: by extreme-value theory their maximum cosine grows
    with the square root of twice the logarithm of their number.
    """
    if not texts:
        return 0.0
    least = math.sqrt(2 * math.log(tuning.FULL_FLOOR_TEXTS)) - math.sqrt(2 * math.log(max(2, texts)))
    return (tuning.SPREAD_BELOW if least > 0 else tuning.SPREAD_ABOVE) * least


def admit(evidence: Sequence[Evidence], text: str, *, told: bool = True) -> Verdict:
    """Judge the evidence of each source for the query ``text``.

    Args:
        evidence: Evidence of each source.
        text: Context and text of the query.
        told: True if the sources hold the user's own texts; a question about oneself then admits a small memory.
    """
    if not evidence:
        return Verdict((), "empty")
    if told and is_handful(sum(one.texts for one in evidence)) and asks_of_oneself(text):
        return Verdict((True,) * len(evidence), OF_ONESELF)
    is_unknown = max(one.usual for one in evidence) >= tuning.UNKNOWN_COSINE
    is_unknown = is_unknown and tongue(text[-_LANGUAGE_SHOWS:]) in _OWN_KNOWN
    if told and (is_unknown or any(one.is_foreign for one in evidence)) and asks_of_oneself(text):
        return Verdict((True,) * len(evidence), "personal")
    if is_unknown:
        return _by_words(evidence, text)
    personal = is_personal(text)
    strengths = [strength(one, personal=personal) for one in evidence]
    best = max(range(len(strengths)), key=strengths.__getitem__)
    slack = leniency(sum(one.texts for one in evidence))
    if strengths[best] < tuning.STRENGTH_FLOOR - slack:
        return Verdict((False,) * len(evidence), "irrelevant")
    reason = "words" if evidence[best].cosine is None else "similar"
    return Verdict(tuple(value >= tuning.COMPANION_FLOOR - slack for value in strengths), reason)


def is_foreign(texts: Sequence[str], asked: str) -> bool:
    """Return whether most texts are in another language than a question of the user about themselves."""
    if not texts or not asks_of_oneself(asked):
        return False
    language = tongue(asked)
    return 2 * sum(_tongue(text[:_LANGUAGE_SHOWS]) == language for text in texts) < len(texts)


def weigh(shelf: AnyShelf, terms: Mapping[str, float], mask: Mask, lexical: Scores, dense: Scores) -> Evidence:
    """Return the evidence computed from the scores of all lines of a shelf."""
    covered = _coverage(shelf, terms, mask, lexical)
    if np.isnan(dense).all():
        return Evidence(None, 0.0, covered)
    texts = tuning.LARGE_TABLE_TEXTS if shelf.is_sample else int(mask.sum())
    typical, usual = shelf.typical(dense)
    return Evidence(float(np.nanmax(dense)), typical, covered, texts=texts, usual=usual)


def _coverage(shelf: AnyShelf, terms: Mapping[str, float], mask: Mask, lexical: Scores) -> float:
    """Return the share of the query's content words, weighted by rarity, that one of the best-matching texts holds.

    Words that are common in the memory prove little, even if the query has no others. In a script without spaces most
    pairs of characters straddle words, so fewer of them can match.
    """
    texts = int(mask.sum())
    telling = [
        term for term, weight in terms.items() if weight >= tuning.TELLING_WEIGHT and _PARTICLES.isdisjoint(term)
    ]
    if not telling or not lexical.any():
        return 0.0
    top = best(lexical, tuning.COVERING_TEXTS)
    if shelf.is_sample:
        texts = tuning.LARGE_TABLE_TEXTS
        numbers, lines, holders = _sampled(shelf, telling, lexical)
    else:
        numbers, lines = shelf.postings.holders(telling)
        holders = np.bincount(numbers[mask[lines]], minlength=len(telling)).astype(np.float32)
    masses = np.array([terms[term] for term in telling]) * np.log1p(texts / (1 + np.maximum(1, holders)))
    held = [masses[numbers[lines == line]] for line in top]
    share = max(float(found.sum()) for found in held) / float(masses.sum())
    rarest = max((float(found.max()) for found in held if len(found)), default=0.0)
    pairs = sum(len(term) == 2 and not term.isascii() for term in telling)
    generosity = 1 + tuning.PAIR_GENEROSITY * pairs / len(telling)
    return min(1.0, generosity * share) * min(1.0, rarest / (tuning.RARE_SHARE * float(np.log1p(texts / 2))))


def _sampled(shelf: AnyShelf, telling: Sequence[str], lexical: Scores) -> tuple[Lines, Lines, Scores]:
    """Return the matches on a shelf of candidates, whose terms are in the store, and estimated holders by term.

    The best-matching texts are read: a word in most of them is common in the table, though few of its rows are here.
    """
    read = best(lexical, tuning.SAMPLED_TEXTS)
    terms = [frozenset(tokens(lexical_text(shelf.items[line]))) for line in read]
    pairs = [
        (number, line)
        for line, held in zip(read, terms, strict=True)
        for number, term in enumerate(telling)
        if term in held
    ]
    numbers, lines = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    holders = np.bincount(numbers, minlength=len(telling)).astype(np.float32)
    in_all = holders * tuning.LARGE_TABLE_TEXTS / tuning.SAMPLED_TEXTS
    return numbers, lines, np.where(holders > tuning.COVERING_TEXTS, in_all, holders)
