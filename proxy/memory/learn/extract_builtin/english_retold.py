"""Finds what English speakers say anew of something of theirs: where it is held, what a group works on, its number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.pairs import OF_A_PEOPLE
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.replacement import overlap
from proxy.memory.learn.extract_builtin.typed import PAST
from proxy.text.words import TEXTS_KEPT, stems, words

_GROUP = (
    r"(?:(?:book|film|reading|drama|debating|cookery|sewing|knitting|writing|walking|running|running|poetry|supper|chess|cycling|gardening|history|language|quilting) )?"
    r"(?:club|group|choir|band|orchestra|quartet|trio|quintet|ensemble|society|circle|troupe|company|class|team|chorus)"
)
_WORKS_ON = lazy(
    r"\b(?:on|reading|re-?reading|doing|rehearsing|tackling|performing|putting on|practi[sc]ing|working on|studying|covering|singing|staging|watching|discussing|picked|chosen|chose|moved on to|onto|does|reads|sings) (?:the |a |an )?$"
)
_TITLE = lazy(
    r"(?<![.!?] )(?<!^)\b(?P<v>(?:The |A )?[A-Z][\w'’-]+(?: (?:(?:of|the|and|in|on|to|a|an|for|with|at|by|from|de|la|el) ){0,2}[A-Z][\w'’-]+){0,5}|[A-Z]?\d{2,4})"
)
_NO_TITLE = lazy(
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|i|i'm|i've|zoom)s?$"
)
_HELD = lazy(  # an occasion or place of theirs, and where it is
    r"^(?:\W|and |so |but |well |btw |by the way |turns out |this (?:year|term|month|week|season),? |for now |now |nowadays |these days )*"
    r"(?P<own>(?:my|our|the) )?(?P<head>(?:[a-z'-]+ ){0,2}(?:group|club|choir|class|classes|lessons?|meetings?|meet-?up|practice|training|rehearsals?|sessions?|wedding|reception|ceremony|party|picnic|reunion|exam|workshop|"
    r"stall|rota|quiz|games? night|date night|stand-?up|surgery|playgroup|clinic|course|match|league|band|team|support group|market|service|gathering|walk|run)|yoga|pilates|zumba|karate|judo|swimming|netball|football|ballet|ballroom|mass|evensong|sunday school|tai chi|aerobics|fencing|badminton|bingo|bridge|band practice|french|spanish|welsh|italian|german)"
    r" (?:now |currently |always |usually |mostly )*(?P<verb>is|are|'s|meets?|takes place|gathers?|rehearses?|trains?|practi[sc]es?|plays?|happens|starts|sets off|runs|is held|are held|is taking place|will be|kicks off|congregates?)"
    r"(?: (?:now|currently|always|usually|mostly|up|off|held|on \w+days?))* (?P<prep>at|in|on|from|by|outside|near|behind|opposite|under) (?:the |our |my )?(?P<v>(?!an?\b)[\w'’-]+(?: (?!on\b|at\b|in\b|every\b|from\b|for\b|with\b|and\b|or\b|this\b|next\b|so\b|because\b|now\b|until\b|each\b|again\b|near\b|by\b|to\b)[\w'’-]+){0,2})"
)
_FOR_ONCE = lazy(r" (?:after|before|when|while|if|this|next|for|today|tonight|tomorrow)\b")
_PLACES = frozenset(("at", "in", "from", "outside", "near", "behind", "opposite", "under", "by"))
_LABELLED = lazy(
    r"\b(?P<label>locker|room|desk|plot|seat|table|bay|box|berth|pitch|booth|cabin|ward|unit|flat|dorm|dormitory|pew|lane|allotment|mooring|pigeonhole|stall|chalet|caravan|team|squad|shift|row|house|parking space|space|peg|mailbox|po box|pier|stand|court|tent|bed)"
    r"(?P<far> (?:at|in|on|of|by|for) (?:the|my|our) \w+)?(?: is| 's|'s)?(?: now| the)?(?: number| no\.?| nr\.?| #|,)* ?#?(?P<v>\d{1,4}[a-z]?|[a-z]\d{1,4}|[a-z]-?\d{1,4})\b(?! ?(?:%|€|£|\$|kg|am|pm|years|people|minutes|hours|km|m\b|of))"
)
_OWNS = lazy(
    r"\b(?:my|our|me|us|mine|ours)\b|\b(?:i'm|i am|we're|we are|i sit|i've got|i have|i sleep|i stay|we have|we've got|i got)\b"
)
_POST = lazy(
    r"\b(?:my|our) (?:[\w'’-]+ ){0,2}?(?P<post>captain|coach|chair|chairman|chairwoman|president|treasurer|secretary|tutor|supervisor|conductor|choirmaster|instructor|trainer|head teacher|headmaster|headmistress|form teacher|class teacher|landlord|landlady|accountant|solicitor|vicar|therapist|counsellor|dentist|vet|gp|hairdresser|barber|midwife|line manager|boss|drummer|bassist|goalkeeper)(?: (?:at|in|of|for) (?:the|my|our)? ?\w+)? is (?:now )?(?:called )?(?:a )?"
)
_NAMED = lazy(r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.? )?(?P<v>[A-Z][a-z][\w'-]*(?: [A-Z][\w'-]+){0,2})")
_MAKES = lazy(
    r"\b(?:at the moment|currently|right now|these days|nowadays|just now|this (?:week|month|term|winter|summer|spring|autumn)|now)\b"
)
_MAKING = lazy(
    r"\b(?:i'm|i am|we're|we are)(?: \w+ly| just| now| back to| busy)? (?P<verb>knitting|crocheting|sewing|weaving|restoring|building|writing|painting|translating|carving|rehearsing|quilting|embroidering|decorating|renovating|sculpting|brewing|training for|saving (?:up )?for|working on|working through|carving|stitching|assembling) (?:a|an|the|my|our|some)? ?(?P<v>(?!it\b|them\b|this\b|that\b)[\w'-]+(?: (?!for\b|on\b|at\b|in\b|with\b|and\b|to\b|from\b|of\b|now\b|so\b|this\b|right\b|because\b|out\b)[\w'-]+){0,2})"
)
_SHORTEST = 3  # letters of a word that tells


@dataclass(frozen=True, slots=True)
class Anew:
    """What is said of something of the speaker's.

    Args:
        of: What it is said of, by its stems.
        sort: What the value tells.
        value: As written.
        own: Whether it says whose it is.
        sentence: Where it stands.
    """

    of: frozenset[str]
    sort: str
    value: str
    own: bool
    sentence: Sentence


def retold_in_english(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Anew, Anew, str]]:
    """Yield (new, old, its text) where a message gives something of the speaker's another value than before."""
    if reading.lexicon.code != "en" or not earlier:
        return
    for new in _told(reading):
        for text in earlier:
            for old in _told_in(text, reading.lexicon):
                is_theirs = new.own or (old.own and new.sort not in ("number", "making"))
                if new.sort == old.sort and is_theirs and new.of and _is_one(new, old):
                    yield new, old, text


