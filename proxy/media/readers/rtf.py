"""Reader of RTF (specification 1.9.1): text, paragraphs and tables, without styles, pictures and objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import table
from proxy.media.readers.plain import code_page

_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,40})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n\\]"
)
_SKIPPED = frozenset(
    b"fonttbl colortbl stylesheet listtable listoverridetable rsidtbl generator xmlnstbl themedata colorschememapping "
    b"latentstyles datastore pict object header headerl headerr headerf footer footerl footerr footerf fldinst "
    b"info mmathPr pgptbl filetbl revtbl nonshppict bkmkstart bkmkend listtext pntext template author operator".split()
)
_SIGNS = {
    b"line": "\n", b"tab": "\t", b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“",
    b"rdblquote": "”", b"bullet": "•", b"emspace": " ", b"enspace": " ", b"qmspace": " ",
}  # fmt: skip
_CHARSETS = {
    0: 1252, 77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256,
    186: 1257, 204: 1251, 222: 874, 238: 1250,
}  # fmt: skip
_NAMED = {b"mac": 10000, b"pc": 437, b"pca": 850}
_MAX_DEPTH = 10_000
_LEVELS = range(9)


@dataclass(frozen=True, slots=True)
class _Group:
    """Formatting state inside a pair of braces."""

    is_skipped: bool = False
    unit: int = 1  # length of the fallback bytes of a Unicode character
    font: int = 0
    is_fonts: bool = False
    is_title: bool = False
    is_hidden: bool = False


@dataclass(slots=True)
class _Page:
    """Content of a page so far: finished blocks, the open table and its cells."""

    blocks: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    line: list[str] = field(default_factory=list)

    def end_paragraph(self, level: int | None) -> None:
        """End a paragraph outside tables."""
        self.end_table()
        text = "".join(self.line).strip()
        if text:
            self.blocks.append(f"{'#' * (level + 1)} {text}" if level is not None else text)
        self.line.clear()

    def end_cell(self) -> None:
        self.cells.append(" ".join("".join(self.line).split()))
        self.line.clear()

    def end_row(self) -> None:
        self.rows.append(self.cells)
        self.cells = []

    def end_table(self) -> None:
        if self.rows:
            self.blocks.append(table(self.rows))
            self.rows = []

    def text(self) -> str:
        """Return the whole text."""
        if self.cells:
            self.end_row()
        self.end_paragraph(None)
        return "\n\n".join(self.blocks)


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the text; page breaks separate pages."""
    del limits
    data = path.read_bytes()
    reader = _Reader()
    reader.feed(data, tell)
    texts = [text for page in reader.pages if (text := page.text())]
    pages = tuple(Page(number, text) for number, text in enumerate(texts, 1))
    return Content(sniffed.media_type, pages, title="".join(reader.title).strip())


