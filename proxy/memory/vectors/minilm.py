"""Sentence embedding by ONNX Runtime in the calling thread, with the built-in model or another."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL = "all-MiniLM-L6-v2/int8/1"
DIMENSION = 384
MODELS = Path(__file__).resolve().parents[2] / "models"

GRAPH, TOKENIZER = "all-MiniLM-L6-v2.int8.onnx", "tokenizer.json"
_MAX_TOKENS = 240
_TABLE, _TABLE_SHAPE = "words", (30_522, DIMENSION)
_TABLE_MARK = b"\x4a\x80\xae\xcb\x05"  # prefix of the tensor's bytes in an ONNX file (field 9, a length)
# The model reads 240 tokens; the tokenizer would split all of a long text first (2.6 s for a million characters).
_MAX_RAW, _MAX_CHARACTERS = 8192, 2400


class MiniLM:
    """A loaded model, safe for concurrent threads.

    Args:
        session: Session of the model's graph.
        tokenizer: Tokenizer of the model's vocabulary.
        kept: Objects that the session uses and does not own.
    """

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer, kept: object = None) -> None:
        self._session, self._tokenizer, self._kept = session, tokenizer, kept
        self._inputs = {one.name for one in session.get_inputs()}

    @classmethod
    def load(cls, folder: Path = MODELS, *, graph: str = GRAPH) -> MiniLM:
        """Load the files of ``folder``; about 0.1 s and 40 MB.

        Args:
            folder: Folder of the graph, the tokenizer and the ``NOTICE`` with their sha256.
            graph: Name of the graph's file.

        Raises:
            OSError: If a file is missing.
            ValueError: If a file is not the one that ``NOTICE`` names.
            ImportError: If ONNX Runtime does not load.
        """
        _verify(folder, graph)
        session, kept = _open_session(folder / graph)
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.enable_truncation(_MAX_TOKENS)
        tokenizer.no_padding()
        return cls(session, tokenizer, kept)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one L2-normalised row a text, from its first 240 tokens; keep batches small, padding costs."""
        ids = [self._tokenizer.encode(_head(text)).ids for text in texts]
        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), np.int64)
        mask = np.zeros_like(tokens)
        for row, found in enumerate(ids):
            tokens[row, : len(found)] = found
            mask[row, : len(found)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        rows = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        return _pooled(np.asarray(rows, np.float32), mask)


def _pooled(rows: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return one unit vector a text: graphs other than the built-in one give one a token, to be averaged."""
    if rows.ndim == 2:
        return rows
    weights = mask[:, :, np.newaxis].astype(np.float32)
    means = (rows * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    unit: NDArray[np.float32] = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
    return unit


def _verify(folder: Path, graph: str) -> None:
    notice = (folder / "NOTICE").read_text(encoding="utf-8").split()
    for name in (graph, TOKENIZER):
        with (folder / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest not in notice:
            raise ValueError(f"{folder / name} is damaged: its sha256 is not in NOTICE; install the package again.")


def _open_session(path: Path) -> tuple[InferenceSession, object]:
    """Return a session, and the objects that must live as long as it."""
    # Read when the library loads; it obeys no other switch.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # noqa: TID251 - written for a library, not read as a setting
    import onnxruntime  # noqa: PLC0415 - after the line above

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # it would keep the memory of the longest batch, some 20 MB
    table = _word_table(path)
    shared = None if table is None else onnxruntime.OrtValue.ortvalue_from_numpy(table)
    if shared is not None:
        options.add_initializer(_TABLE, shared)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session, (table, shared)


def _word_table(path: Path) -> NDArray[np.int8] | None:
    """Return the built-in model's word vectors, mapped from its file; None for another model.

    Read by ONNX Runtime, they take 12 MB of each process. Mapped, only the words that occur are in memory, and all
    processes share them.
    """
    if path.name != GRAPH:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = content.find(_TABLE_MARK)
    return np.memmap(path, np.int8, "r", offset=place + len(_TABLE_MARK), shape=_TABLE_SHAPE) if place >= 0 else None


def _head(text: str) -> str:
    # Half an emoji (a lone surrogate, legal in JSON) is a TypeError in the tokenizer.
    clean = text[:_MAX_RAW].encode("utf-8", "replace").decode()
    return " ".join(clean.split())[:_MAX_CHARACTERS]
