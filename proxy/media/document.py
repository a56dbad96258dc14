"""Reading of a document by the reader of its type, in the child process."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.plain import tidy

Tell = Callable[[float], None]
Reader = Callable[[Path, Sniffed, Limits, Tell], Content]

READERS: Final = {
    "pdf": "pdf", "docx": "docx", "pptx": "pptx", "sheet": "sheet", "odt": "odt", "epub": "epub", "html": "html",
    "mail": "mail", "csv": "csv", "json": "json", "notebook": "json", "code": "plain", "markdown": "plain",
    "text": "plain", "rtf": "rtf", "msg": "msg",
}  # fmt: skip


def run_document(job: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Read the document of a job; return a ``Content`` as plain values."""
    limits = Limits(**job["limits"])
    content = read(Path(job["path"]), Sniffed("document", job["media_type"], job["reader"]), limits, tell)
    return asdict(content)


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Tell) -> Content:
    """Return the content of a document.

    Raises:
        MediaRefused: If it cannot be read.
    """
    module = importlib.import_module(f"proxy.media.readers.{READERS[sniffed.reader]}")
    reader: Reader = module.read
    content = reader(path, sniffed, limits, tell)
    pages = tuple(replace(page, text=tidy(page.text), label=tidy(page.label)[:200]) for page in content.pages)
    if not content.notes and not any(page.text or page.is_scanned for page in pages):
        raise MediaRefused("There is no text in the file.", "empty")
    return _within(replace(content, pages=pages, title=tidy(content.title)[:300]), limits)


def _within(content: Content, limits: Limits) -> Content:
    """Return the content cut to the text limit, with a note about the cut."""
    room, pages = limits.max_text_chars, list[Page]()
    for page in content.pages:
        if len(page.text) > room:
            note = f"only the first {limits.max_text_chars:,} characters were read (media.limits)"
            pages += [replace(page, text=page.text[:room])] if room else []
            return replace(content, pages=tuple(pages), notes=(*content.notes, note))
        pages.append(page)
        room -= len(page.text)
    return content
