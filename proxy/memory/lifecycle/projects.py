"""Decide whether a statement made in a project belongs to the project or to the user in general. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from proxy.memory.learn.slots import slot_of
from proxy.memory.plan.changes import PROFILE, Change
from proxy.text.languages import languages_in
from proxy.text.languages import words as listed
from proxy.text.segment import clauses
from proxy.text.words import flat, words
from proxy.types import Memory
from proxy.types.scope import parts, without_project

_PERSONAL = frozenset({"home", "job", "employer", "name"})  # slots that a person fills independently of a project


def settled(changes: Iterable[Change]) -> list[Change]:
    """Return a turn's changes, with statements plainly about the user's own person moved out of the project."""
    return [_settled(change) for change in changes]


def _settled(change: Change) -> Change:
    memory = change.memory
    if change.action != "add" or not parts(memory.agent)[1] or not is_of_user(memory):
        return change
    return replace(change, memory=replace(memory, agent=without_project(memory.agent)))


def is_of_user(memory: Memory) -> bool:
    """Return whether every clause of a statement is about its author's person; False if unsure.

    A statement that needs context stays in the project: its context would move along, and may concern the project.
    """
    if memory.context or memory.earlier or memory.later or memory.kind in ("task", "summary"):
        return False
    text = memory.quote or memory.text
    pieces = [text[a:b] for a, b in clauses(text)] or [text]
    if any(tongue.has("of_project", flat(text)) for tongue in languages_in(flat(text))):
        return False
    if memory.metadata.get(PROFILE) and memory.kind != "instruction":
        return True
    return all(_is_personal(piece) for piece in pieces)


def _is_personal(piece: str) -> bool:
    low = flat(piece)
    if any(name in _PERSONAL for name, _ in slot_of(piece)):
        return True
    mine, kin = listed("mine"), listed("kin")
    found = [word.text for word in words(low)]
    named = any(first in mine and second in kin for first, second in pairwise(found))
    named = named or any(f"{first}{second}" in low for second in kin for first in mine if not first.isascii())
    return named or any(tongue.has("person", low) for tongue in languages_in(low))
