"""Media type of a file by its first bytes; name and declared type only decide between kinds of text."""

from __future__ import annotations

import re
import zlib
from typing import Final

from proxy.media.base import MediaRefused, Sniffed

_OFFICE = "application/vnd.openxmlformats-officedocument."
_WORD, _SLIDES, _SHEET = (
    f"{_OFFICE}{part}" for part in ("wordprocessingml.document", "presentationml.presentation", "spreadsheetml.sheet")
)
_ODF = "application/vnd.oasis.opendocument."
_READERS: Final = {
    _WORD: "docx",
    _SLIDES: "pptx",
    _SHEET: "sheet",
    f"{_ODF}text": "odt",
    f"{_ODF}spreadsheet": "sheet",
    f"{_ODF}presentation": "odt",
    "application/epub+zip": "epub",
    "application/vnd.ms-excel": "sheet",
    "application/vnd.ms-excel.sheet.binary.macroEnabled.12": "sheet",
    "application/vnd.ms-outlook": "msg",
    "application/pdf": "pdf",
    "application/rtf": "rtf",
}
_IMAGES: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"II\*\x00|MM\x00\*"), "image/tiff"),
    (re.compile(rb"BM....\x00\x00\x00\x00....[\x0c\x28\x34\x38\x40\x6c\x7c]\x00\x00\x00", re.DOTALL), "image/bmp"),
    (re.compile(rb"\x00\x00..ftyp(?:avif|avis)", re.DOTALL), "image/avif"),
)
_NOT_READ: Final = (
    (re.compile(rb"\x00\x00..ftyp(?:hei[cfmsx]|hev[cx]|mif1|msf1)", re.DOTALL), "an image in HEIC format", "JPEG"),
    (re.compile(rb"%!PS|\xc5\xd0\xd3\xc6"), "a PostScript file", "PDF"),
    (re.compile(rb"\x1f\x8b|BZh|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|7z\xbc\xaf\x27\x1c|Rar!"), "a packed archive", ""),
    (re.compile(rb"....ftyp|\x1aE\xdf\xa3|OggS|ID3|fLaC|RIFF....(?:WAVE|AVI )|FLV", re.DOTALL), "audio or video", ""),
    (re.compile(rb"\x7fELF|MZ|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|\x00asm"), "a program", ""),
    (re.compile(rb"SQLite format 3\x00|PAR1|\x00\x00\x01\x00|wOF[F2]|\x00\x01\x00\x00"), "a binary file", ""),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_KINDS: Final = (
    ("EncryptedPackage", "", "encrypted"),
    ("EncryptionInfo", "", "encrypted"),
    ("__nameid_version1.0", "application/vnd.ms-outlook", ""),
    ("Workbook", "application/vnd.ms-excel", ""),
    ("Book", "application/vnd.ms-excel", ""),
    ("WordDocument", "a document in the old Word format (.doc)", "DOCX"),
    ("PowerPoint Document", "slides in the old PowerPoint format (.ppt)", "PPTX"),
)
_PDF_WITHIN = 1024
_DEFLATED = 8
_BY_ENDING: Final = {"docx": _WORD, "pptx": _SLIDES, "xlsx": _SHEET, "epub": "application/epub+zip"}

_CODE: Final = frozenset(
    {
        "c", "cc", "cpp", "cs", "css", "dart", "ex", "go", "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt",
        "lua", "m", "mjs", "php", "pl", "proto", "ps1", "py", "r", "rb", "rs", "scala", "sh", "sql", "swift",
        "ts", "tsx", "vb", "zig", "toml", "ini", "cfg", "conf", "env", "yaml", "yml", "dockerfile", "makefile",
        "tf", "gradle", "diff", "patch", "bat", "tex", "bib",
    }
)  # fmt: skip
_TABS: Final = ("text/tab-separated-values", "csv")
_BY_NAME: Final = {
    "csv": ("text/csv", "csv"), "tsv": _TABS, "tab": _TABS,
    "md": ("text/markdown", "markdown"), "markdown": ("text/markdown", "markdown"),
    "json": ("application/json", "json"), "jsonl": ("application/x-ndjson", "code"),
    "ndjson": ("application/x-ndjson", "code"), "ipynb": ("application/x-ipynb+json", "notebook"),
    "xml": ("application/xml", "code"), "svg": ("image/svg+xml", "code"),
    "htm": ("text/html", "html"), "html": ("text/html", "html"), "xhtml": ("text/html", "html"),
    "eml": ("message/rfc822", "mail"), "txt": ("text/plain", "text"), "log": ("text/x-source", "code"),
}  # fmt: skip
_BY_TYPE: Final = {media_type: (media_type, reader) for media_type, reader in _BY_NAME.values()}
_BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_HTML = re.compile(rb"(?i)<!doctype\s+html|<html[\s>]|<(?:head|body|title|article|main|div|p|h1|table)[\s>]")
_MAIL = re.compile(
    rb"(?im)^(?:from|to|subject|date|received|return-path|message-id|mime-version|delivered-to|content-type):[ \t]"
)
_HEADER_LINE = re.compile(rb"\A(?:[!-9;-~]++:|[ \t]|From )")
_CONTROLS: Final = bytes(sorted({*range(32), 127} - {*b"\t\n\r\f\b\x1b"}))
_MAX_CONTROLS = 0.005
_PROBE = 65_536
_MIN_HEADERS = 3


def sniff(head: bytes, name: str = "", declared: str = "") -> Sniffed:
    """Return the type of a file by its first bytes.

    Args:
        head: First bytes of the file, at least 64 kB or all; ZIP and OLE files are identified by their parts.
        name: The file's name; decides only between kinds of text, and for ZIP files with an inconclusive head.
        declared: Media type declared by the client; used like the name, if the name is inconclusive.

    Raises:
        MediaRefused: ``empty``, ``encrypted``, ``ambiguous`` (two formats in one) or ``unsupported``.
    """
    if not head.strip(b"\x00 \t\r\n"):
        raise MediaRefused("The file is empty.", "empty")
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body.startswith(b"%PDF-"):
        return _sniffed("application/pdf")
    if (media_type := next((kind for pattern, kind in _IMAGES if pattern.match(head)), None)) is not None:
        return Sniffed("image", media_type, "image")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(head, name)
    if head.startswith(_OLE):
        return _ole(head, name)
    if body.startswith(b"{\\rtf"):
        return _sniffed("application/rtf")
    _refuse_known(head)
    if not _is_text(head):
        if b"%PDF-" in head[:_PDF_WITHIN]:
            return _sniffed("application/pdf")  # the standard allows the header within the first kilobyte
        raise _unsupported("a binary file", "")
    return _sniff_text(body, name, declared)


def _is_text(head: bytes) -> bool:
    """Return whether bytes look like text in some encoding."""
    probe = head[:_PROBE]
    if probe.startswith(_BOMS[1:]) or _is_wide(probe):
        return True
    return len(probe) - len(probe.translate(None, _CONTROLS)) <= _MAX_CONTROLS * len(probe) and b"\x00" not in probe


def _sniff_text(body: bytes, name: str, declared: str) -> Sniffed:
    """Return the type of a text file.

    Args:
        body: The first bytes without a byte order mark or white space.
        name: Name of the file.
        declared: Media type that the client declared.
    """
    ending = name.lower().rpartition("/")[2].rpartition(".")[2]
    named = _BY_NAME.get(ending) or (("text/x-source", "code") if ending in _CODE else None)
    given = named or _BY_TYPE.get(declared.partition(";")[0].strip().lower())
    if given is not None and given[1] in ("csv", "markdown", "code", "notebook", "mail", "html"):
        return Sniffed("document", *given)
    if (seen := _seen(body)) is not None:
        return Sniffed("document", *_BY_NAME[seen])
    return Sniffed("document", *(given or _BY_NAME["txt"]))


def _seen(body: bytes) -> str | None:
    """Return the file name extension that fits the text, None if unknown."""
    start = body[:4096]
    if start.startswith(b"<"):
        return "html" if _HTML.search(start) else "xml" if start.startswith((b"<?xml", b"<svg")) else None
    if start.startswith(b"{") and b'"nbformat"' in body and b'"cells"' in body:
        return "ipynb"
    headers = re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0].splitlines()
    if all(map(_HEADER_LINE.match, headers)) and len(_MAIL.findall(b"\n".join(headers))) >= _MIN_HEADERS:
        return "eml"
    return None


