"""Reader of Word documents: headings, lists, tables, footnotes and comments."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import mammoth
from mammoth.docx.files import InvalidFileReferenceError

from proxy.media.archive import Archive
from proxy.media.base import Content, MediaRefused, Page, Sniffed, place_of
from proxy.media.limits import Limits
from proxy.media.readers.markdown import from_html
from proxy.media.readers.xml import title_of

_PICTURES = "word/media/"
_COMMENTS = "comment-reference => sup"


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the document as one page; Word files store no page breaks."""
    with Archive(path, limits) as archive:
        archive.refuse_declarations()
        if not archive.has("word/document.xml") and not any("document" in name for name in archive.names):
            raise MediaRefused("The file is named as a Word document but holds none.", "malformed")
        title = title_of(archive)
        parts = {sha256(archive.read(name)).digest(): name for name in archive.names if name.startswith(_PICTURES)}

    def described(image: Any) -> dict[str, str]:
        try:
            with image.open() as data:
                part = parts.get(sha256(data.read()).digest())
        except InvalidFileReferenceError:  # an external picture, which is not fetched or opened
            part = None
        return {"src": "", "alt": f"{image.alt_text or ''} {place_of(part) if part else ''}".strip()}

    with path.open("rb") as file:
        html = mammoth.convert_to_html(
            file, external_file_access=False, convert_image=mammoth.images.img_element(described), style_map=_COMMENTS
        ).value
    tell(0.5)
    return Content(sniffed.media_type, (Page(1, from_html(html)),), title=title)
