"""Properties of an exchange."""

from __future__ import annotations

from itertools import permutations

import pytest

from proxy.dialects import chat
from proxy.pipeline.exchange import Exchange
from proxy.types import Scope


@pytest.mark.parametrize("reasons", list(permutations(["embedder", "journal", "store", "deadline"])))
def test_header_names_the_worst_reason(reasons: tuple[str, ...]) -> None:
    exchange = Exchange("POST", "/v1/chat/completions", "", [], b"{}", chat)
    exchange.scope, exchange.mode = Scope("0" * 32, "a" * 32), "full"
    for reason in reasons:
        exchange.degrade(reason)
    assert exchange.memories().reason == "journal"
    assert exchange.reasons == ["journal", "store", "deadline", "embedder"]
