"""Finds what English speakers name in passing of something of theirs that has one name, number or place ("my goggles are in locker 207")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.extract_builtin.english_facts import KIN
from proxy.memory.extract_builtin.lexicon import Lexicon
from proxy.memory.extract_builtin.reading import Reading, Sentence, read_as
from proxy.memory.extract_builtin.replacement import overlap
from proxy.memory.words import flat, same_word, stems, word_set

_TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor|Sister|Nurse|Father|Sir|Coach|Madame|Señora?)\.? )?"
_CAPITAL = r"[A-Z][\w'’&-]*[\w]"
_NAME = rf"{_TITLE}(?P<name>{_CAPITAL}(?: (?:(?:of|the|and|&|de|la) )?{_CAPITAL}){{0,3}})"
_CODE = r"(?P<code>[A-Z]{0,3}-?\d[\w/-]*(?<=[\w])|\d+)(?![\w%€$£]|[.,:]\d| ?(?:am|pm|%|years?|days?|weeks?|months?|hours?|minutes?|people|of|kilos?|kg|km|miles|pounds|quid|euros?|times)\b)"
_VALUE = rf"(?:(?P<mail>[\w.+-]+@[\w.-]+\w)|(?P<time>\d{{1,2}}(?:[:.]\d\d)? ?(?:am|pm)\b|noon|midnight|\d{{1,2}}:\d\d)|(?P<day>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)|{_CODE}|{_NAME})(?=$|[^\w'’])"
_WHOSE = rf"(?:(?P<whose>{KIN})['’]s )?"
_OF = r"(?: (?:at|for|in|on|of|to|with) (?:the |my |our )?[a-z][\w'’-]*(?: [a-z][\w'’-]*)?)?"
_HEAD = r"(?P<kind>(?:[A-Za-z][A-Za-z'’-]* ){0,3}?)(?P<head>[a-z][a-z'’-]+)"
_IS = r"(?:(?:['’]s|,? (?:is|are|was|has become|became)|, who(?:['’]s| is)|, (?:it|that|which)(?:['’]s| is))(?: (?:now|currently|actually|still|just|called|named|number|no\.?|under|in|at|on|with|by|the|a|room|floor|an|an? [\w-]+(?: [\w-]+)? (?:called|named)|the [\w-]+ (?:called|named)))*)"
_OWNED = re.compile(
    rf"(?<![\w'’])(?i:my|our) {_WHOSE}{_HEAD}{_OF}(?:{_IS} |, (?:the |number |no\.? )?|: ?| (?:number |no\.? |called |named |starts? (?:at|on|in) |starting (?:at|on|in) |room )?){_VALUE}"
)
_LABELLED = re.compile(
    rf"\bthe (?P<before>\d+[A-Z]?) (?P<noun>[a-z]{{3,}})|(?<![\w'’-])(?P<head>[a-z][a-z'’-]+) (?:number |no\.? |nr\.? |#)?{_CODE}"
)
_CALLED = re.compile(rf"\ban? {_HEAD} (?:called|named|by the name of) {_NAME}(?=$|[^\w'’])")
_GATHERS = re.compile(
    rf"(?<![\w'’])(?:(?i:my|our|the) )?{_HEAD} (?P<verb>meets?|rehearses?|trains?|practi[sc]es?|plays|gathers?|convenes?|performs|lives?|starts?|begins|finishes|ends|takes place|is held|are held|opens|closes|leaves from|departs from|runs|happens|works|goes to|falls|lands) (?:now )?(?P<at>in|at|on|from|with|for|every)? ?(?:the )?{_VALUE}"
)
_ABOUT = re.compile(
    r"(?<![\w'’])(?:my|our) (?P<kind>(?:[a-z'’-]+ )?)(?P<head>phd|thesis|dissertation|novel|book|paper|essay|talk|blog|project|research|article|podcast|column|memoir|film|play|doctorate|lecture|presentation|speech) (?:is|will be|looks at|deals with|covers|explores) (?:all |now |actually )?(?:(?:on|about|around) )?(?P<about>[a-z][\w'’-]*(?: [\w'’-]+){0,3})(?= *(?:$|[.,;!?]))",
    re.IGNORECASE,
)
_COMES = re.compile(
    rf"(?<![\w'’])(?:(?i:my|our|the) ){_WHOSE}{_HEAD} (?:is|was|were|are|comes?|came|hails?|originates?) (?:actually |really |originally )?(?P<verb>from|made (?:in|by)|built (?:in|by)|born in|printed in|painted (?:in|by)|carved in) {_VALUE}"
)
_FILED = re.compile(rf"^\W*(?P<kind>(?:[A-Za-z'’]+ ){{0,2}}?)(?P<head>[A-Za-z]+): ?{_VALUE}")
_SPEAKS = re.compile(r"\b(?:i|i'm|i've|we|we're|my|our|me|us)\b")
_THEIRS = re.compile(
    rf"\b(?:(?:my|our) (?:\w+ )?(?P<kin>{KIN})\b|(?:his|her|their|your|he|she|they|(?!who|it|that|he|she|there|what)\w+['’]s)\b|(?:i|i'm|we|my|our|me)\b)"
)
_OTHER = re.compile(
    r"\b(?:second|other|another|third|old|older|former|previous|last|next|ex|first|late|new|extra|both|also|too|additional|spare|own|latest|usual old)\b"
)
_NO_HEAD = word_set(
    """page chapter day step level version episode season question age about around nearly over than week part task point item line verse act scene year grade top under only just row
    birthday trip holiday flight weekend visit party appointment meeting life time way mind opinion idea dream goal plan thing question problem world first last january february march april may june july
    august september october november december covid god lord dear good since until till before after and or but for of to in at on from with by the a an is are was"""
)
_LEAST_SHARED = 2  # telling words beside a head of which one has several


@dataclass(frozen=True, slots=True)
class Named:
    """What something of the speaker's is called or where it is.

    Args:
        whose: The person around the speaker whose it is, "" for the speaker.
        head: What it is, folded.
        form: How the value looks, and by which verb it was told.
        value: As written.
        bag: Stems of the telling words of the sentence.
        sentence: Where it stands.
    """

    whose: str
    head: str
    form: str
    value: str
    bag: frozenset[str]
    sentence: Sentence


def renamed(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Named, Named, str]]:
    """Yield (new, old, its text) where something of the speaker's has another name, number or place than before."""
    if reading.lexicon.code != "en":
        return
    found = [one for sentence in reading.sentences for one in _named(sentence, reading.lexicon)] if earlier else []
    for new in found:
        for text in earlier:
            known = [old for old in named_in(text, reading.lexicon) if _is_one(new, old, reading.lexicon)]
            if len({old.value for old in known}) == 1 and not overlap(new.value, known[0].value):
                yield new, known[0], text


