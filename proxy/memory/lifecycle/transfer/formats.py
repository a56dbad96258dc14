"""Detect the format of an export, and stream its entries one by one, whatever its size."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from proxy.errors import InvalidRequest
from proxy.memory.lifecycle.transfer import chatgpt, claude, mem0
from proxy.memory.lifecycle.transfer.entries import Entry, Told
from proxy.memory.lifecycle.transfer.ours import FORMAT

Format = Literal["throughline", "chatgpt", "claude", "mem0", "list"]
FORMATS: tuple[Format, ...] = ("throughline", "chatgpt", "claude", "mem0", "list")

MAX_UNPACKED_BYTES = 8 * 2**30  # read from one archive
MAX_RATIO = 200  # unpacked bytes per packed byte of an archive
MAX_ENTRY_CHARACTERS = 64 * 2**20  # of one conversation
MAX_LIST_LINES = 10_000
MAX_LINE = 2_000  # characters of a line of a list
_CHUNK = 2**20  # characters
_HEAD = 64 * 2**10  # bytes that determine the format
_CONVERSATIONS = re.compile(r"(?:\A|/)conversations(?:-\d+)?\.json\Z")
_ARRAY = re.compile(r"(?:\{\s{0,100}\"(?:results|memories|conversations)\"\s{0,100}:\s{0,100})?\[")
_BULLET = re.compile(r"\A\s*(?:[-*•·–]|\d{1,4}[.)]|\[[^\]]{1,40}\]\s*-?)?\s*")
_SCALAR = re.compile(r"null|true|false|-?\d[\d.eE+-]*")
_HTML = ("<!doctype html", "<html")
_UNKNOWN = (
    "This JSON is no export that is known here. Send an export of this server (JSONL), of ChatGPT or "
    "Claude (conversations.json or the whole archive), of mem0, or a list with a memory on each line."
)
_NO_TEXTS = (
    (b"PK\x03\x04", "The file is a ZIP archive that is cut off or damaged. Download it again, and send all of it."),
    (b"\x1f\x8b", "The file is packed by gzip. Unpack it (`gunzip`), and send what was in it."),
    (b"%PDF-", "The file is a PDF, no export. Send it to `POST /v1/documents` to have it read."),
)
_DECODER = json.JSONDecoder()
_READERS: dict[str, tuple[Callable[[Any], bool], Callable[[Any], Iterator[Entry]]]] = {
    "chatgpt": (chatgpt.is_one, chatgpt.entries),
    "claude": (claude.is_one, claude.entries),
    "mem0": (mem0.is_one, mem0.entries),
}


def format_of(path: Path) -> Format:
    """Return the format of a file.

    Raises:
        InvalidRequest: If the format is unknown.
    """
    with _texts(path) as texts:
        for text in texts:
            head = text.read(_HEAD).lstrip("\ufeff \t\r\n")
            if head.startswith("{") and f'"{FORMAT}"' in head.partition("\n")[0]:
                return "throughline"
            if head.startswith(("[", "{")):
                text.seek(0)
                first = next(_values(text), None)
                for name, (is_one, _) in _READERS.items():
                    if first is not None and is_one(first):
                        return name  # type: ignore[return-value]
                raise InvalidRequest(_UNKNOWN)
            if head.strip() and "\0" not in head:
                return "list"
    raise InvalidRequest("There is nothing to import in this file.")


def entries_of(path: Path, name: Format) -> Iterator[Entry]:
    """Yield the entries of another service's export, in its order.

    Raises:
        InvalidRequest: If it is broken; the entries before the break are yielded first.
    """
    with _texts(path) as texts:
        for text in texts:
            if name == "list":
                yield from _listed(text)
            else:
                _, entries = _READERS[name]
                for value in _values(text):
                    yield from entries(value)


def nothing_of(path: Path, name: Format) -> InvalidRequest:
    """Return the error for a file without an entry of the given format.

    Raises:
        InvalidRequest: If the file has no known format.
    """
    found = format_of(path)
    if found != name:
        return InvalidRequest(f"The file seems to be of the format {found!r}, not {name!r}. Send it without `format`.")
    return InvalidRequest(
        f"The file seems to be of the format {name!r}, but none of its entries can be read. Send it as {name} wrote it."
    )


def _refuse_others(path: Path) -> None:
    """Refuse a file that is not text, or is certainly neither an export nor a list.

    Raises:
        InvalidRequest: If it is; the message states its probable type.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if told := next((told for start, told in _NO_TEXTS if head.startswith(start)), None):
        raise InvalidRequest(told)
    if b"\0" in head:
        raise InvalidRequest("The file is not text in UTF-8. Save it as that, or send the export itself.")
    text = head.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    if _SCALAR.fullmatch(text):
        raise InvalidRequest(_UNKNOWN)
    if text[:20].lower().startswith(_HTML):
        raise InvalidRequest("The file is a web page (HTML), no export. Download the export itself, and send that.")


