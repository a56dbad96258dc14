"""Reader of Outlook messages (MS-OXMSG): headers, text, and names of attachments."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from proxy.media.base import Content, MediaRefused, Page, Sniffed
from proxy.media.compound import Compound
from proxy.media.limits import Limits
from proxy.media.readers.html import all_text
from proxy.media.readers.plain import code_page, decoded

_TEXT, _BYTES, _BINARY = "001F", "001E", "0102"
_SUBJECT, _BODY, _HTML, _RICH = "0037", "1000", "1013", "1009"
_FROM, _FROM_ADDRESS, _FROM_SMTP, _TO, _CC = "0C1A", "0C1F", "5D01", "0E04", "0E03"
_NAMES = ("3707", "3704")  # long and short file name
_SENT, _DELIVERED = 0x0039, 0x0E06
_TIME, _NUMBER, _CODEPAGE = 0x0040, 0x0003, 0x3FFD
_HEAD_BYTES, _ENTRY_BYTES = 32, 16
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_PROPERTIES = "__properties_version1.0"
_ATTACHED = "__attach_version1.0_"


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the message as one page."""
    del limits, tell
    message = _Message(Compound(path))
    subject = message.text(_SUBJECT)
    address = message.text(_FROM_SMTP) or message.text(_FROM_ADDRESS)
    sender = message.text(_FROM)
    if "@" in address and address != sender:
        sender = f"{sender} <{address}>".strip()
    headers = {
        "Subject": subject,
        "From": sender,
        "To": message.text(_TO),
        "Cc": message.text(_CC),
        "Date": message.sent(),
    }
    names = message.attached()
    body = message.body()
    notes = [f"attachments were not read: {', '.join(names)}"[:500]] if names else []
    if not body and message.has_rich_text:
        notes.append("the text is there as packed rich text only, which is not read; save it as EML or PDF")
    if not body and not subject and not notes:
        raise MediaRefused("There is no text in the file.", "empty")
    lines = [f"{name}: {value}" for name, value in headers.items() if value]
    listed = [f"Attachments: {', '.join(names)}"] if names else []
    text = "\n\n".join(filter(None, ["\n".join(lines), body, *listed]))
    return Content(sniffed.media_type, (Page(1, text, label=subject),), title=subject, notes=tuple(notes))


class _Message:
    """Properties of a message, by their MAPI numbers."""

    def __init__(self, file: Compound) -> None:
        self._file = file
        self._numbers = self._fixed(file.read(_PROPERTIES))
        self._codec = code_page(self._numbers.get(_CODEPAGE, 0))

    @property
    def has_rich_text(self) -> bool:
        """Return whether the message has compressed rich text, which is not read."""
        return f"__substg1.0_{_RICH}{_BINARY}" in self._file.streams

    def text(self, number: str, folder: str = "") -> str:
        """Return a text property as one line."""
        return " ".join(self._long(number, folder).replace("\x00", "").split())

    def body(self) -> str:
        """Return the body as text: the plain one if there is one, otherwise from HTML."""
        if plain := self._long(_BODY).strip():
            return plain
        html = self._file.read(f"__substg1.0_{_HTML}{_BINARY}")
        return all_text(decoded(html) if html else self._long(_HTML)).strip()

    def sent(self) -> str:
        """Return the time of sending, or else of delivery, as an e-mail date."""
        ticks = self._numbers.get(_SENT) or self._numbers.get(_DELIVERED) or 0
        try:
            return (
                (_EPOCH + timedelta(microseconds=ticks // 10)).strftime("%a, %d %b %Y %H:%M:%S +0000") if ticks else ""
            )
        except OverflowError:
            return ""

    def attached(self) -> list[str]:
        """Return the names of the attachments."""
        folders = sorted({name.partition("/")[0] for name in self._file.streams if name.startswith(_ATTACHED)})
        found = (next(filter(None, (self.text(name, f"{folder}/") for name in _NAMES)), "") for folder in folders)
        return [name for name in found if name]

    def _long(self, number: str, folder: str = "") -> str:
        wide = self._file.read(f"{folder}__substg1.0_{number}{_TEXT}")
        if wide:
            return wide.decode("utf-16-le", "replace")
        return self._file.read(f"{folder}__substg1.0_{number}{_BYTES}").decode(self._codec, "replace")

    @staticmethod
    def _fixed(data: bytes) -> dict[int, int]:
        found: dict[int, int] = {}
        for at in range(_HEAD_BYTES, len(data) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
            kind, number, _, value = struct.unpack_from("<HHIQ", data, at)
            if kind in (_TIME, _NUMBER):
                found[number] = value if kind == _TIME else value & 0xFFFFFFFF
        return found
