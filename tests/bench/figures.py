"""Measurements of each target, and the table that compares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

CLIENTS = (1, 16, 64)


@dataclass(slots=True)
class Figures:
    """All measurements of one target, over all rounds."""

    name: str
    whole_ms: list[float] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    end_ms: list[float] = field(default_factory=list)
    embed_ms: list[float] = field(default_factory=list)
    besides_ms: list[float] = field(default_factory=list)  # to the first token, without the embedder's part
    rates: dict[int, list[float]] = field(default_factory=lambda: {clients: [] for clients in CLIENTS})
    cpu_s: dict[bool, float] = field(default_factory=lambda: {False: 0.0, True: 0.0})
    requests: dict[bool, int] = field(default_factory=lambda: {False: 0, True: 0})
    failed: int = 0
    rss_bytes: int = 0
    ready_after_s: float = 0.0
    ready_cpu_s: float = 0.0

    def add(self, result: dict[str, Any], cpu_s: float, *, clients: int, is_stream: bool) -> None:
        """Add the results of one burst."""
        self.failed += result["failed"]
        self.cpu_s[is_stream] += cpu_s
        self.requests[is_stream] += result["done"]
        if is_stream:
            self.first_ms += result["first_ms"]
            self.end_ms += result["end_ms"]
            self.embed_ms += result["embed_ms"]
            pairs = zip(result["first_ms"], result["embed_ms"], strict=True)
            self.besides_ms += [first - embed for first, embed in pairs]
            return
        self.rates[clients].append(result["done"] / result["wall_s"])
        if clients == 1:
            self.whole_ms += result["end_ms"]

    def cpu_ms(self, *, is_stream: bool) -> float | None:
        """CPU time of the server per request, background work included."""
        return 1000 * self.cpu_s[is_stream] / self.requests[is_stream] if self.requests[is_stream] else None

    def rate(self, clients: int) -> float | None:
        """Requests per second, median of the rounds."""
        return quantile(self.rates[clients], 0.5)


Value = Callable[[Figures], float | None]
Samples = Callable[[Figures], Sequence[float]]


def quantile(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def table(all_figures: Sequence[Figures]) -> str:
    """Return the comparison: one row per figure, one column per target; the first target is the direct way."""
    direct = all_figures[0]
    peer = next((figures for figures in all_figures if figures.name == "LiteLLM"), None)
    rows = [("", [figures.name for figures in all_figures])]
    for name, value in _rows(direct):
        rows.append((name, [_shown(value(figures)) for figures in all_figures]))
    for name, value in _ratios():
        rows.append((f"{name}, to direct", [_ratio(value(one), value(direct)) for one in all_figures]))
    if peer is not None:
        for name, value in [*_ratios(), *_costs(direct)]:
            rows.append((f"{name}, to LiteLLM", [_ratio(value(one), value(peer)) for one in all_figures]))
    widths = [max(len(cells[at]) for _, cells in rows) for at in range(len(all_figures))]
    first = max(len(name) for name, _ in rows)
    lines = [
        "  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))])
        for name, cells in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _rows(direct: Figures) -> list[tuple[str, Value]]:
    rows: list[tuple[str, Value]] = []
    for noun, samples in _SAMPLES:
        rows.append((f"{noun} p50, ms", _quantile_of(samples, 0.5)))
        rows += [(f"  added p{share * 100:.0f}", _added_to(direct, samples, share)) for share in (0.5, 0.95)]
    rows += [(f"  of it the embedder p{share * 100:.0f}", _embedder(share)) for share in (0.5, 0.95)]
    rows += [(f"requests/s, {clients} clients", _rate_at(clients)) for clients in CLIENTS]
    return [
        *rows,
        ("CPU-ms a request", lambda one: one.cpu_ms(is_stream=False)),
        ("CPU-ms a stream", lambda one: one.cpu_ms(is_stream=True)),
        ("RSS, MB", lambda one: one.rss_bytes / 2**20 or None),
        ("start to ready, s", lambda one: one.ready_after_s or None),
        ("start to ready, CPU-s", lambda one: one.ready_cpu_s or None),
        ("failed requests", lambda one: float(one.failed)),
    ]


def _ratios() -> list[tuple[str, Value]]:
    return [
        ("whole reply p50", lambda one: quantile(one.whole_ms, 0.5)),
        ("first token p50", lambda one: quantile(one.first_ms, 0.5)),
        ("requests/s, 16 clients", lambda one: one.rate(16)),
    ]


def _costs(direct: Figures) -> list[tuple[str, Value]]:
    return [
        ("added to whole reply p50", _added_to(direct, lambda one: one.whole_ms, 0.5)),
        ("CPU a request", lambda one: one.cpu_ms(is_stream=False) or None),
        ("CPU a stream", lambda one: one.cpu_ms(is_stream=True) or None),
        ("RSS", lambda one: one.rss_bytes / 2**20 or None),
    ]


def _quantile_of(samples: Samples, share: float) -> Value:
    return lambda one: quantile(samples(one), share)


def _embedder(share: float) -> Value:
    return lambda one: quantile(one.embed_ms, share) or None


def _added_to(direct: Figures, samples: Samples, share: float) -> Value:
    base = quantile(samples(direct), share) or 0.0

    def added(one: Figures) -> float | None:
        found = quantile(samples(one), share)
        return None if found is None or one is direct else found - base

    return added


def _rate_at(clients: int) -> Value:
    return lambda one: one.rate(clients)


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _ratio(value: float | None, base: float | None) -> str:
    return f"{value / base:.3g}x" if value is not None and base else "-"


_SAMPLES: tuple[tuple[str, Samples], ...] = (
    ("whole reply", lambda one: one.whole_ms),
    ("stream: first token", lambda one: one.first_ms),
    ("first token besides embedder", lambda one: one.besides_ms),
    ("stream: end", lambda one: one.end_ms),
)
