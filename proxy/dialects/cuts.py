"""Find fenced material in a text: tags, code, comments, begin and end markers, diffs. Pure, one pass."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from proxy.dialects.wrappers import is_material, is_slot, is_text

_OPENS, _CLOSES = r"(?:\\?[<＜]|&lt;)", r"(?:\\?[>＞]|&gt;)"
_SHORT_RULE = re.compile(r"^[ \t]*-{3,4}[ \t]*$", re.MULTILINE)
_TAG = re.compile(
    rf"{_OPENS}(?P<close>\\?/?)(?P<name>[A-Za-z\u00c0-\uffdc][\w.:-]{{0,60}})"
    rf"(?P<rest>(?:[\s=/](?:(?!&[lg]t;)[^<>＜＞]){{0,2000}})?){_CLOSES}"
)
_COMMENT_END = re.compile(r"<!--\s*(?:/|END\b|ENDE\b|FIN\b|КОНЕЦ\b|结束)[^>]{0,200}-->", re.IGNORECASE)
_DECORATION = r"[-=*#<>\[\]{}()~_|+ \t]"
_BEGIN_WORD = "BEGIN|START|ANFANG|INICIO|DÉBUT|НАЧАЛО|开始"
_END_WORD = r"(?:END|ENDE|FIN|FINE|FIM|КОНЕЦ|结束)(?:[ \t]+(?:OF|DER|DES|DE|DEL|DO|DA))?(?![^\W_])|/"
_END_LINE = re.compile(
    rf"^(?:{_DECORATION}{{0,16}}(?:{_END_WORD})[ \t:_-]*(?P<name>[^\n]{{0,100}})"
    rf"|{_DECORATION}{{1,16}}(?P<before>[^\n]{{1,100}}?)[ \t_-](?:END|ENDE|FIN|КОНЕЦ|结束){_DECORATION}{{0,16}})$",
    re.IGNORECASE | re.MULTILINE,
)
MAX_ENDS = 50  # end lines of one name that are compared with a beginning
MAX_LEAD = 200  # characters of whitespace and quote markers (``>``) before a tag at the start of a line
STRETCH = 250_000  # characters searched in one call: 17 ms in which no other thread runs
_NAME = re.compile(r"\w+")
_LONE = re.compile(r"[a-z]{1,16}\Z")  # as <grin>
# Each alternative opens material at the start of a line, or is a comment or a tag anywhere.
_OPENING = re.compile(
    rf"""
      ^[ \t]{{0,8}}(?P<fence>`{{3,}}|~{{3,}})[^\n`]*$
    | (?P<comment><!--)
    | ^(?P<diff>diff[ ]--git[ ]|---[ ]\S[^\n]*\n\+\+\+[ ]|@@[ ]-\d)
    | ^[ \t]*(?P<rule>(?P<line>[-=*\#_~─═])(?P=line){{4,}})[ \t]*$
    | ^[ \t]*(?P<bracket>\[(?!/|END\b)(?P<bracketed>[^\[\]\n]{{2,80}})\])
    | ^(?P<marker>[ \t]*(?:[-=*\#<>{{(~_|+]{{1,16}}[ \t]*(?:(?:{_BEGIN_WORD})\b)?|(?:BEGIN|START)\b)
        [ \t]*(?P<marked>[^\n]{{2,100}}))$
    | (?P<tag>{_OPENS}(?=\\?/?[A-Za-z\u00c0-\uffdc]))
    | ^(?P<titled>[^\n]{{1,100}}[:：][ \t]*\n[ \t]*-{{3,4}}[ \t]*$)
    """,
    re.MULTILINE | re.VERBOSE | re.IGNORECASE,
)
# A fast pre-check: most of a long text has no line and no tag that could open material.
_OPENING_LINE = re.compile(r"\n[ \t]*+(?:[`~\-=*#_\u2500\u2550\[<>{(|+@]|diff |begin|start)", re.IGNORECASE)
_OPENING_TEXTS = ("<", "\uff1c", "&lt;")
_DIFF_LINE = re.compile(
    r"(?:diff --git |index |--- |\+\+\+ |@@ |[-+ \\]|new file|deleted file|similarity|rename |Binary )[^\n]*\n?|\n"
)


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a text from an opening to its end, both included.

    Attributes:
        start, end: Offsets of the whole part.
        inner: Offsets of its content.
        is_slot: Whether it holds the user's text.
    """

    start: int
    end: int
    inner: tuple[int, int]
    is_slot: bool = False


def cuts(text: str, *, opens_slots: bool = True) -> list[Cut]:
    """Return the fenced parts, in order, none inside another.

    Args:
        text: Any text.
        opens_slots: Mark tags that hold the user's text as slots, instead of cutting them as wrappers.
    """
    return _Scan(text, opens_slots=opens_slots).cuts()


def outside_elements(text: str, is_meant: Callable[[str], bool] | None = None) -> str:
    """Return a text without its elements, each from a tag at the start of a line to its end.

    Args:
        text: Any text.
        is_meant: Selects elements by tag name; None: all.
    """
    kept, at = [], 0
    for cut in cuts(text, opens_slots=False):
        tag = _TAG.match(text, cut.start)
        if tag is not None and (is_meant is None or is_meant(tag["name"])):
            kept.append(text[at : cut.start])
            at = max(at, cut.end)
    return "".join([*kept, text[at:]])


class _Scan:
    def __init__(self, text: str, *, opens_slots: bool) -> None:
        self._text = text
        self._opens_slots = opens_slots
        self._tags = list(_TAG.finditer(text)) if any(one in text for one in ("<", "＜", "&lt;")) else []
        self._tag_starts = [tag.start() for tag in self._tags]
        self._closes: dict[str, list[int]] = defaultdict(list)
        for at, tag in enumerate(self._tags):
            if tag["close"]:
                self._closes[tag["name"].casefold()].append(at)
        self._ends: dict[str, list[tuple[int, list[str], int]]] = defaultdict(list)
        for match in _END_LINE.finditer(text):
            named = _named(match["name"] or match["before"] or "")
            if named and not match[0].lstrip().startswith(("</", "&lt;/")):
                self._ends[named[0]].append((match.start(), named, match.end()))
        self._comment_ends = list(_COMMENT_END.finditer(text)) if "<!--" in text else []
        self._found: list[Cut] = []

    def cuts(self) -> list[Cut]:
        at = end = limit = 0
        while at < len(self._text):
            if at >= end:
                end, limit = self._stretch(at)
            match = _OPENING.search(self._text, at, limit) if limit else None
            if match is None:
                at = end
                continue
            cut = self._cut(match, at)
            if cut is None:
                at = self._after(match)
                continue
            if cut.start < at:  # an end without a beginning: all text before it is material
                self._found = []
            self._found.append(cut)
            at = max(cut.end, match.start() + 1)
        return self._found

    def _stretch(self, at: int) -> tuple[int, int]:
        """Return the end of the next stretch to search, and the limit of a match; limit 0 if nothing can open."""
        text = self._text
        end = text.rfind("\n", at + 1, at + STRETCH) + 1 or at + STRETCH
        if not self._may_open(at, end):
            return end, 0
        behind = text.find("\n", end, end + STRETCH) + 1 or end  # a diff opens with two lines
        return end, min(max(end, behind), len(text))

    def _may_open(self, start: int, end: int) -> bool:
        """Return whether material could open between two offsets."""
        text = self._text
        has_tag = any(text.find(one, start, end) >= 0 for one in _OPENING_TEXTS)
        return has_tag or not start or _OPENING_LINE.search(text, start - 1, end) is not None

    @staticmethod
    def _after(match: re.Match[str]) -> int:
        """Return the offset to continue from: a line that opens nothing may still hold a tag."""
        if match["marker"] is not None:
            lead = len(match[0]) - len(match[0].lstrip(" \t"))
            return match.start() + lead + (0 if lead else 1)
        return match.start() + 1 if match["bracket"] is None else match.end()

    def _cut(self, match: re.Match[str], since: int) -> Cut | None:
        if match["fence"]:
            return self._fence(match)
        if match["comment"]:
            return self._comment(match)
        if match["diff"]:
            return self._diff(match)
        if match["rule"]:
            return self._rule(match)
        if match["titled"]:
            return self._titled(match)
        if match["bracket"]:
            return self._marked(match, match["bracketed"], needs_name=True)
        tag = self._tag_near(match.start())
        if tag is not None:
            return self._tagged(tag, since)
        return self._marked(match, match["marked"], needs_name=False) if match["marker"] else None

    def _fence(self, match: re.Match[str]) -> Cut:
        fence = match["fence"]
        close = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        end = close.search(self._text, match.end())
        if end is None:
            return Cut(match.start(), len(self._text), (match.end(), len(self._text)))
        return Cut(match.start(), end.end(), (match.end(), end.start()))

    def _comment(self, match: re.Match[str]) -> Cut:
        end = self._text.find("-->", match.end())
        stop = end + 3 if end >= 0 else len(self._text)
        paired = next((one for one in self._comment_ends if one.start() > match.start()), None)
        if paired is not None:
            stop = paired.end()
            self._comment_ends = [one for one in self._comment_ends if one.start() > stop]
        return Cut(match.start(), stop, (match.end(), stop))

    def _diff(self, match: re.Match[str]) -> Cut:
        at = match.start()
        while at < len(self._text) and (line := _DIFF_LINE.match(self._text, at)):
            at = line.end()
        return Cut(match.start(), max(at, match.end()), (match.start(), at))

    def _rule(self, match: re.Match[str]) -> Cut | None:
        rule = re.compile(rf"^[ \t]*{re.escape(match['rule'])}[ \t]*$", re.MULTILINE)
        end = rule.search(self._text, match.end())
        return Cut(match.start(), end.end(), (match.end(), end.start())) if end else None

    def _titled(self, match: re.Match[str]) -> Cut | None:
        """Return the cut from a line that announces something to the last short rule: a page may hold some itself."""
        rules = list(_SHORT_RULE.finditer(self._text, match.end()))
        return Cut(match.start(), rules[-1].end(), (match.end(), rules[-1].start())) if rules else None

    def _marked(self, match: re.Match[str], name: str, *, needs_name: bool) -> Cut | None:
        """Return the cut from a marker to the end line of the same name."""
        own = _named(name)
        if not own or not (needs_name or _is_marker(match[0])):
            return None
        ends = self._ends.get(own[0], [])
        first = bisect_left(ends, match.end(), key=lambda end: end[0])
        for start, named, end in ends[first : first + MAX_ENDS]:
            if own[: len(named)] == named or named[: len(own)] == own:
                slot = self._opens_slots and is_slot(" ".join(own))
                return Cut(match.start(), end, (match.end(), start), slot)
        return None

    def _tag_near(self, position: int) -> int | None:
        """Return the index of the tag at an offset, after blanks."""
        lead = re.compile(r"[ \t]*").match(self._text, position)
        at = bisect_left(self._tag_starts, lead.end() if lead else position)
        is_there = at < len(self._tags) and lead is not None and self._tag_starts[at] == lead.end()
        return at if is_there else None

    def _tagged(self, at: int, since: int) -> Cut | None:
        tag = self._tags[at]
        name, is_line = tag["name"], self._opens_line(tag.start(), since)
        if is_text(name):
            return None
        slot = self._opens_slots and is_slot(name)
        if tag["close"]:
            ends_line = not self._text[tag.end() : tag.end() + 200].partition("\n")[0].strip()
            if not (is_line or ends_line):
                return None
            return Cut(tag.start() if slot else 0, tag.end(), (0, tag.start()))
        if not is_line and not is_material(name):
            return None
        if tag["rest"].rstrip().endswith("/"):
            return Cut(tag.start(), tag.end(), (tag.end(), tag.end()))
        return self._element(at, tag, slot=slot)

    def _element(self, at: int, tag: re.Match[str], *, slot: bool) -> Cut:
        name = tag["name"].casefold()
        closes = self._closes.get(name, [])
        first = bisect_left(closes, at)
        if first == len(closes):
            line = self._text[tag.end() : tag.end() + 400].partition("\n")[0].strip()
            is_lone = bool(line) and _LONE.match(tag["name"]) and not tag["rest"] and not is_material(name) and not slot
            end = tag.end() if is_lone else len(self._text)
            return Cut(tag.start(), end, (tag.end(), end), slot)
        close = self._tags[self._balanced(at, closes[-1], name) or closes[-1]]
        return Cut(tag.start(), close.end(), (tag.end(), close.start()), slot)

    def _balanced(self, at: int, last: int, name: str) -> int:
        depth = 0
        for place in range(at, last + 1):
            tag = self._tags[place]
            if tag["name"].casefold() == name and not tag["rest"].rstrip().endswith("/"):
                depth += -1 if tag["close"] else 1
                if depth == 0:
                    return place
        return 0

    def _opens_line(self, position: int, since: int) -> bool:
        first = max(since, position - MAX_LEAD)
        begin = max(self._text.rfind("\n", first, position) + 1, first)
        is_near = begin > first or first == since or self._text[first - 1] == "\n"
        return is_near and not self._text[begin:position].strip(" \t>*-")


def _is_marker(line: str) -> bool:
    """Return whether a line opens material by its form: BEGIN, or decoration on both sides."""
    stripped = line.strip().rstrip(":")
    is_named = re.match(rf"{_DECORATION}{{0,16}}(?:{_BEGIN_WORD})\b", stripped, re.IGNORECASE)
    return bool(is_named) or (len(stripped) > 2 and not stripped[0].isalnum() and not stripped[-1].isalnum())


def _named(name: str) -> list[str]:
    found = [word.casefold() for word in _NAME.findall(name)]
    return [word for word in found if word.upper() not in _BEGIN_WORD.split("|")]