def _listed(text: IO[str]) -> Iterator[Told]:
    for number, line in enumerate(text):
        if number >= MAX_LIST_LINES:
            raise InvalidRequest(f"A list may have {MAX_LIST_LINES} lines; send the rest by itself.")
        if told := _BULLET.sub("", line.strip("\ufeff \t\r\n"), count=1).strip():
            yield Told.within(told, MAX_LINE)


@contextmanager
def _texts(path: Path) -> Iterator[Iterator[IO[str]]]:
    """Yield the texts to read: the file, or the conversation files of an archive."""
    if not zipfile.is_zipfile(path):
        _refuse_others(path)
        with path.open(encoding="utf-8", errors="replace") as text:
            yield iter([text])
        return
    try:
        with zipfile.ZipFile(path) as archive, closing(_inside(archive)) as texts:
            yield texts
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # RuntimeError: password or method
        raise InvalidRequest("The archive is damaged or locked. Unpack it and send conversations.json.") from error


def _inside(archive: zipfile.ZipFile) -> Generator[IO[str]]:
    parts = [one for one in archive.infolist() if _CONVERSATIONS.search(one.filename)]
    if not parts:
        raise InvalidRequest("The archive has no conversations.json in it.")
    packed = sum(one.compress_size for one in parts)
    unpacked = sum(one.file_size for one in parts)
    if unpacked > MAX_UNPACKED_BYTES or unpacked > MAX_RATIO * max(packed, 2**16):
        raise InvalidRequest("The archive unpacks to more than may be read. Unpack it and send conversations.json.")
    for part in sorted(parts, key=lambda one: one.filename):
        with archive.open(part) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", errors="replace")
            yield text


def _values(text: IO[str]) -> Iterator[Any]:
    """Yield the values of a JSON array one by one; of an object with ``results``, of that array; else the one value."""
    buffer, at, size = "", 0, _CHUNK
    is_array = is_over = False
    while True:
        buffer = buffer[at:] if at else buffer
        at = 0
        if not is_over:
            more = text.read(size)
            is_over = not more
            buffer += more
        if not is_array:
            at = _opening(buffer)
            is_array = True
        while True:
            at = _skipped(buffer, at)
            if at >= len(buffer) or buffer[at] == "]":
                break
            found = _decoded(buffer, at, is_last=is_over)
            if found is None:
                break
            value, at = found
            size = _CHUNK
            yield value
        if is_over:
            return
        if len(buffer) - at > MAX_ENTRY_CHARACTERS:
            raise InvalidRequest("One conversation in the file is larger than may be read.")
        size = max(size, len(buffer) - at)  # the buffer doubles before the next try on a long entry


def _decoded(buffer: str, at: int, *, is_last: bool) -> tuple[Any, int] | None:
    """Return the value that begins at ``at`` and its end, None if more text has to be read first."""
    try:
        return _DECODER.raw_decode(buffer, at)
    except RecursionError as error:
        raise InvalidRequest("An entry of the file is nested too deeply to be read.") from error
    except ValueError as error:
        if is_last:
            raise InvalidRequest("The JSON ends in the middle, or is broken.") from error
        return None


def _opening(buffer: str) -> int:
    """Return the offset of the first entry: inside an array, or inside the array of an object."""
    start = len(buffer) - len(buffer.lstrip("\ufeff \t\r\n"))
    head = _ARRAY.match(buffer, start)
    return head.end() if head else 0


def _skipped(buffer: str, at: int) -> int:
    while at < len(buffer) and buffer[at] in ", \t\r\n\ufeff":
        at += 1
    return at
