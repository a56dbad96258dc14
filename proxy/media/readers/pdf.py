"""Reader of PDFs: the text of each page in reading order; scanned pages are left for OCR."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.pdf_layout import BROKEN, Layout, Mark
from proxy.media.readers.pdf_lines import Line, lines_of
from proxy.media.readers.pdf_tables import Found, ruled

_LITTLE_TEXT = 200  # characters; a page with fewer and a large picture is a scan with a stamp
_LARGE = 0.15  # share of the page's area
_MIN_RULES = 6
_MAX_TABLE_PAGES = 60
_MAX_MARKS = 5000
_MAX_FIELDS = 500  # per page
_MAX_FIELD_BYTES = 4096
_TICKED = (2, 3)  # FPDF_FORMFIELD_CHECKBOX, FPDF_FORMFIELD_RADIOBUTTON
_NO_TITLE = re.compile(
    r"(?i)\A\(?(?:anonymous|untitled|microsoft word - .*|.*\.(?:docx?|jpe?g|png|tiff?|indd|tex|dvi|pdf))\)?"
)
_BROKEN_WORD = re.compile(f"{BROKEN}(?=[A-Z])")

_ALIF = re.compile("ا([أإآ])ل")  # pdfium splits the ligature of lam and alif in the wrong order


@dataclass(frozen=True, slots=True)
class _Raw:
    """A page as pdfium returns it."""

    lines: list[Line]
    is_scanned: bool
    is_ruled: bool
    fields: list[str]


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return all pages; ``is_scanned`` marks pages that need OCR."""
    document = opened(path)
    try:
        if document.get_formtype():
            document.init_forms()
        count = len(document)
        if count > limits.max_pages:
            raise MediaRefused(
                f"It has {count} pages; the limit is {limits.max_pages} (media.limits).", "too_many_pages"
            )
        raw = []
        for index in range(count):
            raw.append(_raw(document, index))
            tell(0.7 * (index + 1) / count)
        title = document.get_metadata_value("Title").strip()
        marks, notes = _marks(document), _notes(document)
    finally:
        document.close()
    layout = Layout([one.lines for one in raw], marks)
    tables = _tables(path, [number for number, one in enumerate(raw, 1) if one.is_ruled and one.lines], tell)
    pages = [
        Page(number, _text(one, layout.text(number, one.lines, tables.get(number, ()))), is_scanned=one.is_scanned)
        for number, one in enumerate(raw, 1)
    ]
    return Content(
        sniffed.media_type, tuple(pages), title="" if _NO_TITLE.fullmatch(title) else title, notes=tuple(notes)
    )


def opened(path: Path) -> Any:
    """Open a document with pdfium.

    Raises:
        MediaRefused: ``encrypted`` or ``malformed``.
    """
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise MediaRefused(
                "The PDF is protected by a password. Save a copy without one and send that.", "encrypted"
            ) from error
        raise MediaRefused("The PDF is damaged and cannot be opened.", "malformed") from error


def _raw(document: Any, index: int) -> _Raw:
    page = document[index]
    try:
        textpage = page.get_textpage()
        try:
            lines = lines_of(textpage, is_upright=page.get_rotation() == 0)
        finally:
            textpage.close()
        chars = sum(len(line.text) for line in lines)
        fields = _filled_in(page, document.formenv) if document.formenv else []
        is_scanned = chars < _LITTLE_TEXT and not fields and _is_picture(page, is_blank=not chars)
        return _Raw(lines, is_scanned, _is_ruled(page), fields)
    finally:
        page.close()


def _filled_in(page: Any, form: Any) -> list[str]:
    """Return ``name: value`` for each filled form field of a page; checkboxes only if ticked."""
    found: dict[str, str] = {}
    for name, value in _fields(page, form):
        if name and value:
            found[name] = value
    return [f"{name}: {value}" for name, value in found.items()]


def _fields(page: Any, form: Any) -> Iterator[tuple[str, str]]:
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_FIELDS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if pdfium.FPDFAnnot_GetSubtype(annotation) != pdfium.FPDF_ANNOT_WIDGET:
                continue
            name = _field_text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
            name = name or _field_text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
            if pdfium.FPDFAnnot_GetFormFieldType(form, annotation) in _TICKED:
                yield name, "yes" if pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
            else:
                yield name, _field_text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _field_text(getter: Any, form: Any, annotation: Any) -> str:
    """Return the UTF-16 text of one of pdfium's getters."""
    size = min(getter(form, annotation, None, 0), _MAX_FIELD_BYTES)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    getter(form, annotation, buffer, size)
    return " ".join(bytes(buffer).decode("utf-16-le", "ignore").rstrip("\x00").split())


def _is_picture(page: Any, *, is_blank: bool) -> bool:
    """Return whether a picture covers much of the page, or the page has only pictures or drawings."""
    area, drawn = max(page.get_width() * page.get_height(), 1.0), False
    for found in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH], max_depth=3):
        drawn = True
        left, bottom, right, top = found.get_bounds()
        if found.type == pdfium.FPDF_PAGEOBJ_IMAGE and (right - left) * (top - bottom) >= _LARGE * area:
            return True
    return is_blank and drawn


def _is_ruled(page: Any) -> bool:
    """Return whether the page has thin horizontal and vertical lines, as tables do."""
    across = down = 0
    for found in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=2):
        left, bottom, right, top = found.get_bounds()
        across += top - bottom < 3 < right - left
        down += right - left < 3 < top - bottom
        if right - left > 20 and 8 < top - bottom < 80:  # a cell drawn as a box
            across, down = across + 1, down + 1
        if min(across, down) >= 2 and across + down >= _MIN_RULES:
            return True
    return False


def _tables(path: Path, numbers: Sequence[int], tell: Callable[[float], None]) -> dict[int, list[Found]]:
    found: dict[int, list[Found]] = {}
    asked = numbers[:_MAX_TABLE_PAGES]
    try:
        for number, tables in ruled(path, asked) if asked else ():
            found[number] = tables
            tell(0.7 + 0.3 * len(found) / len(asked))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 -- pdfplumber may fail where pdfium does not; then its tables stay lines
        return found
    return found


def _marks(document: Any) -> list[Mark]:
    marks = []
    for entry in document.get_toc(max_depth=6):
        where = entry.get_dest()
        index = where.get_index() if where is not None else None
        if index is not None and (title := entry.get_title()):
            marks.append(Mark(title, entry.level + 1, index + 1))
        if len(marks) >= _MAX_MARKS:
            break
    return marks


def _notes(document: Any) -> list[str]:
    names = [document.get_attachment(at).get_name() for at in range(min(document.count_attachments(), 20))]
    return [f"attached files were not read: {', '.join(names)}"[:500]] if names else []


def _text(raw: _Raw, text: str) -> str:
    """Return a page's text with hyphens restored at line breaks before capitals, and its filled form fields."""
    mended = _ALIF.sub(r"ال\1", _BROKEN_WORD.sub("-", text))
    return "\n\n".join(filter(None, (mended, "\n".join(raw.fields))))
