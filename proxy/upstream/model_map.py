"""Facts of models by name: window, prices, images; from LiteLLM's map, read without importing LiteLLM."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import structlog

_log = structlog.get_logger(__name__)
_FILE = "model_prices_and_context_window_backup.json"
_PRICES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
}
_SPEAKING = frozenset({"chat", "responses", "completion", "embedding"})


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a token.

    Args:
        input: Of the request.
        output: Of the reply.
        cache_read: Of the request, found in the provider's cache; None: no other price.
    """

    input: float
    output: float
    cache_read: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of one model; None where unknown.

    Args:
        context_window: Tokens of a request.
        prices: Of its tokens.
        sees: Whether it takes images.
        reads: Whether it takes PDF files.
        provider: As LiteLLM names it.
        speaks: Whether it takes texts at all, and is no model for pictures or sound.
    """

    context_window: int | None = None
    prices: Prices | None = None
    sees: bool | None = None
    reads: bool | None = None
    provider: str = ""
    speaks: bool = False


UNKNOWN = ModelFacts()


def load() -> None:
    """Read the map; call it in a thread at start."""
    _models()


def facts(name: str, provider: str = "") -> ModelFacts:
    """Return what the map knows of a model.

    Args:
        name: As the provider has it, or with the provider's prefix.
        provider: As LiteLLM names it, "" where unknown.
    """
    models = _models()
    prefix, _, rest = name.partition("/")
    named = [f"{provider}/{name}", name, *([rest] if rest and prefix == provider else [])]
    # Of a fine-tuned model the map has the one that it was made of.
    tuned = ":".join(name.split(":")[:2]) if name.startswith("ft:") else ""
    return next((found for one in (*named, tuned) if (found := models.get(one)) is not None), UNKNOWN)


def names(provider: str) -> list[str]:
    """Return the names of a provider's models for text, without its prefix."""
    own = (name for name, known in _models().items() if known.provider == provider and known.speaks)
    return sorted({name.removeprefix(f"{provider}/") for name in own})


def overridden(known: ModelFacts, info: Mapping[str, Any]) -> ModelFacts:
    """Return facts with what an operator says of a model, in the words of LiteLLM's ``model_info``."""
    window = info.get("context_window") or info.get("max_input_tokens")
    said = {field: _price(info.get(name)) for field, name in _PRICES.items()}
    given = {field: price for field, price in said.items() if price is not None}
    sees, reads = info.get("supports_vision"), info.get("supports_pdf_input")
    return replace(
        known,
        context_window=_count(window) or known.context_window,
        prices=replace(known.prices or Prices(0.0, 0.0), **given) if given else known.prices,
        sees=sees if isinstance(sees, bool) else known.sees,
        reads=reads if isinstance(reads, bool) else known.reads,
    )


@lru_cache(maxsize=1)
def _models() -> dict[str, ModelFacts]:
    """Read the map (0.1 s of CPU) and keep the few fields that count; without LiteLLM nothing is known."""
    found = importlib.util.find_spec("litellm")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder) / _FILE
        try:
            # Each model shrinks as soon as it is read: the whole map would take 50 MB for a moment.
            raw: dict[str, Any] = json.loads(path.read_bytes(), object_pairs_hook=_shrunk)
        except (OSError, ValueError) as error:
            _log.warning("the model map cannot be read, windows and prices are unknown", error=type(error).__name__)
            continue
        return {name: known for name, known in raw.items() if isinstance(known, ModelFacts) and name != "sample_spec"}
    return {}


def _shrunk(pairs: list[tuple[str, Any]]) -> Any:
    fields = dict(pairs)
    return _facts(fields) if "litellm_provider" in fields else fields


def _facts(fields: Mapping[str, Any]) -> ModelFacts:
    cost = {field: _price(fields.get(name)) for field, name in _PRICES.items()}
    prices = None
    if cost["input"] is not None:
        prices = Prices(cost["input"], cost["output"] or 0.0, cost["cache_read"])
    sees, reads = fields.get("supports_vision"), fields.get("supports_pdf_input")
    return ModelFacts(
        # The older field is the reply's where both are given, and both together where it stands alone.
        context_window=_count(fields.get("max_input_tokens")) or _count(fields.get("max_tokens")),
        prices=prices,
        sees=sees if isinstance(sees, bool) else None,
        reads=reads if isinstance(reads, bool) else None,
        provider=sys.intern(str(fields.get("litellm_provider") or "")),
        speaks=fields.get("mode") in _SPEAKING,
    )


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _price(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
