"""Removes the smallest part of a text that asserts something of given spans, and keeps the rest readable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.text.clauses import Unit, is_question, sentences, units
from proxy.text.words import CJK, HAS_CJK, Span, words

# Words that lean on the noun after them and go with it.
_LEANING = re.compile(
    r"(?:\b(?:a|an|the|my|our|her|his|their|some|"
    r"der|die|das|den|dem|des|ein|eine|einen|einem|einer|mein|meine|meinen|meinem|meiner|unser|unsere|unserem|unseren|"
    r"el|la|los|las|un|una|mi|mis|nuestro|nuestra|"
    r"мой|моя|мое|моё|мою|моего|моей|моим|свой|свою|своего|своей|"
    r"from|instead\ of|to|with|of|at|in|for|on|by|von|vom|aus|bei|beim|mit|zu|zum|zur|nach|in|auf|statt|gegen|durch|im|am|"
    r"de|del|en|con|por|al|a|para|desde|с|со|из|от|в|во|на|у|к|вместо|про|о|об)\s+)+$",
    re.IGNORECASE | re.VERBOSE,
)
_LEANING_CJK = re.compile(r"[从由把将跟和与在对]$")
_COUNTED_CJK = re.compile(r"[一二两三四五六七八九十几半\d]+[\u4e00-\u9fff]$")  # "a tank of"
_RELATIVE = re.compile(
    r"^(?:which|who|whom|whose|that|der|die|das|dem|den|welche[rsmn]?|que|quien|cuyo|котор\w+|где|"
    r"it|he|she|they|er|sie|es|он|она|оно|они|его|ее|её|它|他|她)\b",
    re.IGNORECASE,
)
_NEW_NOUN = re.compile(r"(?:der|die|das|den|dem) [A-ZÄÖÜ]")  # ", das Büro ist …" is about something else
_ACTS = re.compile(r"(?:\w+ed|went|got|bought|took|began|came|made|gave|found|chose|moved) ", re.IGNORECASE)
_NAMING = re.compile(
    r"(?:\b(?:called|named|is|heißt|heissen|heißen|namens|llama[mn]?|llamado|llamada|es|зовут|имени)|叫做?|名叫|是)\s*$",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than|statt|anstatt|anstelle (?:von|des|der)|en vez de|en lugar de|вместо)\s+(?:\w+\s+){0,2}|代替|取代|而不是)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=\s)[A-ZÄÖÜА-ЯÁÉÍÓÚÑ][a-zäöüßа-яáéíóúñ]{2,}")
_FULL_NAME = re.compile(r"[A-ZÄÖÜА-ЯÁÉÍÓÚÑ][\w'-]+(?: [A-ZÄÖÜА-ЯÁÉÍÓÚÑ][\w'-]+){0,2}")
# Who one goes to, by the endings of what people are.
_PERSON = re.compile(
    r"(?:log|ist|er|or|ant|ent|ian|yst|mann|frau|in|óloga|ólogo|ora|ero|era|nte|(?:олог|евт|ист|истк|тренер|тер|тор|тель|ник|ниц|рач|ач|ер|ар|"
    r"сестр|брат|друг|подруг|жен|муж|мам|пап|доч|сын|тет|дяд|коллег|сосед|соседк|бабушк|дедушк|хозяйк|хозяин)[а-я]{0,3})$",
    re.IGNORECASE,
)
_ITS_NAME = re.compile(r" [«„“][^»“”]{1,30}[»”“]")  # "the moped «Karpaty»"
# Who somebody does a thing with: it is true of the thing without them ("I live in Oslo with my brother Tom").
_COMPANION = re.compile(
    r"\s+(?:(?:together|zusammen|gemeinsam|junto|вместе)\s+)?(?:with|mit|con|со?)\s+"
    r"(?:(?:my|our|mein\w*|unser\w*|mis?|nuestr\w+|мо\w+|наш\w*|сво\w+)\s+)?(?:[^\W\d_]+\s+){0,2}$",
    re.IGNORECASE,
)
_LEAST_BESIDE = 3  # words of what is told without the companion
_CJK_LIST = re.compile(r"[、和与跟及]")
_MIN_WORDS = 2
_AND = r"(?:and|or|plus|und|oder|sowie|y|e|o|и|или|а)"
# What removed spans leave behind, in this order: \0 stands where something was.
_MENDING = (
    (re.compile(rf"(?:[\s,;:，、；：–—-]|\b{_AND}\b)*\0[\s\0]*(?=[.!?…。！？]*$)", re.IGNORECASE), ""),
    (re.compile(rf"^[\s\0,;:，、；：)–—-]+(?:(?:{_AND}|but|so|aber|pero|но)\s+)?(?=\S)", re.IGNORECASE), ""),
    (re.compile(rf"([,;:，、；：(]|\b{_AND})\s*\0[\s\0]*(?:[,;，、；]\s*|\b(?={_AND}\b))", re.IGNORECASE), r"\1 "),
    (re.compile(rf"\s+{_AND}\s+\0[\s\0]*(?!{_AND}\b)", re.IGNORECASE), " "),
    (re.compile(rf"(?<=[{CJK}，、])\s*\0[\s\0]*|\0[\s\0]*(?=[{CJK}，。！？])"), ""),
    (re.compile(r"\s*\0[\s\0]*"), " "),
    (re.compile(r"(?<=[，、])\s+|\s+(?=[，、。！？])"), ""),
    (re.compile(r"\s+([.,;!?])"), r"\1"),
    (re.compile(r"[,，、](?=[.。!！])|(?<=[,，、])[,，、]"), ""),
    (re.compile(r"[ \t]{2,}"), " "),
)


def cut(text: str, gone: Sequence[Span], *, whole: Sequence[Span] = (), held: Sequence[Span] = ()) -> str | None:
    """Return ``text`` without the units that hold a span of ``gone``.

    Args:
        text: What was said.
        gone: Spans that must not remain.
        whole: Those of ``gone`` whose sentence goes altogether, unless it holds something of ``held``.
        held: Spans that still hold and should remain.

    Returns:
        None where too little is left to be worth quoting.
    """
    pieces: list[str] = []
    position = 0
    for start, end in sentences(text):
        inside = [span for span in gone if start <= span[0] < end]
        if inside:
            kept = [span for span in held if start <= span[0] < end]
            dropped = not kept and any(start <= span[0] < end for span in whole)
            rest = "" if dropped else _cut_sentence(text, (start, end), inside, kept)
        else:
            rest = text[start:end]
        if rest:
            pieces.append(text[position:start] if pieces else "")
            pieces.append(rest)
        position = end
    left = "".join(pieces).strip()
    return left if _is_worth_quoting(left) else None


def stands_beside(text: str, span: Span) -> bool:
    """Whether a span is only somebody with whom is done what a text tells ("I live in Oslo with my brother Tom")."""
    inside = (
        unit for sentence in sentences(text) for unit in units(text, sentence) if unit.start <= span[0] < unit.end
    )
    return any(_beside(text, unit, [span]) for unit in inside)


def _cut_sentence(text: str, sentence: Span, gone: Sequence[Span], held: Sequence[Span]) -> str:
    members = units(text, sentence)
    removed = [_removal(text, members, index, gone, held) for index in range(len(members))]
    spans: list[Span] = [span for group in removed for span in group]
    spans += [span for span in gone if not any(start <= span[0] < end for start, end in spans)]
    rest = _without(text, sentence, spans)
    lead_is_gone = bool(members) and any(span == (members[0].start, members[0].end) for span in spans)
    left = sum(not any(start <= unit.start < end for start, end in spans) for unit in members)
    if lead_is_gone and left <= 1 and is_question(rest) and not held:
        return ""
    return rest if _is_worth_quoting(rest) else ""


def _removal(text: str, members: Sequence[Unit], index: int, gone: Sequence[Span], held: Sequence[Span]) -> list[Span]:
    """Return what goes of one unit: nothing, the value alone, or the unit and what hangs on it."""
    unit = members[index]
    inside = [span for span in gone if unit.start <= span[0] < unit.end]
    if not inside:
        return []
    if (beside := _beside(text, unit, inside)) is not None:
        return [beside]
    following = members[index + 1] if index + 1 < len(members) else None
    tail = text[inside[-1][1] : unit.end].strip()
    if following is not None and _leads_list(text, unit, following, inside[-1]):
        phrases = [_phrase(text, unit, span) for span in inside]
        return [*phrases[:-1], (phrases[-1][0], following.start)]
    kept = any(unit.start <= span[0] < unit.end for span in held)
    if kept or _is_cjk_list(text, unit, inside) or (unit.member and tail) or _is_aside(text, unit, inside):
        return [_phrase(text, unit, span) for span in inside]
    before = members[index - 1] if index else None
    leads = before is not None and (
        _is_equated(text, before, unit, held) or _is_apposed(text, before, unit, inside, held)
    )
    start = before.start if before is not None and leads else unit.start
    if following is not None and _hangs(text, following, held):
        return [(start, following.end)]
    return [(start, unit.end)]


def _leads_list(text: str, unit: Unit, following: Unit, last: Span) -> bool:
    """Whether the value is the first member of a list whose verb stands before it."""
    if _ACTS.match(text[following.start : following.end]):
        return False
    if unit.member or not (following.member and following.coordinated) or text[last[1] : unit.end].strip():
        return False
    return _NAMING.search(text[unit.start : last[0]]) is None


def _beside(text: str, unit: Unit, inside: Sequence[Span]) -> Span | None:
    """Return the whole of "with my brother Tom", where that ends the unit and something is told without it."""
    start, end = inside[0][0], inside[-1][1]
    companion = _COMPANION.search(text, unit.start, start)
    if companion is None or not text[start:end][:1].isupper() or text[end : unit.end].strip(" ."):
        return None
    is_telling = len(words(text[unit.start : companion.start()])) >= _LEAST_BESIDE
    return (companion.start(), end) if is_telling else None


def _is_aside(text: str, unit: Unit, inside: Sequence[Span]) -> bool:
    """Whether the unit is about something else: the value is what something came instead of, or a mere number."""
    if len(inside) != 1:
        return False
    start, end = inside[0]
    if _INSTEAD.search(text[unit.start : start]):
        return True
    rest = text[unit.start : start] + " " + text[end : unit.end]
    is_number = any(char.isdigit() for char in text[start:end])
    return is_number and _NAME.search(rest[1:]) is not None and not _NAMING.search(text[unit.start : start])


def _is_equated(text: str, before: Unit, unit: Unit, held: Sequence[Span]) -> bool:
    """Whether a dash or colon makes the unit what the one before is said to be ("my browser: …")."""
    if any(before.start <= span[0] < before.end for span in held) or len(words(text[before.start : before.end])) > 5:
        return False
    return re.search("[:：—–]|\\s-\\s", text[before.end : unit.start]) is not None


def _is_apposed(text: str, before: Unit, unit: Unit, inside: Sequence[Span], held: Sequence[Span]) -> bool:
    """Whether the unit is no more than the name of who the one before speaks of ("I see a therapist, Inga Lvovna")."""
    if before.member or any(before.start <= span[0] < before.end for span in held):
        return False
    if len(words(text[before.start : before.end])) > 5:
        return False
    names = text[unit.start : unit.end].strip()
    is_whole = inside[0][0] == unit.start and inside[-1][1] >= unit.start + len(names)
    if not is_whole or text[before.end : unit.start].strip() != ",":
        return False
    return (
        _FULL_NAME.fullmatch(names) is not None
        and text[before.end - 1].islower()
        and _PERSON.search(text[before.start : before.end]) is not None
    )


def _hangs(text: str, following: Unit, held: Sequence[Span]) -> bool:
    if any(following.start <= span[0] < following.end for span in held):
        return False
    if following.member or _NEW_NOUN.match(text[following.start : following.end]):
        return False
    return _RELATIVE.match(text[following.start : following.end]) is not None


def _is_cjk_list(text: str, unit: Unit, inside: Sequence[Span]) -> bool:
    piece = text[unit.start : unit.end]
    if not HAS_CJK.search(piece):
        return False
    start = _before_counter(text, unit, inside[0][0])
    if piece.count(text[start : inside[0][0]] or piece) > 1:  # "一台捷达一台途观"
        return True
    before, after = text[start - 1 : start], text[inside[-1][1] : inside[-1][1] + 1]
    return bool(start > unit.start and _CJK_LIST.match(before)) or bool(
        inside[-1][1] < unit.end and _CJK_LIST.match(after)
    )


def _before_counter(text: str, unit: Unit, start: int) -> int:
    match = _COUNTED_CJK.search(text[unit.start : start])
    return unit.start + match.start() if match else start


def _phrase(text: str, unit: Unit, span: Span) -> Span:
    """Widen a value to the articles and prepositions that lean on it."""
    span = (_before_counter(text, unit, span[0]), span[1])
    before = text[unit.start : span[0]]
    match = _LEANING.search(before) or _LEANING_CJK.search(before)
    start = unit.start + match.start() if match else span[0]
    end = span[1]
    if (name := _ITS_NAME.match(text, end, unit.end)) is not None:
        end = name.end()
    if HAS_CJK.search(text[start:end]) and end < unit.end and text[end] in "和与跟及、":
        end += 1
    elif HAS_CJK.search(text[start:end]) and start > unit.start and text[start - 1] in "和与跟及、":
        start -= 1
    return start, end


def _without(text: str, sentence: Span, spans: Sequence[Span]) -> str:
    """Return the sentence without ``spans`` and the separators that they leave behind."""
    rest: list[str] = []
    position = sentence[0]
    for start, end in sorted(spans):
        rest.append(text[position:start])
        position = max(position, end)
    rest.append(text[position : sentence[1]])
    joined = "\0".join(rest)
    for pattern, replacement in _MENDING:
        joined = pattern.sub(replacement, joined)
    return joined.strip()


def _is_worth_quoting(text: str) -> bool:
    found = words(text)
    return len(found) >= (4 if HAS_CJK.search(text) else _MIN_WORDS)
