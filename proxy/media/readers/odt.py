"""Reader of OpenDocument texts and slides, from their ``content.xml``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from proxy.media.archive import Archive
from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import table
from proxy.media.readers.xml import parsed

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _TABLE, _DRAW, _OFFICE = (_NS % name for name in ("text", "table", "drawing", "office"))
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_MAX_REPEAT = 100
_SKIPPED = frozenset({_TEXT + "tracked-changes", _OFFICE + "annotation-end", _TEXT + "sequence-decls"})


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return a text as one page, or one page for each slide."""
    del tell
    with Archive(path, limits) as archive:
        if archive.has("META-INF/manifest.xml") and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise MediaRefused(
                "The file is protected by a password. Save a copy without one and send that.", "encrypted"
            )
        body = parsed(archive.read("content.xml")).find(_OFFICE + "body")
        title = parsed(archive.read("meta.xml")).find(f".//{_TITLE}") if archive.has("meta.xml") else None
    if body is None:
        raise MediaRefused("The file is damaged: it has no body.", "malformed")
    slides = body.findall(f".//{_DRAW}page")
    if len(slides) > limits.max_pages:
        raise MediaRefused(f"It has {len(slides)} slides; the limit is {limits.max_pages}.", "too_many_pages")
    pages = [
        Page(number, "\n\n".join(_blocks(slide)), label=slide.get(_DRAW + "name", "") if slides else "")
        for number, slide in enumerate(slides or [body], 1)
    ]
    return Content(sniffed.media_type, tuple(pages), title=(title.text or "") if title is not None else "")


def _blocks(element: Any) -> Iterator[str]:
    """Yield headings, paragraphs, lists and tables in document order."""
    for child in element:
        if child.tag in _SKIPPED or not isinstance(child.tag, str):
            continue
        if child.tag == _TEXT + "h":
            level = child.get(_TEXT + "outline-level", "1")
            yield "#" * (int(level) if level.isdigit() and int(level) < 7 else 1) + f" {_line(child)}"
        elif child.tag == _TEXT + "p":
            yield from filter(None, (_line(child),))
        elif child.tag == _TEXT + "list":
            yield "\n".join(_items(child, 0))
        elif child.tag == _TABLE + "table":
            yield table([_line(cell) for cell in row] for row in child.iter(_TABLE + "table-row"))
        else:
            yield from _blocks(child)


def _items(items: Any, depth: int) -> Iterator[str]:
    for item in items:
        for child in item:
            if child.tag == _TEXT + "list":
                yield from _items(child, depth + 1)
            elif line := _line(child):
                yield f"{'  ' * depth}- {line}"


def _line(element: Any) -> str:
    return "".join(_inline(element)).strip()


def _inline(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == _TEXT + "s":
            yield " " * min(int(child.get(_TEXT + "c", "1")), _MAX_REPEAT)
        elif child.tag == _TEXT + "tab":
            yield "\t"
        elif child.tag == _TEXT + "line-break":
            yield "\n"
        elif isinstance(child.tag, str):
            inner = "".join(_inline(child))
            yield f"{inner} " if child.tag == _TEXT + "p" else inner
        yield child.tail or ""
