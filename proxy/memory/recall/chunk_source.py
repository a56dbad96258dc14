"""Recall source of document chunks and images; a question may name a file, a page or a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import structlog

from proxy.memory.index.cache import IndexCache
from proxy.memory.index.index import ChunkShelf
from proxy.memory.index.postings import Mask, Scores
from proxy.memory.recall import tuning
from proxy.memory.recall.found import NOTHING, Found, beside_loop, cut, in_time, terms_of
from proxy.memory.recall.gate import weigh
from proxy.memory.recall.query import Query
from proxy.memory.recall.rank import best, fuse
from proxy.process.threads import shielded
from proxy.text.filenames import MIN_TELLING
from proxy.text.lexical import content
from proxy.text.when import span
from proxy.types import Chunk, Hit, Scope, Source

_log = structlog.get_logger(__name__)
_MAX = 16
_MAX_LEADS = 6

_PAGE = re.compile(
    r"\b(?:pages?|pg\.?|slides?|sheets?|chapters?|p\.|seiten?|folien?|blatt|kapitel|páginas?|paginas?|diapositivas?|"
    r"capítulos?|страниц\w*|слайд\w*|лист\w*|глав\w*)\s*+(?:(?:no\.?|nr\.?|number|#)\s*+)?(?P<number>\d{1,4})\b"
    r"|第\s*+(?P<zh>\d{1,4})\s*+[页頁章张張]",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\b(?:files?|documents?|docs?|pdfs?|attachments?|uploads?|manuals?|handbooks?|guides?|papers?|reports?|articles?|"
    r"books?|e-?books?|slides?|decks?|presentations?|spreadsheets?|workbooks?|worksheets?|tables?|contracts?|leases?|"
    r"agreements?|policy|policies|invoices?|receipts?|bills?|statements?|letters?|forms?|minutes|notes|resume|cv|"
    r"images?|pictures?|photos?|photographs?|pics?|screenshots?|scans?|drawings?|diagrams?|charts?|selfies?|"
    r"dateien?|dokumente?s?|anhang|handbuch\w*|anleitung\w*|berichte?s?|vertr[aä]ge?s?|rechnung\w*|quittung\w*|belege?|"
    r"bilde?r?n?|fotos?|aufnahmen?|tabellen?|folien?|"
    r"archivos?|documentos?|adjuntos?|manual(?:es)?|informes?|contratos?|facturas?|recibos?|im[aá]gen(?:es)?|capturas?|"
    r"файл\w*|документ\w*|вложени\w*|инструкци\w*|отч[её]т\w*|договор\w*|сч[её]т\w*|чек\w*|квитанци\w*|картинк\w*|"
    r"изображени\w*|снимк\w*|снимок|фот\w*|таблиц\w*|презентаци\w*)\b"
    r"|文件|文档|手册|报告|合同|发票|收据|小票|图片|照片|截图|表格|幻灯片",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"\b(?:sent|send|uploaded?|shared?|showed|shown|gave|given|attached|posted|provided|took|taken|"
    r"geschickt|gesendet|hochgeladen|gezeigt|geteilt|schickte|sandte|"
    r"envi[eé]\w*|enviado|mand[eé]|sub[ií]|subido|adjunt\w+|mostr\w+|compart\w+|"
    r"отправ\w+|присл\w+|посл\w+|загруз\w+|показ\w+|скин\w+)\b|发给|发过|发的|发送|上传|给你看",
    re.IGNORECASE,
)


class ChunkSource:
    """Recall source of document chunks, and of images by their caption and the text in them."""

    gives: frozenset[Source] = frozenset({"chunk", "image"})

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return the chunks and images that match ``query`` or that it names; none while they load."""
        try:
            async with asyncio.timeout(query.patience_s):  # the first load of a long document is slow
                shelf = await shielded(index.chunks(scope, query), "read passages")
        except TimeoutError:
            _log.info("passages are still being read, recall goes on without them")
            return NOTHING
        return await beside_loop(shelf, self.search, shelf, scope, query, limit) if len(shelf) else NOTHING

    def search(self, shelf: ChunkShelf, scope: Scope, query: Query, limit: int) -> Found:
        """Rank the chunks of a shelf; those that the query names by file, page or time come first."""
        mask = shelf.seen_by(scope)
        terms = terms_of(query)
        lexical, dense = shelf.lexical(terms, mask), shelf.dense(query.vector, mask)
        scores = fuse([(lexical, tuning.WORDS_WEIGHT), (dense, tuning.COSINE_WEIGHT)], mask)
        said = mention(query.text)
        meant = _meant(shelf, said, query, mask)
        scores = np.where(meant > 1, np.maximum(scores, tuning.NAMED_SCORE) * meant, scores) * in_time(shelf, query)
        if said.page and meant.max(initial=0) <= 1:  # the query names no file, and may mean none of these
            scores = np.where(shelf.pages == said.page, scores * np.float32(tuning.PAGE_FACTOR), scores)
        lines = best(scores, min(limit, _MAX))
        hits = [_hit(shelf.items[line], float(scores[line])) for line in lines]
        evidence = weigh(shelf, terms, mask, lexical, dense)
        proof = min(1.0, len(said.words) / tuning.PROVING_WORDS)  # any long text has a single word in common
        evidence = replace(evidence, coverage=evidence.coverage * proof, texts=max(evidence.texts, tuning.MIN_PASSAGES))
        found = Found(hits, evidence, is_apart=True)
        if meant.max(initial=0) > 1:
            top = float(meant[lines[0]]) if lines else 0.0
            leads = next((at for at, line in enumerate(lines) if meant[line] < top), len(lines)) if top > 1 else 0
            found = replace(found, leads=min(leads, _MAX_LEADS), is_named=leads > 0)
        return cut(found, tuning.PASSAGE_FLOOR)


