"""Sum receipts up to usage by day, by model or by user. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

By = Literal["day", "model", "user"]

# Costs in receipts for calls of memory's own models.
CALLS = ("extraction", "captions", "summaries")


def usage_by(receipts: Iterable[Mapping[str, Any]], by: By) -> list[dict[str, Any]]:
    """Return one entry a day, newest first, or one a model or a user by name; a day and a user with their models.

    Tokens are the provider's count if it gave one. ``saved``: omitted by compaction. ``usd``: price of the requests by
    the model map, 0 if it lacks the model. ``unfinished``: replies that were refused, failed or cut.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for receipt in receipts:
        model = str(receipt.get("model") or "")
        name = str(receipt["created_at"])[:10] if by == "day" else str(receipt.get(by) or "")
        _add(found.setdefault(name, {}).setdefault(model, _empty()), receipt)
    entries = []
    for name in sorted(found, reverse=by == "day"):
        models = found[name]
        whole = _empty()
        for one in models.values():
            for key, value in one.items():
                whole[key] = round(whole[key] + value, 9)
        entry = {"object": "usage", by: name, **whole}
        if by != "model":
            entry["models"] = [{"model": model, **models[model]} for model in sorted(models)]
        entries.append(entry)
    return entries


def usage_of_sessions(receipts: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the usage of each conversation, with its clients and models, by its id.

    Args:
        receipts: Newest first; ``question`` is that of the oldest.
    """
    found: dict[str, dict[str, Any]] = {}
    for receipt in receipts:
        session = str(receipt.get("session") or "")
        entry = found.setdefault(session, {"question": "", "clients": [], "models": [], **_empty()})
        entry["question"] = receipt.get("query") or entry["question"]
        for name, value in (("clients", receipt.get("client")), ("models", receipt.get("model"))):
            if value and value not in entry[name]:
                entry[name].append(value)
        _add(entry, receipt)
    return found


def usage_of_owners(receipts: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return the usage of each owner, from pairs of owner and receipt."""
    found: dict[str, dict[str, Any]] = {}
    for owner, receipt in receipts:
        _add(found.setdefault(owner, _empty()), receipt)
    return found


def steps_of(receipts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each pipeline step, by name, its count, median and 95th percentile in milliseconds."""
    times: dict[str, list[float]] = {}
    for receipt in receipts:
        for name, ms in (receipt.get("timings") or {}).items():
            times.setdefault(name, []).append(ms)
    return [
        {"step": name, "requests": len(found), "p50_ms": _rank(found, 0.5), "p95_ms": _rank(found, 0.95)}
        for name, found in sorted(times.items())
    ]


def reasons_of(receipts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of requests by the part of memory that they lacked, the most frequent first."""
    counts = Counter(reason for receipt in receipts for reason in receipt.get("degraded") or ())
    return dict(counts.most_common())


def _rank(values: list[float], share: float) -> float:
    ranked = sorted(values)
    return round(ranked[min(len(ranked) - 1, int(share * len(ranked)))], 3)


def _empty() -> dict[str, Any]:
    return {
        "requests": 0,
        "with_memory": 0,
        "degraded": 0,
        "unfinished": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cached_tokens": 0,
        "injected_tokens": 0,
        "saved_tokens": 0,
        "usd": 0.0,
        "saved_usd": 0.0,
        "memory_calls": 0,
        "memory_tokens": 0,
        "memory_usd": 0.0,
    }


def _add(entry: dict[str, Any], receipt: Mapping[str, Any]) -> None:
    costs = receipt.get("costs") or {}
    used = receipt.get("usage") or {}
    entry["requests"] += 1
    entry["with_memory"] += bool(receipt.get("injected") or receipt.get("carried"))
    entry["degraded"] += bool(receipt.get("degraded"))
    entry["unfinished"] += receipt.get("finish") not in (None, "complete")
    for key in ("input_tokens", "output_tokens", "cached_tokens"):
        entry[key] += used.get(key, 0)
    for kind in ("injected", "saved"):
        entry[f"{kind}_tokens"] += (costs.get(kind) or {}).get("tokens", 0)
    entry["saved_usd"] = round(entry["saved_usd"] + (costs.get("saved") or {}).get("usd", 0.0), 9)
    entry["usd"] = round(entry["usd"] + float(receipt.get("usd") or 0.0), 9)
    spent = [costs[kind] for kind in CALLS if kind in costs]
    entry["memory_calls"] += len(spent)
    entry["memory_tokens"] += sum(one["tokens"] for one in spent)
    entry["memory_usd"] = round(entry["memory_usd"] + sum(one["usd"] for one in spent), 9)


def counted(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """Return a provider's token counts under one set of names, for every wire format.

    >>> counted({"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}})
    {'input_tokens': 12, 'output_tokens': 3, 'cached_tokens': 8}
    """
    if not usage:
        return {}
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    read = _whole(usage.get("cache_read_input_tokens"))
    written = _whole(usage.get("cache_creation_input_tokens"))
    return {  # Anthropic counts cached input tokens separately
        "input_tokens": _whole(usage.get("prompt_tokens", usage.get("input_tokens"))) + read + written,
        "output_tokens": _whole(usage.get("completion_tokens", usage.get("output_tokens"))),
        "cached_tokens": read or _whole(details.get("cached_tokens") if isinstance(details, Mapping) else 0),
    }


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
