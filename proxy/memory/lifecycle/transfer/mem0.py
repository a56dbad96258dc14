"""mem0's export: its memories, in the shape of ``get_all``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.memory.lifecycle.transfer.entries import Told, moment_of

MAX_TEXT = 20_000  # characters


def is_one(value: Any) -> bool:
    """Return whether a value is a memory of such an export."""
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def entries(value: Any) -> Iterator[Told]:
    """Yield the memory of a value."""
    if is_one(value) and value["memory"].strip():
        yield Told.within(value["memory"].strip(), MAX_TEXT, moment_of(value.get("created_at")))
