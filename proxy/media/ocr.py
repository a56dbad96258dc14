"""Text read off pictures by RapidOCR, whose models come with its package; one picture at a time, in its own process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proxy.media.base import MediaRefused
from proxy.media.image import flat, opened
from proxy.media.limits import Limits
from proxy.media.reading_order import Box, lines

if TYPE_CHECKING:
    from PIL import Image

_MAX_SIDE = 2000
_PAGE_DPI = 200
_POINTS = 72


def run_image(job: dict[str, Any], tell: Callable[[float], None]) -> str:
    """Return the text in the image that a job names."""
    del tell
    image, _ = opened(Path(job["path"]), Limits(**job["limits"]))
    return text_of(flat(image))


def run_page(job: dict[str, Any], tell: Callable[[float], None]) -> str:
    """Return the text in a picture of the page of a PDF that a job names."""
    from proxy.media.readers.pdf import opened as opened_pdf  # noqa: PLC0415

    del tell
    document = opened_pdf(Path(job["path"]))
    try:
        page = document[job["page"] - 1]
        side = max(page.get_width(), page.get_height(), 1.0)
        bitmap = page.render(scale=min(_PAGE_DPI / _POINTS, _MAX_SIDE / side))
        return text_of(bitmap.to_pil().convert("RGB"))
    finally:
        document.close()


def text_of(image: Image.Image) -> str:
    """Return the lines of text in an image, in reading order."""
    import numpy  # noqa: PLC0415 -- only in the process that reads pictures

    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    found = _engine()(numpy.asarray(image)[:, :, ::-1])
    if found.boxes is None or not found.txts:
        return ""
    boxes = [
        Box(text, *_edges(corners))
        for corners, text in zip(found.boxes.tolist(), found.txts, strict=True)
        if text.strip()
    ]
    return "\n".join(lines(boxes))


def _edges(corners: list[list[float]]) -> tuple[float, float, float, float]:
    across, down = [x for x, _ in corners], [y for _, y in corners]
    return min(across), min(down), max(across), max(down)


@cache
def _engine() -> Any:
    logging.disable(logging.CRITICAL)  # it logs each step, and this process has nobody to tell
    try:
        from rapidocr import RapidOCR  # noqa: PLC0415
    except ImportError as error:
        raise MediaRefused("Text is not read off pictures: the extra `ocr` is not installed.", "unavailable") from error
    _refuse_downloads()
    return RapidOCR(params={"Global.log_level": "critical", "EngineConfig.onnxruntime.intra_op_num_threads": 2})


def _refuse_downloads() -> None:
    """A model that is not in the package is an error here, never a download."""
    from rapidocr.utils import download_file  # noqa: PLC0415

    def refuse(*_: Any, **__: Any) -> None:
        raise MediaRefused("The models for reading pictures are not installed with RapidOCR.", "unavailable")

    # Called only where a model is missing.
    download_file.DownloadFile._make_http_request = refuse  # type: ignore[method-assign,assignment]