def _is_wide(probe: bytes) -> bool:
    """Return whether nearly all zero bytes are at every second position: UTF-16 without a byte order mark."""
    even, odd = probe[0::2].count(0), probe[1::2].count(0)
    half = len(probe) // 2
    return half > 1 and (max(even, odd) > 0.8 * half and min(even, odd) <= 0.01 * half)


def _refuse_known(head: bytes) -> None:
    for pattern, what, mend in _NOT_READ:
        if pattern.match(head):
            raise _unsupported(what, mend)


def _sniffed(media_type: str) -> Sniffed:
    return Sniffed("document", media_type, _READERS[media_type])


def _unsupported(what: str, mend: str) -> MediaRefused:
    advice = f"Save it as {mend} and send that." if mend else "Send a document, a text or an image."
    return MediaRefused(f"This is {what}, which is not read. {advice}", "unsupported")


def _zip(head: bytes, name: str) -> Sniffed:
    if b"%PDF-" in head[:_PDF_WITHIN]:
        raise MediaRefused("The file is a ZIP archive with a PDF header inside: two formats in one.", "ambiguous")
    media_type = _packed(head) or _BY_ENDING.get(name.lower().rpartition(".")[2])
    if media_type in _READERS:
        return _sniffed(media_type)
    raise _unsupported(f"a packed file of type {media_type[:80]!r}" if media_type else "a ZIP archive", "")


