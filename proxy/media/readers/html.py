"""Reader of web pages: the main text without navigation and scripts, or all text if that is too little."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.markdown import from_html
from proxy.media.readers.plain import decoded

_MIN_SHARE = 0.35  # of the visible text: below this, the page is not an article
_ARTICLE_WORDS = 150  # a shorter page is returned in full
_TAG = re.compile(r"</?su[bp]>")
_ESCAPED = re.compile(r"\\([\[\]*_#`<>.()+\-!|~])")
_STARS = re.compile(r"(\*{1,3})(?=\S)([^*]{1,400}?)(?<=\S)\1")
_WRAPPED = re.compile(r"(?<![ \t])[ \t]*+\n[ \t]{3,}+(?=[^\s|*+#\d-])")  # continued source lines, not list items
_WORD = re.compile(r"\w+")
_HIDDEN = "script|style|noscript|template|svg|head|iframe|object|canvas"


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the page as Markdown."""
    del limits
    html = decoded(path.read_bytes())
    title, text = title_of(html), all_text(html)
    tell(0.3)
    if (words := len(_WORD.findall(text))) > _ARTICLE_WORDS:
        article = main_text(html)
        text = article if len(_WORD.findall(article)) >= _MIN_SHARE * words else text
    return Content(sniffed.media_type, (Page(1, text, label=title),), title=title)


def main_text(html: str) -> str:
    """Return the article of a page found by trafilatura, empty if there is none."""
    from trafilatura import extract  # noqa: PLC0415 -- only in the child process

    text = extract(html, output_format="markdown", include_tables=True, include_comments=True, favor_recall=True) or ""
    return _STARS.sub(r"\2", _ESCAPED.sub(r"\1", _WRAPPED.sub(" ", _TAG.sub("", text))))


def all_text(html: str) -> str:
    """Return all visible text of a page."""
    root = _tree(html)
    if root is None:
        return ""
    from lxml import etree  # noqa: PLC0415

    etree.strip_elements(root, *_HIDDEN.split("|"), etree.Comment, with_tail=False)
    try:
        return from_html(etree.tostring(root, encoding="unicode", method="html"))
    except RecursionError:
        return "\n".join(filter(None, (text.strip() for text in root.itertext())))


def title_of(html: str) -> str:
    """Return the text of a page's ``<title>``."""
    root = _tree(html)
    found = root.find(".//title") if root is not None else None
    return " ".join((found.text or "").split()) if found is not None else ""


def _tree(html: str) -> Any:
    from lxml import etree  # noqa: PLC0415
    from lxml import html as lxml_html  # noqa: PLC0415

    parser = lxml_html.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8", remove_comments=True)
    try:
        return lxml_html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        return None
    except etree.LxmlError as error:
        raise MediaRefused("The page is damaged and cannot be read.", "malformed") from error
