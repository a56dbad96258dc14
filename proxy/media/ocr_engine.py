"""Choice of the OCR engine: the embedded one, or Tesseract if it is installed for the configured languages."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from proxy.media.limits import Limits

_ASK_S = 10.0
_ENGLISH = ("eng",)
_EMBEDDED_READS = "Latin, Chinese and Japanese writing"


@dataclass(frozen=True, slots=True)
class Engine:
    """An OCR engine.

    Args:
        name: Name of the engine.
        program: Path of Tesseract.
        languages: Tesseract's codes of the languages to read.
    """

    name: Literal["rapidocr", "tesseract"]
    program: str = ""
    languages: tuple[str, ...] = ()

    @property
    def reads(self) -> str:
        """Description of the languages or scripts that the engine reads."""
        return ", ".join(self.languages) if self.languages else _EMBEDDED_READS


def engine_of(limits: Limits) -> Engine | None:
    """Return the OCR engine for the settings, None if there is none; the first call may start Tesseract to ask it."""
    return _engine(limits.ocr, limits.ocr_languages)


def why_none(limits: Limits) -> str:
    """Return the reason why there is no OCR engine."""
    if limits.ocr == "off":
        return "OCR is switched off"
    if limits.ocr == "tesseract":
        wanted = ", ".join(limits.ocr_languages or _ENGLISH)
        return f"Tesseract is not installed, or not for {wanted} (media.ocr_languages)"
    return "the extra `ocr` is not installed"


@cache
def has_engine() -> bool:
    """Return whether the extra ``ocr`` is installed, without loading it."""
    return find_spec("rapidocr") is not None


@cache
def _engine(setting: str, languages: tuple[str, ...]) -> Engine | None:
    if setting == "tesseract" or (setting == "auto" and languages):
        program, wanted = shutil.which("tesseract"), languages or _ENGLISH
        if program is not None and set(wanted) <= _installed(program):
            return Engine("tesseract", program, wanted)
    return Engine("rapidocr") if setting in ("auto", "rapidocr") and has_engine() else None


def _installed(program: str) -> frozenset[str]:
    """Return the languages that Tesseract has files for."""
    try:
        done = subprocess.run([program, "--list-langs"], capture_output=True, timeout=_ASK_S, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines()[1:])
