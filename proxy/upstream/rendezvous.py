"""Weighted, stable choice of the deployment that serves a conversation."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

_SPAN = 2.0**64


def rank(weights: Mapping[str, float], key: str) -> list[str]:
    """Return the names, the chosen one first and then in the order in which they take over from each other.

    Weighted rendezvous hashing (Thaler and Ravishankar 1998; with weights by Schindelhauer and Schomaker, SPAA 2005):
    over many keys each name comes first in proportion to its weight, and a name that goes or comes moves no key
    between the others.

    Args:
        weights: By name, not negative; a weight of 0 puts a name behind all others.
        key: What is to stay together.
    """
    return sorted(weights, key=lambda name: _score(name, weights[name], key), reverse=True)


def _score(name: str, weight: float, key: str) -> tuple[bool, float, float]:
    digest = hashlib.blake2b(f"{name}\0{key}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    drawn = (int.from_bytes(digest, "big") + 0.5) / _SPAN
    return weight > 0, weight / -math.log(drawn) if drawn < 1 else math.inf, drawn
