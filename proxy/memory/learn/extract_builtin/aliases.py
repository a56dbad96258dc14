"""Finds by the word for what something is the name that the speaker gave it ("the tomcat" for "our tomcat, Max")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.pairs import is_called, pairs_in
from proxy.text.words import flat, same_word

_CAPITAL = r"[A-ZÄÖÜÁÉÍÓÚÑ][\w&'-]*\w(?:\s+(?:\d+|[A-ZÄÖÜÁÉÍÓÚÑ][\w&'-]*\w)){0,2}"
_NAME_AFTER = lazy(r",? (?P<name>[A-ZА-ЯЁÄÖÜÁÉÍÓÚÑ][\w'-]*\w)")
_TIE = {
    "de": r"(?:\s+(?:namens|heißt|genannt|ist|bei|beim|von|vom))?(?:\s+(?:de[rmn]|die|das|Herrn?|Frau|Dr\.))*\s+",
    "es": r"(?:\s+(?:llamad[oa]|que se llama|se llama|es|en|con|del?))?(?:\s+(?:el|la|don|doña|doctora?|señora?))*\s+",
}
_POINTED_AT = {
    "de": lazy(r"\b(?:de[rmns]|die|das|unser\w*|mein\w*|diese[nmrs]?|vom|beim|zum|zur|im|am)\s+(?:\w+e[nr]?\s+)?$"),
    "es": lazy(r"\b(?:el|la|al|del|mi|nuestr[oa]|est[ea]|ese|esa)\s+$"),
}


def is_pointed_at(before: str, code: str) -> bool:
    """Whether what follows a flat text is one that is known ("the", "our")."""
    return code in _POINTED_AT and _POINTED_AT[code].search(before) is not None


def name_of(noun: str, said: Sequence[str], code: str) -> str:
    """Return the one name that earlier texts give what a noun stands for, "" where there is none or there are several."""
    if code not in _TIE:
        return ""
    head = rf"\b(?i:{re.escape(noun)})"
    named = re.compile(rf"{head}{_TIE[code]}(?P<v>{_CAPITAL})|{head}\s*,\s+(?P<apposed>{_CAPITAL})(?=\s*(?:[,.;!?]|$))")
    found = {match["v"] or match["apposed"] for text in said for match in named.finditer(text)}
    told = {name for name in found if flat(name) != flat(noun)}
    return told.pop() if len(told) == 1 else ""


def names_of(kin: str, said: Sequence[str], lexicon: Lexicon) -> list[str]:
    """Return the names that earlier texts give somebody by a word for who they are to the speaker ("my brother Tom")."""
    found: dict[str, None] = {}
    for text in said:
        paired = (pair for pair in pairs_in(text, lexicon) if same_word(pair.attribute[-1], kin))
        found |= dict.fromkeys(pair.value for pair in paired if is_called(pair.value))
        beside = (match for match in lexicon.kin.finditer(flat(text)) if same_word(match[0], kin))
        named = (_NAME_AFTER.match(text, match.end()) for match in beside if lexicon.code != "zh")
        found |= dict.fromkeys(match["name"] for match in named if match)
    return list(found)
