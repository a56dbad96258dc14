"""Word documents: headings, lists, tables, footnotes and comments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from proxy.media.archive import Archive
from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import from_html
from proxy.media.readers.office import title_of

_COMMENTS = "comment-reference => sup"


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the document as one page; Word files know no pages."""
    import mammoth  # noqa: PLC0415 -- see above: one reader, one library

    with Archive(path, limits) as archive:
        archive.refuse_declarations()
        if not archive.has("word/document.xml") and not any("document" in name for name in archive.names):
            raise MediaRefused("The file is named as a Word document but holds none.", "malformed")
        title = title_of(archive)
        pictures = sum(name.startswith("word/media/") for name in archive.names)
    with path.open("rb") as file:
        html = mammoth.convert_to_html(
            file, convert_image=mammoth.images.img_element(_no_picture), style_map=_COMMENTS
        ).value
    tell(0.5)
    notes = (f"{pictures} pictures in it were not read",) if pictures else ()
    return Content(sniffed.media_type, (Page(1, from_html(html)),), title=title, notes=notes)


def _no_picture(image: Any) -> dict[str, str]:
    del image
    return {"src": ""}