class _Reader:
    """Single-pass RTF parser; groups are on an explicit stack, so that deep nesting needs no recursion."""

    def __init__(self) -> None:
        self.pages = [_Page()]
        self.title: list[str] = []
        self._groups: list[_Group] = []
        self._now = _Group()
        self._codepage = 1252
        self._fonts: dict[int, int] = {}
        self._bytes = bytearray()  # text in a code page, not decoded yet
        self._skip = 0  # fallback characters of a Unicode one, still to skip
        self._level: int | None = None
        self._is_table = False
        self._is_starred = False
        self._high = 0

    def feed(self, data: bytes, tell: Callable[[float], None]) -> None:
        at, told = 0, 0
        while (token := _TOKEN.match(data, at)) is not None:
            at = token.end()
            if at - told > 1_000_000:
                told = at
                tell(at / len(data))
            kind = token.lastgroup
            if kind == "text":
                self._plain(token["text"])
            elif kind == "hex":
                self._plain(bytes([int(token["hex"], 16)]))
            elif kind == "brace":
                self._flush()
                self._brace(is_open=token["brace"] == b"{")
            elif kind == "sign":
                self._sign(token["sign"])
            elif kind in ("word", "number"):
                number = token["number"]
                at = self._word(token["word"], int(number) if number is not None else None, at)
        self._flush()

    def _brace(self, *, is_open: bool) -> None:
        self._skip, self._is_starred = 0, False
        if is_open:
            if len(self._groups) >= _MAX_DEPTH:
                raise MediaRefused("The file nests its groups too deeply.", "malformed")
            self._groups.append(self._now)
        elif self._groups:
            self._now = self._groups.pop()

    def _plain(self, data: bytes) -> None:
        if self._skip:
            skipped = min(self._skip, len(data))
            self._skip -= skipped
            data = data[skipped:]
        if data and not self._now.is_skipped and not self._now.is_hidden:
            self._bytes += data

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self._is_starred = True
        elif sign in (b"\n", b"\r"):
            self._word(b"par", None, 0)
        elif sign in (b"\\", b"{", b"}"):
            self._plain(sign)
        elif sign in (b"~", b"_"):
            self._flush()
            self._put("\u00a0" if sign == b"~" else "-")

    def _word(self, word: bytes, number: int | None, at: int) -> int:
        """Process a control word; return the offset to continue at."""
        if word == b"u" and number is not None:
            self._unicode(number % 65536)
            return at
        if word == b"bin":
            return at + max(0, number or 0)
        self._flush()
        is_starred, self._is_starred = self._is_starred, False
        if word == b"title":
            self._now = replace(self._now, is_title=True, is_skipped=False)
        elif word == b"fonttbl":
            self._now = replace(self._now, is_fonts=True, is_skipped=True)
        elif word in _SKIPPED or (is_starred and word != b"shppict"):
            self._now = replace(self._now, is_skipped=True)
        elif word in _SIGNS:
            self._put(_SIGNS[word])
        elif word in (b"uc", b"f", b"v"):
            self._format(word, number)
        elif word in (b"ansicpg", b"fcharset", b"mac", b"pc", b"pca"):
            self._charset(word, number)
        elif not self._now.is_skipped:
            self._layout(word, number)
        return at

    def _format(self, word: bytes, number: int | None) -> None:
        if word == b"uc":
            self._now = replace(self._now, unit=min(max(number if number is not None else 1, 0), 8))
        elif word == b"f":
            self._now = replace(self._now, font=number or 0)
        else:
            self._now = replace(self._now, is_hidden=number != 0)

    def _charset(self, word: bytes, number: int | None) -> None:
        if word == b"fcharset":
            if self._now.is_fonts and number in _CHARSETS:
                self._fonts[self._now.font] = _CHARSETS[number]
        else:
            self._codepage = number or 1252 if word == b"ansicpg" else _NAMED[word]

    def _layout(self, word: bytes, number: int | None) -> None:
        page = self.pages[-1]
        if word in (b"par", b"sect"):
            if self._is_table:
                page.line.append(" ")
            else:
                page.end_paragraph(self._level)
        elif word == b"pard":
            self._level, self._is_table = None, False
        elif word == b"outlinelevel":
            self._level = number if number in _LEVELS else None
        elif word == b"intbl":
            self._is_table = True
        elif word in (b"cell", b"nestcell"):
            page.end_cell()
        elif word in (b"row", b"nestrow"):
            page.end_row()
        elif word == b"page":
            self.pages.append(_Page())

    def _unicode(self, code: int) -> None:
        self._flush()
        self._skip = self._now.unit
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            if self._high:
                self._put(chr(0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00))
            self._high = 0
        else:
            self._put(chr(code))

    def _flush(self) -> None:
        """Decode the pending code page bytes; the bytes of one character may come in several tokens."""
        if self._bytes:
            page = self._fonts.get(self._now.font, self._codepage)
            self._put(bytes(self._bytes).decode(code_page(page), "replace"))
            self._bytes.clear()

    def _put(self, text: str) -> None:
        if self._now.is_title:
            self.title.append(text)
        elif not self._now.is_skipped and not self._now.is_hidden:
            self.pages[-1].line.append(text)
