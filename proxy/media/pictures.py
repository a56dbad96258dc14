"""Pictures within documents: where they stand in the text until it is known what they say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from proxy.media.base import Content

_MARK = "\ufffc"  # Unicode's own sign for an object in the text
_PLACE = re.compile(f"{_MARK}([^{_MARK}\n]+){_MARK}")


def place_of(part: str) -> str:
    """Return what stands in the text where the picture of a part of the file is."""
    return f"{_MARK}{part}{_MARK}"


def parts_in(content: Content) -> list[str]:
    """Return the parts of the file whose pictures stand in the text, each once."""
    return list(dict.fromkeys(part for page in content.pages for part in _PLACE.findall(page.text)))


def filled(content: Content, texts: Mapping[str, str]) -> Content:
    """Put what pictures say where they stand; those of which nothing is known vanish."""

    def said(text: str) -> str:
        whole = _PLACE.sub(lambda place: texts.get(place[1], ""), text.replace(f"{_MARK}{_MARK}", f"{_MARK}\n{_MARK}"))
        return re.sub(r"\n{3,}", "\n\n", whole).strip("\n")

    return replace(content, pages=tuple(replace(page, text=said(page.text)) for page in content.pages))
