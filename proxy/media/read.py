"""Entry point: reading of files in child processes, within limits and off the server's event loop."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread

from proxy.media.base import Content, MediaRefused, Page, Picture, Sniffed, filled, parts_in
from proxy.media.limits import Limits
from proxy.media.ocr_engine import Engine, engine_of, why_none
from proxy.media.processes import run
from proxy.media.sniff import sniff

Progress = Callable[[float], None]

_HEAD_BYTES = 2**20
_PARSED = 0.2  # parsing's share of the progress for a document that needs OCR


async def read_document(path: Path, sniffed: Sniffed, limits: Limits, progress: Progress | None = None) -> Content:
    """Return the content of a document, including OCR.

    Args:
        path: Path of the file, which is only read.
        sniffed: Result of ``sniff``.
        limits: Limits and OCR settings.
        progress: Called on this loop with the completed share, from 0 to 1.

    Raises:
        MediaRefused: If it cannot be read, with the reason.
    """
    await anyio.to_thread.run_sync(_refuse_size, path, limits)
    told = progress or _nobody
    content = _content(await run("parse", _document_job(path, sniffed, limits), told))
    content = await _with_eyes(path, content, limits, told)
    if not content.notes and not any(page.text for page in content.pages):
        raise MediaRefused("There is no text in the file.", "empty")
    told(1.0)
    return content


async def read_image(path: Path, limits: Limits) -> Picture:
    """Return the properties of an image that need no model.

    Raises:
        MediaRefused: If it cannot be read, with the reason.
    """
    await anyio.to_thread.run_sync(_refuse_size, path, limits)
    return _picture(await run("parse", _job("image", path, limits)))


async def read_text_of_image(path: Path, limits: Limits) -> str:
    """Return the lines of text in an image, top to bottom; empty without text or without an OCR engine.

    Raises:
        MediaRefused: If the image cannot be read, with the reason.
    """
    engine = await _engine(limits)
    if engine is None:
        return ""
    await anyio.to_thread.run_sync(_refuse_size, path, limits)
    return str(await run("ocr", _ocr_job(path, limits, engine, {"job": "ocr_image"})))


async def note_of_silence(limits: Limits) -> str:
    """Return the note for an image without OCR text: none was found, or there is no OCR engine."""
    engine = await _engine(limits)
    if engine is None:
        return f"text was not looked for: {why_none(limits)}"
    return f"no text was read off it; what is read is {engine.reads}"


async def _engine(limits: Limits) -> Engine | None:
    return await anyio.to_thread.run_sync(engine_of, limits)


async def sniff_file(path: Path, name: str = "", declared: str = "") -> Sniffed:
    """Return the type of a file on the disk; see ``sniff``."""
    return sniff(await anyio.to_thread.run_sync(_head, path), name, declared)


async def _with_eyes(path: Path, content: Content, limits: Limits, told: Progress) -> Content:
    """Add the OCR text of scanned pages and of pictures."""
    jobs: list[dict[str, Any]] = [{"job": "ocr_page", "page": page.number} for page in content.pages if page.is_scanned]
    jobs += [{"job": "ocr_part", "part": part} for part in parts_in(content)]
    if not jobs:
        return content
    engine = await _engine(limits)
    if engine is None:
        return filled(_noted(content, f"{_pictures(len(jobs))} not read: {why_none(limits)}"), {})
    read: dict[int | str, str] = {}
    failed: dict[str, int] = {}
    for done, job in enumerate(jobs[: limits.ocr_pages]):
        told(_PARSED + (1 - _PARSED) * done / len(jobs))
        try:
            read[job.get("page") or job["part"]] = str(await run("ocr", _ocr_job(path, limits, engine, job)))
        except MediaRefused as refused:
            failed[str(refused)] = failed.get(str(refused), 0) + 1
    for why, count in failed.items():
        content = _noted(content, f"{_pictures(count)} not read: {why}")
    if (left := len(jobs) - limits.ocr_pages) > 0:
        content = _noted(content, f"{_pictures(left)} not read: the limit is {limits.ocr_pages} (media.limits)")
    if silent := sum(not text for text in read.values()):
        shown = f"{silent} pictures show" if silent > 1 else "1 picture shows"
        content = _noted(content, f"{shown} no text that could be read; what is read is {engine.reads}")
    pages = tuple(_with_text(page, read.get(page.number, "")) for page in content.pages)
    return filled(replace(content, pages=pages), {part: text for part, text in read.items() if isinstance(part, str)})


def _with_text(page: Page, seen: str) -> Page:
    return replace(page, text="\n\n".join(filter(None, (page.text, seen)))) if page.is_scanned else page


def _pictures(number: int) -> str:
    return "1 picture was" if number == 1 else f"{number} pictures were"


def _noted(content: Content, note: str) -> Content:
    return replace(content, notes=(*content.notes, note))


def _nobody(share: float) -> None:
    """Ignore the progress."""


def _job(name: str, path: Path, limits: Limits) -> dict[str, Any]:
    return {
        "job": name,
        "path": str(path.absolute()),
        "limits": limits.to_dict(),
        "timeout_s": limits.parse_s,
        "cpu_s": limits.parse_s,
        "memory_bytes": limits.parse_bytes,
    }


def _document_job(path: Path, sniffed: Sniffed, limits: Limits) -> dict[str, Any]:
    return _job("document", path, limits) | {"media_type": sniffed.media_type, "reader": sniffed.reader}


def _ocr_job(path: Path, limits: Limits, engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    spent = {"timeout_s": limits.ocr_s, "cpu_s": 4 * limits.ocr_s}
    chosen = {"program": engine.program, "languages": engine.languages, "memory_bytes": limits.ocr_bytes}
    return _job("", path, limits) | spent | chosen | job


def _content(answer: dict[str, Any]) -> Content:
    pages = tuple(Page(**page) for page in answer["pages"])
    return Content(answer["media_type"], pages, answer["title"], tuple(answer["notes"]))


def _picture(answer: dict[str, Any]) -> Picture:
    taken_at, place = answer["taken_at"], answer["place"]
    return Picture(
        **answer
        | {
            "thumbnail": base64.b64decode(answer["thumbnail"]),
            "taken_at": datetime.fromisoformat(taken_at) if taken_at else None,
            "colours": tuple(answer["colours"]),
            "place": (place[0], place[1]) if place else None,
        }
    )


def _refuse_size(path: Path, limits: Limits) -> None:
    size_bytes = path.stat().st_size
    if size_bytes > limits.max_file_bytes:
        raise MediaRefused(
            f"The file has {size_bytes} bytes; the limit is {limits.max_file_bytes} (media.max_file_bytes).",
            "too_large",
        )
    if not size_bytes:
        raise MediaRefused("The file is empty.", "empty")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        size_bytes = path.stat().st_size
        if size_bytes > 2 * _HEAD_BYTES:  # old Office files may have their directory at the end
            file.seek(-_HEAD_BYTES, 2)
            return head + file.read()
        return head + file.read()
