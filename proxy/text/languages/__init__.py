"""Words of each language as data, one TOML file a language; a new file is a new language.

Open first: ``en.toml``. Imports: the standard library.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

FOLDER: Traversable = resources.files(__name__)  # read at each first use of a language, so that tests can replace it


@cache
def table(code: str) -> Mapping[str, Any]:
    """Return the TOML table of a language, empty for one that has no file."""
    if not (code.isascii() and code.isalpha()):
        return {}
    file = FOLDER.joinpath(f"{code}.toml")
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of the languages that have a file, sorted."""
    names = (file.name for file in FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))
