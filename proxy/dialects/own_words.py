"""Find the spans of a text that the user wrote, inside the wrappers of a client. Pure.

If there is a slot for the user's text (a tag or a last label), only its content counts; else the text remaining after
all fenced material, and the template's sentences about it, are cut. The lists are data: ``wrappers``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache

from proxy.dialects.cuts import Cut, cuts
from proxy.dialects.wrappers import pattern
from proxy.text.words import Span

MAX_INTRO = 400  # characters of a sentence that introduces a block
_LABEL = (
    r"^[ \t]*(?:[#>*_]{{1,6}}[ \t]*)?(?:the )?(?P<label>{})"
    r"(?P<mark>\**[ \t]*[:：][ \t]*\**|[ \t]*\n[ \t]*[-=*~]{{3,}}[ \t]*$|(?<=】)|(?=\n)(?<=[】:：]))"
)
_HEADING = r"^[ \t]*#{{1,6}}[ \t]+\**(?P<label>{})\**[ \t]*[:：]?[ \t]*$"
_STRONG_HEADING = r"^[ \t]*(?:#{{1,6}}[ \t]+|\*\*)(?P<label>{})(?P<mark>\**[ \t]*[:：]?\**[ \t]*)$"
_INSTRUCTS = re.compile(
    r"\b(?:context|document|source|passage|excerpt|knowledge|information|material|question|query|answer|reply|respond|input"
    r"|citation|history|conversation|kontext|dokument|quelle|frage|antwort|wissen|contexto|fuente|pregunta|respuesta|respond|consulta"
    r"|contexte|source|réponse|répond|fonte|pergunta|resposta|контекст|документ|источник|вопрос|ответ|знани)\w*"
    r"|上下文|资料|文档|知识|问题|回答|来源|文脈|資料|質問|回答|문맥|질문|답변",
    re.IGNORECASE,
)
_ANY_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]", re.MULTILINE)
_SECTION = re.compile(r"^[ \t]*#{1,6}[ \t]+[^\n]{1,60}[:：][ \t]*$", re.MULTILINE)
_IN_QUOTES = re.compile(r"(?:\"{3}|\'{3}|`{3})(.*?)(?:\"{3}|\'{3}|`{3})", re.DOTALL)
_QUOTED = re.compile(r"\A\s*(?:\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|'([^'\n]+)')\s*\Z")
_LEAD = re.compile(r"[^.!?。！？\n:：]{1,200}[:：](?=\s*\S)")
_SENTENCE = re.compile(r"(?:\A|(?<=[.!?。！？\n]))[^.!?。！？\n]{1,400}[:：][ \t]*\Z")
_MENTIONS = re.compile(r"\s*(?:<[@#!][^<>\s]{1,60}>[\s,:]*)*")  # of a bot in Slack or Discord
FIRST_PERSON = re.compile(
    r"\b(?:I|I['’]\w+|my|me|mine|we|our|(?-i:us)|ich|mein\w*|mir|mich|wir|unser\w*|yo|mis?|me|nosotr[oa]s|nuestr\w+|je|j['’]\w+|mon|ma|mes|nous|notre"
    r"|eu|meus?|minhas?|nós|я|мне|меня|мо[йяиеё]\w*|мы|нас|наш\w*)\b|[我咱俺私僕]|저|나는|내",
    re.IGNORECASE,
)


def own_spans(text: str) -> list[Span]:
    """Return the spans of one text that the user wrote, in order, without surrounding whitespace."""
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return _trimmed(text, [quoted.span(quoted.lastindex or 0)])
    found = cuts(text)
    if any(cut.is_slot for cut in found):
        return [span for cut in found if cut.is_slot for span in _inside(text, cut)]
    tail = next((one for one in _tails().finditer(text) if not _is_cut(one.start(), found)), None)
    if tail is not None:
        return own_spans(text[: tail.start()])
    slot = _labelled(text, found)
    if slot is not None:
        return _trimmed(text, _without(slot, found))
    left = _without((0, len(text)), found)
    if found:
        left = _untemplated(text, left, found)
    return _trimmed(text, left)


def is_slotted(text: str) -> bool:
    """Return whether a text has tags that hold the user's words; an empty one, as of a command, holds none."""
    return "<" in text and any(cut.is_slot and text[slice(*cut.inner)].strip() for cut in cuts(text))


