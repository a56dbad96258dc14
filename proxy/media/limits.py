"""Limits on reading one file; they are sent to the child process."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proxy.settings.sections import MediaSettings

_MB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading one file, and OCR settings. A file over a size limit is refused, not cut.

    Attributes:
        max_file_bytes: Size of the file.
        max_pages: Pages, slides, sheets or parts of a document.
        max_pixels: Pixels of an image.
        max_cells: Cells of a workbook.
        max_text_chars: Characters read of a document; longer text is cut.
        max_unpacked_bytes: Unpacked size of a packed file (DOCX, EPUB …).
        parse_s: Time and CPU time of parsing, in seconds.
        parse_bytes: Address space of the parsing process.
        ocr: Setting ``media.ocr``.
        ocr_languages: Setting ``media.ocr_languages``.
        ocr_pages: Pages and pictures of a document for OCR.
        ocr_s: Time of OCR for one picture, in seconds.
        ocr_bytes: Address space of the OCR process.
    """

    max_file_bytes: int = 48 * _MB
    max_pages: int = 3000
    max_pixels: int = 40_000_000
    max_cells: int = 2_000_000
    max_text_chars: int = 10_000_000
    max_unpacked_bytes: int = 512 * _MB
    parse_s: float = 120.0
    parse_bytes: int = 1536 * _MB
    ocr: str = "auto"
    ocr_languages: tuple[str, ...] = ()
    ocr_pages: int = 100
    ocr_s: float = 60.0
    ocr_bytes: int = 4096 * _MB

    @classmethod
    def of(cls, settings: MediaSettings) -> Limits:
        """Return the limits chosen by the settings."""
        return replace(
            _SIZES[settings.limits],
            max_file_bytes=settings.max_file_bytes,
            ocr=settings.ocr,
            ocr_languages=tuple(settings.ocr_languages),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the limits as plain values for another process."""
        return asdict(self)


# A quarter of ``normal``, for a small machine, and four times ``normal``; time and OCR's memory grow more slowly.
_SIZES = {
    "small": Limits(
        max_pages=750, max_pixels=10_000_000, max_cells=500_000, max_text_chars=2_500_000,
        max_unpacked_bytes=128 * _MB, parse_s=60.0, parse_bytes=512 * _MB, ocr_pages=25, ocr_s=30.0,
    ),
    "normal": Limits(),
    "large": Limits(
        max_pages=12_000, max_pixels=160_000_000, max_cells=8_000_000, max_text_chars=40_000_000,
        max_unpacked_bytes=2048 * _MB, parse_s=240.0, parse_bytes=6144 * _MB, ocr_pages=400, ocr_s=120.0,
        ocr_bytes=8192 * _MB,
    ),
}  # fmt: skip
