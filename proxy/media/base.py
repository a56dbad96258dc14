"""Result of reading a file, places of the pictures in it, and the refusal of one that is not read."""

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
_MARK = "\ufffc"  # Unicode's own sign for an object in the text
_PLACE = re.compile(f"{_MARK}([^{_MARK}\n]+){_MARK}")


class MediaRefused(ProxyError):
    """A file that is not read, with the reason and the mend.

    Args:
        message: For the user.
        reason: A word for ``error.code``, receipts and metrics: ``unsupported``, ``encrypted``, ``malformed``,
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
    reader: str  # names the reader: "pdf", "docx", "image", "text" …


@dataclass(frozen=True, slots=True)
class Page:
    """One page, slide, sheet or chapter.

    Args:
        number: From 1.
        text: Plain text; headings are lines that begin with ``#``, tables are Markdown.
        label: Name of the sheet, title of the slide or chapter.
        is_scanned: The text was read off a picture.
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
    notes: tuple[str, ...] = ()  # what could not be read: "3 pages hold pictures only", …


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a document, cut by its structure.

    Args:
        seq: Place in the document, from 0.
        page: Number of the page where it begins.
        heading: The headings above it, outermost first, joined by " > ".
        text: As it stands in the document.
    """

    seq: int
    page: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Properties of an image, as far as no model is needed.

    Args:
        width: In pixels, upright; likewise ``height``.
        taken_at: By EXIF, with the zone where it names one.
        phash: Difference hash, 16 hex digits; equal or near for the same picture at another size or quality.
        thumbnail: A small WebP.
        colours: Names of the main colours, the most common first.
    """

    media_type: str
    width: int
    height: int
    phash: str
    thumbnail: bytes = field(repr=False)
    taken_at: datetime | None = None
    colours: tuple[str, ...] = ()
    place: tuple[float, float] | None = None  # latitude, longitude by EXIF
    camera: str = ""


def place_of(part: str) -> str:
    """Return what stands in the text where the picture of a part of the file is."""
    return f"{_MARK}{part}{_MARK}"


def parts_in(content: Content) -> list[str]:
    """Return the parts of the file whose pictures stand in the text, each once."""
    return list(dict.fromkeys(part for page in content.pages for part in _PLACE.findall(page.text)))


def filled(content: Content, texts: Mapping[str, str]) -> Content:
    """Put what pictures say where they stand; those of which nothing is known vanish."""

    def said(text: str) -> str:
        whole = _PLACE.sub(lambda place: texts.get(place[1], ""), text.replace(f"{_MARK}{_MARK}", f"{_MARK}\n{_MARK}"))
        return re.sub(r"\n{3,}", "\n\n", whole).strip("\n")

    return replace(content, pages=tuple(replace(page, text=said(page.text)) for page in content.pages))
