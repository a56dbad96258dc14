"""Summaries of documents by the operator's model, once they can be found; until then, and without it, extracts."""

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
_MAX_SHOWN = 48_000  # characters
_OPENING_SHARE = 0.4
_MAX_PASSAGES = 40
_FIGURE = re.compile(r"(?<!\w)\w*\d[\w.,:/%-]*\w|\d")
_MIN_BORNE_OUT = 0.5  # of a sentence's words; a summary has words of its own


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


def excerpt(title: str, outline: str, texts: Sequence[str]) -> str:
    """Return a document as one call can carry it: its outline, how it begins, and passages from all over it.

    Args:
        title: As the document has it.
        outline: Its headings.
        texts: The pages.
    """
    whole = "\n\n".join(text for text in texts if text)
    head = "\n".join(filter(None, (title, outline[: _MAX_SHOWN // 8])))
    room = _MAX_SHOWN - len(head)
    if len(whole) <= room:
        return f"{head}\n\n{whole}".strip()
    opening = round(room * _OPENING_SHARE)
    each = (room - opening) // _MAX_PASSAGES
    stride = (len(whole) - opening - each) / (_MAX_PASSAGES - 1)  # the last one is how it ends
    starts = (opening + round(stride * number) for number in range(_MAX_PASSAGES))
    passages = (_from_word(whole, start, each) for start in starts)
    return "\n\n[…]\n\n".join([f"{head}\n\n{whole[:opening]}", *passages])


def borne_out(summary: str, shown: str) -> str:
    """Return the sentences of a summary that say what the document says.

    Every figure and code of a sentence must stand in the document, and so must half of its words; "" where nothing
    is left.

    Args:
        summary: By a model.
        shown: What it was shown.
    """
    known, squeezed = frozenset(content(shown)), re.sub(r"[\s,]", "", shown.casefold())
    return " ".join(sentence for sentence in _sentences(summary) if _stands(sentence, known, squeezed))


def _sentences(text: str) -> list[str]:
    """Return the sentences; a figure with a point in it parts none."""
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
