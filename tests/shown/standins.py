"""Public files of these tests; if they are missing, generated ones with the same names and texts."""

from __future__ import annotations

import atexit
import io
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from proxy.settings.load import environment
from tests.media.made import locked_pdf, pdf

_GIVEN = environment().get("THROUGHLINE_DATA")
DATA = Path(_GIVEN) if _GIVEN else Path(__file__).parents[3] / "shared" / "data"
_own: list[Path] = []


def public(name: str) -> Path:
    """Return a public file by its path under the data folder, or its generated substitute."""
    path = DATA / name
    if path.is_file():
        return path
    if not _own:
        _own.append(Path(tempfile.mkdtemp(prefix="standins-")))
        atexit.register(shutil.rmtree, _own[0], ignore_errors=True)
    made = _own[0] / path.name
    if not made.exists():
        made.write_bytes(_MADE[path.name]())
    return made


def written(*lines: str, kind: str = "PNG") -> bytes:
    """Return a picture of lines of text."""
    picture = Image.new("RGB", (900, 60 + 60 * len(lines)), "white")
    draw = ImageDraw.Draw(picture)
    for at, line in enumerate(lines):
        draw.text((30, 30 + 60 * at), line, fill="black", font=ImageFont.load_default(36))
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def photo(width: int, height: int) -> bytes:
    """Return a picture without text: roughly a cup on a table."""
    picture = Image.new("RGB", (width, height), "saddlebrown")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, width, height // 3), fill="wheat")
    draw.ellipse((width // 4, height // 4, width * 3 // 4, height * 5 // 6), fill="white", outline="black")
    draw.ellipse((width // 3, height // 3, width * 2 // 3, height // 2), fill="black")
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _pages() -> bytes:
    return pdf(
        "# The evolution of the word processor\nThe concept predates modern computers.",
        "# Pre-digital\nIn the 1960s IBM introduced the IBM MT/ST, a typewriter with a tape.",
        "# The modern era\nWord processors on page three are on every desk.",
        "# The future\nNobody knows.",
    )


_MADE: dict[str, Callable[[], bytes]] = {
    "coffee.png": lambda: photo(600, 400),
    "datasette-favicon.png": lambda: photo(32, 32),
    "devatest.png": lambda: written("Gardening catalogue", "Nasturtium seedlings", "Watering schedule"),
    "qr_bill_example.jpg": lambda: written("Receipt", "Amount payable", "CHF 1949.75", kind="JPEG"),
    "minimal-document.pdf": lambda: pdf("# Lorem ipsum\nA document with a little text."),
    "multi_page.pdf": _pages,
    "libreoffice-writer-password.pdf": locked_pdf,
}
