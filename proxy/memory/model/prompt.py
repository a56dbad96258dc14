"""Loads versioned prompts and fills their places in one pass, so that braces in a user's text stay text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

_FRONT = re.compile(r"\A---\n(?P<front>.*?)\n---\n", re.DOTALL)
_PART = re.compile(r"^# (?P<name>[a-z_]+)$", re.MULTILINE)
_PLACE = re.compile(r"\{\{(?P<name>[a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file: its name and version, and the text under each ``# part`` heading."""

    name: str
    version: str
    parts: Mapping[str, str]

    def fill(self, part: str, values: Mapping[str, object] | None = None) -> str:
        """Return a part with each ``{{name}}`` replaced by its value; values are not looked into again.

        Raises:
            KeyError: If there is no such part, or a place has no value.
        """
        given = values or {}
        return _PLACE.sub(lambda place: str(given[place["name"]]), self.parts[part])


@lru_cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt in ``prompts/<name>.md``.

    Raises:
        FileNotFoundError: If the package carries no such prompt.
        ValueError: If the file has no front matter.
    """
    text = resources.files("proxy.memory.model").joinpath("prompts", f"{name}.md").read_text("utf-8")
    return parse_prompt(text)


def parse_prompt(text: str) -> Prompt:
    """Return the prompt that ``text`` writes.

    Raises:
        ValueError: If front matter, its name or its version is missing.
    """
    front = _FRONT.match(text)
    if front is None:
        raise ValueError("a prompt file starts with front matter between two lines of ---")
    fields = dict(re.findall(r"^(\w++):[ \t]*+(\S++(?:[ \t]++\S++)*+)[ \t]*+$", front["front"], re.MULTILINE))
    if not {"name", "version"} <= fields.keys():
        raise ValueError("a prompt's front matter has a name and a version")
    pieces = _PART.split(text[front.end() :])
    parts = {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    return Prompt(fields["name"], fields["version"], parts)
