"""Reads a message together with what was told before: a small network says of each value whether it ends.

Traits see words; the network, three layers of a transformer (Vaswani et al., 2017) over the embedded model's first
three, sees what they mean beside each other. ``deploy/train_endings.py`` trained it on the lines that the weights were
learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import structlog
from numpy.typing import NDArray

from proxy.memory.vectors.minilm import MODELS, MiniLM, Tokens, open_session, verify
from proxy.memory.vectors.pieces import PIECES, Pieces
from proxy.text.words import Span

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_log = structlog.get_logger(__name__)

GRAPH = "endings.int8.onnx"
LANGUAGES = ("en", "de", "es", "ru", "zh")
MOST_PLACES = 3  # where a message names a value
Stand = tuple[Span, Sequence[Span]]  # where a value was told, and where the message names it


class Network:
    """The loaded network; several threads may use it at once."""

    def __init__(self, session: InferenceSession, model: MiniLM, pieces: Pieces) -> None:
        """Take its graph, the model whose tokens it reads, and what other languages than English are split into."""
        self._session, self._model, self._pieces = session, model, pieces

    def totals(self, told: str, message: str, code: str, values: Sequence[Stand]) -> list[float]:
        """Return for each value a number: the higher, the likelier it ends, 0 for one in two.

        Args:
            told: What was told before.
            message: What may end it.
            code: Of the language of both.
            values: Of what was told.
        """
        tokens = self._model.middle(told, message, None if code == "en" else self._pieces)
        at_told, at_named = places_among(tokens, values)
        given = {
            "middle": tokens.rows,
            "side": np.array(tokens.sides, np.int64),
            "language": np.array([LANGUAGES.index(code)], np.int64),
            "told": at_told,
            "named": at_named,
        }
        return [float(total) for total in self._session.run(["totals"], given)[0]]


def places_among(tokens: Tokens, values: Sequence[Stand]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weights that average the tokens of each value, where it was told and where the message names it.

    Returns:
        Two arrays of shape (values, tokens); a row is zero where a value is not named, or was cut off.
    """
    starts, ends = np.array(tokens.spans).T
    sides = np.array(tokens.sides)

    def weights(side: int, places: Sequence[Span]) -> NDArray[np.float32]:
        found = np.zeros(len(sides), np.float32)
        for start, end in places:
            found += (sides == side) & (ends > starts) & (starts < end) & (start < ends)
        return found / np.float32(max(1.0, float(found.sum())))

    told = np.stack([weights(0, [place]) for place, _ in values])
    return told, np.stack([weights(1, places) for _, places in values])


def load(folder: Path = MODELS) -> Network:
    """Load the network of a folder, and the embedded model where nobody in this process has; 0.3 s and 15 MB.

    Raises:
        OSError: If a file is missing.
        ValueError: If a file is not the one that ``NOTICE`` names.
        ImportError: If ONNX Runtime does not load.
    """
    verify(folder, GRAPH, PIECES)
    session, _ = open_session(folder / GRAPH)
    return Network(session, MiniLM.shared(folder), Pieces.load(folder))


@lru_cache(maxsize=1)
def network() -> Network | None:
    """Return the network of this process, None where it does not load: endings are weighed without it then."""
    try:
        return load(MODELS)
    except (OSError, ImportError, ValueError, RuntimeError) as error:
        _log.warning("the network of endings does not load, endings are weighed without it", error=str(error))
        return None
