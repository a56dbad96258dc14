"""Results of reading a file, placeholders of its pictures, and the refusal of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from proxy.errors import ProxyError

if TYPE_CHECKING:
    from datetime import datetime
import re
from collections.abc import Mapping
from dataclasses import replace

FileKind = Literal["document", "image"]
_MARK = "\ufffc"  # Unicode's OBJECT REPLACEMENT CHARACTER
_PLACE = re.compile(f"{_MARK}([^{_MARK}\n]+){_MARK}")


class MediaRefused(ProxyError):
    """Refusal of a file, with reason and remedy.

    Args:
        message: Message for the user.
        reason: Word for ``error.code``, receipts and metrics: ``unsupported``, ``encrypted``, ``malformed``,
            ``too_large``, ``too_many_pages``, ``too_many_pixels``, ``bomb``, ``timeout``, ``memory``, ``empty`` …
    """

    status, type, code = 400, "invalid_request_error", "file_refused"

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, param="file")
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.reason)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """Media type of a file by its bytes; name and declared type only decide between kinds of text."""

    kind: FileKind
    media_type: str
    reader: str  # name of the reader: "pdf", "docx", "image", "text" …


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide, sheet or chapter.

    Args:
        number: Number, from 1.
        text: Plain text; headings are lines that begin with ``#``, tables are Markdown.
        label: Name of the sheet, title of the slide or chapter.
        is_scanned: True if the page is a picture, whose text comes from OCR.
    """

    number: int
    text: str
    label: str = ""
    is_scanned: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """Text of a document, page by page."""

    media_type: str
    pages: tuple[Page, ...]
    title: str = ""
    notes: tuple[str, ...] = ()  # parts that were not read: "3 pages hold pictures only", …


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of a document, cut by its structure.

    Args:
        seq: Position in the document, from 0.
        page: Number of the page where it begins.
        heading: The headings above it, outermost first, joined by " > ".
        text: Verbatim text of the document.
    """

    seq: int
    page: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Properties of an image that need no model.

    Args:
        width: Width of the upright image in pixels; likewise ``height``.
        taken_at: Time by EXIF, with a time zone if EXIF has one.
        phash: Difference hash, 16 hex digits; equal or near for the same picture at another size or quality.
        thumbnail: Small WebP image.
        colours: Names of the main colours, the most common first.
    """

    media_type: str
    width: int
    height: int
    phash: str
    thumbnail: bytes = field(repr=False)
    taken_at: datetime | None = None
    colours: tuple[str, ...] = ()
    place: tuple[float, float] | None = None  # latitude and longitude by EXIF, in degrees
    camera: str = ""


def place_of(part: str) -> str:
    """Return the placeholder in the text for the picture in a part of the file."""
    return f"{_MARK}{part}{_MARK}"


def parts_in(content: Content) -> list[str]:
    """Return the distinct parts of the file with a placeholder in the text."""
    return list(dict.fromkeys(part for page in content.pages for part in _PLACE.findall(page.text)))


def filled(content: Content, texts: Mapping[str, str]) -> Content:
    """Replace placeholders by the texts of their pictures; remove those without a text."""

    def said(text: str) -> str:
        whole = _PLACE.sub(lambda place: texts.get(place[1], ""), text.replace(f"{_MARK}{_MARK}", f"{_MARK}\n{_MARK}"))
        return re.sub(r"\n{3,}", "\n\n", whole).strip("\n")

    return replace(content, pages=tuple(replace(page, text=said(page.text)) for page in content.pages))
