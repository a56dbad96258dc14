"""Holds learned weights in little room: what each trait says, found by the trait's checksum."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
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

    def __init__(self, learned: Iterable[tuple[str, float]]) -> None:
        """Take each trait with its weight."""
        found_keys, found = array("I"), array("f")
        for trait, weight in learned:
            found_keys.append(crc32(trait.encode()))
            found.append(weight)
        keys = np.array(found_keys or [0], np.uint32)
        order = np.argsort(keys, kind="stable")
        self._keys, self._weights = keys[order], np.array(found or [0.0], np.float32)[order]

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


@cache  # some 150 KB a language
def weights_of(code: str) -> Mapping[str, Weights]:
    """Return the weights of a language, for each question."""
    path = resources.files("proxy.memory.learn.extract_builtin").joinpath(_FOLDER, f"{code}.json")
    with path.open(encoding="utf-8") as lines:
        return {question: Weights(_learned(lines)) for question in _questions(lines)}


# The files have a trait a line, and are read so: parsed at once they would leave some megabytes of heap behind.
def _questions(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.rstrip().endswith(": {"):
            yield json.loads(line.rpartition(":")[0])


def _learned(lines: Iterable[str]) -> Iterator[tuple[str, float]]:
    for line in lines:
        trait, colon, weight = line.rpartition(": ")
        if not colon:
            return
        yield json.loads(trait), float(weight.strip(",\n"))
