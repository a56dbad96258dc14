"""Document summaries by the operator's model, after ingestion; without a model, extractive summaries stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import structlog

from proxy.errors import ProxyError
from proxy.memory.conversations.summary_model import ModelSummarizer
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.media import Shown
from proxy.text.lexical import content
from proxy.types import Document, Scope

_log = structlog.get_logger(__name__)
_MAX_TOKENS = 250
_MIN_CHARACTERS = 600  # a shorter document is its own summary
_MAX_SHOWN = 48_000  # characters of a document in one model call
_OPENING_SHARE = 0.4
_MAX_PASSAGES = 40
_FIGURE = re.compile(r"(?<!\w)\w*\d[\w.,:/%-]*\w|\d")
_MIN_BORNE_OUT = 0.5  # share of a sentence's words; a summary also has words that the document lacks


def sum_up(services: Services, scope: Scope, document: Document, texts: Sequence[str]) -> None:
    """Start summarising a document in the background, if a model is configured.

    Args:
        services: Services with the model, if any; ephemeral documents are not sent to it.
        scope: User and agent.
        document: The document with its extractive summary.
        texts: Text of each page.
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


def excerpt(title: str, outline: str, texts: Sequence[str]) -> str:
    """Return an excerpt that fits into one model call: outline, beginning, and evenly spaced passages.

    Args:
        title: Title of the document.
        outline: Its headings.
        texts: Text of each page.
    """
    whole = "\n\n".join(text for text in texts if text)
    head = "\n".join(filter(None, (title, outline[: _MAX_SHOWN // 8])))
    room = _MAX_SHOWN - len(head)
    if len(whole) <= room:
        return f"{head}\n\n{whole}".strip()
    opening = round(room * _OPENING_SHARE)
    each = (room - opening) // _MAX_PASSAGES
    stride = (len(whole) - opening - each) / (_MAX_PASSAGES - 1)  # the last passage is the end of the document
    starts = (opening + round(stride * number) for number in range(_MAX_PASSAGES))
    passages = (_from_word(whole, start, each) for start in starts)
    return "\n\n[…]\n\n".join([f"{head}\n\n{whole[:opening]}", *passages])


def borne_out(summary: str, shown: str) -> str:
    """Return the sentences of a summary that are grounded in the document, "" if there are none.

    Every figure and code of a sentence must occur in the document, and so must half of its words.

    Args:
        summary: Summary by a model.
        shown: Excerpt that the model got.
    """
    known, squeezed = frozenset(content(shown)), re.sub(r"[\s,]", "", shown.casefold())
    return " ".join(sentence for sentence in _sentences(summary) if _stands(sentence, known, squeezed))


def _sentences(text: str) -> list[str]:
    """Return the sentences; a decimal point does not end one."""
    return [found for one in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", text) if (found := one.strip())]


def _stands(sentence: str, known: frozenset[str], squeezed: str) -> bool:
    figures = [re.sub(r"[\s,]", "", found.casefold()).rstrip(".:/-") for found in _FIGURE.findall(sentence)]
    if any(figure not in squeezed for figure in figures):
        return False
    words = content(sentence)
    return not words or sum(word in known for word in words) >= _MIN_BORNE_OUT * len(words)


def _from_word(text: str, start: int, length: int) -> str:
    at = text.find(" ", start, start + 60)
    return text[at + 1 if at >= 0 else start : start + length]
