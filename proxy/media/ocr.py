"""OCR by RapidOCR, whose models are in its package; one picture at a time, in a separate process."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proxy.media import tesseract
from proxy.media.archive import Archive
from proxy.media.base import MediaRefused
from proxy.media.image import flat, opened
from proxy.media.limits import Limits
from proxy.media.reading_order import Box, lines

if TYPE_CHECKING:
    from PIL import Image

_MAX_SIDE = 2000
_MIN_SIDE = 24  # pixels; bullets and rules are smaller
_DETECTION_SIDE = 1600
_SMALL_SIDE, _MAX_SCALE, _MIN_SCALE = 900, 2.0, 1.2  # small pictures are enlarged
_PAGE_DPI = 200
_POINTS = 72
_MIN_SCORE = 0.6
_CLEAR = 0.85
_SURE = 0.95
_WORDS_CHARS = 8
_MIN_LINES = 3


def run_image(job: dict[str, Any], tell: Callable[[float], None]) -> str:
    """Return the text in the image of a job."""
    del tell
    image, _ = opened(Path(job["path"]), Limits(**job["limits"]))
    return _read(flat(image), job)


def run_part(job: dict[str, Any], tell: Callable[[float], None]) -> str:
    """Return the text in a picture inside a job's packed file."""
    del tell
    limits = Limits(**job["limits"])
    with Archive(Path(job["path"]), limits) as archive:
        data = archive.read(job["part"])
    image, _ = opened(io.BytesIO(data), limits)
    return _read(flat(image), job) if min(image.size) >= _MIN_SIDE else ""


def run_page(job: dict[str, Any], tell: Callable[[float], None]) -> str:
    """Return the text in a rendered page of a job's PDF."""
    from proxy.media.readers.pdf import opened as opened_pdf  # noqa: PLC0415

    del tell
    document = opened_pdf(Path(job["path"]))
    try:
        page = document[job["page"] - 1]
        side = max(page.get_width(), page.get_height(), 1.0)
        bitmap = page.render(scale=min(_PAGE_DPI / _POINTS, _MAX_SIDE / side))
        return _read(bitmap.to_pil().convert("RGB"), job)
    finally:
        document.close()


def _read(image: Image.Image, job: dict[str, Any]) -> str:
    if job.get("program"):
        return tesseract.text_of(image, job["program"], job["languages"], job["timeout_s"])
    return text_of(image)


def text_of(image: Image.Image) -> str:
    """Return the lines of text in an image, in reading order; a page on its side or upside down is rotated."""
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    if (scale := min(_MAX_SCALE, _SMALL_SIDE / max(image.size))) > _MIN_SCALE:
        image = image.resize((int(image.width * scale) or 1, int(image.height * scale) or 1))
    best = _looked(image)
    for turn in _turns(best):
        if best.is_clear:
            break
        best = max(best, _looked(image.rotate(turn, expand=True)), key=lambda look: look.sureness)
    return "\n".join(lines(best.boxes)) if best.is_text else ""


@dataclass(frozen=True, slots=True)
class _Look:
    """OCR result of an image in one orientation: boxes, and their confidence from 0 to 1."""

    boxes: tuple[Box, ...]
    sureness: float

    @property
    def chars(self) -> int:
        return sum(len(box.text.replace(" ", "")) for box in self.boxes)

    @property
    def is_sideways(self) -> bool:
        return 2 * sum(box.is_tall for box in self.boxes) > len(self.boxes)

    @property
    def is_clear(self) -> bool:
        return self.sureness >= _CLEAR and not (self.is_sideways and not _has_signs(self.boxes))

    @property
    def is_text(self) -> bool:
        """Return whether the result is real text, not letters misread in the texture of a photograph."""
        words = sum(len(box.text) > 1 for box in self.boxes)
        return 2 * words > len(self.boxes) and (self.chars >= _WORDS_CHARS or self.sureness >= _SURE)


def _turns(look: _Look) -> tuple[int, ...]:
    if look.is_sideways:
        return (90, 270)
    return (180,) if len(look.boxes) >= _MIN_LINES else ()


def _has_signs(boxes: Sequence[Box]) -> bool:
    """Return whether most characters are of scripts that can be written vertically."""
    text = "".join(box.text for box in boxes)
    return 2 * sum(sign > "\u2e80" for sign in text) > len(text)


def _looked(image: Image.Image) -> _Look:
    import numpy  # noqa: PLC0415 -- only in the OCR process

    found = _engine()(numpy.asarray(image)[:, :, ::-1])
    if found.boxes is None or not found.txts:
        return _Look((), 0.0)
    read = [
        (Box(text.strip(), *_edges(corners)), score)
        for corners, text, score in zip(found.boxes.tolist(), found.txts, found.scores, strict=True)
        if text.strip() and score >= _MIN_SCORE
    ]
    weight = sum(len(box.text) for box, _ in read)
    sureness = sum(len(box.text) * score for box, score in read) / weight if weight else 0.0
    return _Look(tuple(box for box, _ in read), sureness)


def _edges(corners: list[list[float]]) -> tuple[float, float, float, float]:
    across, down = [x for x, _ in corners], [y for _, y in corners]
    return min(across), min(down), max(across), max(down)


@cache
def _engine() -> Any:
    logging.disable(logging.CRITICAL)  # it logs each step, and this process has no log
    try:
        from rapidocr import RapidOCR  # noqa: PLC0415
    except ImportError as error:
        raise MediaRefused("Text is not read off pictures: the extra `ocr` is not installed.", "unavailable") from error
    _refuse_downloads()
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # it turns correct lines upside down; pages are rotated as a whole
            # By default it enlarges the short side to 736 pixels, which takes seconds for a line of text.
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTION_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 2,
        }
    )


def _refuse_downloads() -> None:
    """Make RapidOCR raise an error for a missing model instead of downloading it."""
    from rapidocr.utils import download_file  # noqa: PLC0415

    def refuse(*_: Any, **__: Any) -> None:
        raise MediaRefused("The models for reading pictures are not installed with RapidOCR.", "unavailable")

    # RapidOCR calls it only if a model is missing.
    download_file.DownloadFile._make_http_request = refuse  # type: ignore[method-assign,assignment]
