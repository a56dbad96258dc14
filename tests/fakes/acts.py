"""A request's question and options, and the acting provider's response, independent of the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Asked:
    """Relevant parts of a request: the last question, tool results since then, and the allowed actions."""

    question: str = ""
    images: int = 0
    results: tuple[str, ...] = ()
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    choice: str = ""
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Act:
    """A text to send, or tools to call."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def pieces(text: str, count: int = 4) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[at : at + size] for at in range(0, len(text), size)]


def texts(content: Any) -> str:
    """Return the text of a message's content, for any names of its parts."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else []
    return " ".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)


def images(content: Any) -> int:
    kinds = ("image_url", "input_image", "image")
    return (
        sum(1 for part in content if isinstance(part, dict) and part.get("type") in kinds)
        if isinstance(content, list)
        else 0
    )
