"""Small generated files of every kind, so that the suite needs no other data."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

OFFICE = "application/vnd.openxmlformats-officedocument."
WORD_TYPE = f"{OFFICE}wordprocessingml.document"
_WORD_NS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_REL_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE_NS = "http://schemas.openxmlformats.org/package/2006"
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>'
)


def zipped(parts: Mapping[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def pdf(*pages: str, title: str = "", rotate: int = 0) -> bytes:
    """Return a PDF in Helvetica with each page's lines below one another; ``rotate=90`` turns the pages, text upright."""
    count = len(pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{' '.join(f'{4 + 2 * at} 0 R' for at in range(count))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, text in enumerate(pages):
        drawn, down = [], 60
        for line in text.splitlines():
            size = 24 if line.startswith("# ") else 11
            down += size + 5
            words = line.removeprefix("# ").replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            place = f"0 1 -1 0 {down} 72" if rotate else f"1 0 0 1 72 {842 - down}"
            drawn.append(f"BT /F1 {size} Tf {place} Tm ({words}) Tj ET")
        stream = "\n".join(drawn)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate {rotate} /Contents {5 + 2 * at} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    return _pdf(objects, f"/Info {len(objects)} 0 R")


def locked_pdf() -> bytes:
    """Return a PDF with an unknown password."""
    nothing = "<" + "5a" * 32 + ">"
    return _pdf(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] >>",
            f"<< /Filter /Standard /V 1 /R 2 /P -4 /O {nothing} /U {nothing} >>",
        ],
        "/Encrypt 4 0 R /ID [<00> <00>]",
    )


def form(**fields: str) -> bytes:
    """Return a PDF with a filled-in form; ``yes`` is a ticked box."""
    widgets = []
    for name, value in fields.items():
        kind = "/FT /Btn /V /Yes /AS /Yes" if value == "yes" else f"/FT /Tx /V ({value})"
        widgets.append(f"<< /Type /Annot /Subtype /Widget {kind} /T ({name}) /Rect [20 20 90 40] >>")
    named = " ".join(f"{4 + at} 0 R" for at in range(len(widgets)))
    return _pdf(
        [
            f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{named}] /DA (/F1 11 Tf) >> >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Annots [{named}] >>",
            *widgets,
        ]
    )


def _pdf(objects: list[str], info: str = "") -> bytes:
    out, places = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {info} >>\n"
    return (
        out
        + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}startxref\n{len(out)}\n%%EOF\n".encode()
    )


def docx(
    *paragraphs: str, title: str = "", document: str = "", parts: Mapping[str, str | bytes] | None = None
) -> bytes:
    """Return a Word document; ``#`` begins a heading, ``|`` a table row."""
    body = "".join(map(_word, paragraphs))
    xml = document or f'<w:document xmlns:w="{_WORD_NS}" xmlns:r="{_REL_NS}"><w:body>{body}</w:body></w:document>'
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in range(1, 4)
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE_NS}/content-types"><Override PartName="/word/document.xml" '
            f'ContentType="{WORD_TYPE}.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE_NS}/relationships"><Relationship Id="r1" '
            f'Type="{_REL_NS}/officeDocument" Target="word/document.xml"/></Relationships>',
            "docProps/core.xml": _CORE.format(title=title),
            "word/document.xml": xml,
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD_NS}">{styles}</w:styles>',
            **(parts or {}),
        }
    )


def _word(text: str) -> str:
    if text.startswith("|"):
        cells = text.strip("|").split("|")
        row = "".join(f"<w:tc><w:p><w:r><w:t>{cell.strip()}</w:t></w:r></w:p></w:tc>" for cell in cells)
        return f"<w:tbl><w:tr>{row}</w:tr></w:tbl>"
    level = len(text) - len(text.lstrip("#"))
    style = f'<w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr>' if level else ""
    return f"<w:p>{style}<w:r><w:t>{text.lstrip('# ')}</w:t></w:r></w:p>"


def xlsx(sheets: Mapping[str, list[list[str | float]]], *, extra: Mapping[str, str | bytes] | None = None) -> bytes:
    ns = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    listed, rels, parts = "", "", {}
    for number, (name, rows) in enumerate(sheets.items(), 1):
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        rels += f'<Relationship Id="rId{number}" Type="{_REL_NS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        data = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{ns}"><sheetData>{data}</sheetData></worksheet>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE_NS}/content-types"/>',
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE_NS}/relationships"><Relationship Id="r1" '
            f'Type="{_REL_NS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{ns}" xmlns:r="{_REL_NS}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE_NS}/relationships">{rels}</Relationships>',
            **parts,
            **(extra or {}),
        }
    )


