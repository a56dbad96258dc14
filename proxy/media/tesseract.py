"""OCR by an installed Tesseract, for scripts that the embedded engine does not read."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from proxy.media.base import MediaRefused

if TYPE_CHECKING:
    from PIL import Image

_MAX_SIDE, _MIN_SIDE = 3000, 1200  # enlarging improves OCR of small text
_MAX_SCALE = 3.0
_MIN_WORD, _MIN_TEXT = 50.0, 65.0  # minimum confidence, of 100
_WORD_LEVEL, _COLUMNS = "5", 12
_SPARE_S = 1.0  # before the server would kill this process


def text_of(image: Image.Image, program: str, languages: Sequence[str], timeout_s: float) -> str:
    """Return the lines of text in an image, empty if the confidence is too low.

    Args:
        image: The image; it may be changed.
        program: Path of Tesseract.
        languages: Tesseract's language codes.
        timeout_s: Timeout in seconds.

    Raises:
        MediaRefused: ``timeout``, or ``ocr_failed``.
    """
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    scale = min(_MAX_SCALE, _MIN_SIDE / max(image.size))
    if scale > 1:
        image = image.resize((round(image.width * scale), round(image.height * scale)))
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    command = [program, "stdin", "stdout", "-l", "+".join(languages), "--psm", "3", "tsv"]
    try:
        done = subprocess.run(  # noqa: S603 -- the operator's program, no shell, no names from the file
            command, input=out.getvalue(), capture_output=True, timeout=max(1.0, timeout_s - _SPARE_S), check=True
        )
    except subprocess.TimeoutExpired as error:
        raise MediaRefused(f"Reading the picture took longer than {timeout_s:g} seconds.", "timeout") from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise MediaRefused("Tesseract could not read the picture.", "ocr_failed") from error
    return _said(done.stdout.decode("utf-8", "replace"))


def _said(table: str) -> str:
    lines: dict[tuple[str, ...], list[str]] = {}
    weight = sureness = 0.0
    for place, word, sure in _words(table):
        lines.setdefault(place, []).append(word)
        weight += len(word)
        sureness += len(word) * sure
    if not weight or sureness / weight < _MIN_TEXT:
        return ""
    return "\n".join(" ".join(words) for words in lines.values())


def _words(table: str) -> Iterator[tuple[tuple[str, ...], str, float]]:
    """Yield words with their page, block, paragraph and line, and their confidence."""
    for row in table.splitlines():
        cells = row.split("\t")
        if len(cells) != _COLUMNS or cells[0] != _WORD_LEVEL or not cells[11].strip():
            continue
        try:
            sure = float(cells[10])
        except ValueError:
            continue
        if sure >= _MIN_WORD:
            yield tuple(cells[1:5]), cells[11].strip(), sure
