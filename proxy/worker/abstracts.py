"""Summaries of documents by the operator's model, once they can be found; until then, and without it, extracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog

from proxy.errors import ProxyError
from proxy.memory.conversations.summary_model import ModelSummarizer
from proxy.memory.library.abstract import borne_out, excerpt
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.media import Shown
from proxy.types import Document, Scope

_log = structlog.get_logger(__name__)
_MAX_TOKENS = 250
_MIN_CHARACTERS = 600  # a shorter document is its own summary


def sum_up(services: Services, scope: Scope, document: Document, texts: Sequence[str]) -> None:
    """Start having a document summed up by a model, where one is configured; nobody waits for it.

    Args:
        services: With the model, if any; what is ephemeral is not sent to it.
        scope: Whose, and of which agent.
        document: As it is known by now, with its extractive summary.
        texts: Its pages.
    """
    summarizer = services.summarizer
    if summarizer is None or services.is_ephemeral or sum(map(len, texts)) < _MIN_CHARACTERS:
        return
    spawn(_sum_up(services, summarizer, scope, document, list(texts)), "sum up a document")


async def _sum_up(
    services: Services, summarizer: ModelSummarizer, scope: Scope, document: Document, texts: list[str]
) -> None:
    try:
        shown = await in_thread("learn", excerpt, document.title, document.outline, texts)
        written = await summarizer.describe(document.name, shown, _MAX_TOKENS)
        await services.costs.add(scope, [written.cost])
        text = await in_thread("learn", borne_out, written.text, shown)
        if not text:
            _log.warning("a model's summary of a document could not be used, the extractive one stays")
            return

        def edit(now: Shown) -> Shown:
            return replace(now, summary=text, summarised_by=summarizer.model) if isinstance(now, Document) else now

        async with services.leases.held(scope):
            await services.media.change(scope, document.id, edit)
    except ProxyError as error:
        _log.warning("a document could not be summed up by the model, the extract stays", error=error.code)
