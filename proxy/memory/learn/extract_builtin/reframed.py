"""Finds what English speakers give another value than before where one has one at a time ("I'm registered at X", later "… at Y")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.pairs import is_of_another_sort
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.replacement import overlap
from proxy.text.words import TEXTS_KEPT, Span, same_word, stems, word_set, words

_LEAD = r"^(?:\W|and |but |so |well |as |since |because |for context |fyi |btw |by the way |for (?:the record|reference|my \w+) |nowadays |these days |currently |at the moment |right now |now |(?:for|at|on|during|to) (?:the|my|our|this) (?:\w+ )?\w+,? (?=(?:i|we|my|our)\b)|this (?:month|year|term|season|summer|winter|spring|autumn|time),? (?=(?:i|we|my|our)\b))*"
_OWN = lazy(
    _LEAD
    + r"(?:(?:my|our|i|we)\b|the (?:kids?|children|twins|boys|girls|baby|dog|cat)['’]s?\b|the (?:kids|children|twins|boys|girls)\b|(?:i|we)'|the [a-z]+(?: [a-z]+)? (?:that |who |whom |which |where )?(?:i|we) |[a-z]+(?: [a-z]+)? (?:is|are) (?:with|through|by|from|at) )"
)
_FREE = word_set(  # verbs of which one does several at a time, unless they are told with something else
    "like love enjoy prefer hate play plays speak watch read reading listen collect know visit meet see seeing have own use take drink eat learn learning volunteer belong subscribe follow shop go going "
    "fly flying travel travelling buy order write help need want think hope sing paint made do work playing looking get got think call contribute wear cook bake make find look want plan"
)
_PASSED = lazy(
    r"\b(?:was|were|had|did|went|got|took|saw|made|came|met|bought|left|used to|ago|last|tonight|today|tomorrow|yesterday|next|this (?:week|weekend|morning|evening))\b"
    r"|\b(?:i|we|he|she|they)(?:'ve|'d|'s| have| has)? (?:\w+ly |just |once |never |also )?\w{2,}ed\b(?! (?:to|in|at|with|by)\b)"
)
_SEVERAL = word_set(
    "friend friends cousin brother sister uncle aunt colleague colleagues client clients customer problem question issue idea favourites interview meeting flight trip holiday "
    "appointment homework assignment project projects email letter thoughts plan next other another second"
)
_MINDS = word_set(  # of which one has several at a time, whatever each is about
    "stress stressed worry worried worrying think thinking thought consider considering wonder wondering plan planning try trying hope hoping decide decided deciding excited anxious nervous glad happy sad sorry "
    "afraid scared curious interested interest struggle struggling concerned confused unsure sure torn feel feeling mean commit committed aim aiming intend prepare preparing focus focusing focused "
    "analyse analysing analyze analyzing research researching review reviewing compare comparing explore exploring discuss discussing finish finishing complete completing build building set setting"
)
_MIND_STEMS = frozenset(stem for word in _MINDS for stem in stems(word))
_IDLE = word_set(
    "i i'm i've we we're we've my our mine the a an am is are 's be been and but so well as since because for now currently still just usually always normally mostly actually "
    "these those days nowadays moment right really all both have has it that this which there here number no by way fyi btw whom who where of in on at with from to context reference record"
)
_LINKS = word_set("in on at through with by for from under to is are called named number no behind through of as")
_VERBS = word_set("drive driving support captain chair manage")
_SKIPPED = word_set("the a an my our old new good lovely nearby local big little")
_BETWEEN = lazy(r"[:.,]|\s|[-'’&]|\s(?:of|the|de|la|le|von|and|&) |\. ")
_TITLES = word_set(
    "mr mrs ms miss dr doctor professor prof nurse sister father sir coach sergeant captain aunt uncle st number"
)
_PLAIN = lazy(  # "my usual is a matcha latte"
    _LEAD
    + r"(?:my|our) (?P<attr>[a-z'-]+(?: (?!is\b|are\b)[a-z'-]+){0,5}?) (?:is|are|'s|has become)(?: (?:now|currently|usually|always|still|actually|mostly))* (?P<link>an?) (?P<v>[a-z'-]+(?: [a-z'-]+){0,2})(?= *(?:$|[,.;!]| (?:at|in|on|from|with|for|of|before|after|these|every|by)\b))"
)
_JUDGED = word_set(
    "bit lot mess pain nightmare joke disaster shame pity must problem challenge success failure joy delight bargain while good bad great big little small long short nice real total huge dream treat "
    "priority mystery struggle concern worry must-have beginner work relief blast pleasure"
)
_SORT = lazy(r" ([a-z]{3,})\b")
_APART = 2  # telling words that may differ: "a flat above a chippy", "a flat above a florist"
_CLIPPED = frozenset(("m", "ve", "re"))  # what is left of "I'm"
_FREE_STEMS = frozenset(stem for word in _FREE for stem in stems(word))

_CLEFT = lazy(
    r"\b(?:it's|its|it is|it was) (?:actually |really |in fact )?(?:the |a |an |in |at |on )?(?P<new>[\w'-]+(?: [\w'-]+)?) (?:that |who |which |where )?(?:i|he|she|we|they|it)(?:'s|'m|'re)? (?P<verb>[a-z]{3,})\b"
)
_OBJECT = lazy(r"\b(?P<verb>[a-z]{3,}) (?:the |a |an |in |at |on )(?P<old>[\w'-]+)")


@dataclass(frozen=True, slots=True)
class Told:
    """A value in a clause about the speaker.

    Args:
        link: The word before it that ties it to the clause.
        near: Stems of the telling words of the clause.
        bag: Those of the sentence.
        after: Of the word after it, the sort of the value ("the X surgery").
        value: As written.
        sentence: Where it stands.
        kin: Of whom it is told, beside the speaker.
    """

    link: str
    near: frozenset[str]
    bag: frozenset[str]
    after: frozenset[str]
    value: str
    sentence: Sentence
    kin: frozenset[str] = frozenset()


def reframed(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Told, Told, str]]:
    """Yield (new, old, its text) where a message says again of the speaker what was said before, with another value."""
    if reading.lexicon.code != "en":
        return
    for new in _told(reading, own=True) if earlier else ():
        for text in earlier:
            for old in _told_in(text, reading.lexicon):
                if _is_same(new, old) and not overlap(new.value, old.value) and _is_alike(new, old):
                    yield new, old, text


def _is_same(new: Told, old: Told) -> bool:
    if new.link != old.link or not new.near or new.kin != old.kin:
        return False
    if len(new.near & old.near) > 1 and len(new.near ^ old.near) <= _APART:
        return True
    return new.near == old.near or (new.near < old.bag and new.after < old.bag and len(new.near | new.after) > 1)


def _is_alike(new: Told, old: Told) -> bool:
    """Whether both are figures, of the same thing where they say of what, or neither is; what people one is of is no name."""
    if is_of_another_sort(new.value, old.value):
        return False
    if new.value[:1].isdigit() != old.value[:1].isdigit():
        return len(new.near) > 1
    return not new.value.isdigit() or not (new.after and old.after) or bool(new.after & old.after)


@lru_cache(maxsize=TEXTS_KEPT)
def _told_in(text: str, lexicon: Lexicon) -> tuple[Told, ...]:
    return tuple(_told(read_as(text, lexicon), own=False))


def _told(reading: Reading, *, own: bool) -> Iterator[Told]:
    """Yield the values of a message; only of clauses that say whose they are, if ``own``."""
    for sentence in reading.sentences:
        owning = [] if sentence.asks else [c for c in sentence.clauses if not c.asks and _OWN.match(c.flat)]
        if not owning:
            continue
        bag = _telling(sentence.flat)
        for clause in owning if own else sentence.clauses:
            if clause.asks or _PASSED.search(clause.flat):
                continue
            found = [*_named(clause, bag, sentence, reading), *_plain(clause, bag, sentence, reading)]
            if found and not _is_idle(clause, reading.lexicon):
                yield from found


def _is_idle(clause: Clause, lexicon: Lexicon) -> bool:
    idle = (lexicon.additive, lexicon.limited, lexicon.past, lexicon.ended, lexicon.hedge)
    return any(pattern.search(clause.flat) for pattern in idle)


def _named(clause: Clause, bag: frozenset[str], sentence: Sentence, reading: Reading) -> Iterator[Told]:
    text = reading.text[clause.start : clause.end]
    for lead, (start, end) in _runs(text):
        before = [word.text for word in words(text[:lead])]
        while before and before[-1] in _SKIPPED:
            before.pop()
        link = before[-1] if before else ""
        if link not in _LINKS and any(char.isdigit() for char in text[start:end]):
            link = "number"
        if link not in _LINKS and link not in _VERBS:
            continue
        near = _telling(text[:lead].lower())
        does = near - _CLIPPED
        is_free = len(does) == 1 and bool(does & _FREE_STEMS) and text[:2].lower() not in ("my", "ou")
        if not (near & _SEVERAL or near & _MIND_STEMS or is_free):
            sort = _SORT.match(text, end)
            after = _telling(sort[1].lower()) if sort else frozenset()
            kin = frozenset(match[0] for match in reading.lexicon.kin.finditer(clause.flat))
            yield Told(link, near, bag, after, text[start:end], sentence, kin)


def _plain(clause: Clause, bag: frozenset[str], sentence: Sentence, reading: Reading) -> Iterator[Told]:
    match = _PLAIN.match(clause.flat)
    if match is None:
        return
    near, value = _telling(match["attr"]), match["v"].split()
    found = words(match["attr"])
    if not near or near & _SEVERAL or any(word in _JUDGED for word in value):
        return
    if reading.lexicon.kin.fullmatch(found[-1].text) or reading.lexicon.many.match(match["attr"]):
        return
    yield Told(
        "a",
        near,
        bag,
        frozenset(),
        reading.text[clause.start + match.start("v") : clause.start + match.end("v")],
        sentence,
    )


def _runs(text: str) -> Iterator[tuple[int, Span]]:
    """Yield where a name of a clause starts, its title with it, and the name: words in capitals that follow one another, not the one it starts with."""
    found = words(text)
    place = 1
    while place < len(found):
        if not _is_name(text, found[place].start):
            place += 1
            continue
        last = place
        while last + 1 < len(found) and (
            _is_name(text, found[last + 1].start) and _BETWEEN.fullmatch(text[found[last].end : found[last + 1].start])
        ):
            last += 1
        first = place
        while first < last and found[first].text in _TITLES:
            first += 1
        if found[first].text not in _TITLES and found[first].text not in ("i", "i'm", "i've", "i'd", "i'll"):
            yield found[place].start, (found[first].start, found[last].end)
        place = last + 1


def _is_name(text: str, start: int) -> bool:
    return text[start].isupper() or text[start].isdigit()


@lru_cache(maxsize=1_024)
def _telling(text: str) -> frozenset[str]:
    return frozenset(next(iter(stems(word.text)), word.text) for word in words(text) if word.text not in _IDLE)


def cleft(sentence: Sentence, text: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield (new, old) where a sentence says with its own verb what an earlier text said otherwise ("it's the viola she plays")."""
    match = _CLEFT.search(sentence.flat) if lexicon.code == "en" else None
    if match is None:
        return
    for clause in (c for near in read_as(text, lexicon).sentences for c in near.clauses if not c.asks):
        told = next((m for m in _OBJECT.finditer(clause.flat) if same_word(m["verb"], match["verb"])), None)
        new = sentence.text[slice(*match.span("new"))]
        if told is not None and not overlap(new, told["old"]):
            yield new, text[clause.start + told.start("old") : clause.start + told.end("old")]
