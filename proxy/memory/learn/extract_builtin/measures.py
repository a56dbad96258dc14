"""Finds figures that a message gives anew: another number of the same unit, in the words in which the first was told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.memory.learn.extract_builtin.contrasts import akin
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.typed import PAST, typed
from proxy.text.words import word_set, words

_LANGUAGES = ("en", "de", "es")
_FIGURE = lazy(
    r"(?<![\d.,:/-])(?P<number>\d+(?:[.,]\d+)?)(?![.,:/-]?\d)(?:\s?(?P<unit>(?:a|an|per) (?:month|week|year|hour|day)\b|[^\W\d]+|[€%$]))?"
)
_RELATIVE = lazy(  # of a part, a bound or a change, not of the whole
    r"\b(?:um|bis|noch|über|unter|fast|knapp|mindestens|höchstens|vor|nach|in|ab|je|pro|alle|up to|at least|under|over|nearly|almost|lost|gained|another|every|within|hasta|unos?|unas|casi|dentro de|hace|cada|menos|más|de|por|a|entre)\s*$"
)
_SAME_UNIT = ({"kilo", "kilos", "kg", "kilogramm"}, {"euro", "euros", "€", "eur"}, {"zentimeter", "centímetros", "cm"})
_TELLS = (  # what is measured, where the words differ
    lazy(r"\b(?:weigh\w*|scales?|kilos?|kgs?|stone|pounds|lbs?)\b"),
    lazy(r"\b(?:rent|landlord|landlady)\b"),
    lazy(r"\b(?:miles|km|kilometres) (?:a|per) (?:year|week|month|day)\b"),
    lazy(r"\b(?:salary|wages?|earn\w*|paid|pay|pay ?slip|take[- ]home)\b"),
    lazy(r"\b(?:mileage|on the clock|odometer)\b"),
    lazy(r"\b(?:commute|drive to work|journey to work)\b"),
    lazy(r"\b(?:streak|in a row)\b"),
    lazy(r"\b(?:mortgage|broadband|phone (?:plan|bill)|data)\b"),
    lazy(r"wieg|waage|gewicht|kilo|kg|abgenommen|zugenommen|peso|pesa|báscula|balanza|adelgaz|engord"),
    lazy(r"miete|kalt|warm|alquiler|renta|casero|casera|vermieter"),
    lazy(r"verdien|gehalt|lohn|gano|gana|cobr|sueldo|salario|nómina"),
)
_EQUATES = word_set("ist es war son sind jetzt nun inzwischen mittlerweile ya ahora nummer número")
_STAGE = lazy(  # where one is on one's way: one stage at a time
    r"\b(?P<number>(?:erst|zweit|dritt|viert|fünft|sechst|siebt|siebent|acht|neunt|zehnt|elft|zwölft)e[nrs]?|\d{1,2}\.) ?(?P<unit>\w*semester|klasse|schuljahr|lehrjahr|ausbildungsjahr|studienjahr|stock|stockwerk|etage|ssw|schwangerschaftswoche|monat(?= schwanger)|trimester)\b|"
    r"\ben (?P<year>primero|segundo|tercero|cuarto|quinto|sexto)(?= (?:de (?!baño)|curso)| *(?:$|[,.;]))|"
    r"\b(?:en|al|el|voy por el) (?P<count>primer|segundo|tercer|cuarto|quinto|sexto|séptimo|octavo|noveno|\d{1,2}º) (?P<of>semestre|curso|año|grado|trimestre|piso|mes(?= de embarazo))\b"
)
_OTHERS = lazy(r"\b(?:seine?[nmrs]?|ihre?[nmrs]?|sus?)\b")  # somebody else's
_PAID = frozenset(("landlord", "landlady"))  # whose figure is the speaker's
TAKES_PLACE = lazy(
    r"(?:empieza|empiezan|comienza|sale|llega|termina|acaba|tengo|toca|queda|beginnt|startet|endet|geht|fängt|kommt|habe|läuft|findet|statt)"
)
_WEIGHTS = frozenset(("kilo", "kilos", "kg"))  # besides which one tells how tall one is
_TODAY = lazy(r"heute|this morning|\bhoy\b")
_LONGEST = 14  # words of a clause that tells a figure
_TOLD = 2  # letters of a word that tells, at the least


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure with its unit and the word before it, and the clause that tells it."""

    number: str
    before: str
    unit: str
    value: str
    clause: Clause
    sentence: Sentence
    is_stage: bool = False


def remeasured(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Measure, Measure, str]]:
    """Yield (new, old, the text of old) where a figure of the speaker's is told anew."""
    if reading.lexicon.code not in _LANGUAGES:
        return
    for new in _measures(reading):
        if new.unit != "time" and _RELATIVE.search(new.clause.flat[: new.clause.flat.find(new.number)]):
            continue
        for text in earlier:
            before = list(_measures(read_as(text, reading.lexicon)))
            alike = [old for old in before if _is_same_unit(old, new)]
            if len(alike) == 1 and alike[0].number != new.number and _goes_on(alike[0], new, reading):
                yield new, alike[0], text


