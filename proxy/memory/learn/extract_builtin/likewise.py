"""Tells in German and Spanish what goes the way of what ended before it ("and the choir too", "and with it the X")."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lazy import lazy

_DET = r"(?:(?:de[rmns]|die|das|mein\w*|unser\w*|eine?[mnr]?|el|la|los|las|mis?|nuestr[oa]s?|al|del)\s+)"
_BY = r"(?:(?:mit|vo[nm]|bei|beim|im|in|aus|zu[mr]?|auf|an|am|con|de|en|a)\s+)"
_AND = r"\W*(?:(?:und|sowie|aber|y|e|pero|bueno|na ja|ja)\s+)?"
_TOO = r"(?:auch|ebenfalls|ebenso|genauso|gleichfalls|desgleichen|gleich mit|dasselbe|también|tampoco|igualmente|lo mismo|otro tanto|ídem|idem)"
_GONE = (
    r"(?:(?:nicht|ist|sind|war|bin|bin ich|habe ich|hab ich|habe|hab|haben wir|sind wir|ist es|gleich|jetzt|nun|damit|dann|mehr|raus|weg|vorbei|schluss|fort|geschichte|draußen|los|aus|erledigt|"
    r"ya|no|fuera|nada|más|se acabó|se fue|lo|la|los|las|he|hemos|dejado|dejé|acabado|es historia|historia|adiós|está)\s*)"
)
_WITH_IT = lazy(
    rf"{_AND}(?:mit (?:ihm|ihr|ihnen|dem|der|denen|diese[mr])|damit|con (?:él|ella|ellos|ellas|ello|eso)|de paso|nebenbei|gleich mit)\s+(?:{_TOO}\s+)?(?:(?:ging|geht|ist|war|fiel|fällt|verschwand|se (?:fue|va|acabó|marchó|ha ido))\s+)?(?:{_TOO}\s+)?{_DET}?$"
)
_BEFORE = lazy(rf"{_AND}(?:(?P<too>{_TOO})\s+)?{_BY}?{_DET}?{_BY}?(?:\w+e[nrs]?\s)?$")
_AFTER = lazy(rf"[\s\"'»”]*{_GONE}*(?P<too>{_TOO})?[\s\"'»”]*{_GONE}*\W*$")
_GOES_TOO = lazy(
    rf"[\s\"'»”]*(?:(?:ging|geht|flog|fliegt|fiel|fällt|musste|muss|kam|wurde|se (?:fue|va|marchó)|corrió|cayó|acabó)\s+)(?:\w+\s+){{0,2}}{_TOO}\b"
)


def goes_along(clause: str, start: int, end: int) -> bool:
    """Whether a clause says of what stands from ``start`` to ``end`` that it goes as well as what was told of before.

    Args:
        clause: Its flat text.
        start: Of the value in it.
        end: After it.
    """
    before, after = clause[:start], clause[end:]
    if _WITH_IT.match(before):
        return True
    led, rest = _BEFORE.match(before), _AFTER.match(after)
    if led and rest and (led["too"] or rest["too"]):
        return True
    return led is not None and _GOES_TOO.match(after) is not None
