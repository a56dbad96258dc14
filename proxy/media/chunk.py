"""Chunking of documents by their structure, and their outlines; pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from proxy.media.base import Content, Page, Piece
from proxy.media.structure import Block, Section, blocks, sections

TARGET_CHARS = 800
MAX_CHARS = 1100
OVERLAP_CHARS = 160
OUTLINE_CHARS = 2000

_SMALL = 0.35  # of the target: a shorter section is merged with the next of its level
_EARLY = 0.6  # of the target: minimum to end a chunk before a paragraph that does not fit
_SENTENCE_END = re.compile(
    r"""(?<!\n\d\.)(?<!\n\d\d\.)(?<![\s.][A-Z]\.)(?<!\bSt\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bcf\.)"""
    r"""(?<=[.!?…])["'”’»)\]]*\s+"""
    r"""|(?<=[。！？；])["'”’」』）]*\s*|\n(?=[^\S\n]*+(?:[-*•·–]|\d{1,3}[.)])\s)"""
)
_BLANK_LINES = re.compile(r"\n\s*\n")
_ENDED = re.compile(r"""[.!?…。！？:;]["'”’»)\]]*\s*\Z""")
_SOURCE = ("text/x-source", "application/json", "application/xml", "application/x-ndjson", "image/svg+xml")


@dataclass(frozen=True, slots=True)
class _Atom:
    """Unit that is cut only if it does not fit: a sentence, a row, some lines of code.

    Args:
        lead: The table's head, repeated if a chunk begins with this row.
        is_first: True if it begins a block.
        is_prose: True if it may be repeated at the beginning of the next chunk.
    """

    start: int
    end: int
    lead: str = ""
    is_first: bool = False
    is_prose: bool = False


def chunks(
    content: Content, target_chars: int = TARGET_CHARS, max_chars: int = MAX_CHARS, overlap_chars: int = OVERLAP_CHARS
) -> list[Piece]:
    """Return a document's chunks in order.

    A chunk never crosses a page, nor a heading of its level or above, unless the sections are very short. Tables
    are cut between rows and repeat their head, code at blank lines, paragraphs between sentences. Every word of
    the document is in the text or the heading of a chunk.

    Args:
        content: The document.
        target_chars: Target length.
        max_chars: Maximum length; at least the target.
        overlap_chars: Maximum length of a sentence that is repeated at the beginning of the next chunk.
    """
    pieces: list[Piece] = []
    path: list[tuple[int, str]] = []
    left_open = ""  # last sentence of the previous page, if the page's end cut it
    for page in content.pages:
        if page.label:
            path = [(0, page.label)]
        packer = _Packer(page.text, target_chars, max(max_chars, target_chars), overlap_chars)
        found = _sections(content, page)
        groups = _groups(page.text, found, int(_SMALL * target_chars), target_chars)
        for group in groups:
            begin, path = _entered(path, page.text, group)
            heading = " > ".join(_once([title for _, title in path]))
            for text in packer.packed(begin, group[-1].end):
                pieces.append(Piece(len(pieces), page.number, heading, text))
            path = _under(path, group)
        left_open = _continued(pieces, page, left_open, max_chars, overlap_chars)
    return pieces


def outline(content: Content, max_chars: int = OUTLINE_CHARS) -> str:
    """Return headings and page labels with page numbers, one a line; omit deep levels to fit ``max_chars``."""
    rows: list[tuple[int, str, int]] = []
    for page in content.pages:
        found = _sections(content, page)
        titles = [(one.level, one.title, page.number) for one in found if one.title]
        if page.label and page.label not in {title for _, title, _ in titles[:1]}:
            titles.insert(0, (1, page.label, page.number))
        rows += titles
    rows = [row for before, row in pairwise([(0, "", 0), *rows]) if row[1] != before[1]]
    for deepest in range(max((level for level, _, _ in rows), default=0), 0, -1):
        kept = [row for row in rows if row[0] <= deepest]
        text = "\n".join(_outlined(row, several=len(content.pages) > 1) for row in kept)
        if len(text) <= max_chars:
            return text
    return text[: max_chars - 1].rpartition("\n")[0] + "\n…" if rows else ""


def _sections(content: Content, page: Page) -> list[Section]:
    is_plain = content.media_type == "text/plain"
    return sections(page.text, with_headings=content.media_type not in _SOURCE, with_chapters=is_plain)


def _outlined(row: tuple[int, str, int], *, several: bool) -> str:
    level, title, number = row
    return "  " * (level - 1) + title[:120] + (f" (p. {number})" if several else "")


def _groups(text: str, found: Sequence[Section], small: int, target: int) -> Iterator[list[Section]]:
    """Merge very short sections with the following ones on their level or below."""
    group: list[Section] = []
    for section in found:
        if group:
            size, whole = group[-1].end - group[0].start, section.end - group[0].start
            is_below = section.level >= max(group[0].level, 1) and group[0].level
            is_bare = not text[group[-1].body : group[-1].end].strip()
            if is_below and ((whole <= target and size < small) or is_bare):
                group.append(section)
                continue
            yield group
        group = [section]
    if group:
        yield group


def _entered(path: list[tuple[int, str]], text: str, group: Sequence[Section]) -> tuple[int, list[tuple[int, str]]]:
    """Return the start of a group's text, and the headings above the whole group."""
    begin = group[0].start
    for at, section in enumerate(group):
        path = _under(path, [section])
        begin = section.body if section.title else section.start
        after = group[at + 1] if at + 1 < len(group) else None
        if text[section.body : section.end].strip() or after is None or after.level <= section.level:
            break
    is_lost = not text[section.body : section.end].strip() and section.title
    return (section.start if is_lost else begin), path


