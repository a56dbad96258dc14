"""All patterns that the package compiles: module objects, language and wrapper tables, literals in functions."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import proxy
from proxy.dialects import authored, errands, own_words, wrappers
from proxy.text.dates import _language as dates_of
from proxy.text.languages import Phrase, codes, language

_DEEPEST = 6
_FLAGS = {
    name: getattr(re, name) for name in ("IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "ASCII", "I", "M", "S", "X")
}
_CALLS = frozenset(("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"))
Patterns = dict[str, "re.Pattern[Any]"]


@cache
def of_modules() -> Patterns:
    """Return the patterns in modules and their classes, including containers and the package's objects, by name."""
    found: Patterns = {}
    for module in modules():
        for name, value in vars(module).items():
            if not isinstance(value, ModuleType):
                _collect(found, f"{module.__name__}.{name}", value, set(), 0)
        for line, pattern in _inline(Path(module.__file__ or "")):
            found.setdefault(f"{module.__name__}:{line}", pattern)
    unique: Patterns = {}
    seen: set[tuple[Any, int]] = set()
    for name, pattern in found.items():
        if (pattern.pattern, pattern.flags) not in seen:
            seen.add((pattern.pattern, pattern.flags))
            unique[name] = pattern
    return unique


@cache
def of_languages() -> Patterns:
    """Return the patterns of the language tables, by language and phrase."""
    found: Patterns = {}
    for code in codes():
        table = language(code)
        listed: dict[str, Iterable[Phrase]] = {**table.cues, **table.slots, "single": table.single}
        for name, phrases in listed.items():
            for number, phrase in enumerate(phrases):
                found[f"{code}.{name}.{number}"] = phrase.pattern
        if (dates := dates_of(code)) is not None:
            found[f"{code}.past"], found[f"{code}.not_past"] = dates.past, dates.not_past
    return found


@cache
def of_wrappers() -> Patterns:
    """Return the patterns of the wrapper tables, inside each string that callers put around a list."""
    around = {
        value
        for module in (own_words, errands, authored)
        for value in vars(module).values()
        if isinstance(value, str) and "{}" in value
    }
    found: Patterns = {}
    for file in ("wrapped", "errands"):
        for section, lists in wrappers.table(file).items():
            for name in (name for name, listed in lists.items() if isinstance(listed, list)):
                for number, one in enumerate(["{}", *sorted(around)]):
                    found[f"{section}.{name}.{number}"] = wrappers.pattern(section, name, around=one, file=file)
    return found


@cache
def modules() -> tuple[ModuleType, ...]:
    """Return all modules of the package that can be imported here."""
    names = [
        info.name for info in pkgutil.walk_packages(proxy.__path__, "proxy.") if not info.name.endswith("__main__")
    ]
    return tuple(importlib.import_module(name) for name in names)


def _collect(found: Patterns, name: str, value: Any, seen: set[int], depth: int) -> None:
    if depth > _DEEPEST or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        found[name] = value
        return
    for key, inner in _inside(value):
        _collect(found, f"{name}.{key}", inner, seen, depth + 1)


def _inside(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        yield from value.items()
        yield from ((f"key {number}", key) for number, key in enumerate(value) if not isinstance(key, str))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from enumerate(value)
    elif isinstance(value, FunctionType):
        yield from enumerate(cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell))
        yield from enumerate(value.__defaults__ or ())
    elif type(value).__module__.startswith("proxy") or (
        isinstance(value, type) and value.__module__.startswith("proxy")
    ):
        yield from getattr(value, "__dict__", {}).items()
        slots = getattr(type(value), "__slots__", ())
        yield from ((slot, getattr(value, slot)) for slot in slots if hasattr(value, slot))
    elif (wrapped := getattr(value, "func", None)) is not None:  # partial
        yield from (("func", wrapped), ("args", getattr(value, "args", ())))
    elif type(value).__name__ == "method" or type(value).__name__ == "builtin_function_or_method":
        yield (
            "self",
            getattr(value, "__self__", None),
        )  # a bound method of a pattern: ``_find = re.compile(…).finditer``


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _inline(path: Path) -> Iterator[tuple[int, re.Pattern[Any]]]:
    """Yield line and pattern of each literal in a call to ``re`` in a file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))) if path.suffix == ".py" else ():
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS
        if not is_call or not isinstance(node.func.value, ast.Name) or node.func.value.id != "re" or not node.args:
            continue
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, (str, bytes)):
            flags = re.RegexFlag(0)
            for one in ast.walk(node):
                if isinstance(one, ast.Attribute) and one.attr in _FLAGS:
                    flags |= _FLAGS[one.attr]
            yield node.lineno, re.compile(node.args[0].value, flags)
