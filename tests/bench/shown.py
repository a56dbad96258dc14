"""Files of the benchmark by kind: public ones if present, else generated ones of about the same length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proxy.settings.load import environment
from tests.media.made import docx, pdf, xlsx
from tests.shown.standins import photo, written

_GIVEN = environment().get("THROUGHLINE_DATA")
DATA = Path(_GIVEN) if _GIVEN else Path(__file__).parents[3] / "shared" / "data"
_LINE = "Passage {number} of the handbook says which valve is opened on day {number} and by whom it is closed again."


@dataclass(frozen=True, slots=True)
class Kind:
    """Files of one kind.

    Args:
        name: Label of the row.
        files: Name and bytes of each.
        is_own: Whether they are generated.
        is_seen: Whether they need OCR.
    """

    name: str
    files: tuple[tuple[str, bytes], ...]
    is_own: bool = False
    is_seen: bool = False


def kinds() -> list[Kind]:
    """Return all kinds; pictures last, since the process that reads them stays large."""
    return [
        _kind("PDF with text", _paper, "pdf/redp5110_sampled.pdf", "pdf/fr_olap.pdf", "pdf/multi_page.pdf"),
        Kind("DOCX", (_letter(),), is_own=True),
        _kind("XLSX", _book, "xlsx/xlsx_01.xlsx", "xlsx/test.xlsx"),
        Kind("CSV", (("table.csv", _table()),), is_own=True),
        _kind("HTML", _site, "html/wiki_duck.html", "html/test_blog.html", "html/example-10k-1p.html"),
        _kind("PDF, scanned", _scan, "pdf/pdf_scanned_meeting_minutes.pdf", "pdf/ocr_test.pdf"),
        _kind(
            "image, OCR",
            lambda: ("writing.png", written(*(f"Line {number} of a receipt" for number in range(9)))),
            "images_ocr/devatest.png",
            "images_scan/page.png",
            "images_screenshot/test_llm.jpg",
            folder="images",
        ),
        _kind(
            "image, no text",
            lambda: ("photo.png", photo(900, 600)),
            "images_photo/coffee.png",
            "images_photo/rocket.jpg",
            "images_photo/chelsea.png",
            folder="images",
        ),
    ]


def warm_up(*, is_seen: bool) -> list[tuple[str, bytes]]:
    """Return small files that make the readers load: texts, or a picture."""
    if is_seen:
        return [("a.png", written("A line"))]
    return [
        ("a.pdf", pdf("# One\nA page.")),
        ("a.docx", docx("A line.")),
        ("a.xlsx", xlsx({"One": [["a", 1.0]]})),
        ("a.csv", b"a,b\n1,2\n"),
        ("a.html", b"<html><body><p>A line of a page that is short.</p></body></html>"),
    ]


def picture() -> bytes:
    """Return the image for the chats."""
    path = DATA / "images" / "images_screenshot" / "test_llm.jpg"
    return path.read_bytes() if path.is_file() else written("A screenshot", "of two lines", kind="JPEG")


def _kind(name: str, own: Callable[[], tuple[str, bytes]], *names: str, folder: str = "documents") -> Kind:
    paths = [path for each in names if (path := DATA / folder / each).is_file()]
    files = tuple((path.name, path.read_bytes()) for path in paths)
    is_own = len(files) < len(names)
    return Kind(name, (own(),) if is_own else files, is_own, is_seen=name.startswith(("image", "PDF, s")))


def _lines(start: int, count: int) -> list[str]:
    return [_LINE.format(number=number) for number in range(start, start + count)]


def _paper() -> tuple[str, bytes]:
    return "paper.pdf", pdf(*("\n".join(_lines(30 * page, 30)) for page in range(30)))


def _scan() -> tuple[str, bytes]:
    """Return a PDF whose one page is a picture."""
    return "scan.pdf", written(*(f"Line {number} of the minutes" for number in range(12)), kind="PDF")


def _letter() -> tuple[str, bytes]:
    return "letter.docx", docx(*_lines(0, 300))


def _book() -> tuple[str, bytes]:
    return "book.xlsx", xlsx({"One": [[line, float(number)] for number, line in enumerate(_lines(0, 200))]})


def _table() -> bytes:
    return "\n".join(
        ["day,what,cost", *(f"{day},{line},{day * 3}" for day, line in enumerate(_lines(0, 300)))]
    ).encode()


def _site() -> tuple[str, bytes]:
    paragraphs = "".join(f"<p>{line}</p>" for line in _lines(0, 300))
    return "site.html", f"<html><title>Handbook</title><body><article>{paragraphs}</article></body></html>".encode()
