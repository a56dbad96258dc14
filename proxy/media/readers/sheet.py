"""Reader of workbooks (XLSX, XLSB, XLS, ODS): each sheet as a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from python_calamine import CalamineError, CalamineWorkbook, PasswordError

from proxy.media.archive import Archive
from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import table
from proxy.media.readers.xml import title_of

_SHEETS = "xl/worksheets/"
_UNCOMPUTED = re.compile(
    rb"<c(?P<attributes>\s[^<>]*)?>\s*<f(?:\s[^<>]*)?>(?P<formula>[^<]+)</f>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_TYPE = re.compile(rb"\st=\"\w*\"")
_OLE = "application/vnd.ms-excel"


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return a page for each sheet with something in it."""
    title, whole = _checked(path, sniffed, limits)
    try:
        with CalamineWorkbook.from_filelike(whole) if whole else CalamineWorkbook.from_path(path) as book:
            pages = _pages(book, limits, tell)
    except PasswordError as error:
        raise MediaRefused(
            "The workbook is protected by a password. Save a copy without one and send that.", "encrypted"
        ) from error
    except CalamineError as error:
        raise MediaRefused(f"The workbook is damaged: {str(error)[:200]}", "malformed") from error
    return Content(sniffed.media_type, tuple(page for page in pages if page.text), title=title)


def _checked(path: Path, sniffed: Sniffed, limits: Limits) -> tuple[str, BytesIO | None]:
    """Return the title and, where formulas have no stored value, the workbook that shows them in its place."""
    if sniffed.media_type == _OLE:
        return "", None
    with Archive(path, limits) as archive:
        if "opendocument" not in sniffed.media_type:
            archive.refuse_declarations()
        return title_of(archive), _with_formulas(archive)


def _with_formulas(archive: Archive) -> BytesIO | None:
    """Return a workbook with formulas as text where they have no value: programs that only write files compute none."""
    sheets = [name for name in archive.names if name.startswith(_SHEETS) and name.endswith(".xml")]
    shown = {name: data for name in sheets if (data := _UNCOMPUTED.sub(_as_text, whole := archive.read(name))) != whole}
    if not shown:
        return None
    packed = BytesIO()
    with ZipFile(packed, "w") as made:
        for name in archive.names:
            made.writestr(name, shown[name] if name in shown else archive.read(name))
    packed.seek(0)
    return packed


def _as_text(cell: re.Match[bytes]) -> bytes:
    attributes = _TYPE.sub(b"", cell["attributes"] or b"")
    return b'<c%s t="str"><v>=%s</v></c>' % (attributes, cell["formula"])


def _pages(book: Any, limits: Limits, tell: Callable[[float], None]) -> list[Page]:
    names = book.sheet_names
    if len(names) > limits.max_pages:
        raise MediaRefused(f"It has {len(names)} sheets; the limit is {limits.max_pages}.", "too_many_pages")
    pages, cells = [], 0
    for number, name in enumerate(names, 1):
        sheet = book.get_sheet_by_index(number - 1)
        cells += sheet.height * sheet.width
        if cells > limits.max_cells:
            raise MediaRefused(f"The workbook has more than {limits.max_cells} cells (media.limits).", "too_many_cells")
        text = table(sheet.to_python(skip_empty_area=True))
        pages.append(Page(number, f"# {name}\n\n{text}" if text else "", label=name))
        tell(number / len(names))
    return pages
