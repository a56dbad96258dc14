"""PDF: the text of each page in reading order; pages that are pictures are left for OCR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits

_ENCRYPTED = "encrypted"
_LITTLE_TEXT = 25  # characters; a page with fewer and a large picture is a scan with a stamp on it
_LARGE = 0.4  # of the page's area


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return a page for each page; ``is_scanned`` without text means that it is a picture."""
    document = opened(path)
    try:
        if len(document) > limits.max_pages:
            raise MediaRefused(f"It has {len(document)} pages; the limit is {limits.max_pages}.", "too_many_pages")
        pages = []
        for index in range(len(document)):
            pages.append(_page(document, index))
            tell((index + 1) / len(document))
        title = document.get_metadata_value("Title")
        attached = document.count_attachments()
    finally:
        document.close()
    notes = (f"{attached} files attached to it were not read",) if attached else ()
    return Content(sniffed.media_type, tuple(pages), title=title, notes=notes)


def opened(path: Path) -> Any:
    """Return the document opened by pdfium.

    Raises:
        MediaRefused: ``encrypted`` or ``malformed``.
    """
    import pypdfium2  # noqa: PLC0415 -- only in the processes that read files

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise MediaRefused(
                "The PDF is protected by a password. Save a copy without one and send that.", "encrypted"
            ) from error
        raise MediaRefused("The PDF is damaged and cannot be opened.", "malformed") from error


def _page(document: Any, index: int) -> Page:
    page = document[index]
    try:
        textpage = page.get_textpage()
        try:
            text = textpage.get_text_range()
        finally:
            textpage.close()
        is_scanned = len(text.strip()) < _LITTLE_TEXT and _is_picture(page)
    finally:
        page.close()
    return Page(index + 1, "" if is_scanned else text, is_scanned=is_scanned)


def _is_picture(page: Any) -> bool:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    area = max(page.get_width() * page.get_height(), 1.0)
    for found in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = found.get_bounds()
        if (right - left) * (top - bottom) >= _LARGE * area:
            return True
    return False
