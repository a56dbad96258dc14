"""Ingest one document or image: parse, chunk, embed, store. Resumes after a crash."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from proxy.errors import ProxyError
from proxy.media.base import Content, MediaRefused
from proxy.media.chunk import chunks, outline
from proxy.media.image import distance
from proxy.media.limits import Limits
from proxy.media.read import note_of_silence, read_document, read_image, read_text_of_image, sniff_file
from proxy.memory.library.caption import image_chunks, is_sendable, words_of
from proxy.memory.library.digest import digest
from proxy.memory.library.library import as_said
from proxy.memory.lifecycle.quarantine import holds_secrets, speaks_to_the_model
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.costs import Cost
from proxy.store.media import Reading, Shown
from proxy.store.quarantine import Apart
from proxy.text.secrets import redact
from proxy.text.thread_mark import unmarked
from proxy.text.tokens import measure_long
from proxy.types import Chunk, Document, Image
from proxy.types.scope import partition, parts
from proxy.worker.abstracts import sum_up

_log = structlog.get_logger(__name__)
_BATCH = 32  # chunks in one commit
_PARSED = 0.3  # parsing's share of the progress
_TICK_S = 0.4
_MAX_OUTLINE = 6000
_MAX_OCR = 20_000
_NEAR = 4  # of 64 bits
_SAME_SHAPE = 0.03
_SAME_TEXT = 0.7
_OF_SERVER = frozenset({"unavailable", "cancelled"})  # reasons of the server, not of the picture: retry
INJECTION, SECRETS = "its text gives the model orders of its own", "secrets"  # reasons of a quarantine


class Gone(Exception):
    """The item was deleted, or another reader has its lease."""


@dataclass(slots=True)
class _Progress:
    fraction: float = 0.0

    def parsed(self, share: float) -> None:
        self.fraction = max(self.fraction, _PARSED * share)

    def stored(self, share: float) -> None:
        self.fraction = max(self.fraction, _PARSED + (1 - _PARSED) * share)


async def read_in(services: Services, reading: Reading) -> Shown:
    """Ingest an item and return its new state.

    Raises:
        MediaRefused: If it cannot be ingested, with the reason.
        Gone: If it was deleted meanwhile.
        ProxyError: If a needed component is unavailable.
    """
    progress = _Progress(reading.item.fraction)
    async with _held(services, reading, progress):
        if reading.item.fraction == 1.0:
            return await _renamed(services, reading)
        if isinstance(reading.item, Document):
            return await _document(services, reading, reading.item, progress)
        return await _image(services, reading, reading.item, progress)


async def _document(services: Services, reading: Reading, item: Document, progress: _Progress) -> Shown:
    async with services.blobs.file(reading.scope, item.sha256) as path:
        sniffed = await sniff_file(path, item.name, item.media_type)
        found = await read_document(path, sniffed, services.reading, progress.parsed)
    content = await in_thread("cpu", _clean, found)
    has_secrets = content != found and await in_thread("cpu", holds_secrets, [page.text for page in found.pages])
    pieces = await in_thread("cpu", chunks, content)
    outlined = (await in_thread("cpu", outline, content))[:_MAX_OUTLINE]
    said = await in_thread("cpu", digest, [page.text for page in content.pages])
    tokens = await in_thread("cpu", lambda: sum(measure_long(page.text) for page in content.pages))
    agent = await _partition(services, reading, [piece.text for piece in pieces], has_secrets=has_secrets)
    rows = [
        Chunk(
            f"{item.id}.{piece.seq}",
            "chunk",
            item.id,
            item.all_names,
            piece.text,
            item.created_at,
            piece.seq,
            piece.page,
            len(content.pages),
            piece.heading,
            agent,
            item.session,
        )
        for piece in pieces
    ]
    known = replace(
        item,
        pages=len(content.pages),
        title=content.title,
        outline=outlined,
        summary=said,
        notes=content.notes,
        tokens=tokens,
        chunks=len(rows),
    )
    await _note(services, reading, known)
    await _store(services, reading, rows, progress)
    done = await _finish(services, reading, known)
    await _resettle(services, reading, rows, done)
    if agent == item.agent:
        sum_up(services, reading.scope, known, [page.text for page in content.pages])
    return done


async def _renamed(services: Services, reading: Reading) -> Shown:
    """Name the passages of something that is read, and was shown under another name since."""
    item = reading.item
    numbered = [f"{item.id}.{seq}" for seq in range(item.chunks)] if isinstance(item, Document) else []
    ids = [row.id for row in image_chunks(item)] if isinstance(item, Image) else numbered
    rows = await services.store.chunks(reading.scope, ids)
    rows = await _resettle(services, reading, rows, item)
    done = await _finish(services, reading, item)
    await _resettle(services, reading, rows, done)
    return done


async def _resettle(services: Services, reading: Reading, rows: Sequence[Chunk], item: Shown) -> list[Chunk]:
    """Move what was set apart, or released, and rename what came under another name, while it was read."""
    async with services.leases.held(reading.scope):
        agent = await _partition(services, reading, ())
        settled = [replace(row, agent=agent, name=item.all_names) for row in rows]
        moved = [row for row, before in zip(settled, rows, strict=True) if row != before]
        await services.store.put_chunks(reading.scope, moved, {}, "")
    return settled


async def _partition(services: Services, reading: Reading, texts: Sequence[str], *, has_secrets: bool = False) -> str:
    """Return the item's partition: a quarantined one if it is in quarantine, or has secrets or prompt injections."""
    item, scope = reading.item, reading.scope
    targets = await services.quarantine.targets(scope)
    apart = next((one for one in (item.id, item.session) if one and one in targets), "")
    settings = services.settings.memory
    if not apart:
        is_order = settings.quarantine_injections and await in_thread("cpu", speaks_to_the_model, texts)
        is_secret = settings.quarantine_secrets and has_secrets
        if reason := "; ".join([INJECTION] * is_order + [SECRETS] * is_secret):
            entry = Apart(f"qua_{secrets.token_hex(12)}", "document", item.id, reason, "detector", services.clock.now())
            await services.quarantine.add(scope, replace(entry, agent=item.agent))
            apart = item.id
    agent, project, _ = parts(item.agent)
    return partition(agent, project, apart)