def _meant(shelf: ChunkShelf, said: Mention, query: Query, mask: Mask) -> Scores:
    """Return a factor per line: above 1 for the file, the page or the time of sending that the query names."""
    factors = np.ones(len(shelf.items), dtype=np.float32)
    named = mask & shelf.of_documents([one for one, name, words in shelf.names() if said.names(name, words)])
    factors[named] *= tuning.FILE_FACTOR
    if said.page:
        among = named if named.any() else mask if said.is_of_file else np.zeros_like(mask)
        factors[among & (shelf.pages == said.page)] *= tuning.PAGE_FACTOR
    is_asked = said.is_of_file and said.is_sent and not query.says
    if is_asked and span(query.text, query.as_of or query.now) is not None:
        then = in_time(shelf, query, tuning.SENT_FACTOR)
        factors[mask] *= then[mask]
    return factors


def _hit(chunk: Chunk, score: float) -> Hit:
    return Hit(
        chunk.kind,
        chunk.id,
        chunk.text,
        score,
        0,
        when=chunk.taken_at or chunk.at,
        session=chunk.session,
        seq=chunk.seq,
        title=title(chunk),
    )


def title(chunk: Chunk) -> str:
    """Return the citation of a chunk: its file, and its page if the file has several."""
    return f"{chunk.name}, page {chunk.page}" if chunk.pages > 1 and chunk.page else chunk.name


@dataclass(frozen=True, slots=True)
class Mention:
    """Mention of files in a question.

    Args:
        page: Number of a page, slide, sheet or chapter; 0 if none.
        is_of_file: True if the question mentions a file or picture.
        is_sent: True if the question mentions that something was sent or shown.
        words: Index terms of the question.
        text: The question in lower case.
    """

    page: int
    is_of_file: bool
    is_sent: bool
    words: frozenset[str]
    text: str

    @property
    def speaks(self) -> bool:
        """Return whether the question names a file, a page or the time of sending."""
        return self.page > 0 or self.is_of_file or self.is_sent

    def names(self, name: str, words: Collection[str]) -> bool:
        """Return whether the question names a file.

        Args:
            name: Name of the file.
            words: ``name_terms`` of the file's name.
        """
        whole = name.casefold()
        if len(whole) > MIN_TELLING and whole in self.text:
            return True
        return self.speaks and any(word in self.words for word in words)


def mention(text: str) -> Mention:
    """Return the file, page and sending that a question mentions."""
    found = _PAGE.search(text)
    page = int(found["number"] or found["zh"]) if found else 0
    return Mention(
        page,
        _FILE.search(text) is not None,
        _SENT.search(text) is not None,
        frozenset(content(text)),
        text.casefold(),
    )
