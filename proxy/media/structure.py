"""Structure of a page as offsets in its text: sections under headings, with paragraphs, tables and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["text", "table", "code"]

_HEADING = re.compile(r"(#{1,6})[ \t]++(\S(?>(?:[^\n \t#]++|[ \t#]++(?!$))*))[ \t#]*+$")
_CHAPTER = re.compile(
    r"(?i:(book|part|teil|buch|partie|livre|parte|libro|часть|том)|chapter|kapitel|chapitre|cap[ií]tulo|capitolo|глава)"
    r"[ \t]+(?:[IVXLCDM]{1,8}|\d{1,3}|[A-ZÀ-ÝА-Я][\w-]{2,14})\b[.:]?(?:[ \t]+\S.{0,60})?$"
    r"|(?:第[一二三四五六七八九十百\d]{1,5}[章回部卷])"
)
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_ROW = re.compile(r"\A\s*+\|.*\|\s*$")
_RULE = re.compile(r"\A\s*+\|(?>(?:\s*+:?-++:?\s*+\|)+)\s*+$")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, table or piece of code, ``text[start:end]`` of its page; ``head`` is the length of a table head."""

    kind: BlockKind
    start: int
    end: int
    head: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """Content under one heading.

    Args:
        level: Level of the heading, from 1; 0 before the first one.
        title: Text of the heading.
        start: Offset of the heading's line.
        body: Offset of the text below it.
        end: Offset of the next heading's line.
    """

    level: int
    title: str
    start: int
    body: int
    end: int


def sections(text: str, *, with_headings: bool = True, with_chapters: bool = False) -> list[Section]:
    """Return a page's sections in order; together they cover the whole text.

    Args:
        text: Text of the page.
        with_headings: Whether lines that begin with ``#`` are headings.
        with_chapters: Whether lines like "Chapter IV" between blank lines are headings.
    """
    found: list[Section] = []
    level, title, start, body = 0, "", 0, 0
    fence = ""
    for at, line in _lines(text, 0, len(text)):
        if marks := _FENCE.match(line):
            fence = "" if fence and marks[1].startswith(fence) else fence or marks[1]
        heading = _heading(line) if with_headings and not fence else None
        if with_chapters and not heading:
            heading = _chapter(text, at, line)
        if heading:
            if at:
                found.append(Section(level, title, start, body, at))
            level, title, start, body = *heading, at, at + len(line)
    found.append(Section(level, title, start, body, len(text)))
    return found


def _heading(line: str) -> tuple[int, str] | None:
    found = _HEADING.match(line)
    return (len(found[1]), found[2]) if found else None


def _chapter(text: str, at: int, line: str) -> tuple[int, str] | None:
    """Return level and text of a line between blank lines that names a part or chapter, else None."""
    found, end = _CHAPTER.match(line.rstrip()), at + len(line)
    is_alone = text[max(at - 2, 0) : at] in ("", "\n", "\n\n") and text[end : end + 1] in ("", "\n")
    return (1 if found[1] else 2, line.strip()) if found and is_alone else None


def blocks(text: str, start: int, end: int) -> Iterator[Block]:
    """Yield the paragraphs, tables and fenced code between two offsets, in order."""
    lines = list(_lines(text, start, end))
    index = 0
    while index < len(lines):
        at, line = lines[index]
        if not line.strip():
            index += 1
            continue
        last = _last_line(lines, index)
        stop = lines[last][0] + len(lines[last][1])
        if _ROW.match(line):
            yield Block("table", at, stop, head=_head(lines, index))
        else:
            yield Block("code" if _FENCE.match(line) else "text", at, stop)
        index = last + 1


def _last_line(lines: list[tuple[int, str]], first: int) -> int:
    """Return the index of the last line of the block that begins at line ``first``."""
    fence, index = _FENCE.match(lines[first][1]), first + 1
    if fence:
        while index < len(lines) and not lines[index][1].strip().startswith(fence[1]):
            index += 1
        return min(index, len(lines) - 1)
    in_table = bool(_ROW.match(lines[first][1]))
    while index < len(lines) and (line := lines[index][1]).strip():
        if bool(_ROW.match(line)) != in_table or _FENCE.match(line):
            break
        index += 1
    return index - 1


def _head(lines: list[tuple[int, str]], index: int) -> int:
    """Return the length of a table's head, which a rule ends; 0 if it has none."""
    if index + 1 < len(lines) and _RULE.match(lines[index + 1][1]):
        return len(lines[index][1]) + len(lines[index + 1][1])
    return 0


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield offset and text of each line, with its line break."""
    at = start
    while at < end:
        stop = text.find("\n", at, end) + 1 or end
        yield at, text[at:stop]
        at = stop
