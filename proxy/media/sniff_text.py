"""Kind of a text: by its content, then by its name and declared type."""

from __future__ import annotations

import re
from typing import Final

from proxy.media.base import Sniffed

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


def is_text(head: bytes) -> bool:
    """Whether bytes look like text in some encoding."""
    probe = head[:_PROBE]
    if probe.startswith(_BOMS[1:]) or _is_wide(probe):
        return True
    return len(probe) - len(probe.translate(None, _CONTROLS)) <= _MAX_CONTROLS * len(probe) and b"\x00" not in probe


def sniff_text(body: bytes, name: str, declared: str) -> Sniffed:
    """Return which kind of text a text is.

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
    """Return the ending that what stands in the text deserves."""
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
    """Whether every second byte is zero and hardly any other: UTF-16 without a byte order mark."""
    even, odd = probe[0::2].count(0), probe[1::2].count(0)
    half = len(probe) // 2
    return half > 1 and (max(even, odd) > 0.8 * half and min(even, odd) <= 0.01 * half)
