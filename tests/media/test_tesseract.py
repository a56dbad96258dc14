"""Tesseract as the second OCR engine: selected by the settings if installed, and called by its command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proxy.media import ocr_engine
from proxy.media.base import MediaRefused
from proxy.media.limits import Limits
from proxy.media.ocr_engine import Engine, engine_of, has_engine
from proxy.media.processes import end_idle
from proxy.media.read import note_of_silence, read_document, read_text_of_image, sniff_file
from tests.media import made
from tests.shown.standins import written

pytestmark = pytest.mark.anyio

HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
SAYS = ["5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t96.5\tСчёт", "5\t1\t1\t1\t1\t2\t9\t0\t9\t9\t91\tза", "5\t1\t1\t1\t1\t3\t9\t0\t9\t9\t20\t|~",
        "4\t1\t1\t1\t2\t0\t0\t9\t9\t9\t-1\t", "5\t1\t1\t1\t2\t1\t0\t9\t9\t9\t88\tпирог"]  # fmt: skip
NOISE = ["5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t55\tгр", "broken", "5\t1\t1\t1\t1\t2\t0\t0\t9\t9\tx\tа"]


@pytest.fixture(autouse=True)
def tesseract(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    """Return a setter for a fake Tesseract program: it writes the next table; None makes the program fail."""
    folder = tmp_path_factory.mktemp("bin")
    program, table, asked = folder / "tesseract", folder / "table", folder / "asked"

    def says(lines: list[str] | None) -> Path:
        table.write_text("\n".join([HEADER, *lines]) if lines is not None else "fail")
        return asked

    program.write_text(
        f"#!{sys.executable}\n"
        "import sys, pathlib\n"
        "if sys.argv[1:] == ['--list-langs']:\n"
        "    print('List of available languages in \"/usr/share\" (2):\\neng\\nrus')\n"
        "    sys.exit()\n"
        f"said = pathlib.Path({str(table)!r}).read_text()\n"
        "assert sys.stdin.buffer.read().startswith(b'\\x89PNG')\n"
        "assert sys.argv[1:3] == ['stdin', 'stdout'] and sys.argv[-1] == 'tsv'\n"
        "assert sys.argv[sys.argv.index('-l') + 1] == 'rus+eng', sys.argv\n"
        "sys.exit(3) if said == 'fail' else sys.stdout.buffer.write(said.encode())\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    ocr_engine._engine.cache_clear()
    says(SAYS)
    yield says
    ocr_engine._engine.cache_clear()
    end_idle()


def settings(ocr: str = "auto", *languages: str) -> Limits:
    return Limits(ocr=ocr, ocr_languages=languages)


def test_tesseract_is_chosen_for_languages_it_has():
    chosen = engine_of(settings("auto", "rus", "eng"))
    assert isinstance(chosen, Engine)
    assert (chosen.name, chosen.languages) == ("tesseract", ("rus", "eng"))
    assert engine_of(settings("tesseract")) == Engine("tesseract", chosen.program, ("eng",))
    embedded = Engine("rapidocr") if has_engine() else None
    for other in (settings(), settings("auto", "rus", "heb"), settings("rapidocr", "rus")):
        assert engine_of(other) == embedded
    assert engine_of(settings("tesseract", "heb")) is None
    assert engine_of(settings("off", "rus")) is None


async def test_certain_words_come_line_by_line(tmp_path):
    path = made.saved(tmp_path, written("whatever"))
    assert await read_text_of_image(path, settings("auto", "rus", "eng")) == "Счёт за\nпирог"


async def test_uncertain_words_are_noted_not_text(tmp_path, tesseract):
    tesseract(NOISE)
    path, limits = made.saved(tmp_path, written("whatever")), settings("auto", "rus", "eng")
    assert await read_text_of_image(path, limits) == ""
    assert await note_of_silence(limits) == "no text was read off it; what is read is rus, eng"
    assert await note_of_silence(settings("off")) == "text was not looked for: OCR is switched off"
    assert "Tesseract is not installed, or not for heb" in await note_of_silence(settings("tesseract", "heb"))


async def test_where_it_fails_the_reason_is_told(tmp_path, tesseract):
    tesseract(None)
    with pytest.raises(MediaRefused) as caught:
        await read_text_of_image(made.saved(tmp_path, written("whatever")), settings("auto", "rus", "eng"))
    assert caught.value.reason == "ocr_failed"


async def test_scanned_pages_are_read_by_it_too(tmp_path, tesseract):
    path = made.saved(tmp_path, written("a page", kind="PDF"), "scan.pdf")
    sniffed, limits = await sniff_file(path, "scan.pdf"), settings("auto", "rus", "eng")
    assert (await read_document(path, sniffed, limits)).pages[0].text == "Счёт за\nпирог"
    tesseract(NOISE)
    silent = await read_document(path, sniffed, limits)
    assert silent.notes == ("1 picture shows no text that could be read; what is read is rus, eng",)
