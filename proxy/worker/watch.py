"""Durations and outcomes of background work, for operators."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from proxy.errors import ProxyError
from proxy.services import Services
from proxy.store.journal_rows import Item
from proxy.telemetry.metrics import JOB_SECONDS
from proxy.telemetry.spans import Span, Value


@contextmanager
def watched(services: Services, kind: str, items: Sequence[Item]) -> Iterator[Counter[str]]:
    """Time a block; what it counts is told along with it.

    Args:
        services: Of the worker.
        kind: Of the work: ``index``, ``learn``.
        items: What it is done for.
    """
    tally: Counter[str] = Counter(turns=len(items))
    start_s, error = time.perf_counter(), ""
    try:
        yield tally
    except BaseException as failed:
        error = failed.code if isinstance(failed, ProxyError) else type(failed).__name__
        raise
    finally:
        end_s = time.perf_counter()
        JOB_SECONDS.labels(kind).observe(end_s - start_s)
        if services.tracing is not None:
            attributes: dict[str, Value] = {f"throughline.{kind}.{name}": count for name, count in tally.items()}
            receipts = [item.turn.receipt for item in items if item.turn is not None]
            services.tracing.job(Span(f"throughline.{kind}", start_s, end_s, "internal", attributes, error), receipts)