def _packed(head: bytes) -> str | None:
    """Return the media type of a ZIP file by the parts in its head, None if unknown."""
    first, data = _first_entry(head)
    if first == "mimetype":
        return data.decode("ascii", "replace").strip()
    for inside, media_type in (("word/", _WORD), ("ppt/", _SLIDES), ("xl/", _SHEET)):
        if _has_entry(head, inside.encode()) or (first == "[Content_Types].xml" and media_type.encode() in data):
            return media_type
    return "application/epub+zip" if b"mimetypeapplication/epub+zip" in head else None


def _has_entry(head: bytes, folder: bytes) -> bool:
    """Return whether a local header in ``head`` names a part in the folder."""
    return re.search(rb"PK\x03\x04.{26}" + folder, head, re.DOTALL) is not None


def _first_entry(head: bytes) -> tuple[str, bytes]:
    """Return name and content (at most 256 kB) of the first part."""
    length, extra = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
    name, start = head[30 : 30 + length].decode("utf-8", "replace"), 30 + length + extra
    size = int.from_bytes(head[18:22], "little") or len(head)
    data = head[start : start + size]
    if int.from_bytes(head[8:10], "little") == _DEFLATED:
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, 2**18)
        except zlib.error:
            data = b""
    return name, data


def _ole(head: bytes, name: str) -> Sniffed:
    for entry, what, mend in _OLE_KINDS:
        if entry.encode("utf-16-le") not in head:
            continue
        if mend == "encrypted":
            raise MediaRefused(
                "The file is protected by a password. Save a copy without one and send that.", "encrypted"
            )
        if what in _READERS:
            return _sniffed(what)
        raise _unsupported(what, mend)
    if name.lower().endswith((".xls", ".xlt")):
        return _sniffed("application/vnd.ms-excel")
    raise _unsupported("a file of an old Office format", "DOCX, PPTX, XLSX or PDF")
