"""Entries of an imported file in one shape for all services: conversations and statements."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from proxy.clock import parse_time
from proxy.types import Kind, Role


@dataclass(frozen=True, slots=True)
class Remark:
    """One message of an imported conversation.

    Attributes:
        files: Names and texts of its attachments.
    """

    role: Role
    text: str
    at: datetime | None
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; ``id`` is equal in every export that holds it."""

    id: str
    title: str
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """One statement about the user, from another memory service or the user's list.

    Attributes:
        is_cut: ``text`` is the beginning of a longer statement.
    """

    text: str
    at: datetime | None = None
    kind: Kind = "fact"
    is_cut: bool = False

    @classmethod
    def within(cls, text: str, most: int, at: datetime | None = None) -> Told:
        """Return a statement of at most ``most`` characters."""
        return cls(text[:most], at, is_cut=len(text) > most)


Entry = Conversation | Told


def moment_of(value: Any) -> datetime | None:
    """Return the UTC time in a file's value, None if there is none that parses."""
    with suppress(ValueError):
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return parse_time(str(value))
    return None
