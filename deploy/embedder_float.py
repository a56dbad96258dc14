"""The float BERT in numpy: source of the calibration, and reference for what ``build_embedder`` builds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12  # of the layer norms

Array = NDArray[np.float32]
Weights = dict[str, Array]
See = Callable[[str, Array], None]


def forward(weights: Weights, ids: list[int], see: See = lambda _name, _x: None) -> Array:
    """Return the vector of one text by the float weights; ``see`` is shown the input of every linear layer."""
    words, places, kinds = (
        weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    x = _norm(weights, "embeddings.LayerNorm", words[ids] + places[: len(ids)] + kinds[0])
    for layer in (f"encoder.layer.{index}." for index in range(LAYERS)):
        see(layer + "qkv", x)
        query, key, value = (
            _linear(weights, f"{layer}attention.self.{part}", x).reshape(len(ids), HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.swapaxes(1, 2) / np.float32(math.sqrt(WIDTH / HEADS)))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), WIDTH)
        see(layer + "attention", mixed)
        x = _norm(
            weights, layer + "attention.output.LayerNorm", x + _linear(weights, layer + "attention.output.dense", mixed)
        )
        see(layer + "up", x)
        wide = _gelu(_linear(weights, layer + "intermediate.dense", x))
        see(layer + "down", wide)
        x = _norm(weights, layer + "output.LayerNorm", x + _linear(weights, layer + "output.dense", wide))
    mean = x.mean(0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def _linear(weights: Weights, name: str, x: Array) -> Array:
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def _norm(weights: Weights, name: str, x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(EPSILON))
    return np.asarray(scaled * weights[name + ".weight"] + weights[name + ".bias"], np.float32)


def _gelu(x: Array) -> Array:
    erf = np.fromiter((math.erf(value) for value in (x / math.sqrt(2)).flat), np.float32, x.size)
    return np.asarray(x * (1 + erf.reshape(x.shape)) / 2, np.float32)


def peaks_of(weights: Weights, tokenizer: Tokenizer, texts: list[str]) -> Weights:
    """Return the largest magnitude of every input channel of every linear layer over ``texts``."""
    peaks: Weights = {}

    def see(name: str, x: Array) -> None:
        peak = np.abs(x).max(0)
        peaks[name] = np.maximum(peaks[name], peak) if name in peaks else peak

    for text in texts:
        forward(weights, tokenizer.encode(text).ids, see)
    return peaks
