"""The way in: a file is read in a process of its own, within limits, and never on the server's loop."""

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
_PARSED = 0.2  # share of the work that parsing is where pages are to be read off pictures


async def read_document(path: Path, sniffed: Sniffed, limits: Limits, progress: Progress | None = None) -> Content:
    """Return what a document says.

    Args:
        path: Of the file; it is only read.
        sniffed: What ``sniff`` said of it.
        limits: On what it may take, and what reads pictures.
        progress: Called on this loop with the share done, from 0 to 1.

    Raises:
        MediaRefused: With the reason, if it is not read.
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
    """Return what an image shows, as far as no model is needed.

    Raises:
        MediaRefused: With the reason, if it is not read.
    """
    await anyio.to_thread.run_sync(_refuse_size, path, limits)
    return _picture(await run("parse", _job("image", path, limits)))


async def read_text_of_image(path: Path, limits: Limits) -> str:
    """Return the lines of text in an image, top to bottom; empty where there are none, or nothing that reads them.

    Raises:
        MediaRefused: With the reason, if the image is not read.
    """
    engine = await _engine(limits)
    if engine is None:
        return ""
    await anyio.to_thread.run_sync(_refuse_size, path, limits)
    return str(await run("ocr", _ocr_job(path, limits, engine, {"job": "ocr_image"})))


async def note_of_silence(limits: Limits) -> str:
    """Return what is to be said of an image off which no text was read: that there is none, or that nobody looked."""
    engine = await _engine(limits)
    if engine is None:
        return f"text was not looked for: {why_none(limits)}"
    return f"no text was read off it; what is read is {engine.reads}"


async def _engine(limits: Limits) -> Engine | None:
    return await anyio.to_thread.run_sync(engine_of, limits)


async def sniff_file(path: Path, name: str = "", declared: str = "") -> Sniffed:
    """Return what a file on the disk is; see ``sniff``."""
    return sniff(await anyio.to_thread.run_sync(_head, path), name, declared)


async def _with_eyes(path: Path, content: Content, limits: Limits, told: Progress) -> Content:
    """Read pages and parts that are pictures off them."""
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
    """Nobody asked to be told of progress."""


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
        if size_bytes > 2 * _HEAD_BYTES:  # the directory of old Office files may stand at the end
            file.seek(-_HEAD_BYTES, 2)
            return head + file.read()
        return head + file.read()