def tag_slots(text: str) -> list[Span]:
    """Return the user's spans in a tool's result: only those in slot tags."""
    return [span for cut in cuts(text) if cut.is_slot for span in _inside(text, cut)]


def is_observation(text: str) -> bool:
    """Return whether a text begins like a tool's result."""
    return _head("observation").match(text) is not None


def is_of_client(text: str) -> bool:
    """Return whether a text begins like a client's own note, and has no slot for the user's text."""
    return _head("client").match(text) is not None and _labelled(text, cuts(text)) is None


def speaks_in_first_person(text: str) -> bool:
    """Return whether a text has a first-person pronoun."""
    return FIRST_PERSON.search(text) is not None


def _inside(text: str, cut: Cut) -> list[Span]:
    """Return the user's spans inside a slot."""
    start, end = cut.inner
    inner = text[start:end]
    found = cuts(inner, opens_slots=False)
    left = _without((0, len(inner)), found)
    return [(start + a, start + b) for a, b in _trimmed(inner, _untemplated(inner, left, found) if found else left)]


def _labelled(text: str, found: Sequence[Cut]) -> Span | None:
    """Return the span after the last label of the user's text, None if there is no label."""
    ends = [match for match in _labels("end").finditer(text) if not _is_cut(match.start(), found)]
    strong = (*_labels("strong").finditer(text), *_strong_headings().finditer(text))
    for match in sorted(strong, key=lambda one: -one.start()):
        if not _is_cut(match.start(), found) and (span := _behind(text, match, ends)):
            return _inside_label(text, _without_intro(text, span))
    headings = list(_weak_headings().finditer(text))
    if headings and _template_headings().search(text, 0, headings[-1].start()):
        last = headings[-1].end()
        if text[last:].strip() and not _ANY_HEADING.search(text, last) and not _is_cut(last - 1, found):
            return _inside_label(text, (last, len(text)))
    for match in reversed(list(_labels("weak").finditer(text))):
        if _is_cut(match.start(), found) or _template_headings().match(text, match.start()):
            continue
        span = _behind(text, match, ends)
        if span and _is_answered(text, span[1]):
            continue
        if span and _is_filled_in(text, match, span, found):
            return _inside_label(text, span)
    return None


def _inside_label(text: str, span: Span) -> Span:
    """Return a label's span without the template's next section and last instructions, and without quotes."""
    start, stop = span
    section = _SECTION.search(text, start, stop) or _template_headings().search(text, start, stop)
    if section is not None and text[start : section.start()].strip():
        stop = section.start()
    quoted = _IN_QUOTES.match(text, stop - len(text[start:stop].lstrip()), stop)
    if quoted is not None:
        return quoted.span(1)
    stop = start + len(text[start:stop].rstrip())
    while (gap := text.rfind("\n\n", start, stop)) > start:
        last = text[gap:stop]
        if not text[start:gap].strip() or speaks_in_first_person(last) or not _INSTRUCTS.search(last):
            break
        stop = gap
    return start, stop


def _behind(text: str, label: re.Match[str], ends: Sequence[re.Match[str]]) -> Span | None:
    at = bisect_left(ends, label.end(), key=lambda end: end.start())
    stop = ends[at].start() if at < len(ends) else len(text)
    return (label.end(), stop) if text[label.end() : stop].strip() else None


def _is_answered(text: str, place: int) -> bool:
    """Return whether an assistant's reply starts here: then the text is a pasted transcript, not a template."""
    reply = _labels("replying").match(text, place)
    return reply is not None and bool(text[reply.end() :].partition("\n")[0].strip())


