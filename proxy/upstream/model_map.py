"""Facts of models by name: window, prices, inputs; from LiteLLM's map, read without importing LiteLLM."""

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
    """Prices in US dollars a token.

    Args:
        input: Price of the request's tokens.
        output: Price of the reply's tokens.
        cache_read: Price of request tokens read from the provider's cache; None: no separate price.
    """

    input: float
    output: float
    cache_read: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of one model; None if unknown.

    Args:
        context_window: Maximum tokens of a request.
        prices: Prices of its tokens.
        sees: Whether it accepts images.
        reads: Whether it accepts PDF files.
        provider: LiteLLM's name of the provider.
        speaks: Whether it is a model for text, not for images or sound.
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
    """Return the map's facts of a model.

    Args:
        name: The provider's name for the model, with or without the provider's prefix.
        provider: LiteLLM's name of the provider, "" if unknown.
    """
    models = _models()
    prefix, _, rest = name.partition("/")
    named = [f"{provider}/{name}", name, *([rest] if rest and prefix == provider else [])]
    # For a fine-tuned model the map has only its base model.
    tuned = ":".join(name.split(":")[:2]) if name.startswith("ft:") else ""
    return next((found for one in (*named, tuned) if (found := models.get(one)) is not None), UNKNOWN)


def names(provider: str) -> list[str]:
    """Return the names of a provider's text models, without its prefix."""
    own = (name for name, known in _models().items() if known.provider == provider and known.speaks)
    return sorted({name.removeprefix(f"{provider}/") for name in own})


def overridden(known: ModelFacts, info: Mapping[str, Any]) -> ModelFacts:
    """Return facts overridden by the operator's, under the names of LiteLLM's ``model_info``."""
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
    """Read the map (0.1 s of CPU) and keep the few needed fields; empty without LiteLLM."""
    found = importlib.util.find_spec("litellm")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder) / _FILE
        try:
            # Each model is reduced as soon as it is parsed: the whole map would briefly take 50 MB.
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
        # The older field is the reply's limit if both are given, and the whole window if it is alone.
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
