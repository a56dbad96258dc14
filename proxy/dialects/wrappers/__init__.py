"""Clients' wrappers around the user's text, and signs of their errands, as data: a new client is a new line.

``wrapped`` and ``errands`` are the two tables, compiled at first use. Imports: no other module of the proxy.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return a TOML table of this folder."""
    return tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def words(name: str) -> frozenset[str]:
    """Return a list of words in tag names, from ``wrapped.toml``, where blanks separate them."""
    return frozenset(table("wrapped")["tags"][name].split())


@cache
def pattern(section: str, name: str, *, around: str = "{}", file: str = "wrapped") -> re.Pattern[str]:
    """Return one case-insensitive pattern of a list of regular expressions, as alternatives.

    Args:
        section: Section of the table.
        name: Name of the list.
        around: Template around the group of alternatives.
        file: Name of the table.
    """
    listed: list[str] = table(file)[section][name]
    return re.compile(around.format(f"(?:{'|'.join(listed)})"), re.IGNORECASE | re.MULTILINE)


@cache
def is_slot(tag: str) -> bool:
    """Return whether a tag, by the words of its name, holds the user's text.

    >>> is_slot("user_query"), is_slot("userRequest"), is_slot("user_info"), is_slot("tool_input")
    (True, True, False, False)
    """
    if tag.casefold() in words("exact"):
        return True
    found = [word.casefold() for word in WORD.findall(tag)]
    said, whose = words("said"), words("whose")
    return bool(found) and found[-1] in said and all(word in said or word in whose for word in found)


def is_text(tag: str) -> bool:
    """Return whether a tag only formats text inside a sentence, as in HTML."""
    return tag.casefold() in words("html")


def is_material(tag: str) -> bool:
    """Return whether a tag, by a word of its name, holds material at any position in a line."""
    return any(word.casefold() in words("material") for word in WORD.findall(tag))


def is_note(tag: str) -> bool:
    """Return whether a tag, by a word of its name, holds a client's own note beside the user's text.

    >>> is_note("system-reminder"), is_note("instructions")
    (True, False)
    """
    return any(word.casefold() in words("note") for word in WORD.findall(tag))