def _is_one(new: Anew, old: Anew) -> bool:
    short, long = sorted((new.of, old.of), key=len)
    return short <= long and not overlap(new.value, old.value)


@lru_cache(maxsize=TEXTS_KEPT)
def _told_in(text: str, lexicon: Lexicon) -> tuple[Anew, ...]:
    return tuple(_told(read_as(text, lexicon)))


def _told(reading: Reading) -> Iterator[Anew]:
    lexicon = reading.lexicon
    idle = (lexicon.additive, lexicon.hedge, lexicon.past, lexicon.negation, lexicon.limited)
    group: frozenset[str] = frozenset()
    for sentence in reading.sentences:
        named = re.search(rf"(?:\b(?:my|our|the|in|at)|^) ?(?P<group>{_GROUP})\b", sentence.flat)
        group = _stems(named["group"]) if named else group
        for clause in () if sentence.asks else sentence.clauses:
            if clause.asks or any(pattern.search(_without_anchor(clause.flat)) for pattern in idle):
                continue
            yield from _held(clause, sentence, reading)
            yield from _labelled(clause, sentence, reading)
            yield from _making(clause, sentence, reading)
            yield from _posted(clause, sentence, reading)
            if group:
                yield from _works_on(clause, sentence, group, reading)


def _without_anchor(told: str) -> str:
    return re.sub(r"\bthis (?:week|month)\b|\bon \w+days?\b|\bat the moment\b", " ", told)


def _held(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Anew]:
    match = _HELD.match(clause.flat)
    if (
        match is None
        or match["prep"] not in _PLACES
        or _FOR_ONCE.match(clause.flat, match.end())
        or PAST.search(clause.flat)
    ):
        return
    value = reading.text[clause.start + match.start("v") : clause.start + match.end("v")]
    if value[:1].isdigit() or _NO_TITLE.match(value.lower()) or value.lower() in reading.lexicon.stop:
        return
    own = match["own"] in ("my ", "our ") or (match["own"] is None and " " not in match["head"])
    yield Anew(_stems(match["head"]), "held", value, own, sentence)


def _labelled(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Anew]:
    found = list(_LABELLED.finditer(clause.flat))
    if len(found) != 1 or reading.lexicon.kin.search(clause.flat):
        return
    value = reading.text[clause.start + found[0].start("v") : clause.start + found[0].end("v")]
    own = _OWNS.search(clause.flat) is not None
    yield Anew(frozenset((found[0]["label"],)), "number", value, own, sentence)


def _making(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Anew]:
    match = _MAKING.search(clause.flat)
    if match is None:
        return
    anchored = _MAKES.search(clause.flat) is not None
    value = reading.text[clause.start + match.start("v") : clause.start + match.end("v")]
    if not all(word.text in reading.lexicon.stop for word in words(value)):
        yield Anew(_stems(match["verb"]), "making", value, own=anchored, sentence=sentence)


def _posted(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Anew]:
    text = reading.text[clause.start : clause.end]
    match = _POST.search(clause.flat)
    name = _NAMED.match(text, match.end()) if match else None
    if match and name and not OF_A_PEOPLE.match(name["v"]):
        yield Anew(frozenset((match["post"],)), "post", name["v"], own=True, sentence=sentence)


def _works_on(clause: Clause, sentence: Sentence, group: frozenset[str], reading: Reading) -> Iterator[Anew]:
    text = reading.text[clause.start : clause.end]
    for match in _TITLE.finditer(text):
        is_told = _WORKS_ON.search(clause.flat[: match.start("v")]) is not None
        value = match["v"]
        if is_told and not _NO_TITLE.match(value.lower()):
            own = re.search(r"\b(?:my|our|we|we're|i|i'm)\b", sentence.flat) is not None or "choir" in sentence.flat
            yield Anew(group, "works on", value, own, sentence)
            return


@lru_cache(maxsize=TEXTS_KEPT)
def _stems(text: str) -> frozenset[str]:
    return frozenset(next(iter(stems(w.text)), w.text) for w in words(text) if len(w.text) >= _SHORTEST)
