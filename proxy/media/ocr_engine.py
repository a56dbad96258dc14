"""Whether the engine that reads text off pictures is installed; asking loads nothing of it."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def has_engine() -> bool:
    """Whether the extra ``ocr`` is installed."""
    return find_spec("rapidocr") is not None
