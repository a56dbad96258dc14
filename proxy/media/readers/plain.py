"""Reader of plain text, source code and Markdown: detects the encoding and keeps the text unchanged."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from pathlib import Path

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits

_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ufffe\uffff\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_TRAILING = re.compile(r"(?<![ \t\u00a0])[ \t\u00a0]++$", re.MULTILINE)
_SHORT_BYTES = 300
_FEW = 0.25
_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøœùúûüýÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØŒÙÚÛÜÝŸ«»“”„‘’‚–—…€£§°©®¿¡·•\xa0")
_SAMPLE_BYTES = 2**18
_CODE_PAGES = {10000: "mac_roman", 20127: "ascii", 28591: "latin-1", 65001: "utf-8"}
_TITLE = re.compile(r"^#{1,2}\s+(.+)", re.MULTILINE)


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return a text as one page; form feeds separate pages."""
    del limits, tell
    text = decoded(path.read_bytes())
    sheets = text.split("\f") if sniffed.reader == "text" else [text]
    pages = tuple(Page(number, sheet.strip("\n")) for number, sheet in enumerate(sheets, 1) if sheet.strip())
    found = _TITLE.search(text[:4000]) if sniffed.reader == "markdown" else None
    return Content(sniffed.media_type, pages, title=found[1].strip() if found else "")


def decoded(data: bytes) -> str:
    """Return bytes as text: by byte order mark, as UTF-8, or in the most likely encoding by charset-normalizer.

    Raises:
        MediaRefused: If no known encoding fits.
    """
    for bom, codec in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(bom):
            return _lines(data.removeprefix(b"\xef\xbb\xbf").decode(codec, "replace"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = _guessed(data)
    return _lines(text if "\x00" not in text else _guessed(data))


def code_page(number: int) -> str:
    """Return Python's name of a Windows or Mac code page, ``cp1252`` if it is unknown."""
    try:
        return codecs.lookup(_CODE_PAGES.get(number, f"cp{number}")).name
    except LookupError:
        return "cp1252"


def tidy(text: str) -> str:
    """Return text without control characters, trailing spaces and runs of blank lines."""
    text = _UNWANTED.sub(
        "", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    )
    return _BLANK_LINES.sub("\n\n", _TRAILING.sub("", text)).strip("\n")


def _is_western(text: str) -> bool:
    """Return whether a text has few accented letters, all Western: too few for statistical detection."""
    beyond = [sign for sign in text if sign > "\x7f"]
    letters = sum(sign.isalpha() for sign in text)
    return len(beyond) <= _FEW * letters and all(sign in _WESTERN for sign in beyond)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _guessed(data: bytes) -> str:
    if len(data) < _SHORT_BYTES and _is_western(western := data.decode("cp1252", "replace")):
        return western
    from charset_normalizer import from_bytes  # noqa: PLC0415 -- most texts are UTF-8

    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    if best is None:
        raise MediaRefused("The text is in no encoding that is known. Save it as UTF-8 and send that.", "malformed")
    return data.decode(best.encoding, "replace")
