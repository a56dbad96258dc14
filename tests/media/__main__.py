"""Read every public file with OCR and print the result of each: ``python -m tests.media [part of a name]``.

This run covers the whole set, which takes minutes; the suite reads the documents without OCR and only a few small
pictures with it.
"""

from __future__ import annotations

import resource
import sys
import time
import unicodedata
from pathlib import Path

import anyio

from proxy.media.base import MediaRefused
from proxy.media.limits import Limits
from proxy.media.processes import end_idle
from proxy.media.read import read_document, read_image, read_text_of_image, sniff_file
from tests.media.expected import DATA, DOCUMENTS, IMAGES, Row

LIMITS = Limits()


async def text_of(path: Path) -> tuple[str, int, str]:
    """Return a file's text, its number of pages and its notes."""
    sniffed = await sniff_file(path, path.name)
    if sniffed.kind == "image":
        picture = await read_image(path, LIMITS)
        return await read_text_of_image(path, LIMITS), 1, f"{picture.width}x{picture.height} {picture.colours}"
    content = await read_document(path, sniffed, LIMITS)
    return (
        "\n".join([content.title, *(page.text for page in content.pages)]),
        len(content.pages),
        "; ".join(content.notes),
    )


async def report(row: Row) -> bool:
    started = time.monotonic()
    try:
        text, pages, noted = await text_of(row.file)
        found = [word for word in (*row.said, *row.seen) if squeezed(word) in squeezed(text)]
        wanted = len(row.said) + len(row.seen)
        ok, result = len(found) == wanted and not row.refused, f"{len(found)}/{wanted} {len(text)} chars {noted}"
        ok = ok and pages == row.pages
    except MediaRefused as refused:
        ok, result = refused.reason == row.refused, f"refused ({refused.reason}): {refused}"
    print(f"{'ok ' if ok else 'BAD'} {time.monotonic() - started:6.1f} s  {row.path}: {result}"[:200])
    return ok


def squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKD", text).encode("utf-8", "ignore").decode().split()).replace("\u0301", "")


async def main(part: str) -> int:
    rows = [row for row in (*DOCUMENTS, *IMAGES) if part in row.path and row.file.is_file()]
    results = [await report(row) for row in rows]
    end_idle()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{sum(results)} of {len(results)} as expected; {cpu.ru_utime + cpu.ru_stime:.0f} CPU-s; {peak} MB at most a process"
    )
    if not rows:
        print(f"There are no public files in {DATA}.")
    return int(not all(results))


sys.exit(anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else ""))
