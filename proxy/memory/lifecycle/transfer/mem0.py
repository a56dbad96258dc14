"""mem0's export: its memories, as ``get_all`` answers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.memory.lifecycle.transfer.entries import Told, moment_of

MAX_TEXT = 20_000  # characters


def is_one(value: Any) -> bool:
    """Return whether a value is one of its memories."""
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def entries(value: Any) -> Iterator[Told]:
    """Yield the memory that a value is."""
    if is_one(value) and value["memory"].strip():
        yield Told.within(value["memory"].strip(), MAX_TEXT, moment_of(value.get("created_at")))