def _measures(reading: Reading) -> Iterator[Measure]:
    """Yield the figures of clauses that tell one figure, as it is now."""
    lexicon = reading.lexicon
    idle = (lexicon.hedge, lexicon.additive, lexicon.past, lexicon.limited, lexicon.negation)
    for sentence in reading.sentences:
        for clause in sentence.clauses:
            yield from _stages(clause, sentence, reading)
            yield from _moments(clause, sentence, reading)
            found = list(_FIGURE.finditer(clause.flat))
            weighed = [figure for figure in found if figure["unit"] in _WEIGHTS]
            found = weighed if len(weighed) == 1 and lexicon.code != "en" else found
            if len(found) != 1 or clause.asks or len(words(clause.flat)) > _LONGEST:
                continue
            if any(pattern.search(_TODAY.sub("", clause.flat)) for pattern in idle):
                continue
            unit = found[0]["unit"] or ""
            unit = "" if unit in lexicon.stop else unit
            end = found[0].end() if unit else found[0].end("number")
            before = [word for word in clause.flat[: found[0].start()].split() if word not in _EQUATES]
            yield Measure(
                found[0]["number"],
                before[-1] if before else "",
                unit,
                clause.flat[found[0].start() : end],
                clause,
                sentence,
            )


def _names_of(one: Measure, reading: Reading) -> set[str]:
    """Return the words in capitals that a clause holds behind its first one."""
    start = one.clause.start - one.sentence.start
    text = one.sentence.text[start : start + len(one.clause.flat)]
    return {word.text for word in words(text)[1:] if text[word.start].isupper() and word.text != "uhr"}


def _stages(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Measure]:
    """Yield the stage at which a clause says the speaker, or one of theirs, is ("in the sixth term")."""
    found = list(_STAGE.finditer(clause.flat))
    if len(found) != 1 or clause.asks:
        return
    lexicon, told = reading.lexicon, clause.flat.replace(found[0][0], "")
    if any(pattern.search(told) for pattern in (lexicon.hedge, lexicon.past, lexicon.negation)):
        return
    number = found[0]["number"] or found[0]["year"] or found[0]["count"]
    place = clause.flat.find(number, found[0].start())
    end = found[0].end() if found[0]["unit"] or found[0]["of"] else place + len(number)
    unit = found[0]["unit"] or found[0]["of"] or "curso"
    yield Measure(number, "", unit, clause.flat[place:end], clause, sentence, is_stage=True)


def _moments(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Measure]:
    """Yield the time of day at which a clause says that something of the speaker's takes place."""
    found = [value for value in typed(clause.flat) if value.kind == "time"]
    lexicon = reading.lexicon
    idle = (lexicon.hedge, lexicon.additive, lexicon.past, lexicon.negation, PAST)
    if len(found) != 1 or clause.asks or not lexicon.first.search(clause.flat):
        return
    if not any(pattern.search(clause.flat) for pattern in idle):
        value = found[0].surface
        yield Measure(value, "", "time", value, clause, sentence)


def _is_same_unit(old: Measure, new: Measure) -> bool:
    """Whether two figures count the same; without a unit, whether the same word stands before them."""
    if not new.unit:
        return not old.unit and old.before == new.before
    return old.unit == new.unit or any(old.unit in names and new.unit in names for names in _SAME_UNIT)


def _goes_on(old: Measure, new: Measure, reading: Reading) -> bool:
    """Whether a clause tells of the same thing as an earlier one: in a word of it, or in one of the same measure."""
    lexicon = reading.lexicon
    told = [
        [w.text for w in words(one.clause.flat) if w.text not in lexicon.generic and len(w.text) > _TOLD]
        for one in (old, new)
    ]
    ours, theirs = ([w for w in found if not w.isdigit() and w not in (old.unit, new.unit)] for found in told)
    idle = lexicon.stop - {word for word in lexicon.stop if len(word) > _TOLD + 2}
    if new.unit == "time" and _names_of(new, reading) != _names_of(old, reading):
        return False
    if new.unit == "time":
        ours, theirs = ([w for w in found if not TAKES_PLACE.fullmatch(w)] for found in (ours, theirs))
    shares = any(akin(a, b) for a in ours for b in theirs if a not in idle and b not in idle)
    kin = [{match[0] for match in lexicon.kin.finditer(one.clause.flat)} - _PAID for one in (old, new)]
    if _OTHERS.search(new.clause.flat) and not (kin[0] or _OTHERS.search(old.clause.flat)):
        return False
    if kin[0] != kin[1] and ((kin[1] and kin[0]) or new.is_stage or lexicon.code == "en"):
        return False  # of another of theirs
    if lexicon.code == "en":
        return any(tells.search(old.clause.flat) and tells.search(new.clause.flat) for tells in _TELLS)
    if new.is_stage and all(kin[0] or lexicon.first.search(one.clause.flat) for one in (old, new)):
        return True
    return shares or any(tells.search(old.clause.flat) and tells.search(new.clause.flat) for tells in _TELLS)
