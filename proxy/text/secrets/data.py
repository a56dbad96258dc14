"""The tables of ``data.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, cast

_FREQUENT = " etaoinsrhldcumfpgwybvkxjqzаеинотр是的"

_TABLES: Mapping[str, Any] = tomllib.loads(resources.files(__package__).joinpath("data.toml").read_text("utf-8"))


def words(table: str, name: str) -> frozenset[str]:
    """Return a list of words."""
    return frozenset(str(section(table)[name]).split())


def phrases(text: str) -> tuple[str, ...]:
    """Return entries that are separated by "|"."""
    return tuple(entry for one in text.replace("\n", "").split("|") if (entry := one.strip(" ")))


def section(*path: str) -> Mapping[str, Any]:
    """Return a table by its path."""
    found: Any = _TABLES
    for name in path:
        found = found[name]
    return cast("Mapping[str, Any]", found)


def rarest(word: str) -> str:
    """Return the rarest character of a word: a text without it need not be searched for the word."""
    return max(word, key=lambda char: _FREQUENT.find(char) % 1000)
