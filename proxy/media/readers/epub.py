"""Reader of EPUB books: chapters in the order of the spine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from proxy.media.archive import Archive
from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import from_html
from proxy.media.readers.plain import decoded
from proxy.media.readers.xml import parsed

_CONTAINER = "META-INF/container.xml"
_HEADING = re.compile(r"^#{1,6}\s+(.+)", re.MULTILINE)
_HEAD = re.compile(r"(?is)^.*?<body[^<>]*+>|</body>.*$")


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return a page for each part of the spine that contains text."""
    with Archive(path, limits) as archive:
        if archive.has("META-INF/encryption.xml") and b"#aes" in archive.read("META-INF/encryption.xml"):
            raise MediaRefused("The book is protected against copying and cannot be read.", "encrypted")
        package, folder = _package(archive)
        parts = _spine(package, folder)
        if len(parts) > limits.max_pages:
            raise MediaRefused(f"It has {len(parts)} parts; the limit is {limits.max_pages}.", "too_many_pages")
        pages = list[Page]()
        for done, name in enumerate(parts, 1):
            if archive.has(name) and (text := _chapter(archive.read(name))):
                found = _HEADING.search(text)
                pages.append(Page(len(pages) + 1, text, label=found[1].strip() if found else ""))
            tell(done / len(parts))
    title = package.find(".//{http://purl.org/dc/elements/1.1/}title")
    return Content(sniffed.media_type, tuple(pages), title=(title.text or "").strip() if title is not None else "")


def _package(archive: Archive) -> tuple[Any, str]:
    for found in parsed(archive.read(_CONTAINER)).iter("{*}rootfile"):
        name = found.get("full-path", "")
        return parsed(archive.read(name)), posixpath.dirname(name)
    raise MediaRefused("The book is damaged: it names no contents.", "malformed")


def _spine(package: Any, folder: str) -> list[str]:
    names = {item.get("id"): item.get("href", "") for item in package.iter("{*}item")}
    hrefs = [names.get(item.get("idref"), "") for item in package.iter("{*}itemref")]
    return [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in hrefs if href]


def _chapter(data: bytes) -> str:
    return from_html(_HEAD.sub("", decoded(data))).strip()
