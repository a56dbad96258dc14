"""Values and protocols of the extractors; the call to a model is in ``call``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from proxy.memory.model.call import Complete, Completion, ModelAccess, ScriptedComplete
from proxy.types import Candidate, Episode, Memory, Turn

__all__ = [
    "Complete",
    "Completion",
    "Extraction",
    "Extractor",
    "ModelAccess",
    "ScriptedComplete",
    "TurnExtractor",
]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What the turns of one pause state, not yet grounded.

    Args:
        candidates: By id of the turn; a turn that states nothing may be missing.
        cost_usd: Price of all calls, also of those whose reply could not be used.
        usage: ``prompt_tokens`` and ``completion_tokens`` of all calls.
        model: What extracted them: a model's name, or ``builtin``.
        note: What an operator should know, without any content: what was refused or dropped.
    """

    candidates: dict[str, list[Candidate]]
    cost_usd: float = 0.0
    usage: dict[str, int] = field(default_factory=lambda: {"prompt_tokens": 0, "completion_tokens": 0})
    model: str = ""
    note: str = ""


class Extractor(Protocol):
    """Finds what the user states in turns of one owner."""

    @property
    def batches(self) -> bool:
        """Whether all turns of a pause belong into one call; else each waits for what the one before taught."""

    async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
        """Return what ``turns`` state.

        Args:
            turns: Of one owner, oldest first.
            known: The owner's memories, so that what ends can be named; those that matter are picked out.
            heard: What was said before in the same conversations; it is never extracted from.

        Raises:
            ProxyError: If nothing could be extracted this time; trying later may help.
        """


class TurnExtractor(Protocol):
    """The built-in extractor: sync and pure."""

    def extract(self, turn: Turn, known: Sequence[Memory], heard: Sequence[Episode]) -> list[Candidate]:
        """Return what one turn states."""