def _cell(value: str | float) -> str:
    if isinstance(value, str) and value.startswith("="):  # as programs write it that compute no formulas
        return f"<c><f>{value[1:]}</f><v></v></c>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def pptx(*slides: tuple[str, str, str]) -> bytes:
    """Return slides of title, text and speaker's notes."""
    from pptx import Presentation

    deck = Presentation()
    for title, text, notes in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
        slide.notes_slide.notes_text_frame.text = notes
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file (MS-CFB) of streams by ``folder/name`` or ``name``; small ones share the mini stream."""
    sectors: list[bytes] = []
    table: list[int] = []

    def put(data: bytes) -> int:
        count = -(-len(data) // 512)
        first = len(sectors)
        sectors.extend(data[512 * at : 512 * (at + 1)].ljust(512, b"\0") for at in range(count))
        table.extend([*range(first + 1, first + count), 0xFFFFFFFE] if count else [])
        return first if count else 0xFFFFFFFE

    mini, mini_table, starts = b"", [], {}
    for path, data in streams.items():
        if len(data) >= 4096:
            starts[path] = put(data)
        elif data:
            starts[path] = len(mini) // 64
            count = -(-len(data) // 64)
            mini_table += [*range(starts[path] + 1, starts[path] + count), 0xFFFFFFFE]
            mini += data.ljust(64 * count, b"\0")
    folders = list(dict.fromkeys(path.partition("/")[0] for path in streams if "/" in path))
    tree: dict[str, list[str]] = {"": [*folders, *(path for path in streams if "/" not in path)]}
    for folder in folders:
        tree[folder] = [path for path in streams if path.startswith(f"{folder}/")]
    names = ["", *tree[""], *(path for folder in folders for path in tree[folder])]
    below = {folder: names.index(paths[0]) for folder, paths in tree.items() if paths}
    right = {one: names.index(other) for paths in tree.values() for one, other in pairwise(paths)}
    mini_at, mini_table_at = put(mini), put(struct.pack(f"<{len(mini_table)}I", *mini_table))

    def entry(path: str) -> bytes:
        name = (path.rpartition("/")[2] or "Root Entry").encode("utf-16-le") + b"\0\0"
        kind = 5 if not path else 1 if path in folders else 2
        start, size = (mini_at, len(mini)) if not path else (starts.get(path, 0), len(streams.get(path, b"")))
        head = name.ljust(64, b"\0") + struct.pack("<HBB", len(name), kind, 1)
        links = struct.pack("<III", 0xFFFFFFFF, right.get(path, 0xFFFFFFFF), below.get(path, 0xFFFFFFFF))
        return head + links + bytes(36) + struct.pack("<IQ", start, size)

    directory_at = put(b"".join(map(entry, names)))
    count = -(-(len(table) + 4) * 4 // 512)
    places = list(range(len(sectors), len(sectors) + count))
    full = [*table, *[0xFFFFFFFD] * count]
    words = struct.pack(f"<{len(full)}I", *full).ljust(512 * count, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6) + bytes(10)
    head += struct.pack("<8I", count, directory_at, 0, 4096, mini_table_at, 1, 0xFFFFFFFE, 0)
    head += struct.pack("<109I", *places, *[0xFFFFFFFF] * (109 - count))
    return head + b"".join(sectors) + words


def odt(body: str, *, kind: str = "text", prolog: str = "") -> bytes:
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in (("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"))
    )
    xml = f"{prolog}<office:document-content {names}><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": xml}, stored=("mimetype",))


def epub(*chapters: str, title: str = "A Book") -> bytes:
    items = "".join(f'<item id="c{at}" href="c{at}.xhtml"/>' for at in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata><dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OPS/c{at}.xhtml": f"<html><body>{text}</body></html>" for at, text in enumerate(chapters)},
        },
        stored=("mimetype",),
    )


def png(width: int, height: int, *, row: bytes | None = None) -> bytes:
    """Return a grey PNG of tiny size for any claimed number of pixels; ``row`` gives the pixels of each line."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = (b"\x00" + (row or b"\x80" * width)) * (height if row or width * height < 10**6 else 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def saved(folder: Path, data: bytes | str, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