def _clean(content: Content) -> Content:
    """Return a document's content with secrets redacted; the file itself stays unchanged."""
    pages = tuple(replace(page, text=redact(unmarked(page.text)), label=redact(page.label)) for page in content.pages)
    notes = tuple(map(redact, content.notes))
    return replace(content, pages=pages, title=redact(content.title), notes=notes)


async def _image(services: Services, reading: Reading, item: Image, progress: _Progress) -> Shown:
    limits, scope = services.reading, reading.scope
    async with services.blobs.file(scope, item.sha256) as path:
        picture = await read_image(path, limits)
        progress.parsed(1.0)
        known = replace(
            item,
            width=picture.width,
            height=picture.height,
            phash=picture.phash,
            taken_at=_zoned(picture.taken_at),
            colours=picture.colours,
            camera=redact(picture.camera),
            place=picture.place,
        )
        await services.blobs.put(scope, picture.thumbnail, f"{item.sha256}.webp")
        known = await _lettered(known, path, limits)
    same = await _same(services, reading, known)
    if same is not None:
        known = replace(
            known, caption=same.caption, objects=same.objects, captioned_by=same.captioned_by, same_as=same.id
        )
    elif services.captioner is not None:
        known = await _captioned(services, reading, known, picture.thumbnail)
    agent = await _partition(services, reading, [words_of(known)])
    rows = [replace(row, agent=agent) for row in image_chunks(known)]
    await _store(services, reading, rows, progress)
    done = await _finish(services, reading, known)
    await _resettle(services, reading, rows, done)
    return done


async def _lettered(known: Image, path: Path, limits: Limits) -> Image:
    """Return an image with its OCR text, or with a note if there is none or it cannot be read."""
    try:
        found = (await read_text_of_image(path, limits))[:_MAX_OCR]
        text = await in_thread("cpu", redact, found)
    except MediaRefused as refused:
        if refused.reason in _OF_SERVER:
            raise
        return replace(known, notes=(f"its text was not read: {str(refused).removesuffix('.')}",))
    return replace(known, ocr_text=text, notes=() if text else (await note_of_silence(limits),))


def _zoned(moment: datetime | None) -> datetime | None:
    """Return a camera's time, as UTC if it has no time zone."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


async def _captioned(services: Services, reading: Reading, image: Image, thumbnail: bytes) -> Image:
    """Return an image with the vision model's caption; without an answer, the image unchanged."""
    captioner = services.captioner
    assert captioner is not None
    data, media_type = await services.blobs.get(reading.scope, image.sha256), image.media_type
    if not is_sendable(data, media_type):
        data, media_type = thumbnail, "image/webp"
    try:
        described = await captioner.describe(data, media_type)
    except ProxyError as error:
        _log.warning("an image was not described", error=error.code)
        return image
    await services.costs.add(reading.scope, [Cost("captions", described.tokens, described.cost_usd)])
    if (caption := described.caption) is None:
        return image
    objects = tuple(map(redact, caption.objects))
    return replace(image, caption=redact(caption.text), objects=objects, captioned_by=captioner.model)


