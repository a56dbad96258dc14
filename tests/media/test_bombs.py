"""Files made to exhaust memory or time are refused by their declared sizes, before they are unpacked."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from proxy.media.base import MediaRefused
from proxy.media.limits import Limits
from proxy.media.processes import end_idle
from proxy.media.read import read_document, sniff_file
from tests.media import made

pytestmark = pytest.mark.anyio

LIMITS = Limits(ocr="off", max_unpacked_bytes=64 * 2**20)
LAUGHS = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10 if at else "ha" * 10}">' for at in range(9))
DOCTYPE = f"<!DOCTYPE x [{LAUGHS}]>"
ZEROS = b" " * (40 * 2**20)


@pytest.fixture(scope="module", autouse=True)
def _no_process_left():
    yield
    end_idle()


def overlapping() -> bytes:
    """Return a ZIP file whose directory names the same data 1,000 times under its own declared size."""
    data = zlib.compress(b" " * 2**20, 9)[2:-4]
    crc = zlib.crc32(b" " * 2**20)
    head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, crc, len(data), 2**20, 8, 0) + b"word/a.x" + data
    entries = b"".join(
        struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, crc, len(data), 2**20, 11, 0, 0, 0, 0, 0, 0)
        + f"word/{at:04}.x".encode()
        for at in range(1000)
    )
    return head + entries + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1000, 1000, len(entries), len(head), 0)


def locked() -> bytes:
    """Return a ZIP file whose parts are marked as encrypted."""
    data = bytearray(made.docx("tea"))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + at] |= 1
            place = data.find(mark, place + 4)
    return bytes(data)


def many() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
        for at in range(21_000):
            archive.writestr(f"word/{at}", "")
    return out.getvalue()


def sheet_of_a_claimed_size() -> bytes:
    """Return a sheet of two cells that claims 17 thousand million cells."""
    data = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    return made.xlsx(
        {"tea": []},
        extra={
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{data}</sheetData></worksheet>'
        },
    )


@pytest.mark.parametrize(
    ("make", "reasons"),
    [
        (lambda: made.docx("tea", parts={"word/media/x": ZEROS}), {"bomb"}),
        (lambda: made.docx("tea", parts={f"word/media/{at}": ZEROS[: 7 * 2**20] for at in range(12)}), {"bomb"}),
        (lambda: made.xlsx({"tea": [["a"]]}, extra={"xl/zeros.xml": ZEROS}), {"bomb"}),
        (lambda: made.epub("x" * (40 * 2**20)), {"bomb"}),
        (overlapping, {"bomb"}),
        (many, {"bomb"}),
        (lambda: made.docx(document=f"{DOCTYPE}<x>&e8;</x>"), {"bomb"}),
        (lambda: made.docx(document=f"{DOCTYPE}<x>&e8;</x>".encode("utf-16").decode("utf-16"), parts={"word/x.xml": f"{DOCTYPE}<x/>".encode("utf-16")}), {"bomb"}),
        (lambda: made.odt("<text:p>&e8;</text:p>", prolog=DOCTYPE), {"bomb"}),
        (lambda: made.zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": f"{DOCTYPE}<x>&e8;</x>"}, stored=("mimetype",)), {"bomb"}),
        (locked, {"encrypted"}),
        (sheet_of_a_claimed_size, {"too_many_cells", "memory"}),
    ],
)  # fmt: skip
async def test_bomb_is_refused(tmp_path, make, reasons):
    path = made.saved(tmp_path, make())
    sniffed = await sniff_file(path, "file")
    with pytest.raises(MediaRefused) as caught:
        await read_document(path, sniffed, LIMITS)
    assert caught.value.reason in reasons


async def test_nothing_is_unpacked_outside_of_memory(tmp_path):
    path = made.saved(tmp_path, made.docx("tea", parts={"../../evil.txt": "x", "/etc/evil.txt": "x"}))
    await read_document(path, await sniff_file(path), LIMITS)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


async def test_entities_from_elsewhere_are_not_read(tmp_path):
    secret = made.saved(tmp_path, "the secret", "secret.txt")
    prolog = f'<!DOCTYPE x [<!ENTITY s SYSTEM "file://{secret}">]>'
    path = made.saved(tmp_path, made.odt("<text:p>a &s; b</text:p>", prolog=prolog))
    with pytest.raises(MediaRefused) as caught:
        await read_document(path, await sniff_file(path), LIMITS)
    assert caught.value.reason == "bomb"


async def test_page_nested_deeper_than_any_is_refused(tmp_path):
    path = made.saved(tmp_path, "<html><body>" + "<div>" * 50_000 + "tea")
    with pytest.raises(MediaRefused):
        await read_document(path, await sniff_file(path), LIMITS)


async def test_deeply_nested_page_is_read(tmp_path):
    path = made.saved(tmp_path, "<html><body>" + "<div>" * 230 + "tea")
    assert (await read_document(path, await sniff_file(path), LIMITS)).pages[0].text == "tea"
