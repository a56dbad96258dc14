"""Reader of e-mail messages: headers, text, and names of attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

from proxy.media.base import Content, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.html import all_text

_HEADERS = ("Subject", "From", "To", "Cc", "Date")


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return the message as one page."""
    del limits, tell
    with path.open("rb") as file:
        message = BytesParser(policy=policy.default).parse(file)
    subject = _header(message, "Subject")
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    names = [name for part in message.walk() if (name := part.get_filename())]
    attached = [f"Attachments: {', '.join(names)}"] if names else []
    text = "\n\n".join(filter(None, ["\n".join(lines), _body(message), *attached]))
    notes = (f"attachments were not read: {', '.join(names)}"[:500],) if names else ()
    return Content(sniffed.media_type, (Page(1, text, label=subject),), title=subject, notes=notes)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError, KeyError):  # broken headers make the parser raise any of these
        return ""


def _body(message: EmailMessage) -> str:
    plain = [text for text in _texts(message, "text/plain") if text.strip()]
    if plain:
        return "\n\n".join(plain)
    return "\n\n".join(all_text(html) for html in _texts(message, "text/html"))


def _texts(message: EmailMessage, media_type: str) -> Iterator[str]:
    for part in message.walk():
        if part.get_content_type() == media_type and part.get_content_disposition() != "attachment":
            data = part.get_payload(decode=True)
            if isinstance(data, bytes):
                try:
                    yield data.decode(part.get_content_charset() or "utf-8", "replace")
                except LookupError:  # an unknown charset
                    yield data.decode("utf-8", "replace")
