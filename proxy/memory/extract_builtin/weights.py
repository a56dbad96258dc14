"""Holds learned weights in little room: what each trait says, found by the trait's checksum."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from zlib import crc32

import numpy as np

NAMED, UNNAMED, NEW = "named", "unnamed", "new"  # what is asked of a message
_FOLDER = "weights"


class Weights:
    """The weights of one question.

    Some ten thousand traits by name would take megabytes. By their 32-bit checksums they take eight bytes each, and
    a trait that was never seen is taken for one that was once in half a million times.
    """

    def __init__(self, learned: Mapping[str, float]) -> None:
        """Take the weight of each trait."""
        found = sorted((crc32(trait.encode()), weight) for trait, weight in learned.items())
        self._keys = np.array([key for key, _ in found] or [0], np.uint32)
        self._weights = np.array([weight for _, weight in found] or [0.0], np.float32)

    def total(self, traits: Collection[str]) -> float:
        """Return the sum of the weights of some traits; one that nothing was learned of weighs nothing."""
        wanted = np.fromiter((crc32(trait.encode()) for trait in traits), np.uint32, len(traits))
        places = np.searchsorted(self._keys, wanted)
        places[places == len(self._keys)] = 0
        return float(self._weights[places][self._keys[places] == wanted].sum())

    def odds(self, traits: Collection[str]) -> float:
        """Return how likely it is, from 0 to 1, what traits speak for."""
        return logistic(self.total(traits))


def logistic(total: float) -> float:
    """Return a sum of weights as a likelihood, from 0 to 1."""
    return 1 / (1 + math.exp(-total))


@cache  # some 130 KB a language
def weights_of(code: str) -> Mapping[str, Weights]:
    """Return the weights of a language, for each question."""
    text = resources.files("proxy.memory.extract_builtin").joinpath(_FOLDER, f"{code}.json").read_text("utf-8")
    return {question: Weights(learned) for question, learned in json.loads(text).items()}