def _is_filled_in(text: str, label: re.Match[str], span: Span, found: Sequence[Cut]) -> bool:
    """Return whether a common word with a colon is a template's label, by its position or the text before it."""
    before = text[: label.start()]
    if not before.strip() or span[1] < len(text) or (found and found[0].end <= label.start()):
        return True
    if _labels("material").search(before) or _labels("end").search(before):
        return True
    opening = before.strip().partition("\n")[0][:MAX_INTRO]
    return bool(_INSTRUCTS.search(opening)) and not speaks_in_first_person(opening)


def _without_intro(text: str, span: Span) -> Span:
    """Return a span without a first paragraph that only introduces it."""
    inner = text[span[0] : span[1]]
    first, blank, rest = inner.lstrip().partition("\n\n")
    is_intro = bool(blank) and len(first) <= MAX_INTRO and first.rstrip().endswith((":", "："))
    return (span[1] - len(rest), span[1]) if is_intro and rest.strip() else span


def _untemplated(text: str, left: Sequence[Span], found: Sequence[Cut]) -> list[Span]:
    """Return the spans around cuts without a template's sentences about the cut material."""
    last, last_start = found[-1].end, found[-1].start
    has_words_behind = any(a >= last and text[a:b].strip() for a, b in left)
    kept = []
    for a, b in left:
        start, stop = a, b
        is_before = last_start >= b
        lead = None if is_before else _LEAD.match(text, b - len(text[a:b].lstrip()), b)
        if lead is not None and _INSTRUCTS.search(lead[0]) and not speaks_in_first_person(lead[0]):
            start = lead.end()
        heading = _template_headings().search(text, a, b)
        if heading is not None:
            stop = heading.start()
        elif is_before:
            intro = _SENTENCE.search(text[max(a, b - MAX_INTRO) : b].rstrip())
            if intro is not None and not speaks_in_first_person(intro[0]):
                stop = max(a, b - MAX_INTRO) + intro.start()
        piece = text[start:stop]
        is_template = (
            is_before and has_words_behind and bool(_INSTRUCTS.search(piece)) and not speaks_in_first_person(piece)
        )
        if not is_template:
            kept.append((start, stop))
    return kept


def _without(span: Span, found: Sequence[Cut]) -> list[Span]:
    """Return the parts of a span outside all cuts."""
    spans, at = [], span[0]
    for cut in found:
        if cut.end <= at or cut.start >= span[1]:
            continue
        if cut.start > at:
            spans.append((at, cut.start))
        at = max(at, cut.end)
    return [*spans, (at, span[1])] if at < span[1] else spans


def _trimmed(text: str, spans: Sequence[Span]) -> list[Span]:
    kept = []
    for a, b in spans:
        piece = text[a:b]
        lead = _MENTIONS.match(piece)
        start, end = a + (lead.end() if lead else 0), a + len(piece.rstrip())
        if start < end and any(char.isalnum() for char in text[start:end]):
            kept.append((start, end))
    return kept


def _is_cut(place: int, found: Sequence[Cut]) -> bool:
    at = bisect_right(found, place, key=lambda cut: cut.start)
    return at > 0 and place < found[at - 1].end


@cache
def _labels(name: str) -> re.Pattern[str]:
    return pattern("labels", name, around=_LABEL)


@cache
def _strong_headings() -> re.Pattern[str]:
    return pattern("labels", "strong", around=_STRONG_HEADING)


@cache
def _weak_headings() -> re.Pattern[str]:
    return pattern("labels", "weak", around=_STRONG_HEADING)


@cache
def _template_headings() -> re.Pattern[str]:
    return pattern("headings", "template", around=_HEADING)


@cache
def _tails() -> re.Pattern[str]:
    return pattern("heads", "tail", around=r"^[ \t]*{}")


@cache
def _head(name: str) -> re.Pattern[str]:
    return pattern("heads", name, around=r"\A\s*+[\s*_#>]{{0,40}}{}")
