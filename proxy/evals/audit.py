"""Audit of learned and closed memories against the user's messages, and of their CPU cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from proxy.evals.client import Client
from proxy.evals.metrics import units
from proxy.evals.report import Table

DEFINITIONS: Mapping[str, str] = {
    "false endings": "memories closed by messages that end nothing, for each such message.",
    "fidelity": "share of the memories of turns whose words are a subsequence of one message of their user.",
    "invented": "memories of turns whose words are not.",
    "CPU-ms a message": (
        "CPU time of the server, user and system, from a message's request until nothing is pending, children included."
    ),
}
_CLOSED = frozenset({"closed", "retracted", "superseded"})
_REDACTED = "[redacted]"

Memory = Mapping[str, Any]


@dataclass(slots=True)
class Audit:
    """Counts over many users.

    Attributes:
        messages: Number of posted user messages.
        learned: Number of memories from turns, of any status.
        invented: Texts of learned memories that are in no message of their user.
        ending_nothing: Number of messages that should close nothing.
        closed: Texts of the memories that these messages closed.
        cpu_s: CPU seconds of all messages; None if unknown.
    """

    messages: int = 0
    learned: int = 0
    invented: list[str] = field(default_factory=list)
    ending_nothing: int = 0
    closed: list[str] = field(default_factory=list)
    cpu_s: float | None = None

    def look(self, memories: Iterable[Memory], said: Sequence[str]) -> None:
        """Count the memories of one user with the messages ``said``."""
        texts = [str(one.get("text")) for one in memories if str(one.get("source")).startswith("turn:")]
        written = [units(message) for message in said]
        self.learned += len(texts)
        self.invented += [text for text in texts if not any(is_subsequence(text, message) for message in written)]

    def table(self, name: str) -> Table:
        """Return the counts as a table, with definitions."""
        fidelity = 1 - len(self.invented) / self.learned if self.learned else None
        endings = len(self.closed) / self.ending_nothing if self.ending_nothing else None
        cost = 1000 * self.cpu_s / self.messages if self.cpu_s is not None and self.messages else None
        columns = (
            *("messages", "ending nothing", "closed by them", "false endings", "memories", "invented", "fidelity"),
            *("CPU s", "CPU-ms a message"),
        )
        counts = (self.ending_nothing, len(self.closed), endings, self.learned, len(self.invented), fidelity)
        notes = tuple(f"{noun}: {meaning}" for noun, meaning in DEFINITIONS.items())
        return Table(f"{name}: learned and closed", columns, ((self.messages, *counts, self.cpu_s, cost),), notes)

    def items(self, part: str) -> list[dict[str, Any]]:
        """Return records of invented and wrongly closed memories."""
        kinds = (("invented", self.invented), ("closed", self.closed))
        return [{"part": part, "wrong": kind, "text": text} for kind, texts in kinds for text in texts]


class CpuMeter:
    """Context manager that adds the server's CPU time of its block to an audit; reusable."""

    def __init__(self, client: Client, audit: Audit) -> None:
        self._client = client
        self._audit = audit
        self._start: float | None = None

    async def __aenter__(self) -> Self:
        """Read the CPU time at the start of the block."""
        self._start = await self._client.cpu_s()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Add the CPU time of the block."""
        end = await self._client.cpu_s()
        if self._start is not None and end is not None:
            self._audit.cpu_s = (self._audit.cpu_s or 0.0) + end - self._start


def closed(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return the closed memories by id, including the older statuses retracted and superseded."""
    return {str(one["id"]): one for one in memories if one.get("status") in _CLOSED}


def is_subsequence(text: str, message: Sequence[str]) -> bool:
    """Return whether a text's words occur in a message in the same order; redacted secrets are ignored."""
    rest = iter(message)
    return all(unit in rest for unit in units(text.replace(_REDACTED, " ")))
