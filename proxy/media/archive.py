"""Safe reading of ZIP files: the directory shows bombs before unpacking, and nothing is written to the disk."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import TracebackType

from proxy.media.base import MediaRefused
from proxy.media.limits import Limits

_MAX_ENTRIES = 20_000
_MAX_RATIO = 250
_SMALL_BYTES = 8 * 2**20  # below this no ratio is suspicious, as XML of many equal rows compresses well
_IS_ENCRYPTED = 0x1
_DECLARATIONS = tuple(word.encode(codec) for word in ("<!DOCTYPE", "<!ENTITY") for codec in ("utf-8", "utf-16-le"))
_XML = (".xml", ".rels", ".vml", ".opf", ".ncx")


class Archive:
    """Checked ZIP file, whose entries are read in memory.

    Args:
        path: The file.
        limits: Limits on its unpacked size.

    Raises:
        MediaRefused: If it is not a ZIP file (``malformed``), has a password (``encrypted``) or would unpack to more
            than the limits allow (``bomb``).
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            raise MediaRefused(f"The file is damaged: {error}.", "malformed") from error
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        _check(self._zip.infolist(), limits)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Names of the entries as in the directory; never used as paths on the disk."""
        return list(self._entries)

    def has(self, name: str) -> bool:
        """Return whether an entry of this name exists."""
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return an unpacked entry; reading never exceeds its declared size."""
        try:
            return self._zip.read(self._entries[name])
        except KeyError:
            raise MediaRefused(f"The file is damaged: it has no part {name!r}.", "malformed") from None
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError) as error:
            raise MediaRefused(f"The file is damaged: its part {name!r} cannot be unpacked.", "malformed") from error

    def refuse_declarations(self) -> None:
        """Refuse document type declarations, which Office files never contain and entity bombs need."""
        for name in self._entries:
            if name.lower().endswith(_XML) and any(word in self.read(name) for word in _DECLARATIONS):
                raise MediaRefused(f"The part {name!r} declares entities, which Office files never do.", "bomb")


def _check(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    if len(entries) > _MAX_ENTRIES:
        raise MediaRefused(f"The file packs {len(entries)} parts; the limit is {_MAX_ENTRIES}.", "bomb")
    if any(entry.flag_bits & _IS_ENCRYPTED for entry in entries):
        raise MediaRefused("The file is protected by a password. Save a copy without one and send that.", "encrypted")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.max_unpacked_bytes:
        raise MediaRefused(
            f"The file would unpack to {unpacked} bytes; the limit is {limits.max_unpacked_bytes} (media.limits).",
            "bomb",
        )
    for entry in entries:
        if entry.file_size > _SMALL_BYTES and entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
            raise MediaRefused(
                f"The part {entry.filename!r} would unpack to {entry.file_size // max(entry.compress_size, 1)} times "
                "its size, as a decompression bomb does.",
                "bomb",
            )
