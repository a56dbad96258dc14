"""Values of a PDF's form: the fields' names and values, which are no part of the page's own text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

_MAX_FIELDS = 500  # of a page
_MAX_BYTES = 4096
_TICKED = (2, 3)  # FPDF_FORMFIELD_CHECKBOX, FPDF_FORMFIELD_RADIOBUTTON


def filled_in(page: Any, form: Any) -> list[str]:
    """Return ``name: value`` for each field of a page that is filled in; boxes only where they are ticked."""
    found: dict[str, str] = {}
    for name, value in _fields(page, form):
        if name and value:
            found[name] = value
    return [f"{name}: {value}" for name, value in found.items()]


def _fields(page: Any, form: Any) -> Iterator[tuple[str, str]]:
    import pypdfium2.raw as pdfium  # noqa: PLC0415 -- only in the process that reads files

    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_FIELDS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if pdfium.FPDFAnnot_GetSubtype(annotation) != pdfium.FPDF_ANNOT_WIDGET:
                continue
            name = _text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
            name = name or _text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
            if pdfium.FPDFAnnot_GetFormFieldType(form, annotation) in _TICKED:
                yield name, "yes" if pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
            else:
                yield name, _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _text(getter: Any, form: Any, annotation: Any) -> str:
    """Return what one of pdfium's getters writes as UTF-16."""
    size = min(getter(form, annotation, None, 0), _MAX_BYTES)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    getter(form, annotation, buffer, size)
    return " ".join(bytes(buffer).decode("utf-16-le", "ignore").rstrip("\x00").split())
