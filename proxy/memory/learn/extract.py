"""Chooses the extractor: a model where one and a key of the operator's are configured, else the built-in rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from proxy.errors import ConfigError
from proxy.memory.learn.extract_model import ModelExtractor
from proxy.memory.learn.rules import LazyRules
from proxy.memory.model.access import model_access
from proxy.memory.model.extraction import (
    Complete,
    Extraction,
    Extractor,
    ModelAccess,
    TurnExtractor,
)
from proxy.process.threads import in_thread
from proxy.settings.load import environment
from proxy.settings.memory import MemorySettings
from proxy.types import Candidate, Episode, Memory, Turn


class BuiltinTurns:
    """The built-in extractor as an ``Extractor``: turn by turn, in a thread, free of charge."""

    batches = False

    def __init__(self, rules: TurnExtractor) -> None:
        self._rules = rules

    async def extract(self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]) -> Extraction:
        """Return what ``turns`` state."""
        candidates = await in_thread("learn", self._each, turns, known, heard)
        return Extraction(candidates, model="builtin")

    def _each(
        self, turns: Sequence[Turn], known: Sequence[Memory], heard: Sequence[Episode]
    ) -> dict[str, list[Candidate]]:
        found = {turn.id: self._rules.extract(turn, known, heard) for turn in turns}
        return {turn_id: candidates for turn_id, candidates in found.items() if candidates}


def select_extractor(
    settings: MemorySettings,
    *,
    connect: Callable[[ModelAccess], Complete],
    environ: Mapping[str, str] | None = None,
    builtin: TurnExtractor | None = None,
) -> Extractor:
    """Return the extractor that the settings ask for.

    Args:
        settings: ``extractor``, ``extraction_model`` and how it is reached.
        connect: Makes the call to the model; it is given the operator's own access and nothing of a client's.
        environ: Where the providers' keys stand; the process environment unless given.
        builtin: Other rules than ours, for ``builtin`` and where ``auto`` finds no model.

    Raises:
        ConfigError: If ``extractor`` is ``model`` and the model or its key is missing.
    """
    rules = BuiltinTurns(builtin or LazyRules())
    if settings.extractor == "builtin":
        return rules
    try:
        access = model_access(settings, environment() if environ is None else environ)
    except ConfigError:
        if settings.extractor == "model":
            raise
        return rules
    complete = connect(access)
    return ModelExtractor(complete, access.model, timeout_s=access.timeout_s, max_facts=settings.max_facts_per_turn)