@lru_cache(maxsize=2_048)
def named_in(text: str, lexicon: Lexicon) -> tuple[Named, ...]:
    """Return what an earlier message names of things of the speaker's."""
    return tuple(one for sentence in read_as(text, lexicon).sentences for one in _named(sentence, lexicon))


def _is_one(new: Named, old: Named, lexicon: Lexicon) -> bool:
    if (new.whose not in (old.whose, "*")) or new.form != old.form or not same_word(new.head, old.head):
        return False
    several = new.form == "name" and lexicon.many.match(new.head) is not None
    return not several or len((new.bag & old.bag) - set(stems(new.head))) >= _LEAST_SHARED


def _named(sentence: Sentence, lexicon: Lexicon) -> Iterator[Named]:
    if not sentence.clauses:
        return
    bag = frozenset(next(iter(stems(w.text)), w.text) for w in sentence.words if w.text not in lexicon.stop)
    for match in (
        m for p in (_OWNED, _LABELLED, _CALLED, _GATHERS, _COMES, _FILED, _ABOUT) for m in p.finditer(sentence.text)
    ):
        told = match.groupdict()
        clause = next((c for c in sentence.clauses if c.end > sentence.start + match.start()), sentence.clauses[-1])
        head, value = _parts(told)
        kind = (told.get("kind") or "").lower()
        is_own = match.re not in (_LABELLED, _CALLED) or _SPEAKS.search(sentence.flat) is not None
        is_stated = match.re in (_GATHERS, _COMES, _FILED, _ABOUT) or f" is {value}" in match[0]
        is_thought = lexicon.hedge.search(clause.flat) and (is_stated or match.re is not _OWNED)
        idle = is_thought or lexicon.past.search(clause.flat) or _OTHER.search(f"{kind}{head}")
        if not value or not is_own or idle or (is_stated and clause.asks) or head in lexicon.stop or head in _NO_HEAD:
            continue
        if lexicon.additive.search(clause.flat) or lexicon.negation.search(clause.flat) or flat(value) in lexicon.stop:
            continue
        form = next((f for f in ("mail", "time", "day", "code", "before", "about") if told.get(f)), "name")
        form = "code" if form == "before" else form
        verb = "from" if match.re is _COMES else (told.get("verb") or "")[:4] if form == "name" else ""
        whose = (
            "*"
            if match.re is _FILED
            else told.get("whose") or (_owner(sentence.flat[: match.start()]) if match.re is _LABELLED else "")
        )
        yield Named(whose.lower(), head, f"{form}{verb}", value, bag, sentence)


def _parts(told: dict[str, str | None]) -> tuple[str, str]:
    """Return what is named, and the value."""
    if told.get("before"):
        return told["noun"] or "", told["before"] or ""
    value = next((told[form] for form in ("mail", "time", "day", "code", "name", "about") if told.get(form)), "") or ""
    head = (told["head"] or "").lower()
    head = (told.get("kind") or head).split()[-1] if head == "number" else head  # "squad number 22"
    return head, value.removesuffix("'s").removesuffix("’s") if "@" not in value else value


def _owner(before: str) -> str:
    """Return whose it is by the last person that a text names: "" for the speaker, "?" for somebody unknown."""
    found = list(_THEIRS.finditer(before))
    if not found:
        return ""
    last = found[-1]
    return last["kin"] or ("" if _SPEAKS.fullmatch(last[0]) else "?")
