"""The built-in rules, loaded when they are first needed: a model may do their work, and they take 0.3 s of CPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from proxy.memory.model.extraction import TurnExtractor
from proxy.types import Candidate, Episode, Memory, Turn


class LazyRules:
    """``BuiltinExtractor``, made at its first use."""

    def extract(self, turn: Turn, known: Sequence[Memory], heard: Sequence[Episode]) -> list[Candidate]:
        """Return what one turn states."""
        return rules().extract(turn, known, heard)


@lru_cache(maxsize=1)
def rules() -> TurnExtractor:
    """Return the rules; imports them the first time."""
    from proxy.memory.learn.extract_builtin import BuiltinExtractor  # noqa: PLC0415 - see above

    return BuiltinExtractor()