def _under(path: list[tuple[int, str]], group: Sequence[Section]) -> list[tuple[int, str]]:
    for section in group:
        if section.level:
            path = [*(one for one in path if one[0] < section.level), (section.level, section.title)]
    return path


def _once(titles: Sequence[str]) -> list[str]:
    return [title for before, title in pairwise(["", *titles]) if title != before]


class _Packer:
    """Packer of one page's blocks into chunks."""

    def __init__(self, text: str, target: int, most: int, overlap: int) -> None:
        self._text, self._target, self._most, self._overlap = text, target, most, min(overlap, most // 4)

    def packed(self, start: int, end: int) -> Iterator[str]:
        """Yield the chunks between two offsets, of about equal lengths."""
        atoms = [atom for block in blocks(self._text, start, end) for atom in self._atoms(block)]
        if not atoms:
            return
        size = atoms[-1].end - atoms[0].start
        aim = size / math.ceil(size / self._target) if size > self._most else self._most
        first = 0
        for index in range(1, len(atoms) + 1):
            if index == len(atoms) or self._is_full(atoms, first, index, aim):
                if text := self._slice(atoms, first, index):
                    yield text
                first = index

    def _is_full(self, atoms: Sequence[_Atom], first: int, index: int, aim: float) -> bool:
        """Return whether a chunk that begins with atom ``first`` ends before atom ``index``."""
        begin = self._begin(atoms, first)
        lead = len(atoms[first].lead) + 1
        if atoms[index].end - begin + lead > self._most:
            return True
        size = atoms[index].start - begin
        if size >= aim:
            return True
        if not atoms[index].is_first or size < _EARLY * aim:
            return False
        after = next((at for at in range(index + 1, len(atoms)) if atoms[at].is_first), len(atoms))
        return atoms[after - 1].end - begin + lead > self._most

    def _begin(self, atoms: Sequence[_Atom], first: int) -> int:
        """Return the start of a chunk, including the previous sentence if it is short."""
        if first < 2 or not (atoms[first].is_prose and atoms[first - 1].is_prose):
            return atoms[first].start
        before = atoms[first - 1]
        is_short = before.end - before.start <= self._overlap and atoms[first].end - before.start <= self._most
        return before.start if is_short else atoms[first].start

    def _slice(self, atoms: Sequence[_Atom], first: int, stop: int) -> str:
        text = self._text[self._begin(atoms, first) : atoms[stop - 1].end].strip()
        return f"{atoms[first].lead}\n{text}" if atoms[first].lead else text

    def _atoms(self, block: Block) -> Iterator[_Atom]:
        if block.kind == "table":
            yield from self._rows(block)
            return
        is_prose = block.kind == "text"
        parts = _SENTENCE_END if is_prose else _BLANK_LINES
        at = block.start
        for found in parts.finditer(self._text, block.start, block.end):
            if found.end() > at:
                yield from self._cut(_Atom(at, found.end(), is_first=at == block.start, is_prose=is_prose))
                at = found.end()
        if at < block.end:
            yield from self._cut(_Atom(at, block.end, is_first=at == block.start, is_prose=is_prose))

    def _rows(self, block: Block) -> Iterator[_Atom]:
        head = self._text[block.start : block.start + block.head].strip()
        lead = head if len(head) <= self._most // 3 else ""
        at, place = block.start, block.start + block.head
        while place < block.end:
            stop = self._text.find("\n", place, block.end) + 1 or block.end
            yield from self._cut(_Atom(at, stop, lead="" if at == block.start else lead, is_first=at == block.start))
            at = place = stop
        if at < block.end:
            yield from self._cut(_Atom(at, block.end, is_first=True))

    def _cut(self, atom: _Atom) -> Iterator[_Atom]:
        """Cut an atom that does not fit into a chunk: at lines, else between words, else anywhere."""
        most = max(self._most - len(atom.lead) - 1, 1)
        while atom.end - atom.start > most:
            window = self._text[atom.start : atom.start + most]
            at = max(window.rfind("\n") + 1, 0)
            if at < most // 3:
                at = max(window.rfind(" "), window.rfind("\t"), window.rfind("，"), window.rfind("、")) + 1
            stop = atom.start + (at if at >= most // 3 else most)
            yield replace(atom, end=stop, is_prose=False)
            atom = replace(atom, start=stop, is_first=False, is_prose=False)
        yield atom


def _continued(pieces: list[Piece], page: Page, left_open: str, max_chars: int, overlap_chars: int) -> str:
    """Prepend the previous page's open sentence to a page's first chunk; return this page's open sentence."""
    first = next((at for at, piece in enumerate(pieces) if piece.page == page.number), None)
    if first is None:
        return left_open
    piece = pieces[first]
    is_new = page.label or page.text.lstrip().startswith(("#", "|", "```"))
    if left_open and not is_new and len(left_open) + 1 + len(piece.text) <= max_chars:
        pieces[first] = replace(piece, text=f"{left_open}\n{piece.text}")
    last = pieces[-1].text
    if _ENDED.search(last) or last.endswith(("|", "```")):
        return ""
    begin = max((found.end() for found in _SENTENCE_END.finditer(last)), default=0)
    return last[begin:] if len(last) - begin <= overlap_chars else ""
