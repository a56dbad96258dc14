"""Texts of the interface, and display of users' texts: language, direction, and cutting to size."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from proxy.text.lexical import tongue

_ENOUGH = 400  # characters that determine a language
_MORE = "…"


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Return the tables of the catalogue: ``words`` by their English wording, ``values`` by the API's value."""
    return tomllib.loads(resources.files("proxy.api.dashboard").joinpath("words.toml").read_text("utf-8"))


def say(text: str, **values: Any) -> str:
    """Return a text of the interface, with values in its places."""
    return catalogue()["words"].get(text, text).format(**values)


def named(value: object) -> str:
    """Return the display name of an API value: a kind, a status, a step; by default the value itself."""
    text = str(value)
    return catalogue()["values"].get(text, text.replace("_", " "))


class Attributes(str):
    """Attributes of an element, inserted into templates without escaping."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the attributes for a template."""
        return self


def tell(text: object) -> Attributes:
    """Return the attributes of an element that shows a user's text: its language, if known, and direction.

    >>> tell("Меня зовут Аглая")
    ' lang="ru" dir="auto"'
    """
    return Attributes(f' lang="{tongue(str(text or "")[:_ENOUGH])}" dir="auto"')


def short(text: object, most_bytes: int) -> str:
    """Return as much of a text as fits this many bytes of a page, with a mark if it is cut.

    >>> short("&&&&", 12)
    '&&…'
    """
    whole = str(text or "")
    if len(whole) * 6 <= most_bytes:  # the longest escape of a character has 6 bytes
        return whole
    left = most_bytes
    for at, letter in enumerate(whole):
        left -= len(escape(letter).encode())
        if left < 0:
            return whole[:at].rstrip() + _MORE
    return whole
