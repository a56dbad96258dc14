"""Name the installed packages that neither the product nor the given extras of it ask for: the tools of development."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def leftovers(extras: Iterable[str]) -> list[str]:
    """Return what can be uninstalled without the product missing it, sorted; pip itself stays."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    asked = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    installed = {canonicalize_name(one.metadata["Name"]): one for one in distributions()}
    return sorted(installed.keys() - _needed(map(Requirement, asked), installed) - {project["name"], "pip"})


def _needed(asked: Iterable[Requirement], installed: dict[str, Distribution]) -> set[str]:
    """Return the names of requirements and of all that they require in turn, as far as it is installed."""
    open_ones = [(canonicalize_name(one.name), frozenset(one.extras)) for one in asked if _applies(one, ())]
    seen: set[tuple[str, frozenset[str]]] = set()
    while open_ones:
        name, extras = one = open_ones.pop()
        if one in seen or name not in installed:
            continue
        seen.add(one)
        for line in installed[name].requires or ():
            requirement = Requirement(line)
            if _applies(requirement, extras):
                open_ones.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


if __name__ == "__main__":
    print(*leftovers(sys.argv[1:]))
