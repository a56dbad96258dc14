"""Count tokens: exactly with tiktoken once it is loaded, by a safe estimate until then."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from proxy.settings.load import set_default_variable

if TYPE_CHECKING:
    import tiktoken

PIECE = 100_000  # characters that are counted at once

_loaded: dict[str, tiktoken.Encoding] = {}


def load() -> None:
    """Load the encoding (some 0.5 s of CPU); call it in a thread at start. It needs no network."""
    folder = _carried_folder()
    if folder is None:
        return
    set_default_variable("TIKTOKEN_CACHE_DIR", str(folder))
    import tiktoken  # noqa: PLC0415 - 0.1 s that a cold start need not pay before its port is bound

    encoding = tiktoken.get_encoding("cl100k_base")
    encoding._mergeable_ranks = {}  # 11 MB that its native part holds as well, used for pickling only
    _loaded["cl100k_base"] = encoding


def count(text: str) -> int:
    """Return the number of cl100k_base tokens in ``text``; an upper-leaning estimate before ``load``."""
    return _count(text, "cl100k_base" in _loaded)


def measure(text: str) -> int:
    """Return the same number without caching it; for texts that are counted once."""
    return _count.__wrapped__(text, "cl100k_base" in _loaded)


def measure_long(text: str) -> int:
    """Return the same for a text of any length, counted piece by piece; some three million letters take a second."""
    return sum(measure(text[at : at + PIECE]) for at in range(0, len(text), PIECE))


def estimate(text: str) -> int:
    """Estimate the tokens of ``text`` from its length: four letters of English a token, fewer in other scripts."""
    if text.isascii():
        return len(text) // 4 + 1
    return len(text) // 4 + (len(text.encode("utf-8", "replace")) - len(text)) * 3 // 10 + 1


@lru_cache(maxsize=8192)
def _count(text: str, exact: bool) -> int:  # noqa: FBT001 - part of the cache key
    if exact and len(text) < 200_000:
        return len(_loaded["cl100k_base"].encode_ordinary(text))
    wide = sum(1 for character in text if ord(character) > 0x2E7F)
    return wide + (len(text) - wide) // 3 + 1


def _carried_folder() -> Path | None:
    """Return LiteLLM's folder with the BPE file, without importing LiteLLM."""
    found = importlib.util.find_spec("litellm")
    for place in (found.submodule_search_locations or []) if found else []:
        folder = Path(place) / "litellm_core_utils" / "tokenizers"
        if folder.is_dir():
            return folder
    return None