async def _same(services: Services, reading: Reading, image: Image) -> Image | None:
    """Return an earlier image of the same picture at another size or quality; their OCR texts must agree."""
    shown, _ = await services.media.page(reading.scope, "image", limit=None)
    for one in shown:
        if isinstance(one, Image) and one.id != image.id and one.status == "ready" and _is_alike(one, image):
            return one
    return None


def _is_alike(one: Image, other: Image) -> bool:
    if not (one.phash and other.phash) or distance(one.phash, other.phash) > _NEAR:
        return False
    shapes = (one.width / one.height) / (other.width / other.height)
    words = set(one.ocr_text.casefold().split()), set(other.ocr_text.casefold().split())
    union = len(words[0] | words[1])
    return abs(shapes - 1) <= _SAME_SHAPE and (not union or len(words[0] & words[1]) / union >= _SAME_TEXT)


async def _store(services: Services, reading: Reading, rows: Sequence[Chunk], progress: _Progress) -> None:
    """Store chunks in batches; of a long document, first all without vectors, for lexical search to find them soon."""
    scope, book = reading.scope, services.book
    stored = {row.id for row in await services.store.chunks(scope, [row.id for row in rows])} if rows else set()
    if len(rows) > 2 * _BATCH and not stored:
        async with _writing(services, reading):
            await book.shelve(scope, rows, dict.fromkeys((row.id for row in rows), None))
    waiting = {row.id for row in await services.store.unembedded(scope, "chunks", services.embedder.model)}
    left = [row for row in rows if row.id in waiting or row.id not in (stored or waiting)]
    for start in range(0, len(left), _BATCH):
        part = left[start : start + _BATCH]
        vectors = await book.embedded(part)
        async with _writing(services, reading):
            await book.shelve(scope, part, vectors)
        progress.stored((len(rows) - len(left) + start + len(part)) / len(rows))
    if rows:
        services.note_shown(scope)


async def _note(services: Services, reading: Reading, known: Document) -> None:
    """Store the metadata before embedding, for requests that cannot wait for the rest."""

    def edit(now: Shown) -> Shown:
        return replace(as_said(known, now), fraction=now.fraction)

    async with _writing(services, reading):
        await services.media.change(reading.scope, known.id, edit)


async def _finish(services: Services, reading: Reading, known: Shown) -> Shown:
    """Mark the item as ready; keep the sessions that used it meanwhile."""

    def edit(now: Shown) -> Shown:
        return replace(as_said(known, now), status="ready", fraction=1.0, reason="", error="")

    async with _writing(services, reading):
        done = await services.media.change(reading.scope, known.id, edit)
    if done is None:
        raise Gone
    await services.index.prepare_chunks(reading.scope)  # loads the chunks now, so that no request has to
    return done


@asynccontextmanager
async def _writing(services: Services, reading: Reading) -> AsyncIterator[None]:
    """Hold the user's lease, and raise ``Gone`` if the item was deleted."""
    async with services.leases.held(reading.scope):
        if not await _renew(services, reading):
            raise Gone
        yield


async def _renew(services: Services, reading: Reading) -> bool:
    until = services.clock.now() + timedelta(seconds=services.pace.lease_s)
    return await services.media.renew(reading.scope, reading.item.id, reading.holder, until=until)


@asynccontextmanager
async def _held(services: Services, reading: Reading, progress: _Progress) -> AsyncIterator[None]:
    """Renew the claim and store the progress while a block runs."""
    keeper = spawn(_keep(services, reading, progress), "reading")
    try:
        yield
    finally:
        keeper.cancel()


async def _keep(services: Services, reading: Reading, progress: _Progress) -> None:
    shown = 0.0
    while True:
        await asyncio.sleep(_TICK_S)
        fraction = round(min(progress.fraction, 0.99), 3)
        with suppress(ProxyError):
            await _renew(services, reading)
            if fraction > shown:
                shown = fraction
                await services.media.change(reading.scope, reading.item.id, _at(fraction))


def _at(fraction: float) -> Callable[[Shown], Shown]:
    def edit(item: Shown) -> Shown:
        return item if item.status != "processing" else replace(item, fraction=fraction)

    return edit
