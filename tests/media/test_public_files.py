"""Every public document, if the data is present, is parsed to the expected text or refused with the reason."""

from __future__ import annotations

import pytest

from proxy.media.base import MediaRefused
from proxy.media.chunk import MAX_CHARS, chunks, outline
from proxy.media.limits import Limits
from proxy.media.processes import end_idle
from proxy.media.read import read_document, read_image, sniff_file
from tests.media.expected import DATA, DOCUMENTS, IMAGES, Row

pytestmark = pytest.mark.anyio

LIMITS = Limits(ocr="off")


@pytest.fixture(scope="module", autouse=True)
def _no_process_left():
    yield
    end_idle()


async def test_documents_say_what_one_reads_in_them():
    missing = {row.path: await what_is_missing(row) for row in DOCUMENTS if row.file.is_file() and not row.is_large}
    assert {path: words for path, words in missing.items() if words} == {}


async def test_images_are_described():
    for row in IMAGES:
        if row.file.is_file():
            picture = await read_image(row.file, LIMITS)
            assert min(picture.width, picture.height) >= 32
            assert picture.colours
            assert len(picture.thumbnail) < 40_000


def test_no_public_file_is_left_out():
    named = {row.file for row in (*DOCUMENTS, *IMAGES)}
    folders = [
        DATA / "documents" / name for name in ("docx", "email", "epub", "html", "other", "pdf", "pptx", "text", "xlsx")
    ]
    there = {file for folder in (*folders, *(DATA / "images").glob("*")) for file in folder.glob("*") if file.suffix}
    assert {file for file in there if not file.name.endswith(".txt") or "gold" not in file.name} - named <= {
        DATA / "images" / "images_ocr" / "eurotext.txt"
    }


async def what_is_missing(row: Row) -> list[str]:
    """Return the expected strings missing in a document's text."""
    try:
        sniffed = await sniff_file(row.file, row.file.name)
        content = await read_document(row.file, sniffed, LIMITS)
    except MediaRefused as refused:
        return [] if refused.reason == row.refused else [f"refused: {refused}"]
    text = "\n".join([content.title, *(page.text for page in content.pages)])
    missing = [word for word in row.said if word not in text]
    missing += [f"{row.pages} pages, not {len(content.pages)}"] * (len(content.pages) != row.pages)
    missing += ["a note that pictures were not read"] * (bool(row.seen) and not content.notes)
    pieces = chunks(content)
    missing += ["passages of the right size"] * any(len(piece.text) > MAX_CHARS for piece in pieces)
    missing += ["an outline"] * ("# " in text and not outline(content))
    return missing
